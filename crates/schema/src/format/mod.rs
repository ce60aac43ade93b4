//! Formats of texts that the server checks (go-openapi `strfmt`, the list in apiextensions'
//! `pkg/apiserver/validation/formats.go`). Others it ignores.

mod code;
mod network;
mod time;

use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};
use crate::url::Url;
pub(crate) use time::duration;

/// A format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    BsonObjectId,
    Byte,
    Cidr,
    CreditCard,
    Date,
    DateTime,
    Duration,
    Email,
    HexColor,
    Hostname,
    Ipv4,
    Ipv6,
    Isbn,
    Isbn10,
    Isbn13,
    LongName,
    Mac,
    RgbColor,
    ShortName,
    Ssn,
    Uri,
    Uuid,
    Uuid3,
    Uuid4,
    Uuid5,
}

/// How a text meets a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fit {
    Yes,
    No,
    /// It takes more than this crate knows to say so.
    Unknown,
}

impl From<bool> for Fit {
    fn from(fits: bool) -> Self {
        if fits { Self::Yes } else { Self::No }
    }
}

impl Format {
    /// Returns the format of a name, if the server checks it. It overlooks hyphens, except in its own two formats.
    pub(crate) fn read(name: &str) -> Option<Self> {
        Some(match name {
            "k8s-short-name" => return Some(Self::ShortName),
            "k8s-long-name" => return Some(Self::LongName),
            name => match name.replace('-', "").as_str() {
                "bsonobjectid" => Self::BsonObjectId,
                "byte" => Self::Byte,
                "cidr" => Self::Cidr,
                "creditcard" => Self::CreditCard,
                "date" => Self::Date,
                "datetime" => Self::DateTime,
                "duration" => Self::Duration,
                "email" => Self::Email,
                "hexcolor" => Self::HexColor,
                "hostname" => Self::Hostname,
                "ipv4" => Self::Ipv4,
                "ipv6" => Self::Ipv6,
                "isbn" => Self::Isbn,
                "isbn10" => Self::Isbn10,
                "isbn13" => Self::Isbn13,
                "mac" => Self::Mac,
                "rgbcolor" => Self::RgbColor,
                "ssn" => Self::Ssn,
                "uri" => Self::Uri,
                "uuid" => Self::Uuid,
                "uuid3" => Self::Uuid3,
                "uuid4" => Self::Uuid4,
                "uuid5" => Self::Uuid5,
                _ => return None,
            },
        })
    }

    pub(crate) fn check(self, text: &str, path: &FieldPath, findings: &mut Findings) {
        match self.fit(text) {
            Fit::Yes => {}
            Fit::No => findings.flaw(path, FlawKind::Value, format!("is not {}", self.name())),
            Fit::Unknown => {
                findings.unchecked(path, format!("whether it is {} was not checked locally", self.name()));
            }
        }
    }

    fn fit(self, text: &str) -> Fit {
        match self {
            Self::BsonObjectId => code::is_hex(text, 24),
            Self::Byte => code::is_base64(text),
            Self::Cidr => network::is_cidr(text),
            Self::CreditCard => code::is_credit_card(text),
            Self::Date => time::is_date(text),
            Self::DateTime => time::is_date_time(text),
            Self::Duration => duration(text).is_some(),
            Self::Email => return network::email(text),
            Self::HexColor => {
                let digits = text.strip_prefix('#').unwrap_or(text);
                code::is_hex(digits, 3) || code::is_hex(digits, 6)
            }
            Self::Hostname => return network::hostname(text),
            Self::Ipv4 => network::is_ipv4(text),
            Self::Ipv6 => network::is_ipv6(text),
            Self::Isbn => code::is_isbn10(text) || code::is_isbn13(text),
            Self::Isbn10 => code::is_isbn10(text),
            Self::Isbn13 => code::is_isbn13(text),
            Self::LongName => network::is_long_name(text),
            Self::Mac => network::is_mac(text),
            Self::RgbColor => code::is_rgb_color(text),
            Self::ShortName => network::is_short_name(text),
            Self::Ssn => code::is_ssn(text),
            Self::Uri => Url::is_one(text),
            Self::Uuid => code::is_uuid(text, None),
            Self::Uuid3 => code::is_uuid(text, Some('3')),
            Self::Uuid4 => code::is_uuid(text, Some('4')),
            Self::Uuid5 => code::is_uuid(text, Some('5')),
        }
        .into()
    }

    fn name(self) -> &'static str {
        match self {
            Self::BsonObjectId => "a BSON object id",
            Self::Byte => "base64",
            Self::Cidr => "an address range (CIDR)",
            Self::CreditCard => "a credit card number",
            Self::Date => "a date",
            Self::DateTime => "a date with time",
            Self::Duration => "a duration",
            Self::Email => "an email address",
            Self::HexColor => "a hexadecimal colour",
            Self::Hostname => "a host name",
            Self::Ipv4 => "an IPv4 address",
            Self::Ipv6 => "an IPv6 address",
            Self::Isbn | Self::Isbn10 | Self::Isbn13 => "an ISBN",
            Self::LongName => "a long Kubernetes name",
            Self::Mac => "a MAC address",
            Self::RgbColor => "an RGB colour",
            Self::ShortName => "a short Kubernetes name",
            Self::Ssn => "a social security number",
            Self::Uri => "a URI",
            Self::Uuid | Self::Uuid3 | Self::Uuid4 | Self::Uuid5 => "a UUID",
        }
    }
}
