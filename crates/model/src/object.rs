//! A Kubernetes object, what names it, and where it was written.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::content::Content;
use crate::head::{self, Head, Long};
use crate::managed::Stored;
use crate::value::type_name;

/// A group and a kind, written as ApplySets write it: `Kind.group`, or bare `Kind` for the core group.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(into = "String", from = "String")]
#[schemars(with = "String", extend("examples" = ["StatefulSet.apps"]))]
pub struct GroupKind {
    /// The API group, empty for the core group.
    pub group: String,
    /// The kind, such as `StatefulSet`.
    pub kind: String,
}

impl GroupKind {
    /// Names a kind of a group.
    pub fn new(group: &str, kind: &str) -> Self {
        Self { group: group.to_owned(), kind: kind.to_owned() }
    }

    /// Says whether this is the kind `kind` of the group `group`.
    pub fn is(&self, group: &str, kind: &str) -> bool {
        self.group == group && self.kind == kind
    }
}

impl From<String> for GroupKind {
    fn from(text: String) -> Self {
        match text.split_once('.') {
            Some((kind, group)) => Self::new(group, kind),
            None => Self { group: String::new(), kind: text },
        }
    }
}

impl From<GroupKind> for String {
    fn from(kind: GroupKind) -> Self {
        kind.to_string()
    }
}

impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// Names one object of a cluster.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectRef {
    /// Group and kind.
    pub kind: GroupKind,
    /// The version it was written in; two refs that differ only here name the same object.
    pub version: String,
    /// The namespace; `None` for cluster-scoped objects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// Reads what names an object in its body.
    pub fn of(body: &Value) -> Result<Self, ObjectError> {
        let text = |pointer: &str, name: &'static str| match body.pointer(pointer) {
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            _ => Err(ObjectError::Missing(name)),
        };
        if !body.is_object() {
            return Err(ObjectError::NotAMapping(type_name(body)));
        }
        let api_version = text("/apiVersion", "apiVersion")?;
        let kind = text("/kind", "kind")?;
        if body.pointer("/metadata/name").is_none() && body.pointer("/metadata/generateName").is_some() {
            return Err(ObjectError::GenerateName);
        }
        let name = text("/metadata/name", "metadata.name")?;
        let namespace = match body.pointer("/metadata/namespace") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text("/metadata/namespace", "metadata.namespace")?),
        };
        let (group, version) = match api_version.split_once('/') {
            Some((group, version)) => (group.to_owned(), version.to_owned()),
            None => (String::new(), api_version),
        };
        Ok(Self { kind: GroupKind { group, kind }, version, namespace, name })
    }

    /// Returns `group/version`, or `version` for the core group.
    pub fn api_version(&self) -> String {
        if self.kind.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.kind.group, self.version)
        }
    }

    /// Returns the part that identifies the object whatever version it is written in.
    pub fn key(&self) -> (&GroupKind, Option<&str>, &str) {
        (&self.kind, self.namespace.as_deref(), &self.name)
    }

    /// Returns the entry of an ApplySet inventory: `Kind.group/name.namespace` (KEP-3659).
    pub fn inventory_entry(&self) -> String {
        format!(
            "{}.{}/{}.{}",
            self.kind.kind,
            self.kind.group,
            self.name,
            self.namespace.as_deref().unwrap_or_default()
        )
    }

    /// Reads an entry of an ApplySet inventory, as [`ObjectRef::inventory_entry`] writes it, into an
    /// [`ObjectRef::key`]. Names may hold dots, kinds and namespaces do not.
    pub fn key_of_entry(entry: &str) -> Option<(GroupKind, Option<&str>, &str)> {
        let (kind, rest) = entry.split_once('/')?;
        let (kind, group) = kind.split_once('.')?;
        let (name, namespace) = rest.rsplit_once('.')?;
        Some((GroupKind::new(group, kind), Some(namespace).filter(|namespace| !namespace.is_empty()), name))
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.namespace {
            Some(namespace) => write!(f, "{} {namespace}/{}", self.kind, self.name),
            None => write!(f, "{} {}", self.kind, self.name),
        }
    }
}

/// Where an object was written: a path inside the delivered tree and the line of its document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema, Deserialize)]
pub struct Origin {
    /// The path relative to the root of the tree; for rendered objects the directory that was rendered.
    pub path: String,
    /// The line of the document's first node, from 1; `None` where a renderer made the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

/// An object as it is desired or as it is live, with its name checked.
#[derive(Clone, PartialEq)]
pub struct Object {
    reference: ObjectRef,
    origin: Option<Origin>,
    /// Shared: live objects stay as they are, and a plan holds most of them more than once.
    content: Arc<Content>,
}

/// Says why a value is not a usable object.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectError {
    /// The document is not a mapping.
    #[error("expected an object, found {0}")]
    NotAMapping(&'static str),
    /// A field that every object needs is missing or not a text.
    #[error("field `{0}` is missing or is not a text")]
    Missing(&'static str),
    /// The object asks the server to invent its name.
    #[error("`metadata.generateName` cannot be applied: give the object a `metadata.name`")]
    GenerateName,
}

impl Object {
    /// Takes a JSON value and checks that it names an object.
    pub fn new(body: Value, origin: Option<Origin>) -> Result<Self, ObjectError> {
        Self::of(Content::from(body), origin)
    }

    /// Takes content and checks that it names an object.
    pub fn of(content: Content, origin: Option<Origin>) -> Result<Self, ObjectError> {
        Ok(Self { reference: ObjectRef::of(content.body())?, origin, content: Arc::new(content) })
    }

    /// Returns what names the object.
    pub fn reference(&self) -> &ObjectRef {
        &self.reference
    }

    /// Returns where the object was written, if it was.
    pub fn origin(&self) -> Option<&Origin> {
        self.origin.as_ref()
    }

    /// Returns the object without its managed fields, which [`crate::ManagedEntry`] reads.
    pub fn body(&self) -> &Value {
        self.content.body()
    }

    /// Returns the object without its managed fields, giving it away.
    pub fn into_body(self) -> Value {
        Arc::unwrap_or_clone(self.content).into_body()
    }

    /// Returns the object as the server stores it, managed fields included.
    pub fn whole(&self) -> Value {
        self.content.whole()
    }

    /// Returns about how many bytes the object has as JSON, managed fields included.
    pub fn size(&self) -> usize {
        self.content.size()
    }

    /// Returns the same object with another body that names the same object. Managed fields in the body take the place
    /// of its own.
    #[must_use]
    pub fn with_body(&self, body: Value) -> Self {
        let content = Arc::new(self.content.with_body(body));
        Self { reference: self.reference.clone(), origin: self.origin.clone(), content }
    }

    /// Returns the same object as text, a fifth as large. It unfolds when somebody looks, for as long as the returned
    /// object lives: whoever looks at many objects once looks at a folded one each, and lets it go.
    #[must_use]
    pub fn folded(&self) -> Self {
        let content = Arc::new(self.content.folded());
        Self { reference: self.reference.clone(), origin: self.origin.clone(), content }
    }

    /// Says whether two objects hold the same, managed fields included.
    pub fn holds_the_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.content, &other.content) || self.content == other.content
    }

    pub(crate) fn managed(&self) -> &[Stored] {
        self.content.managed()
    }

    /// Returns the uid, if the object is live. Neither this nor what follows unfolds a folded object, but for long
    /// annotations.
    pub fn uid(&self) -> Option<&str> {
        self.content.head().map_or_else(|| head::uid(self.body()), Head::uid)
    }

    /// Returns the resource version, if the object is live.
    pub fn resource_version(&self) -> Option<&str> {
        self.content.head().map_or_else(|| head::resource_version(self.body()), Head::resource_version)
    }

    /// Returns the generation, if the object has one.
    pub fn generation(&self) -> Option<i64> {
        self.content.head().map_or_else(|| head::generation(self.body()), Head::generation)
    }

    /// Says whether the object is being deleted.
    pub fn is_terminating(&self) -> bool {
        self.content.head().map_or_else(|| head::is_terminating(self.body()), Head::is_terminating)
    }

    /// Returns a label.
    pub fn label(&self, key: &str) -> Option<&str> {
        let read = || head::text(self.body(), "labels", key);
        self.content.head().map_or_else(read, |head| head.label(key))
    }

    /// Returns an annotation.
    pub fn annotation(&self, key: &str) -> Option<&str> {
        let read = || head::text(self.body(), "annotations", key);
        self.content.head().map_or_else(read, |head| head.annotation(key).unwrap_or_else(|Long| read()))
    }

    /// Sets a label.
    pub fn set_label(&mut self, key: &str, value: &str) {
        Arc::make_mut(&mut self.content).change(|body| {
            let labels = &mut body["metadata"]["labels"];
            if !labels.is_object() {
                *labels = Value::Object(serde_json::Map::new());
            }
            labels[key] = Value::from(value);
        });
    }
}

/// The body may hold a Secret, so it is never printed.
impl fmt::Debug for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Object({})", self.reference)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_are_read_and_checked() {
        let check = |body: Value, want: Result<&str, ObjectError>| {
            let got = Object::new(body, None).map(|object| object.reference().to_string());
            assert_eq!(got, want.map(str::to_owned));
        };
        let meta = json!({"name": "db", "namespace": "shop"});
        check(
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta}),
            Ok("StatefulSet.apps shop/db"),
        );
        check(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
            Ok("Namespace shop"),
        );
        check(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"generateName": "x-"}}),
            Err(ObjectError::GenerateName),
        );
        check(
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {}}),
            Err(ObjectError::Missing("metadata.name")),
        );
        check(
            json!({"apiVersion": "v1", "kind": true, "metadata": {"name": "a"}}),
            Err(ObjectError::Missing("kind")),
        );
        check(json!([1]), Err(ObjectError::NotAMapping("a list")));
    }

    #[test]
    fn group_kinds_read_what_they_write() {
        for text in ["Secret", "StatefulSet.apps", "Foo.a.example"] {
            assert_eq!(GroupKind::from(text.to_owned()).to_string(), text);
        }
    }

    #[test]
    fn inventory_entries_read_as_they_are_written() {
        for (kind, namespace, name) in [
            ("ConfigMap", Some("shop"), "a.b"),
            ("Namespace", None, "shop"),
            ("Ingress.networking.k8s.io", Some("shop"), "web"),
            ("ClusterRole.rbac.authorization.k8s.io", None, "a:b.c"),
        ] {
            let reference = ObjectRef {
                kind: GroupKind::from(kind.to_owned()),
                version: "v1".into(),
                namespace: namespace.map(str::to_owned),
                name: name.into(),
            };
            let entry = reference.inventory_entry();
            let (kind, namespace, name) = ObjectRef::key_of_entry(&entry).unwrap();
            assert_eq!((&kind, namespace, name), reference.key());
        }
        assert_eq!(ObjectRef::key_of_entry("ConfigMap/a"), None);
    }

    #[test]
    fn debug_never_shows_a_body() {
        let body = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"k": "aHVudGVyMg=="}});
        let object = Object::new(body, None).unwrap();
        assert!(!format!("{object:?}").contains("aHVudGVyMg"));
    }
}
