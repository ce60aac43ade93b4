//! Names and addresses (go-openapi `strfmt`, with Go's `net` and `net/mail`).

use std::net::Ipv6Addr;
use std::sync::LazyLock;

use regex::Regex;

use super::Fit;

/// Letters and symbols of any script; the last of several labels has letters only.
static HOSTNAME: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let plain = r"a-zA-Z0-9\p{S}\p{L}";
    let alone = format!(r"[{plain}](?:-?[{plain}]{{0,62}})?");
    let label = format!(r"[{plain}](?:[{plain}\-]{{0,61}}[{plain}])?\.");
    Regex::new(&format!(r"^(?:{alone}|(?:{label})+[a-zA-Z\p{{L}}]{{2,63}})$")).ok()
});

pub(super) fn hostname(text: &str) -> Fit {
    let Some(hostname) = &*HOSTNAME else { return Fit::Unknown };
    (hostname.is_match(text) && text.len() <= 255 && text.split('.').all(|label| label.len() <= 63)).into()
}

/// Go reads much more than plain addresses: names, comments, quotes. What has no `@` is certainly none.
pub(super) fn email(text: &str) -> Fit {
    let is_atom = |atom: &str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+/=?^_`{|}~-".contains(&byte);
        !atom.is_empty() && atom.bytes().all(plain)
    };
    match text.split_once('@') {
        None => Fit::No,
        Some((local, domain)) if local.split('.').chain(domain.split('.')).all(is_atom) => Fit::Yes,
        Some(_) => Fit::Unknown,
    }
}

/// Leading zeros are tolerated, and so is an IPv4 address in IPv6's clothes.
pub(super) fn is_ipv4(text: &str) -> bool {
    text.contains('.') && (is_plain_ipv4(text) || is_ipv6(text))
}

pub(super) fn is_ipv6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

fn is_plain_ipv4(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let is_part = |part: &&str| {
        let digits = part.bytes().all(|byte| byte.is_ascii_digit());
        !part.is_empty()
            && digits
            && part.trim_start_matches('0').parse::<u64>().map_or(true, |value| value <= 255)
    };
    parts.len() == 4 && parts.iter().all(is_part)
}

pub(super) fn is_cidr(text: &str) -> bool {
    let Some((address, bits)) = text.split_once('/') else { return false };
    let most = if is_plain_ipv4(address) {
        32
    } else if is_ipv6(address) {
        128
    } else {
        return false;
    };
    bits.bytes().all(|byte| byte.is_ascii_digit()) && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

/// Six, eight or twenty bytes, apart by colons or hyphens, or in pairs by dots.
pub(super) fn is_mac(text: &str) -> bool {
    let is = |separator: char, digits: usize| {
        let parts: Vec<&str> = text.split(separator).collect();
        let plain = |part: &&str| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_hexdigit());
        matches!(parts.len() * digits / 2, 6 | 8 | 20) && parts.iter().all(plain)
    };
    is(':', 2) || is('-', 2) || is('.', 4)
}

pub(super) fn is_short_name(text: &str) -> bool {
    text.len() <= 63 && is_segment(text)
}

pub(super) fn is_long_name(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_segment)
}

fn is_segment(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(plain) && !text.starts_with('-') && !text.ends_with('-')
}
