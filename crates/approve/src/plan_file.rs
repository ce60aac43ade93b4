//! Reading a plan file without believing it.

use serde_json::{Value, json};
use windlass_model::{Digest, GroupKind, Plan, is_secret_kind};

use crate::SignError;

/// What an approval of a plan file covers.
#[derive(Debug)]
pub(crate) struct Content {
    pub(crate) subject: Value,
    pub(crate) effects: Vec<Digest>,
}

/// Computes subject and effects from what the file shows, and refuses a file that names others.
pub(crate) fn read(file: &Value) -> Result<Content, SignError> {
    let named: Digest = parse(file, "changeDigest")?;
    let effects: Vec<Digest> = parse(file, "effects")?;
    let subject =
        file.get("subject").filter(|subject| subject.is_object()).ok_or(SignError::NotAPlan("subject"))?;
    let actions = file["actions"].as_array().ok_or(SignError::NotAPlan("actions"))?;
    refuse_unexecutable(file, actions)?;

    let mut shown = Vec::new();
    for action in actions {
        if !matches!(text(action, "operation")?, "keep" | "no-op") {
            shown.push(Digest::of_json(&effect(action)?));
        }
    }
    shown.sort_unstable();
    if shown != effects {
        return Err(SignError::Contradiction("effects"));
    }
    if subject != &self::subject(file) {
        return Err(SignError::Contradiction("subject and sources"));
    }
    let found = Plan::digest_of(subject, &effects);
    if found != named {
        return Err(SignError::OtherDigest { named, found });
    }
    if effects.is_empty() {
        return Err(SignError::Empty);
    }
    Ok(Content { subject: subject.clone(), effects })
}

fn refuse_unexecutable(file: &Value, actions: &[Value]) -> Result<(), SignError> {
    let refusals = file["refusals"].as_array().ok_or(SignError::NotAPlan("refusals"))?;
    if let Some(refusal) = refusals.first() {
        return Err(SignError::Refused(
            refusal["message"].as_str().unwrap_or("a guard refuses it").to_owned(),
        ));
    }
    match actions.iter().filter(|action| action.get("problem").is_some()).count() {
        0 => Ok(()),
        count => Err(SignError::Refused(format!("{count} of its objects have a problem"))),
    }
}

/// Mirrors [`Plan::subject`] for a plan in its written form.
fn subject(file: &Value) -> Value {
    let source = &file["source"];
    let commit = if source["provenance"] == "verified" { &source["id"] } else { &source["commit"] };
    json!({
        "environment": file["environment"],
        "cluster": file["cluster"]["uid"],
        "commit": commit,
        "rendering": file["rendering"],
        "rollback": file.get("rollback").is_some(),
    })
}

/// Mirrors [`windlass_model::Action::effect`] for an action in its written form.
fn effect(action: &Value) -> Result<Value, SignError> {
    let object = &action["object"];
    let kind = text(object, "kind")?;
    let delta = action.get("delta").cloned().unwrap_or_else(|| json!([]));
    let changes = delta.as_array().is_some_and(|changes| !changes.is_empty());
    let secret = is_secret_kind(&GroupKind::from(kind.to_owned())) && changes;
    let takes_over: Vec<Value> = action["takesOver"]
        .as_array()
        .map(|conflicts| conflicts.iter().map(|c| json!([c["field"], c["manager"]])).collect())
        .unwrap_or_default();
    Ok(json!({
        "unit": action["unit"],
        "object": [kind, object["namespace"], object["name"]],
        "operation": action["operation"],
        "uid": action["live"]["uid"],
        "secretVersion": if secret { action["live"]["resourceVersion"].clone() } else { Value::Null },
        "desired": action["desired"],
        "delta": delta,
        "takesOver": takes_over,
    }))
}

fn parse<T: serde::de::DeserializeOwned>(file: &Value, key: &'static str) -> Result<T, SignError> {
    let value = file.get(key).cloned().ok_or(SignError::NotAPlan(key))?;
    serde_json::from_value(value).map_err(|_| SignError::NotAPlan(key))
}

fn text<'a>(value: &'a Value, key: &'static str) -> Result<&'a str, SignError> {
    value[key].as_str().ok_or(SignError::NotAPlan(key))
}
