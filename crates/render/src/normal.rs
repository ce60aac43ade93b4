//! What is taken out of an object, or rewritten, before it is sent.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use windlass_model::{GroupKind, is_secret_kind};

use crate::{ObjectProblem, bundles, scope};

const SET_BY_SERVER: [&str; 7] = [
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
];

/// What `kubectl apply` writes of the manifest that it sent. It repeats a Secret, and whoever sends another tool's copy of
/// it makes that tool remove what it never declared.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Brings an object into the form that is sent; returns what was changed and is worth a warning.
///
/// - `status` is dropped: the server ignores or, worse, owns it.
/// - What only the server sets in metadata is dropped, as an exported object has it: its uid would be taken for a
///   condition, and no other object could ever meet it. So is the annotation in which kubectl keeps what it applied.
/// - A `caBundle` that only holds a place is dropped, because somebody else puts the real one there (chaos-mesh issue
///   4822).
/// - Nulls are dropped, because server-side apply stores them as zero values. In custom resources they stay where
///   the schema in the rendering allows them, and where the schema is not known.
/// - Empty mappings and lists in metadata are dropped, because custom resources are rewritten by them every time.
/// - `stringData` of a Secret becomes `data`, so that a key that is removed goes away (kubernetes issue 108008).
pub(crate) fn normalise(
    kind: &GroupKind,
    schema: Option<&Value>,
    body: &mut Value,
) -> Result<Vec<String>, ObjectProblem> {
    let mut warnings = Vec::new();
    if body.as_object_mut().is_some_and(|map| map.remove("status").is_some()) {
        warnings.push("`status` is left out".to_owned());
    }
    warnings.extend(set_by_server(body).map(|field| format!("`metadata.{field}` is left out")));
    if body
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut)
        .is_some_and(|annotations| annotations.remove(LAST_APPLIED).is_some())
    {
        warnings.push(format!("the annotation `{LAST_APPLIED}` is left out"));
    }
    warnings.extend(
        bundles::drop_placeholders(kind, body)
            .map(|path| format!("`{path}` only holds a place and is left out")),
    );
    if let Some(item) = null_item(body, &mut String::new()) {
        return Err(ObjectProblem::NullItem(item));
    }
    let nulls = if scope::built_in(kind).is_some() {
        Nulls::Drop
    } else {
        schema.map_or(Nulls::Keep, Nulls::BySchema)
    };
    let mut dropped = Vec::new();
    drop_nulls(body, nulls, "", &mut dropped);
    warnings.extend(dropped.iter().map(|path| format!("`{path}` is null and left out")));
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        drop_nulls_of(metadata, Nulls::Drop, "metadata", &mut Vec::new());
        metadata.retain(|_, value| !is_empty(value));
    }
    check_texts(body, "/metadata/labels", "metadata.labels")?;
    check_texts(body, "/metadata/annotations", "metadata.annotations")?;
    if kind.is("", "ConfigMap") {
        check_texts(body, "/data", "data")?;
    }
    if is_secret_kind(kind) {
        fold(body)?;
    }
    Ok(warnings)
}

/// Takes out of metadata what only the server sets, and returns what was there.
fn set_by_server(body: &mut Value) -> impl Iterator<Item = &'static str> {
    let mut found = Vec::new();
    if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
        // Every generator writes `creationTimestamp: null`.
        let set = |field: &&str| metadata.remove(*field).is_some_and(|value| !value.is_null());
        found = SET_BY_SERVER.into_iter().filter(set).collect();
    }
    found.into_iter()
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Object(map) => map.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Finds a null in a list: the server answers it with an internal error.
fn null_item(value: &Value, path: &mut String) -> Option<String> {
    match value {
        Value::Array(items) if items.iter().any(Value::is_null) => Some(path.clone()),
        Value::Array(items) => items.iter().find_map(|item| null_item(item, path)),
        Value::Object(map) => map.iter().find_map(|(key, value)| {
            let length = path.len();
            if length > 0 {
                path.push('.');
            }
            path.push_str(key);
            let found = null_item(value, path);
            path.truncate(length);
            found
        }),
        _ => None,
    }
}

#[derive(Clone, Copy)]
enum Nulls<'a> {
    Drop,
    Keep,
    BySchema(&'a Value),
}

impl Nulls<'_> {
    /// Returns the rule for a field, and whether the field itself may be null.
    fn field(self, key: &str) -> (Self, bool) {
        let Self::BySchema(schema) = self else { return (self, matches!(self, Self::Keep)) };
        let known = schema.get("properties").and_then(|properties| properties.get(key));
        match known.or_else(|| schema.get("additionalProperties").filter(|schema| schema.is_object())) {
            Some(field) => (Self::BySchema(field), field["nullable"] == true),
            None => (Self::Keep, true),
        }
    }

    fn item(self) -> Self {
        match self {
            Self::BySchema(schema) => schema.get("items").map_or(Self::Keep, Nulls::BySchema),
            other => other,
        }
    }
}

fn drop_nulls(value: &mut Value, rule: Nulls, path: &str, dropped: &mut Vec<String>) {
    match value {
        Value::Object(map) => drop_nulls_of(map, rule, path, dropped),
        Value::Array(items) => items.iter_mut().for_each(|item| drop_nulls(item, rule.item(), path, dropped)),
        _ => {}
    }
}

fn drop_nulls_of(map: &mut Map<String, Value>, rule: Nulls, path: &str, dropped: &mut Vec<String>) {
    map.retain(|key, value| {
        let (inner, nullable) = rule.field(key);
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        if value.is_null() && !nullable {
            // `metadata.creationTimestamp: null` is what every generator writes.
            if !path.ends_with(".metadata.creationTimestamp") {
                dropped.push(path);
            }
            return false;
        }
        drop_nulls(value, inner, &path, dropped);
        true
    });
}

fn check_texts(body: &Value, pointer: &str, field: &'static str) -> Result<(), ObjectProblem> {
    match body.pointer(pointer) {
        None => Ok(()),
        Some(Value::Object(map)) => {
            map.iter().try_for_each(|(key, value)| check_text(field, key, value).map(drop))
        }
        Some(_) => Err(ObjectProblem::NotMapping(field)),
    }
}

fn check_text<'a>(field: &str, key: &str, value: &'a Value) -> Result<&'a str, ObjectProblem> {
    let found = match value {
        Value::String(text) => return Ok(text),
        Value::Null => "it is null",
        Value::Bool(_) => "it is read as a boolean",
        Value::Number(_) => "it is read as a number",
        Value::Array(_) => "it is a list",
        Value::Object(_) => "it is a mapping",
    };
    Err(ObjectProblem::NotText(format!("{field}.{key}"), found))
}

/// Folds `stringData` into `data`, and brings `data` into base64 of one form.
fn fold(body: &mut Value) -> Result<(), ObjectProblem> {
    let Some(map) = body.as_object_mut() else { return Ok(()) };
    let mut folded = Map::new();
    match map.get("data") {
        None => {}
        Some(Value::Object(data)) => {
            for (key, value) in data {
                let text: String = check_text("data", key, value)?.split_ascii_whitespace().collect();
                let bytes =
                    STANDARD.decode(text).map_err(|_| ObjectProblem::NotBase64(format!("data.{key}")))?;
                folded.insert(key.clone(), Value::from(STANDARD.encode(bytes)));
            }
        }
        Some(_) => return Err(ObjectProblem::NotMapping("data")),
    }
    match map.get("stringData") {
        None => {}
        Some(Value::Object(data)) => {
            for (key, value) in data {
                folded
                    .insert(key.clone(), Value::from(STANDARD.encode(check_text("stringData", key, value)?)));
            }
        }
        Some(_) => return Err(ObjectProblem::NotMapping("stringData")),
    }
    map.remove("stringData");
    if !folded.is_empty() || map.contains_key("data") {
        map.insert("data".to_owned(), Value::Object(folded));
    }
    Ok(())
}
