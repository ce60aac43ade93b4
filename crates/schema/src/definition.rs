//! A CustomResourceDefinition, read.

use serde_json::Value;
use windlass_model::{GroupKind, Object, ObjectRef, condition_is, defined_kind};

/// A CustomResourceDefinition.
#[derive(Debug, Clone)]
pub struct Definition<'a> {
    kind: GroupKind,
    body: &'a Value,
}

/// One version of a definition.
#[derive(Debug, Clone, Copy)]
pub struct Version<'a>(&'a Value);

impl<'a> Definition<'a> {
    /// Reads a definition; `None` if the object is none.
    pub fn read(object: &'a Object) -> Option<Self> {
        Some(Self { kind: defined_kind(object)?, body: object.body() })
    }

    /// Returns the kind that it defines.
    pub fn kind(&self) -> &GroupKind {
        &self.kind
    }

    /// Returns the name in URLs.
    pub fn plural(&self) -> &'a str {
        self.text("/spec/names/plural")
    }

    /// Returns `Namespaced` or `Cluster`.
    pub fn scope(&self) -> &'a str {
        self.text("/spec/scope")
    }

    /// Says whether a webhook converts between versions.
    pub fn converts_by_webhook(&self) -> bool {
        self.text("/spec/conversion/strategy") == "Webhook"
    }

    /// Returns the Service that converts between versions; `None` if nothing has to be called, or a URL is.
    pub fn converting_service(&self) -> Option<ObjectRef> {
        let service = self.body.pointer("/spec/conversion/webhook/clientConfig/service")?;
        self.converts_by_webhook().then_some(ObjectRef {
            kind: GroupKind::new("", "Service"),
            version: "v1".to_owned(),
            namespace: Some(service["namespace"].as_str()?.to_owned()),
            name: service["name"].as_str()?.to_owned(),
        })
    }

    /// Returns the address that converts between the versions, where that is no Service.
    pub fn converting_url(&self) -> Option<&'a str> {
        let url = self.body.pointer("/spec/conversion/webhook/clientConfig/url")?;
        url.as_str().filter(|_| self.converts_by_webhook())
    }

    /// Says whether the server has taken the kind up, so that objects of it can have been made.
    pub fn is_established(&self) -> bool {
        condition_is(self.body, "Established", "True")
    }

    /// Returns the versions in which objects may still be stored; a definition that is not live has none.
    pub fn stored_versions(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let stored = self.body.pointer("/status/storedVersions").and_then(Value::as_array);
        stored.into_iter().flatten().filter_map(Value::as_str)
    }

    /// Returns all versions.
    pub fn versions(&self) -> impl Iterator<Item = Version<'a>> + use<'a> {
        let versions = self.body.pointer("/spec/versions").and_then(Value::as_array);
        versions.into_iter().flatten().map(Version)
    }

    /// Returns a version by its name.
    pub fn version(&self, name: &str) -> Option<Version<'a>> {
        self.versions().find(|version| version.name() == name)
    }

    /// Returns the version in which objects are stored.
    pub fn storage(&self) -> Option<Version<'a>> {
        self.versions().find(|version| version.0["storage"] == true)
    }

    /// Says whether objects can be read and written in a version.
    pub fn serves(&self, name: &str) -> bool {
        self.version(name).is_some_and(Version::is_served)
    }

    fn text(&self, pointer: &str) -> &'a str {
        self.body.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

impl<'a> Version<'a> {
    /// Returns the name, such as `v1beta1`.
    pub fn name(self) -> &'a str {
        self.0["name"].as_str().unwrap_or_default()
    }

    /// Says whether objects can be read and written in it.
    pub fn is_served(self) -> bool {
        self.0["served"] == true
    }

    /// Returns the schema, if it is well placed.
    pub fn schema(self) -> Option<&'a Value> {
        self.0.pointer("/schema/openAPIV3Schema")
    }

    /// Says whether `status` is written apart from the rest.
    pub fn has_status(self) -> bool {
        self.0.pointer("/subresources/status").is_some()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_service_converts_where_the_strategy_says_so() {
        let check = |conversion: serde_json::Value, want: Option<&str>| {
            let body = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
                "metadata": {"name": "foos.x.dev"},
                "spec": {"group": "x.dev", "names": {"kind": "Foo", "plural": "foos"}, "conversion": conversion}});
            let object = Object::new(body, None).unwrap();
            let service = Definition::read(&object).unwrap().converting_service();
            assert_eq!(service.map(|service| service.to_string()).as_deref(), want, "{object:?}");
        };
        let service =
            json!({"clientConfig": {"service": {"namespace": "a", "name": "s", "path": "/convert"}}});
        check(json!({"strategy": "Webhook", "webhook": service}), Some("Service a/s"));
        check(json!({"strategy": "None", "webhook": service}), None);
        check(json!({"strategy": "Webhook", "webhook": {"clientConfig": {"url": "https://x.dev"}}}), None);
        check(json!(null), None);
    }

    #[test]
    fn storage_need_not_be_the_newest_version() {
        let body = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": "foos.x.dev"},
            "spec": {"group": "x.dev", "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                "versions": [{"name": "v1", "served": true}, {"name": "v1beta1", "served": false, "storage": true}]},
            "status": {"storedVersions": ["v1beta1"]},
        });
        let object = Object::new(body, None).unwrap();
        let definition = Definition::read(&object).unwrap();
        assert_eq!(definition.kind(), &GroupKind::new("x.dev", "Foo"));
        assert_eq!((definition.plural(), definition.scope()), ("foos", "Namespaced"));
        assert_eq!(definition.storage().map(Version::name), Some("v1beta1"));
        assert_eq!(definition.stored_versions().collect::<Vec<_>>(), ["v1beta1"]);
        assert!(definition.serves("v1") && !definition.serves("v1beta1") && !definition.serves("v2"));
    }
}
