//! `ip()`: addresses without a zone that are not IPv4 addresses in IPv6's clothes (apiserver, `pkg/cel/library/ip.go`).

use std::net::IpAddr;

use cel::common::types::{Kind, STRING_TYPE, Type};
use cel::{DeclarationError, Env};

use super::{Known, give, give_flag, give_number, give_text, not, text, typed};

static ADDRESS: Type = Type::simple_type(Kind::Opaque, "net.IP");

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Address(pub(super) IpAddr);

impl Known for Address {
    fn name() -> &'static Type {
        &ADDRESS
    }
}

impl Address {
    pub(super) fn read(text: &str) -> Option<Self> {
        let address: IpAddr = text.parse().ok()?;
        let in_clothes = matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some());
        (!in_clothes).then_some(Self(address))
    }

    /// Go's `netip.Addr.IsLinkLocalMulticast`.
    fn is_link_local_multicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => matches!(address.octets(), [224, 0, 0, _]),
            IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
        }
    }

    fn is_link_local_unicast(self) -> bool {
        match self.0 {
            IpAddr::V4(address) => address.is_link_local(),
            IpAddr::V6(address) => address.is_unicast_link_local(),
        }
    }

    /// Go's `netip.Addr.IsGlobalUnicast`: whatever has no other purpose, private networks included.
    fn is_global_unicast(self) -> bool {
        let broadcast = matches!(self.0, IpAddr::V4(address) if address.is_broadcast());
        !(broadcast
            || self.0.is_unspecified()
            || self.0.is_loopback()
            || self.0.is_multicast()
            || self.is_link_local_unicast())
    }
}

pub(super) fn add(env: &mut Env) -> Result<(), DeclarationError> {
    const WHAT: &str = "an IP address";
    env.add_overload("ip", "string_to_ip", vec![STRING_TYPE], |given| {
        give(Address::read(&text(&given, 0)?).ok_or_else(|| not(WHAT))?)
    })?;
    env.add_overload("isIP", "is_ip", vec![STRING_TYPE], |given| {
        give_flag(Address::read(&text(&given, 0)?).is_some())
    })?;
    env.add_overload("ip.isCanonical", "ip_is_canonical", vec![STRING_TYPE], |given| {
        let text = text(&given, 0)?;
        give_flag(Address::read(&text).ok_or_else(|| not(WHAT))?.0.to_string() == text)
    })?;
    env.add_overload("string", "ip_to_string", vec![ADDRESS.to_owned()], |given| {
        give_text(typed::<Address>(&given, 0)?.0.to_string())
    })?;
    let member = |env: &mut Env, name: &str, id: &str, function| {
        env.add_member_overload(name, id, ADDRESS.to_owned(), Vec::new(), function)
    };
    member(env, "family", "ip_family", |given| {
        give_number(if typed::<Address>(&given, 0)?.0.is_ipv4() { 4 } else { 6 })
    })?;
    member(env, "isUnspecified", "ip_is_unspecified", |given| {
        give_flag(typed::<Address>(&given, 0)?.0.is_unspecified())
    })?;
    member(env, "isLoopback", "ip_is_loopback", |given| {
        give_flag(typed::<Address>(&given, 0)?.0.is_loopback())
    })?;
    member(env, "isLinkLocalMulticast", "ip_is_link_local_multicast", |given| {
        give_flag(typed::<Address>(&given, 0)?.is_link_local_multicast())
    })?;
    member(env, "isLinkLocalUnicast", "ip_is_link_local_unicast", |given| {
        give_flag(typed::<Address>(&given, 0)?.is_link_local_unicast())
    })?;
    member(env, "isGlobalUnicast", "ip_is_global_unicast", |given| {
        give_flag(typed::<Address>(&given, 0)?.is_global_unicast())
    })
}
