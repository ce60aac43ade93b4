//! A place in an object, with what managed fields say about it.

use serde_json::{Map, Value};

use super::step::Step;
use crate::FieldPath;

/// A place in an object, with what its managed fields say about it: who owns it, and whether it is owned as a whole.
#[derive(Debug, Clone)]
pub struct Place<'a> {
    path: FieldPath,
    /// What all managers own here, as a `fieldsV1` tree.
    all: Option<&'a Value>,
    /// What the manager that applies owns here.
    own: Option<&'a Value>,
}

/// How a list is merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Items {
    /// As a whole.
    Whole,
    /// Value by value.
    Set,
    /// Item by item, told apart by these fields.
    Keyed(Vec<String>),
}

/// Lists of built-in kinds that are merged item by item, for where no manager owns an item (`types.go` of
/// `k8s.io/api/core/v1` and `admissionregistration/v1`, `+listMapKey`).
const KEYED: [(&str, &[&str]); 12] = [
    ("containers", &["name"]),
    ("initContainers", &["name"]),
    ("ephemeralContainers", &["name"]),
    ("env", &["name"]),
    ("volumes", &["name"]),
    ("webhooks", &["name"]),
    ("matchConditions", &["name"]),
    ("volumeMounts", &["mountPath"]),
    ("volumeDevices", &["devicePath"]),
    ("hostAliases", &["ip"]),
    ("topologySpreadConstraints", &["topologyKey", "whenUnsatisfiable"]),
    ("ownerReferences", &["uid"]),
];

/// The one key field that has a default in built-in kinds.
const PROTOCOL: (&str, &str) = ("protocol", "TCP");

impl<'a> Place<'a> {
    /// Returns the object itself, of which managers own these fields.
    pub(super) fn root(all: &'a Value, own: Option<&'a Value>) -> Self {
        Self { path: FieldPath::root(), all: Some(all), own }
    }

    /// Returns the path.
    pub fn path(&self) -> &FieldPath {
        &self.path
    }

    /// Says whether the manager that applies owns what is here, or something below it.
    pub fn is_owned(&self) -> bool {
        self.own.is_some()
    }

    /// Says whether what is here is owned as a whole.
    pub(super) fn is_whole(&self) -> bool {
        self.all.and_then(Value::as_object).is_some_and(Map::is_empty)
    }

    pub(super) fn field(&self, name: &str) -> Self {
        self.below(self.path.key(name), &format!("f:{name}"))
    }

    /// Returns the list item that a key of a `fieldsV1` tree names.
    pub(super) fn item(&self, key: &str) -> Self {
        let path = Step::parse(key).map_or_else(|| self.path.clone(), |step| step.below(&self.path));
        self.below(path, key)
    }

    fn below(&self, path: FieldPath, key: &str) -> Self {
        let child = |node: Option<&'a Value>| node.and_then(|node| node.get(key));
        Self { path, all: child(self.all), own: child(self.own) }
    }

    /// Tells how the list here is merged: as its owners say, or else as the built-in kinds have it.
    pub(super) fn items(&self, list: &[Value], built_in: bool) -> Items {
        let children = || self.all.and_then(Value::as_object).into_iter().flatten().map(|(key, _)| key);
        if children().any(|key| key.starts_with("v:")) {
            return Items::Set;
        }
        if let Some(Step::Item(keys)) =
            children().filter(|key| key.starts_with("k:")).find_map(|key| Step::parse(key))
        {
            return Items::Keyed(keys.keys().cloned().collect());
        }
        let keyed = |keys: &[&str]| Items::Keyed(keys.iter().map(|key| (*key).to_owned()).collect());
        match self.path.segments().last() {
            Some(crate::Segment::Key(name)) if built_in && !self.is_whole() => {
                let known = KEYED.iter().find(|(field, _)| field == name);
                let has = |key: &str| list.iter().any(|item| item.get(key).is_some());
                match known {
                    Some((_, keys)) => keyed(keys),
                    None if name == "finalizers" => Items::Set,
                    None if name == "ports" && has("containerPort") => keyed(&["containerPort", "protocol"]),
                    None if name == "ports" && self.path.starts_with(&["spec", "ports"]) && has("port") => {
                        keyed(&["port", "protocol"])
                    }
                    None => Items::Whole,
                }
            }
            _ => Items::Whole,
        }
    }

    /// Returns an item with the key field that it may leave out.
    pub(super) fn completed(item: &Value, items: &Items) -> Value {
        let mut item = item.clone();
        if let (Items::Keyed(names), Value::Object(fields)) = (items, &mut item)
            && names.iter().any(|name| name == PROTOCOL.0)
        {
            fields.entry(PROTOCOL.0).or_insert_with(|| Value::from(PROTOCOL.1));
        }
        item
    }

    /// Names a list item as a `fieldsV1` tree does, by the words of the managed fields where they name it.
    pub(super) fn key_of(&self, item: &Value, items: &Items) -> String {
        let Items::Keyed(names) = items else { return format!("v:{item}") };
        let mut keys = Map::new();
        for name in names {
            let default = (name == PROTOCOL.0).then(|| Value::from(PROTOCOL.1));
            if let Some(value) = item.get(name).cloned().or(default) {
                keys.insert(name.clone(), value);
            }
        }
        let known = || {
            let nodes = self.all.and_then(Value::as_object).into_iter().flatten();
            nodes.filter_map(|(key, _)| match Step::parse(key)? {
                Step::Item(known) => Some((key, known)),
                _ => None,
            })
        };
        if let Some((key, _)) = known().find(|(_, known)| *known == keys) {
            return key.clone();
        }
        // A key field may be left out that has a default in the schema.
        let agrees =
            |known: &Map<String, Value>| keys.iter().all(|(name, value)| known.get(name) == Some(value));
        let mut fitting = known().filter(|(_, known)| agrees(known));
        match (fitting.next(), fitting.next()) {
            (Some((key, _)), None) if keys.len() < names.len() => key.clone(),
            _ => format!("k:{}", Value::Object(keys)),
        }
    }
}
