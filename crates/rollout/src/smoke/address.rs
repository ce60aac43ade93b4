//! Where a probe goes.

use std::net::{IpAddr, SocketAddr};

use windlass_cluster::Cluster;
use windlass_model::{GroupKind, ObjectRef};
use windlass_settings::Probe;

use super::attempt::Miss;
use crate::fields::{list, text};

/// The address of a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    /// The scheme that the probe's address names, if it does.
    pub(super) scheme: Option<String>,
    /// A name or an IP address, without brackets.
    pub(super) host: String,
    /// The port, if one is given.
    pub(super) port: Option<u16>,
}

impl Address {
    /// Finds the address of a probe: its fixed one, or its Service's first load-balancer address.
    pub(super) async fn of(cluster: &Cluster, probe: &Probe) -> Result<Self, Miss> {
        match (&probe.service, &probe.url) {
            (Some(service), _) => {
                let host = balancer(cluster, service).await?;
                Ok(Self { scheme: None, host, port: probe.port })
            }
            (None, Some(url)) => {
                Self::parse(url).ok_or_else(|| Miss::unusable(format!("`{url}` is not an address")))
            }
            (None, None) => Err(Miss::unusable("neither `service` nor `url` is given")),
        }
    }

    /// Reads `scheme://host` or `scheme://host:port`.
    fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.split_once("://")?;
        let authority = rest.trim_end_matches('/');
        let (host, port) = match authority.strip_prefix('[') {
            Some(bracketed) => {
                let (host, rest) = bracketed.split_once(']')?;
                (host, rest.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = port.map(str::parse).transpose().ok()?;
        (!host.is_empty()).then(|| Self { scheme: Some(scheme.to_owned()), host: host.to_owned(), port })
    }

    /// Returns the host as it is written in a URL.
    pub(super) fn url_host(&self) -> String {
        if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() }
    }

    /// Looks the host up; an IP address needs no look-up.
    pub(super) async fn resolve(&self, port: u16) -> Result<Vec<SocketAddr>, Miss> {
        if let Ok(ip) = self.host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(ip, port)]);
        }
        let found = tokio::net::lookup_host((self.host.as_str(), port)).await;
        let found =
            found.map_err(|error| Miss::none(format!("the name {} is not known: {error}", self.host)))?;
        Ok(found.collect())
    }
}

async fn balancer(cluster: &Cluster, service: &str) -> Result<String, Miss> {
    let (namespace, name) =
        service.split_once('/').ok_or_else(|| Miss::unusable(format!("`{service}` names no namespace")))?;
    let reference = ObjectRef {
        kind: GroupKind::new("", "Service"),
        version: "v1".to_owned(),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    };
    let found = cluster.get(&reference).await.map_err(|error| Miss::none(error.to_string()))?;
    let found = found.ok_or_else(|| Miss::unusable(format!("the Service {service} does not exist")))?;
    let mut addresses = list(found.body(), "/status/loadBalancer/ingress").iter();
    let address = |ingress| {
        [text(ingress, "/ip"), text(ingress, "/hostname")].into_iter().find(|text| !text.is_empty())
    };
    match addresses.find_map(address) {
        Some(address) => Ok(address.to_owned()),
        None => Err(Miss::none(format!("the Service {service} has no load-balancer address"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        let check = |url: &str, want: Option<(&str, &str, Option<u16>)>| {
            let got = Address::parse(url);
            let got = got.as_ref().map(|a| (a.scheme.as_deref().unwrap(), a.host.as_str(), a.port));
            assert_eq!(got, want, "{url}");
        };
        check("https://shop.example", Some(("https", "shop.example", None)));
        check("tcp://10.0.0.1:5432", Some(("tcp", "10.0.0.1", Some(5432))));
        check("http://[::1]:80/", Some(("http", "::1", Some(80))));
        check("http://", None);
        check("http://a:b", None);
        check("shop", None);
    }
}
