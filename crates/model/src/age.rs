//! How long ago something was, for people.

use jiff::Timestamp;

/// Each unit with its seconds, the largest first.
const UNITS: [(i64, &str); 3] = [(24 * 60 * 60, "day"), (60 * 60, "hour"), (60, "minute")];

/// Says how much time lies between a time as the API server writes it and `now`, in whole units: `3 days`. `None` if the
/// text is no time.
pub fn age(time: &str, now: Timestamp) -> Option<String> {
    let time: Timestamp = time.parse().ok()?;
    let seconds = now.as_second().saturating_sub(time.as_second());
    let known = UNITS.iter().find(|(length, _)| seconds >= *length);
    Some(known.map_or_else(
        || "less than a minute".to_owned(),
        |(length, unit)| {
            let count = seconds / length;
            format!("{count} {unit}{}", if count == 1 { "" } else { "s" })
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_unit_is_counted() {
        let now = "2026-06-15T12:00:00Z".parse().unwrap();
        for (time, want) in [
            ("2026-06-12T11:00:00Z", Some("3 days")),
            ("2026-06-14T12:00:00Z", Some("1 day")),
            ("2026-06-14T12:00:01Z", Some("23 hours")),
            ("2026-06-15T11:59:00Z", Some("1 minute")),
            ("2026-06-15T11:59:30Z", Some("less than a minute")),
            ("2026-06-15T12:00:09Z", Some("less than a minute")),
            ("yesterday", None),
        ] {
            assert_eq!(age(time, now).as_deref(), want, "{time}");
        }
    }
}
