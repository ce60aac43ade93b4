//! Numbers and codes (go-openapi `strfmt` with `govalidator`).

/// Says whether a text is so many hexadecimal digits.
pub(super) fn is_hex(text: &str, length: usize) -> bool {
    text.len() == length && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whole groups of four, of which the last may be filled up; nothing at all is none.
pub(super) fn is_base64(text: &str) -> bool {
    let data = text.trim_end_matches('=');
    let plain = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    !text.is_empty() && text.len().is_multiple_of(4) && text.len() - data.len() <= 2 && plain
}

/// The hyphens are optional; a version is a digit at a place of its own, and versions 4 and 5 have a variant.
pub(super) fn is_uuid(text: &str, version: Option<char>) -> bool {
    let mut rest = text;
    let mut digits = String::new();
    for length in [8, 4, 4, 4, 12] {
        if !digits.is_empty() {
            rest = rest.strip_prefix('-').unwrap_or(rest);
        }
        let Some((part, after)) = rest.split_at_checked(length) else { return false };
        digits.push_str(part);
        rest = after;
    }
    let at = |position: usize| digits.chars().nth(position);
    let has_variant = !matches!(version, Some('4' | '5'))
        || at(16).is_some_and(|c| matches!(c.to_ascii_lowercase(), '8' | '9' | 'a' | 'b'));
    rest.is_empty() && is_hex(&digits, 32) && has_variant && (version.is_none() || at(12) == version)
}

/// Anything may stand between the digits.
pub(super) fn is_credit_card(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let starts = |prefixes: &[&str]| prefixes.iter().any(|prefix| digits.starts_with(prefix));
    let known = match digits.len() {
        13 => starts(&["4"]),
        14 => starts(&["300", "301", "302", "303", "304", "305", "36", "38"]),
        15 => starts(&["34", "37", "2131", "1800"]),
        16 => starts(&["4", "51", "52", "53", "54", "55", "6011", "65", "35"]),
        _ => false,
    };
    let sum: u32 = values(&digits)
        .rev()
        .enumerate()
        .map(|(position, digit)| match digit * 2 {
            double if position % 2 == 0 => double / 2,
            double => double / 10 + double % 10,
        })
        .sum();
    known && sum.is_multiple_of(10)
}

pub(super) fn is_isbn10(text: &str) -> bool {
    let text = without_gaps(text);
    let Some((digits, last)) = text.split_at_checked(9) else { return false };
    let last = match last {
        "X" => Some(10),
        last => last.parse().ok().filter(|_| last.len() == 1),
    };
    let sum: u32 = (1..).zip(values(digits)).map(|(weight, digit)| weight * digit).sum();
    is_number(digits) && last.is_some_and(|last: u32| (sum + 10 * last).is_multiple_of(11))
}

pub(super) fn is_isbn13(text: &str) -> bool {
    let text = without_gaps(text);
    let weighted = values(&text).zip([1, 3].into_iter().cycle()).map(|(digit, weight)| digit * weight);
    text.len() == 13 && is_number(&text) && weighted.sum::<u32>().is_multiple_of(10)
}

/// `123-45-6789`, with blanks instead of hyphens or, as its length is fixed, with nothing less.
pub(super) fn is_ssn(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 11
        && bytes.iter().enumerate().all(|(position, byte)| match position {
            3 | 6 => matches!(byte, b'-' | b' '),
            _ => byte.is_ascii_digit(),
        })
}

/// `rgb(255, 0, 0)`.
pub(super) fn is_rgb_color(text: &str) -> bool {
    let Some(inside) = text.strip_prefix("rgb(").and_then(|text| text.strip_suffix(')')) else {
        return false;
    };
    let is_blank = |c: char| matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}');
    let is_part = |part: &str| {
        let part = part.trim_matches(is_blank);
        let plain = is_number(part) && (part.len() == 1 || !part.starts_with('0'));
        plain && part.parse::<u16>().is_ok_and(|value| value <= 255)
    };
    let parts: Vec<&str> = inside.split(',').collect();
    parts.len() == 3 && parts.into_iter().all(is_part)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn values(digits: &str) -> impl DoubleEndedIterator<Item = u32> + ExactSizeIterator {
    digits.bytes().map(|byte| u32::from(byte.wrapping_sub(b'0')))
}

fn without_gaps(text: &str) -> String {
    text.chars().filter(|c| !matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '-')).collect()
}
