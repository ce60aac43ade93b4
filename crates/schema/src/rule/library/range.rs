//! `cidr()`: ranges of addresses (apiserver, `pkg/cel/library/cidr.go`).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use cel::common::types::{Kind, STRING_TYPE, Type};
use cel::{DeclarationError, Env};

use super::{Address, Known, give, give_flag, give_number, give_text, not, text, typed};

static RANGE: Type = Type::simple_type(Kind::Opaque, "net.CIDR");

/// An address and how many of its bits name the network; bits beyond those may be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    address: Address,
    bits: u8,
}

impl Known for Range {
    fn name() -> &'static Type {
        &RANGE
    }
}

impl Range {
    /// Reads `10.0.0.0/8` as Go's `netip.ParsePrefix` does: no sign, no leading zero.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (address, bits) = text.rsplit_once('/')?;
        let address = Address::read(address)?;
        let plain =
            bits.chars().all(|digit| digit.is_ascii_digit()) && (bits.len() == 1 || !bits.starts_with('0'));
        let bits: u8 = bits.parse().ok().filter(|_| plain)?;
        (bits <= address.size()).then_some(Self { address, bits })
    }

    fn masked(self) -> Self {
        let address = Address(match self.address.0 {
            IpAddr::V4(address) => Ipv4Addr::from_bits(address.to_bits() & first_bits_32(self.bits)).into(),
            IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & first_bits_128(self.bits)).into(),
        });
        Self { address, ..self }
    }

    fn holds(self, address: Address) -> bool {
        let same_family = self.address.0.is_ipv4() == address.0.is_ipv4();
        same_family && Self { address, ..self }.masked() == self.masked()
    }

    fn holds_range(self, other: Self) -> bool {
        self.bits <= other.bits && self.holds(other.address)
    }
}

impl Address {
    fn size(self) -> u8 {
        if self.0.is_ipv4() { 32 } else { 128 }
    }
}

fn first_bits_32(count: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(count)).unwrap_or_default()
}

fn first_bits_128(count: u8) -> u128 {
    u128::MAX.checked_shl(128 - u32::from(count)).unwrap_or_default()
}

pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    const WHAT: &str = "an address range (CIDR)";
    env.add_overload("cidr", "string_to_cidr", vec![STRING_TYPE], |given| {
        give(Range::read(&text(&given, 0)?).ok_or_else(|| not(WHAT))?)
    })?;
    env.add_overload("isCIDR", "is_cidr", vec![STRING_TYPE], |given| {
        give_flag(Range::read(&text(&given, 0)?).is_some())
    })?;
    env.add_overload("string", "cidr_to_string", vec![RANGE.to_owned()], |given| {
        let Range { address, bits } = typed(&given, 0)?;
        give_text(format!("{}/{bits}", address.0))
    })?;
    let member = |env: &mut Env, name: &str, id: &str, arguments, function| {
        env.add_member_overload(name, id, RANGE.to_owned(), arguments, function)
    };
    member(env, "containsIP", "cidr_contains_ip_string", vec![STRING_TYPE], |given| {
        let address = Address::read(&text(&given, 1)?).ok_or_else(|| not("an IP address"))?;
        give_flag(typed::<Range>(&given, 0)?.holds(address))
    })?;
    member(env, "containsIP", "cidr_contains_ip_ip", vec![Address::name().to_owned()], |given| {
        give_flag(typed::<Range>(&given, 0)?.holds(typed(&given, 1)?))
    })?;
    member(env, "containsCIDR", "cidr_contains_cidr_string", vec![STRING_TYPE], |given| {
        let other = Range::read(&text(&given, 1)?).ok_or_else(|| not(WHAT))?;
        give_flag(typed::<Range>(&given, 0)?.holds_range(other))
    })?;
    member(env, "containsCIDR", "cidr_contains_cidr", vec![RANGE.to_owned()], |given| {
        give_flag(typed::<Range>(&given, 0)?.holds_range(typed(&given, 1)?))
    })?;
    member(env, "ip", "cidr_ip", Vec::new(), |given| give(typed::<Range>(&given, 0)?.address))?;
    member(env, "prefixLength", "cidr_prefix_length", Vec::new(), |given| {
        give_number(typed::<Range>(&given, 0)?.bits.into())
    })?;
    member(env, "masked", "cidr_masked", Vec::new(), |given| give(typed::<Range>(&given, 0)?.masked()))
}
