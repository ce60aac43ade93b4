//! Quantities of a resource, counted exactly as Kubernetes does (`k8s.io/apimachinery/pkg/api/resource`).

use std::cmp::Ordering;

/// The finest quantity is 10^-9.
const FINEST: i32 = -9;
/// The most decimal digits that certainly fit the narrow form.
const DIGITS: usize = 18;
/// Exponents beyond this are not computed.
const FAR: i32 = 400;

/// An amount such as `8Gi`, `500m` or `1e3`: `unscaled` times ten to the `exponent`. Two are equal that are the same
/// amount, however they are written.
#[derive(Debug, Clone, Copy)]
pub struct Quantity {
    unscaled: i128,
    exponent: i32,
    /// Whether the server keeps it in its arbitrary form, which it never calls a whole number.
    wide: bool,
}

/// Why a text is not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unread {
    /// It is no quantity.
    Wrong,
    /// It is one, and too large to be computed here.
    TooLarge,
}

/// What the suffix of a quantity means.
enum Suffix {
    /// Times ten to this power.
    Decimal(i32),
    /// Times two to this power.
    Binary(u32),
}

impl Quantity {
    /// Makes a whole amount.
    pub fn whole(number: i64) -> Self {
        Self { unscaled: number.into(), exponent: 0, wide: false }
    }

    /// Reads a quantity as `ParseQuantity` does, which takes `.5`, `5.`, and even a lone sign.
    pub fn read(text: &str) -> Result<Self, Unread> {
        if text.is_empty() {
            return Err(Unread::Wrong);
        }
        let (negative, number) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, after) = digits(number);
        let (fraction, suffix) = match after.strip_prefix('.') {
            Some(after) => digits(after),
            None => ("", after),
        };
        let suffix = Suffix::read(suffix).ok_or(Unread::Wrong)?;
        if matches!(suffix, Suffix::Decimal(power) if power.abs() > FAR) {
            return Err(Unread::TooLarge);
        }
        let has_digits = !whole.is_empty() || !fraction.is_empty();
        let significant = whole.trim_start_matches('0');
        let whole = if significant.is_empty() { "0" } else { significant };
        let number = Number { whole, fraction, has_digits };
        let read = match number.narrow(&suffix) {
            Some(read) => read,
            None => number.wide(&suffix)?,
        };
        Ok(if negative { Self { unscaled: -read.unscaled, ..read } } else { read })
    }

    /// Returns -1, 0 or 1.
    pub fn sign(self) -> i64 {
        self.unscaled.signum() as i64
    }

    /// Returns the next whole amount, if it is not negative and not too large.
    pub fn ceil(self) -> Option<u64> {
        if self.exponent >= 0 {
            return u64::try_from(scaled(self.unscaled, self.exponent)?).ok();
        }
        let divisor = scaled(1, -self.exponent)?;
        let rest = i128::from(self.unscaled.checked_rem(divisor)? > 0);
        u64::try_from(self.unscaled.checked_div(divisor)? + rest).ok().filter(|_| self.unscaled >= 0)
    }

    /// Returns the number where the server calls it whole.
    pub fn as_whole(self) -> Option<i64> {
        if self.wide || self.exponent < 0 {
            return None;
        }
        i64::try_from(scaled(self.unscaled, self.exponent)?).ok()
    }

    /// Computes as the server does, in floating point.
    pub fn as_float(self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "it is meant to be approximate")]
        let base = self.unscaled as f64;
        if self.exponent == 0 {
            return base;
        }
        base * format!("1e{}", self.exponent).parse::<f64>().unwrap_or(f64::INFINITY)
    }

    /// Adds; `None` where the sum is too large to be computed here.
    pub fn plus(self, other: Self) -> Option<Self> {
        let wide = self.wide || other.wide;
        if !wide {
            if other.unscaled == 0 {
                return Some(self);
            }
            if self.unscaled == 0 {
                return Some(other);
            }
        }
        let exponent = self.exponent.min(other.exponent);
        let (left, right) = (self.at(exponent)?, other.at(exponent)?);
        let sum = left.checked_add(right)?;
        let narrow = |number: i128| i64::try_from(number).is_ok();
        let wide = wide || ![left, right, sum].into_iter().all(narrow);
        Some(Self { unscaled: sum, exponent, wide })
    }

    /// Subtracts; `None` where the difference is too large to be computed here.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.plus(Self { unscaled: -other.unscaled, ..other })
    }

    /// Compares two amounts.
    pub fn order(self, other: Self) -> Ordering {
        let signs = self.unscaled.signum().cmp(&other.unscaled.signum());
        if signs.is_ne() || self.unscaled == 0 {
            return signs;
        }
        let exponent = self.exponent.min(other.exponent);
        match (self.at(exponent), other.at(exponent)) {
            (Some(left), Some(right)) => left.cmp(&right),
            // Only the one with the larger exponent is scaled: it is farther from zero than anything that fits.
            (None, _) => self.unscaled.cmp(&0),
            (_, None) => 0.cmp(&other.unscaled),
        }
    }

    fn at(self, exponent: i32) -> Option<i128> {
        scaled(self.unscaled, self.exponent - exponent)
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.order(*other).is_eq()
    }
}

/// The digits of a number, without sign and leading zeros.
struct Number<'a> {
    whole: &'a str,
    fraction: &'a str,
    /// Whether there was any digit at all.
    has_digits: bool,
}

impl Number<'_> {
    /// The server's fast way, which it takes where 18 digits are certainly enough.
    fn narrow(&self, suffix: &Suffix) -> Option<Quantity> {
        let count = self.whole.len() + self.fraction.len();
        let (exponent, factor, room) = match *suffix {
            Suffix::Decimal(exponent) => (exponent, 1, count <= DIGITS),
            Suffix::Binary(power) => {
                let used = self.whole.len() + (power as usize * 3) / 10 + 1;
                (0, 1_i64 << power, self.fraction.is_empty() && used <= 15)
            }
        };
        let exponent = exponent - i32::try_from(self.fraction.len()).ok()?;
        if !room || exponent < FINEST {
            return None;
        }
        let digits: i64 = format!("{}{}", self.whole, self.fraction).parse().ok()?;
        Some(Quantity { unscaled: digits.checked_mul(factor)?.into(), exponent, wide: false })
    }

    /// The server's exact way: up to the next 10^-9, and binary ones at most as large as an `int64`.
    fn wide(&self, suffix: &Suffix) -> Result<Quantity, Unread> {
        if !self.has_digits {
            return Err(Unread::Wrong);
        }
        let digits: i128 =
            format!("{}{}", self.whole, self.fraction).parse().map_err(|_| Unread::TooLarge)?;
        let places = i32::try_from(self.fraction.len()).map_err(|_| Unread::TooLarge)?;
        let (unscaled, exponent) = match *suffix {
            Suffix::Decimal(exponent) => (digits, exponent - places),
            Suffix::Binary(power) => (digits.checked_mul(1 << power).ok_or(Unread::TooLarge)?, -places),
        };
        let mut number = Quantity {
            unscaled: to_finest(unscaled, exponent).ok_or(Unread::TooLarge)?,
            exponent: FINEST,
            wide: true,
        };
        let most = Quantity { wide: true, ..Quantity::whole(i64::MAX) };
        if matches!(suffix, Suffix::Binary(_)) && number.order(most).is_gt() {
            number = most;
        }
        Ok(number)
    }
}

impl Suffix {
    fn read(text: &str) -> Option<Self> {
        const DECIMAL: [(&str, i32); 10] = [
            ("n", -9),
            ("u", -6),
            ("m", -3),
            ("", 0),
            ("k", 3),
            ("M", 6),
            ("G", 9),
            ("T", 12),
            ("P", 15),
            ("E", 18),
        ];
        const BINARY: [(&str, u32); 6] =
            [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
        if let Some((_, power)) = DECIMAL.iter().find(|(name, _)| *name == text) {
            return Some(Self::Decimal(*power));
        }
        if let Some((_, power)) = BINARY.iter().find(|(name, _)| *name == text) {
            return Some(Self::Binary(*power));
        }
        let exponent = text.strip_prefix(['e', 'E'])?;
        let exponent: i64 = exponent.parse().ok()?;
        Some(Self::Decimal(i32::try_from(exponent).unwrap_or(i32::MAX)))
    }
}

/// Splits off the digits at the beginning.
fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()))
}

/// Multiplies by a power of ten that is not negative.
fn scaled(number: i128, power: i32) -> Option<i128> {
    if number == 0 {
        return Some(0);
    }
    number.checked_mul(10_i128.checked_pow(u32::try_from(power).ok()?)?)
}

/// Rounds a number that is not negative up to the finest quantity.
fn to_finest(unscaled: i128, exponent: i32) -> Option<i128> {
    if exponent >= FINEST {
        return scaled(unscaled, exponent - FINEST);
    }
    let Some(divisor) = scaled(1, FINEST - exponent) else { return Some(i128::from(unscaled > 0)) };
    Some(unscaled / divisor + i128::from(unscaled % divisor > 0))
}
