//! Whether claims of a class can grow.

use std::collections::BTreeMap;

use windlass_model::Object;

/// The StorageClasses that could be read.
pub(crate) struct Classes<'a>(pub(crate) &'a BTreeMap<String, Object>);

impl Classes<'_> {
    /// Returns whether a claim of a class may be able to grow, true where that is not known, and why.
    pub(crate) fn growth(&self, class: Option<&str>) -> (bool, String) {
        let Some(name) = class.filter(|name| !name.is_empty()) else {
            return (false, "it has no class, and a static volume does not grow".to_owned());
        };
        match self.0.get(name).map(|class| class.body()["allowVolumeExpansion"] == true) {
            Some(true) => (true, format!("its class `{name}` allows growth")),
            Some(false) => (
                false,
                format!(
                    "its class `{name}` does not allow growth; if the driver can grow volumes, deliver the class with `allowVolumeExpansion: true` first"
                ),
            ),
            None => (true, format!("whether its class `{name}` allows growth could not be read")),
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use serde_json::json;

    use super::*;

    pub(crate) fn class(name: &str, grows: bool) -> (String, Object) {
        let body = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": name}, "allowVolumeExpansion": grows});
        (name.to_owned(), Object::new(body, None).unwrap())
    }

    #[test]
    fn the_class_decides_whether_a_claim_grows() {
        let known = BTreeMap::from([class("fast", true), class("fixed", false)]);
        let classes = Classes(&known);
        for (class, want) in [
            (Some("fast"), true),
            (Some("fixed"), false),
            (Some("unread"), true),
            (None, false),
            (Some(""), false),
        ] {
            assert_eq!(classes.growth(class).0, want, "{class:?}");
        }
    }
}
