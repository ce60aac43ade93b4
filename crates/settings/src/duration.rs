//! Durations as people write them: `90s`, `10m`, `1h30m`.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration of whole seconds or milliseconds, written as `500ms`, `90s`, `10m`, `4h` or `1h30m`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String", extend("pattern" = "^([0-9]+(ms|s|m|h|d))+$", "examples" = ["90s", "10m", "1h30m"]))]
pub struct Duration(std::time::Duration);

/// Says that a text is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a duration: write it as `90s`, `10m` or `1h30m`")]
pub struct DurationError(String);

impl Duration {
    /// Takes a number of seconds.
    pub const fn from_secs(seconds: u64) -> Self {
        Self(std::time::Duration::from_secs(seconds))
    }

    /// Returns the standard library's form.
    pub const fn get(self) -> std::time::Duration {
        self.0
    }
}

impl FromStr for Duration {
    type Err = DurationError;

    fn from_str(text: &str) -> Result<Self, DurationError> {
        let fail = || DurationError(text.chars().take(40).collect());
        let mut total = 0_u64;
        let mut rest = text;
        while !rest.is_empty() {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(fail)?;
            let number: u64 = rest[..digits].parse().map_err(|_| fail())?;
            rest = &rest[digits..];
            let unit = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
            let factor = match &rest[..unit] {
                "ms" => 1,
                "s" => 1000,
                "m" => 60_000,
                "h" => 3_600_000,
                "d" => 86_400_000,
                _ => return Err(fail()),
            };
            rest = &rest[unit..];
            total = number.checked_mul(factor).and_then(|part| total.checked_add(part)).ok_or_else(fail)?;
        }
        if text.is_empty() { Err(fail()) } else { Ok(Self(std::time::Duration::from_millis(total))) }
    }
}

impl TryFrom<String> for Duration {
    type Error = DurationError;

    fn try_from(text: String) -> Result<Self, DurationError> {
        text.parse()
    }
}

impl From<Duration> for String {
    fn from(duration: Duration) -> Self {
        duration.to_string()
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0.as_millis();
        if rest == 0 {
            return f.write_str("0s");
        }
        for (factor, unit) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")] {
            if rest >= factor {
                write!(f, "{}{unit}", rest / factor)?;
                rest %= factor;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_people_write() {
        let check = |text: &str, want: Option<u64>| {
            assert_eq!(
                text.parse::<Duration>().ok().map(|d| d.get().as_millis()),
                want.map(u128::from),
                "{text}"
            );
        };
        check("90s", Some(90_000));
        check("1h30m", Some(5_400_000));
        check("500ms", Some(500));
        check("0s", Some(0));
        for bad in
            ["", "10", "m", "-1s", "1.5h", "10 m", "99999999999999999999d", "999999999999999999d", "1w"]
        {
            check(bad, None);
        }
        assert_eq!("1h30m".parse::<Duration>().unwrap().to_string(), "1h30m");
    }
}
