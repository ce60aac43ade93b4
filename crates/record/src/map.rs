//! ConfigMaps that hold one JSON text.

use serde_json::{Value, json};
use windlass_model::{EnvironmentName, GroupKind, Object, ObjectRef};

use crate::{ENVIRONMENT, RECORD, RecordError};

/// Names a ConfigMap.
pub(crate) fn reference(namespace: &str, name: &str) -> ObjectRef {
    ObjectRef {
        kind: GroupKind::new("", "ConfigMap"),
        version: "v1".to_owned(),
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}

/// Builds a ConfigMap that holds `text` under `key`.
pub(crate) fn build(
    reference: &ObjectRef,
    environment: &EnvironmentName,
    record: &str,
    key: &str,
    text: &str,
) -> Object {
    let body = json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": reference.name,
            "namespace": reference.namespace,
            "labels": {ENVIRONMENT: environment.as_str(), RECORD: record},
        },
        "data": {key: text},
    });
    Object::new(body, None).unwrap_or_else(|_| unreachable!("the body names its object"))
}

/// Returns the live ConfigMap with another text; uid and version stay, so that it can only replace this one.
pub(crate) fn with_text(live: &Object, key: &str, text: &str) -> Object {
    let mut body = live.body().clone();
    if !body["data"].is_object() {
        body["data"] = json!({});
    }
    body["data"][key] = Value::from(text);
    live.with_body(body)
}

/// Reads the JSON text that a ConfigMap holds.
pub(crate) fn read<T: serde::de::DeserializeOwned>(live: &Object, key: &str) -> Result<T, RecordError> {
    let unreadable =
        |reason: String| RecordError::Unreadable { object: live.reference().to_string(), reason };
    let text = live
        .body()
        .get("data")
        .and_then(|data| data.get(key)?.as_str())
        .ok_or_else(|| unreadable(format!("it has no `{key}`")))?;
    serde_json::from_str(text).map_err(|error| unreadable(format!("`{key}`: {error}")))
}
