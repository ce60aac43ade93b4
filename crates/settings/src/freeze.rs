//! Times in which nothing is delivered.

use jiff::civil::{Date, DateTime, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A time in which nothing is delivered: either once, from one moment until another, or every week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Freeze {
    /// The name, for messages.
    pub name: String,
    /// Why nothing is delivered.
    pub reason: String,
    /// The first moment: a day (`2026-12-18`) or a day and a time (`2026-12-18T18:00`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The moment from which delivering is possible again; a day without a time is frozen to its end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// Instead of `from` and `until`: the same time every week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekly: Option<WeeklyFreeze>,
    /// The time zone of all these times, such as `Europe/Amsterdam`.
    #[serde(default = "utc")]
    pub time_zone: String,
    /// Whether `windlass rollback` is possible nevertheless.
    #[serde(default = "yes")]
    pub allow_rollback: bool,
}

/// A time of every week; it may reach over the week's end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WeeklyFreeze {
    /// The first moment, such as `Fri 16:00`.
    pub from: String,
    /// The moment from which delivering is possible again, such as `Mon 08:00`.
    pub until: String,
}

fn utc() -> String {
    "UTC".to_owned()
}

fn yes() -> bool {
    true
}

impl Freeze {
    /// Says whether a moment is frozen. A freeze that cannot be read is in force: the checks of the file let
    /// none through.
    pub fn covers(&self, now: Timestamp) -> bool {
        let Some(now) = self.local(now) else { return true };
        match (&self.from, &self.until, &self.weekly) {
            (None, None, Some(weekly)) => weekly.minutes().is_none_or(|(from, until)| {
                let now = minute_of_week(now.weekday(), now.time());
                if from < until { from <= now && now < until } else { from <= now || now < until }
            }),
            (Some(from), Some(until), None) => match (first(from), last(until)) {
                (Some(from), Some(until)) => from <= now.datetime() && now.datetime() < until,
                _ => true,
            },
            _ => true,
        }
    }

    /// Returns when the freeze ends, as it is written in the file.
    pub fn end(&self) -> String {
        let end = self.until.as_deref().or(self.weekly.as_ref().map(|weekly| weekly.until.as_str()));
        format!("{} {}", end.unwrap_or("an unknown time"), self.time_zone)
    }

    fn local(&self, now: Timestamp) -> Option<Zoned> {
        zone(&self.time_zone).map(|zone| now.to_zoned(zone))
    }
}

impl WeeklyFreeze {
    /// Returns both ends in minutes since Monday.
    fn minutes(&self) -> Option<(i32, i32)> {
        Some((weekly(&self.from)?, weekly(&self.until)?))
    }
}

/// Reads the name of a time zone.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

/// Reads the beginning of a freeze.
pub(crate) fn first(text: &str) -> Option<DateTime> {
    moment(text).or_else(|| Some(crate::check::day(text)?.at(0, 0, 0, 0)))
}

/// Reads the end of a freeze: the first moment after it.
pub(crate) fn last(text: &str) -> Option<DateTime> {
    moment(text).or_else(|| Some(crate::check::day(text)?.tomorrow().ok()?.at(0, 0, 0, 0)))
}

fn moment(text: &str) -> Option<DateTime> {
    let (day, time) = text.split_once('T')?;
    let day: Date = crate::check::day(day)?;
    Some(day.to_datetime(clock(time)?))
}

/// Reads a moment of the week; returns minutes since Monday.
pub(crate) fn weekly(text: &str) -> Option<i32> {
    const DAYS: [(&str, Weekday); 7] = [
        ("Mon", Weekday::Monday),
        ("Tue", Weekday::Tuesday),
        ("Wed", Weekday::Wednesday),
        ("Thu", Weekday::Thursday),
        ("Fri", Weekday::Friday),
        ("Sat", Weekday::Saturday),
        ("Sun", Weekday::Sunday),
    ];
    let (word, time) = text.split_once(' ')?;
    let (_, day) = DAYS.into_iter().find(|(known, _)| *known == word)?;
    Some(minute_of_week(day, clock(time)?))
}

/// Reads hours and minutes in the one form that is taken: `08:30`.
fn clock(text: &str) -> Option<Time> {
    let form = text.len() == 5
        && text.bytes().enumerate().all(|(i, b)| if i == 2 { b == b':' } else { b.is_ascii_digit() });
    let (hour, minute) = form.then(|| text.split_once(':')).flatten()?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

fn minute_of_week(day: Weekday, time: Time) -> i32 {
    (i32::from(day.to_monday_zero_offset()) * 24 + i32::from(time.hour())) * 60 + i32::from(time.minute())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(freeze: &Freeze, frozen: &[&str], free: &[&str]) {
        for (moments, want) in [(frozen, true), (free, false)] {
            for moment in moments {
                assert_eq!(freeze.covers(moment.parse().unwrap()), want, "{moment}: {freeze:?}");
            }
        }
    }

    fn freeze(zone: &str) -> Freeze {
        Freeze {
            name: "f".into(),
            reason: "r".into(),
            from: None,
            until: None,
            weekly: None,
            time_zone: zone.into(),
            allow_rollback: true,
        }
    }

    fn once(from: &str, until: &str, zone: &str) -> Freeze {
        Freeze { from: Some(from.into()), until: Some(until.into()), ..freeze(zone) }
    }

    fn every(from: &str, until: &str, zone: &str) -> Freeze {
        Freeze { weekly: Some(WeeklyFreeze { from: from.into(), until: until.into() }), ..freeze(zone) }
    }

    #[test]
    fn a_day_is_frozen_to_its_end() {
        check(
            &once("2026-12-18", "2027-01-03", "UTC"),
            &["2026-12-18T00:00:00Z", "2027-01-03T23:59:59Z"],
            &["2026-12-17T23:59:59Z", "2027-01-04T00:00:00Z"],
        );
    }

    #[test]
    fn moments_are_local() {
        check(
            &once("2026-12-18T18:00", "2026-12-19T06:00", "Europe/Amsterdam"),
            &["2026-12-18T17:00:00Z", "2026-12-19T04:59:59Z"],
            &["2026-12-18T16:59:59Z", "2026-12-19T05:00:00Z"],
        );
    }

    #[test]
    fn a_week_may_wrap() {
        check(
            &every("Fri 16:00", "Mon 08:00", "UTC"),
            &["2026-11-27T16:00:00Z", "2026-11-29T12:00:00Z", "2026-11-30T07:59:00Z"],
            &["2026-11-27T15:59:00Z", "2026-11-30T08:00:00Z", "2026-12-02T00:00:00Z"],
        );
        check(
            &every("Tue 09:00", "Tue 17:30", "UTC"),
            &["2026-12-01T09:00:00Z", "2026-12-01T17:29:59Z"],
            &["2026-12-01T17:30:00Z", "2026-12-02T10:00:00Z"],
        );
    }

    /// An unknown time zone or a half-written freeze must not open the gate.
    #[test]
    fn what_cannot_be_read_is_frozen() {
        let half = Freeze { from: Some("2026-12-18".into()), ..freeze("UTC") };
        for unreadable in [once("2026-12-18", "2026-12-19", "Europe/Atlantis"), half, freeze("UTC")] {
            check(&unreadable, &["2020-01-01T00:00:00Z"], &[]);
        }
    }
}
