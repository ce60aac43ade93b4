//! From documents to objects, each checked by itself.

use serde_json::Value;
use windlass_model::{GroupKind, Object, ObjectRef, Origin};
use windlass_yaml::Document;

use crate::scope::Definitions;
use crate::{ObjectProblem, RenderError, normal};

const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// A body with the place where it is written. The body is kept as text: all files are read before the first object is
/// checked, and trees take many times as much.
pub(crate) struct Raw {
    text: Box<str>,
    pub(crate) origin: Origin,
}

impl Raw {
    pub(crate) fn new(body: &Value, origin: Origin) -> Self {
        Self { text: body.to_string().into_boxed_str(), origin }
    }

    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

/// Takes the objects out of a document: itself, or the items of a list kind, lists in lists included.
///
/// Items without apiVersion and kind get them from a typed list such as `ConfigMapList`, as in `kubectl`.
pub(crate) fn flatten(
    mut document: Document,
    path: &str,
    bodies: &mut Vec<(Value, Origin)>,
    errors: &mut Vec<RenderError>,
) {
    let value = document.value.take();
    let mut pending = vec![(String::new(), value)];
    while let Some((pointer, mut body)) = pending.pop() {
        let line = document.position(&pointer).map_or(document.line, |position| position.line);
        let origin = Origin { path: path.to_owned(), line: Some(line) };
        let kind = body["kind"].as_str().unwrap_or_default().to_owned();
        let is_list = kind.ends_with("List") && (body.get("items").is_some() || kind == "List");
        if !is_list {
            bodies.push((body, origin));
            continue;
        }
        let Value::Array(items) = body["items"].take() else {
            errors.push(RenderError::Object { origin, object: kind, problem: ObjectProblem::NoItems });
            continue;
        };
        let item_kind = kind.strip_suffix("List").unwrap_or_default();
        for (index, mut item) in items.into_iter().enumerate().rev() {
            if let (false, Some(map)) = (item_kind.is_empty(), item.as_object_mut()) {
                map.entry("apiVersion").or_insert_with(|| body["apiVersion"].clone());
                map.entry("kind").or_insert_with(|| Value::from(item_kind));
            }
            pending.push((format!("{pointer}/items/{index}"), item));
        }
    }
}

/// Checks one object and brings it into the form that is sent.
pub(crate) fn check(
    raw: Raw,
    definitions: &Definitions,
    scopes: &impl Fn(&GroupKind) -> Option<bool>,
    warnings: &mut Vec<String>,
) -> Result<Object, RenderError> {
    let mut body = raw.body();
    let origin = raw.origin;
    match checked(&mut body, &origin, definitions, scopes) {
        Ok((object, notes)) => {
            warnings
                .extend(notes.into_iter().map(|note| format!("{origin}: {}: {note}", object.reference())));
            Ok(object)
        }
        Err(problem) => Err(RenderError::Object { object: label(&body), origin, problem }),
    }
}

fn checked(
    body: &mut Value,
    origin: &Origin,
    definitions: &Definitions,
    scopes: &impl Fn(&GroupKind) -> Option<bool>,
) -> Result<(Object, Vec<String>), ObjectProblem> {
    if body.is_null() {
        return Err(ObjectProblem::NullItem("items".to_owned()));
    }
    let reference = ObjectRef::of(body)?;
    check_names(&reference, body)?;
    match definitions.namespaced(&reference.kind, scopes) {
        Some(true) if reference.namespace.is_none() => return Err(ObjectProblem::NamespaceMissing),
        Some(false) if reference.namespace.is_some() => return Err(ObjectProblem::NamespaceForbidden),
        _ => {}
    }
    if body.pointer("/metadata/labels").and_then(|labels| labels.get(PART_OF)).is_some() {
        return Err(ObjectProblem::PartOfLabel);
    }
    if body.pointer("/metadata/managedFields").is_some_and(|fields| !fields.is_null()) {
        return Err(ObjectProblem::ManagedFields);
    }
    let schema = definitions.schema(&reference.kind, &reference.version);
    let notes = normal::normalise(&reference.kind, schema, body)?;
    Ok((Object::new(body.take(), Some(origin.clone()))?.folded(), notes))
}

/// Refuses names that would change the address of a request.
fn check_names(reference: &ObjectRef, body: &Value) -> Result<(), ObjectProblem> {
    let legal = |text: &str| {
        !matches!(text, "." | "..")
            && text.len() <= 253
            && !text.contains(['/', '%'])
            && !text.contains(char::is_control)
            && !text.contains(char::is_whitespace)
    };
    if !legal(&reference.name) {
        return Err(ObjectProblem::IllegalName("metadata.name"));
    }
    if !reference.namespace.as_deref().is_none_or(legal) {
        return Err(ObjectProblem::IllegalName("metadata.namespace"));
    }
    if !legal(&reference.kind.kind) {
        return Err(ObjectProblem::IllegalName("kind"));
    }
    let group_given = body["apiVersion"].as_str().is_some_and(|text| text.contains('/'));
    let version = &reference.version;
    if version.is_empty() || !legal(version) || (group_given && reference.kind.group.is_empty()) {
        return Err(ObjectProblem::IllegalVersion);
    }
    Ok(())
}

/// Names a body as far as it has names.
fn label(body: &Value) -> String {
    if let Ok(reference) = ObjectRef::of(body) {
        return reference.to_string();
    }
    let text = |pointer: &str| body.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let name =
        [text("/metadata/name"), text("/metadata/generateName")].into_iter().find(|name| !name.is_empty());
    let kind = if text("/kind").is_empty() { "object" } else { text("/kind") };
    name.map_or_else(|| kind.to_owned(), |name| format!("{kind} {name}")).chars().take(200).collect()
}
