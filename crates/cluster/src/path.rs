//! URLs of the API.

use std::fmt::Write as _;

use crate::Resource;

/// Returns the path of a kind's collection, in one namespace or over all.
pub(crate) fn collection(resource: &Resource, namespace: Option<&str>) -> String {
    let mut path = if resource.kind.group.is_empty() {
        format!("/api/{}", resource.version)
    } else {
        format!("/apis/{}/{}", resource.kind.group, resource.version)
    };
    if let Some(namespace) = namespace.filter(|_| resource.namespaced) {
        path.push_str("/namespaces/");
        path.push_str(&encode(namespace));
    }
    path.push('/');
    path.push_str(&resource.plural);
    path
}

/// Returns the path of one object.
pub(crate) fn object(resource: &Resource, namespace: Option<&str>, name: &str) -> String {
    format!("{}/{}", collection(resource, namespace), encode(name))
}

/// Returns the path with a query.
pub(crate) fn with_query(path: &str, parameters: &[(&str, &str)]) -> String {
    let mut url = path.to_owned();
    for (position, (key, value)) in parameters.iter().enumerate() {
        let _ = write!(url, "{}{key}={}", if position == 0 { '?' } else { '&' }, encode(value));
    }
    url
}

/// Percent-encodes everything but unreserved characters (RFC 3986).
fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use windlass_model::GroupKind;

    use super::*;

    #[test]
    fn paths() {
        let resource = |group: &str, plural: &str, namespaced| Resource {
            kind: GroupKind::new(group, "X"),
            version: "v1".into(),
            plural: plural.into(),
            namespaced,
            verbs: Vec::new(),
        };
        let check =
            |resource: &Resource, namespace, name, want| assert_eq!(object(resource, namespace, name), want);
        check(&resource("", "pods", true), Some("shop"), "db-0", "/api/v1/namespaces/shop/pods/db-0");
        check(
            &resource("apps", "statefulsets", true),
            Some("shop"),
            "db",
            "/apis/apps/v1/namespaces/shop/statefulsets/db",
        );
        check(&resource("", "namespaces", false), None, "shop", "/api/v1/namespaces/shop");
        check(
            &resource("rbac", "clusterroles", false),
            None,
            "a:b/c",
            "/apis/rbac/v1/clusterroles/a%3Ab%2Fc",
        );
        assert_eq!(collection(&resource("", "pods", true), None), "/api/v1/pods");
        assert_eq!(with_query("/api", &[("a", "b=c,d"), ("e", "1")]), "/api?a=b%3Dc%2Cd&e=1");
    }
}
