//! Dates and durations (go-openapi `strfmt`, with Go's `time`).

use jiff::civil::Date;

pub(super) fn is_date(text: &str) -> bool {
    text.len() == 10 && text.parse::<Date>().is_ok()
}

/// A date, a `t`, and a time with a zone; neither leap seconds nor the zone's own limits are looked at.
pub(super) fn is_date_time(text: &str) -> bool {
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date) && is_time(time).is_some()
}

/// `10:00:00z`, `10:00:00.5+02:00`; whatever character may stand before the fraction.
fn is_time(text: &str) -> Option<()> {
    let (clock, rest) = text.split_at_checked(8)?;
    let two = |text: &str, most: u8| {
        let digits = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse::<u8>().ok().filter(|value| digits && *value <= most).map(|_| ())
    };
    let mut parts = clock.split(':');
    two(parts.next()?, 23)?;
    two(parts.next()?, 59)?;
    two(parts.next()?, 59)?;
    let zone = |text: &str| {
        let offset = text.strip_prefix(['+', '-']).and_then(|offset| offset.split_once(':'));
        text == "z"
            || offset.is_some_and(|(hours, minutes)| two(hours, 99).is_some() && two(minutes, 99).is_some())
    };
    let mut characters = rest.chars();
    let fraction =
        characters.next().map(|_| characters.as_str().trim_start_matches(|c: char| c.is_ascii_digit()));
    let has_fraction = fraction.is_some_and(|after| after.len() < characters.as_str().len() && zone(after));
    (zone(rest) || has_fraction).then_some(())
}

/// Reads a duration in nanoseconds: as Go writes it, or with blanks and longer words for units, `2 days`.
pub(crate) fn duration(text: &str) -> Option<i64> {
    go_duration(text).or_else(|| spoken_duration(text))
}

/// Adds up what looks like a number with a unit, wherever it stands; a sum that is too large wraps, as on the server.
fn spoken_duration(text: &str) -> Option<i64> {
    let mut rest = text;
    let mut total = None;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (_, from) = rest.split_at(start);
        let (number, after) = from.split_at(from.find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len()));
        let spaced = after.trim_start_matches([' ', '\t', '\n', '\r', '\u{c}']);
        let is_letter = |c: char| c.is_ascii_alphabetic() || c == 'µ';
        let (word, after) = spaced.split_at(spaced.find(|c: char| !is_letter(c)).unwrap_or(spaced.len()));
        if !word.is_empty() {
            let number: i64 = number.parse().ok()?;
            if let Some(unit) = spoken_unit(&word.to_lowercase()) {
                total = Some(total.unwrap_or(0_i64).wrapping_add(number.wrapping_mul(unit)));
            }
        }
        rest = after;
    }
    total
}

fn spoken_unit(word: &str) -> Option<i64> {
    const SECOND: i64 = 1_000_000_000;
    const UNITS: [(&[&str], &str, i64); 8] = [
        (&["ns"], "nano", 1),
        (&["us", "µs"], "micro", 1_000),
        (&["ms"], "milli", 1_000_000),
        (&["s"], "sec", SECOND),
        (&["m"], "min", 60 * SECOND),
        (&["h", "hr"], "hour", 3_600 * SECOND),
        (&["d"], "day", 86_400 * SECOND),
        (&["w", "wk"], "week", 604_800 * SECOND),
    ];
    let is = |(short, long, _): &&(&[&str], &str, i64)| short.contains(&word) || word.starts_with(long);
    UNITS.iter().find(is).map(|(.., unit)| *unit)
}

/// Reads `1h30m` or `-1.5s`.
fn go_duration(text: &str) -> Option<i64> {
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i64;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at(digits);
        let (unit, length) = unit(after)?;
        total = total.checked_add(scaled(number, unit)?)?;
        rest = after.get(length..)?;
    }
    Some(if negative { -total } else { total })
}

fn unit(text: &str) -> Option<(i64, usize)> {
    const UNITS: [(&str, i64); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("µs", 1_000),
        ("μs", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    UNITS.iter().find(|(name, _)| text.starts_with(name)).map(|(name, unit)| (*unit, name.len()))
}

/// Multiplies a decimal number such as `1.5` without leaving whole numbers.
fn scaled(number: &str, unit: i64) -> Option<i64> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut total = if whole.is_empty() { 0 } else { whole.parse::<i64>().ok()?.checked_mul(unit)? };
    let mut share = unit;
    for digit in fraction.chars() {
        share /= 10;
        total = total.checked_add(share * i64::from(digit.to_digit(10)?))?;
    }
    Some(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_the_server_reads_them() {
        for (text, want) in [
            ("1h30m", Some(5_400_000_000_000)),
            ("-1.5s", Some(-1_500_000_000)),
            ("10ms", Some(10_000_000)),
            ("1µs", Some(1_000)),
            (".5s", Some(500_000_000)),
            ("0", Some(0)),
            ("", None),
            ("5", None),
            ("1d", Some(86_400_000_000_000)),
            ("2 days and 1 hour", Some(176_400_000_000_000)),
            ("two days", None),
            (".s", None),
            ("99999999999999999999h", None),
        ] {
            assert_eq!(duration(text), want, "{text}");
        }
    }
}
