//! Functions that only Kubernetes has, as far as they are known here.

use std::net::IpAddr;

use cel::ExecutionError;
use cel::common::types::{CelBool, CelString};
use cel::common::value::CowVal;

/// `isIP`: an address without a zone that is not an IPv4 address in IPv6's clothes (apiserver, `pkg/cel/library/ip.go`).
pub(super) fn is_ip<'b, 'v>(arguments: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let argument = arguments.into_iter().next().ok_or(ExecutionError::MissingArgumentOrTarget)?;
    let text = argument.downcast_ref::<CelString<'_>>().ok_or(ExecutionError::MissingArgumentOrTarget)?;
    let is_plain = match text.inner().parse::<IpAddr>() {
        Ok(IpAddr::V4(_)) => true,
        Ok(IpAddr::V6(address)) => address.to_ipv4_mapped().is_none(),
        Err(_) => false,
    };
    Ok(CowVal::owned(CelBool::from(is_plain)))
}
