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
            shown.extend(migration_effect(action)?.as_ref().map(Digest::of_json));
            shown.extend(losses(action).map(|effect| Digest::of_json(&effect)));
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
    let migrated = migrated(action);
    let takes_over: Vec<Value> = action["takesOver"]
        .as_array()
        .map(|conflicts| {
            let taken = conflicts.iter().filter(|conflict| !migrated.contains(&conflict["manager"]));
            taken.map(|conflict| json!([conflict["field"], conflict["manager"]])).collect()
        })
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

/// Mirrors [`windlass_model::Action::migration_effect`] for an action in its written form.
fn migration_effect(action: &Value) -> Result<Option<Value>, SignError> {
    let Some(migration) = action.get("migration") else { return Ok(None) };
    let object = &action["object"];
    Ok(Some(json!({
        "object": [text(object, "kind")?, object["namespace"], object["name"]],
        "uid": action["live"]["uid"],
        "migrates": migrated(action),
        "version": migration["version"],
    })))
}

/// Mirrors [`windlass_model::Action::losses`] for an action in its written form.
fn losses(action: &Value) -> impl Iterator<Item = Value> {
    let uid = &action["live"]["uid"];
    let items = |field: &str| action[field].as_array().into_iter().flatten();
    let taken = items("takes").map(move |taken| {
        json!({"namespace": taken["namespace"], "uid": uid, "takes": [taken["kind"], taken["name"]]})
    });
    let destroyed = items("destroys").map(
        move |volume| json!({"uid": uid, "destroys": [volume["namespace"], volume["claim"], volume["name"]]}),
    );
    let uncounted = (action["uncounted"] == true).then(|| json!({"uid": uid, "uncounted": true}));
    let retained =
        items("retains").map(move |volume| json!({"uid": uid, "retains": [volume["name"], volume["uid"]]}));
    taken.chain(destroyed).chain(uncounted).chain(retained)
}

/// Returns the managers whose fields move before the object is applied.
fn migrated(action: &Value) -> Vec<Value> {
    let managers = action["migration"]["managers"].as_array().into_iter().flatten();
    managers.map(|from| from["manager"].clone()).collect()
}

fn parse<T: serde::de::DeserializeOwned>(file: &Value, key: &'static str) -> Result<T, SignError> {
    let value = file.get(key).cloned().ok_or(SignError::NotAPlan(key))?;
    serde_json::from_value(value).map_err(|_| SignError::NotAPlan(key))
}

fn text<'a>(value: &'a Value, key: &'static str) -> Result<&'a str, SignError> {
    value[key].as_str().ok_or(SignError::NotAPlan(key))
}

#[cfg(test)]
mod tests {
    use windlass_model::{CommitId, Problem, Provenance, Refusal, Signer, VerifiedCommit};

    use super::*;
    use crate::samples::{COMMIT, file, mixed, plan};

    #[test]
    fn what_is_computed_is_what_the_plan_says() {
        let check = |plan: &Plan| {
            let content = read(&file(plan)).unwrap();
            assert_eq!((content.subject, content.effects), (plan.subject(), plan.effects()));
        };
        let mut plan = mixed();
        check(&plan);
        plan.rollback = Some("why".to_owned());
        plan.environment = None;
        check(&plan);
        plan.source = verified();
        check(&plan);
        plan.source = Provenance::Unsigned { what: "a folder".to_owned(), commit: None, author: None };
        check(&plan);
    }

    #[expect(clippy::disallowed_methods, reason = "a sample of what stage 1 hands over")]
    fn verified() -> Provenance {
        let id: CommitId = COMMIT.parse().unwrap();
        let signed_at = "2026-06-01T00:00:00Z".parse().unwrap();
        let signer = Signer { fingerprint: "A".repeat(40), name: "web-flow".to_owned(), signed_at };
        let [repository, branch, tree, author, subject] =
            ["r", "main", "t", "A <a@x>", "s"].map(str::to_owned);
        Provenance::Verified(VerifiedCommit::attest(
            repository,
            branch,
            id.clone(),
            tree,
            id,
            signer,
            author,
            subject,
        ))
    }

    #[test]
    fn a_file_that_shows_less_than_it_would_approve_is_refused() {
        let check = |change: &dyn Fn(&mut Value), want: &str| {
            let mut file = file(&mixed());
            change(&mut file);
            assert_eq!(read(&file).unwrap_err().to_string(), want);
        };
        let effects = "the plan file contradicts itself: its effects do not belong to its actions";
        check(&|file| drop(file["actions"].as_array_mut().unwrap().remove(3)), effects);
        check(&|file| file["actions"][3]["operation"] = json!("keep"), effects);
        check(&|file| file["actions"][1]["delta"][0]["after"] = json!(1), effects);
        check(&|file| file["actions"][1]["object"]["name"] = json!("cache"), effects);
        check(&|file| file["actions"][2]["live"]["resourceVersion"] = json!("40"), effects);
        let subject =
            "the plan file contradicts itself: its subject and sources do not belong to its actions";
        check(&|file| file["environment"] = json!("dev"), subject);
        check(&|file| file["source"]["commit"] = json!("0".repeat(40)), subject);
        check(&|file| file["subject"]["commit"] = json!("0".repeat(40)), subject);
        let other = Digest::of_bytes(b"");
        let named = format!(
            "the plan file names the change digest {other}, but its content has {}",
            mixed().change_digest()
        );
        check(&|file| file["changeDigest"] = json!(other), &named);
    }

    #[test]
    fn what_cannot_be_approved() {
        let check = |file: &Value, want: SignError| assert_eq!(read(file).unwrap_err(), want);
        check(&json!({}), SignError::NotAPlan("changeDigest"));
        check(&json!([]), SignError::NotAPlan("changeDigest"));
        check(&file(&plan(Vec::new())), SignError::Empty);
        let mut refused = mixed();
        refused.refusals = vec![Refusal {
            guard: "g".to_owned(),
            message: "too many deletions".to_owned(),
            hint: String::new(),
        }];
        check(&file(&refused), SignError::Refused("too many deletions".to_owned()));
        let mut broken = mixed();
        broken.actions[0].problem = Some(Problem::Other { message: "m".to_owned() });
        check(&file(&broken), SignError::Refused("1 of its objects have a problem".to_owned()));
    }
}
