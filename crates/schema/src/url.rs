//! Addresses as Go reads them (`net/url`): what the format `uri` and the rules' `url()` go by.

use std::net::Ipv6Addr;

/// An address in its parts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Url {
    pub(crate) scheme: String,
    user: Option<String>,
    /// The host with its port, an IPv6 address in brackets.
    pub(crate) host: String,
    /// The path as it was written.
    path: String,
    opaque: String,
    query: Option<String>,
    fragment: String,
}

/// Which characters stand for themselves, beside letters, digits and `-_.~`.
const IN_HOST: &[u8] = b"!$&'()*+,;=:[]<>\"";
const IN_PATH: &[u8] = b"$&+,/:;=@";
const IN_WRITTEN_PATH: &[u8] = b"!$&'()*+,;=:@[]%/";
const IN_USER: &[u8] = b"-._:~!$&'()*+,;=%@";

impl Url {
    /// Reads what Go's `ParseRequestURI` takes; the fragment is split off afterwards, as the server does.
    pub(crate) fn read(text: &str) -> Option<Self> {
        Self::parse(text, true)?;
        let (text, fragment) = text.split_once('#').unwrap_or((text, ""));
        unescape(fragment)?;
        Some(Self { fragment: fragment.to_owned(), ..Self::parse(text, false)? })
    }

    /// Says whether a text is an absolute address or an absolute path.
    pub(crate) fn is_one(text: &str) -> bool {
        Self::parse(text, true).is_some()
    }

    fn parse(text: &str, absolute: bool) -> Option<Self> {
        if text.bytes().any(|byte| byte < b' ' || byte == 0x7f) || text.is_empty() && absolute {
            return None;
        }
        if text == "*" {
            return Some(Self { path: text.to_owned(), ..Self::default() });
        }
        let (scheme, rest) = scheme(text)?;
        let (rest, query) =
            rest.split_once('?').map_or((rest, None), |(rest, query)| (rest, Some(query.to_owned())));
        let url = Self { scheme: scheme.to_lowercase(), query, ..Self::default() };
        if !rest.starts_with('/') {
            if !scheme.is_empty() {
                return Some(Self { opaque: rest.to_owned(), ..url });
            }
            let is_scheme = rest.split('/').next().is_some_and(|segment| segment.contains(':'));
            if absolute || is_scheme {
                return None;
            }
        }
        let has_authority = !scheme.is_empty() || !absolute && !rest.starts_with("///");
        match rest.strip_prefix("//").filter(|_| has_authority) {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                let (user, host) = url.authority(authority)?;
                url.with_path(path).map(|url| Self { user, host, ..url })
            }
            None => url.with_path(rest),
        }
    }

    fn with_path(self, path: &str) -> Option<Self> {
        unescape(path)?;
        Some(Self { path: path.to_owned(), ..self })
    }

    fn authority(&self, authority: &str) -> Option<(Option<String>, String)> {
        let Some((user, host)) = authority.rsplit_once('@') else {
            return Some((None, self.host(authority)?));
        };
        unescape(user)
            .filter(|_| user.bytes().all(|byte| byte.is_ascii_alphanumeric() || IN_USER.contains(&byte)))?;
        Some((Some(user.to_owned()), self.host(host)?))
    }

    fn host(&self, host: &str) -> Option<String> {
        if let Some(rest) = host.strip_prefix('[').filter(|rest| !rest.contains('[')) {
            let (address, port) = rest.rsplit_once(']')?;
            let address = unescape_host(address, true)?;
            let (number, zone) = address
                .split_once('%')
                .map_or((address.as_str(), None), |(number, zone)| (number, Some(zone)));
            let fits = number.parse::<Ipv6Addr>().is_ok() && zone.is_none_or(|zone| !zone.is_empty());
            return (fits && is_port(port)).then(|| format!("[{address}]{port}"));
        }
        if host.contains('[') {
            return None;
        }
        // Several hosts, as databases write them, are taken where the scheme is not that of the web.
        let strict = matches!(self.scheme.as_str(), "http" | "https");
        let colon = if strict { host.find(':') } else { host.rfind(':') };
        if !is_port(host.get(colon.unwrap_or(host.len())..)?) {
            return None;
        }
        unescape_host(host, false)
    }

    /// Returns host and port apart, an IPv6 address without its brackets.
    pub(crate) fn host_and_port(&self) -> (&str, &str) {
        let colon = self.host.rfind(':').filter(|colon| self.host.get(*colon..).is_some_and(is_port));
        let (host, port) = self.host.split_at(colon.unwrap_or(self.host.len()));
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (bare.unwrap_or(host), port.trim_start_matches(':'))
    }

    /// Returns the path as it was written, if that is how a path may be written.
    pub(crate) fn escaped_path(&self) -> String {
        if self.path == "*" || self.path.bytes().all(|byte| is_plain(byte, IN_WRITTEN_PATH)) {
            return self.path.clone();
        }
        let bytes = unescape(&self.path).unwrap_or_default();
        let mut escaped = String::new();
        for byte in bytes {
            if is_plain(byte, IN_PATH) {
                escaped.push(char::from(byte));
            } else {
                escaped.push_str(&format_byte(byte));
            }
        }
        escaped
    }
}

fn format_byte(byte: u8) -> String {
    format!("%{byte:02X}")
}

fn is_plain(byte: u8, others: &[u8]) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) || others.contains(&byte)
}

/// Splits off the scheme; a text that begins with a colon has none and is no address.
fn scheme(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')));
    let (scheme, rest) = text.split_at(end.unwrap_or(text.len()));
    match rest.strip_prefix(':') {
        Some(_) if scheme.is_empty() => None,
        Some(rest) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => Some((scheme, rest)),
        _ => Some(("", text)),
    }
}

fn is_port(text: &str) -> bool {
    text.is_empty()
        || text.strip_prefix(':').is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Undoes percent signs; `None` where one is not followed by two digits.
fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        bytes.push(match byte {
            b'%' => u8::try_from(digit(rest.next())? * 16 + digit(rest.next())?).ok()?,
            byte => byte,
        });
    }
    Some(bytes)
}

/// Undoes percent signs in a host, where they may stand for nothing but letters beyond ASCII, and for a percent sign
/// before the zone of an address.
fn unescape_host(host: &str, is_address: bool) -> Option<String> {
    let bytes = unescape(host)?;
    let text = String::from_utf8(bytes).ok()?;
    let plain = host.bytes().all(|byte| byte == b'%' || byte >= 0x80 || is_plain(byte, IN_HOST));
    let escapes = host.split('%').skip(1);
    let allowed = escapes.into_iter().all(|escape| {
        let beyond = escape.starts_with(|c: char| c.to_digit(16).is_some_and(|digit| digit >= 8));
        beyond || escape.starts_with("25") && is_address
    });
    (plain && allowed).then_some(text)
}
