//! What is possible with storage that is there: growing it, and changing what a StatefulSet claims.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_model::{Action, Object, Operation, Problem, quantity_bytes, readable_bytes};

use super::{note, ordinals, text};
use crate::overlay::overlay;
use crate::scene::Scene;
use crate::{Ask, Asked, ObjectKey, kinds};

const REQUEST: &str = "/spec/resources/requests/storage";
const CLASS: &str = "/spec/storageClassName";
const TEMPLATES: &str = "/spec/volumeClaimTemplates";

/// Says whether explaining needs the StorageClasses: a claim changes, or a StatefulSet is refused.
pub(crate) fn asks_for_classes(objects: &BTreeMap<ObjectKey, Asked>) -> bool {
    objects.iter().any(|(key, asked)| {
        let refused = matches!(asked.answer, Ask::Refused(_));
        let changes = || match (&asked.live, &asked.answer) {
            (Some(live), Ask::Answered(reply)) => text(live, REQUEST) != text(&reply.object, REQUEST),
            (live, _) => live.is_some() && refused,
        };
        kinds::is_claim(&key.kind) && changes()
            || kinds::is_stateful_set(&key.kind) && refused && asked.live.is_some()
    })
}

/// Adds to the action on a claim or a StatefulSet what is possible and how; corrects what the server calls a missing
/// right although it is the class that does not allow growth.
pub(crate) fn explain(scene: &Scene<'_>, action: &mut Action) {
    let kind = &action.object.kind;
    if !kinds::is_claim(kind) && !kinds::is_stateful_set(kind) {
        return;
    }
    let key = ObjectKey::from(&action.object);
    let Some(live) = scene.observation.objects.get(&key).and_then(|asked| asked.live.as_ref()) else {
        return;
    };
    let Some(desired) = scene.desired(&key) else { return };
    let after = live.with_body(overlay(live.body(), desired.body()));
    let classes = Classes(&scene.observation.classes);
    if kinds::is_claim(kind) {
        of_claim(action, live, &after, &classes);
    } else if action.operation == Operation::Recreate {
        action.forecasts.extend(of_set(live, &after, &classes).into_iter().map(note));
    }
}

/// The StorageClasses that could be read.
struct Classes<'a>(&'a BTreeMap<String, Object>);

impl Classes<'_> {
    /// Says whether a claim of a class can grow, in words, and whether that is certain not to be so.
    fn growth(&self, class: Option<&str>) -> (bool, String) {
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

fn of_claim(action: &mut Action, live: &Object, after: &Object, classes: &Classes<'_>) {
    let request = |object: &Object| text(object, REQUEST).and_then(quantity_bytes);
    let (Some(was), Some(will)) = (request(live), request(after)) else { return };
    if will > was {
        let (possible, why) = classes.growth(text(live, CLASS));
        let change = format!("grows from {} to {}", readable_bytes(was), readable_bytes(will));
        if !possible && action.problem.is_some() {
            action.problem = Some(Problem::Other { message: format!("the claim cannot grow: {why}") });
        } else {
            action.forecasts.push(note(format!(
                "{change}: {why}; the file system grows while it is mounted where the driver can, else when the pod starts again"
            )));
        }
    } else if will < was {
        action.forecasts.push(note(format!(
            "a claim never shrinks ({} to {}). To move to a smaller one: deliver it under another name, copy the data while nothing writes, point the workload to it, then remove the old claim",
            readable_bytes(was),
            readable_bytes(will)
        )));
    }
}

/// How one claim template of a StatefulSet differs.
#[derive(Debug, PartialEq, Eq)]
enum Change {
    Added(String),
    Removed(String),
    Grows { name: String, to: String, class: Option<String> },
    Shrinks(String),
    Otherwise(String),
}

fn changes(live: &Object, after: &Object) -> Vec<Change> {
    let templates =
        |set: &Object| set.body().pointer(TEMPLATES).and_then(Value::as_array).cloned().unwrap_or_default();
    let name = |template: &Value| {
        template.pointer("/metadata/name").and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let (old, new) = (templates(live), templates(after));
    let find = |list: &[Value], wanted: &str| list.iter().find(|template| name(template) == wanted).cloned();
    let removed = old.iter().map(&name).filter(|name| find(&new, name).is_none()).map(Change::Removed);
    let mut changes: Vec<Change> = removed.collect();
    for template in &new {
        match find(&old, &name(template)) {
            None => changes.push(Change::Added(name(template))),
            Some(before) if before != *template => changes.push(change(name(template), &before, template)),
            Some(_) => {}
        }
    }
    changes
}

fn change(name: String, before: &Value, after: &Value) -> Change {
    let request =
        |template: &Value| template.pointer(REQUEST).and_then(Value::as_str).and_then(quantity_bytes);
    match (request(before), request(after)) {
        (Some(was), Some(will)) if will > was => Change::Grows {
            name,
            to: after.pointer(REQUEST).and_then(Value::as_str).unwrap_or_default().to_owned(),
            class: before.pointer(CLASS).and_then(Value::as_str).map(str::to_owned),
        },
        (Some(was), Some(will)) if will < was => Change::Shrinks(name),
        _ => Change::Otherwise(name),
    }
}

/// Returns the way to what a refused change of a StatefulSet wants; measured on 1.36: deleted with its pods orphaned and
/// created again, a StatefulSet adopts them without a restart, unless a claim template was added.
fn of_set(live: &Object, after: &Object, classes: &Classes<'_>) -> Vec<String> {
    let differs = |pointer: &str| live.body().pointer(pointer) != after.body().pointer(pointer);
    if differs("/spec/selector") {
        return vec![
            "with another selector its pods would not be adopted, and their names would stay taken: scale to 0 first, or deliver it under another name beside the old one".to_owned(),
        ];
    }
    let changes = changes(live, after);
    let mut steps: Vec<String> = Vec::new();
    for change in &changes {
        match change {
            Change::Shrinks(name) => {
                return vec![format!(
                    "the claims `{name}` never shrink: deliver a StatefulSet of another name with smaller ones beside it, and move the data"
                )];
            }
            Change::Added(name) => {
                return vec![format!(
                    "running pods cannot be given the new claim `{name}`: after the steps below they are adopted, but stay as they are until each is deleted, from the lowest ordinal up (kubernetes issue 141876)"
                )]
                .into_iter()
                .chain([orphan(live, "the StatefulSet is created again and adopts its pods")])
                .collect();
            }
            Change::Grows { name, to, class } => steps.push(grow(live, name, to, class.as_deref(), classes)),
            Change::Removed(name) => {
                steps.push(format!(
                    "the claims of `{name}` stay, unused; pods are replaced one after the other"
                ));
            }
            Change::Otherwise(name) => {
                steps.push(format!("claims of `{name}` that exist stay as they are; only new ones differ"));
            }
        }
    }
    if !changes.is_empty() || differs("/spec/serviceName") || differs("/spec/podManagementPolicy") {
        steps.push(orphan(live, "the StatefulSet is created again and adopts its pods without a restart"));
    }
    steps
}

fn grow(set: &Object, template: &str, to: &str, class: Option<&str>, classes: &Classes<'_>) -> String {
    let replicas = super::count(set, "/spec/replicas", 1);
    let claims = ordinals(set, &format!("{template}-"), 0..replicas);
    let (possible, why) = classes.growth(class);
    if !possible {
        return format!("the claims of `{template}` cannot grow: {why}");
    }
    let namespace = set.reference().namespace.as_deref().unwrap_or_default();
    format!(
        "grow each claim first ({why}): kubectl -n {namespace} patch pvc NAME -p '{{\"spec\":{{\"resources\":{{\"requests\":{{\"storage\":\"{to}\"}}}}}}}}' for {claims}"
    )
}

fn orphan(set: &Object, then: &str) -> String {
    let reference = set.reference();
    let namespace = reference.namespace.as_deref().unwrap_or_default();
    format!(
        "then: kubectl -n {namespace} delete statefulset {} --cascade=orphan (its pods go on running), and run the same commit again: {then}",
        reference.name
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn class(name: &str, grows: bool) -> (String, Object) {
        let body = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass",
            "metadata": {"name": name}, "allowVolumeExpansion": grows});
        (name.to_owned(), Object::new(body, None).unwrap())
    }

    fn template(name: &str, size: &str, class: &str) -> Value {
        json!({"metadata": {"name": name}, "spec": {"storageClassName": class, "resources": {"requests": {"storage": size}}}})
    }

    fn set(templates: &[Value], service: &str, selector: &str) -> Object {
        let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"},
            "spec": {"replicas": 2, "serviceName": service, "selector": {"matchLabels": {"app": selector}},
                "volumeClaimTemplates": templates}});
        Object::new(body, None).unwrap()
    }

    /// kubernetes issue 122246: the server says that it is forbidden, neither what nor how to go about it.
    #[test]
    fn each_refused_change_of_claims_has_its_recipe() {
        let known = BTreeMap::from([class("fast", true), class("fixed", false)]);
        let check = |old: &[Value], new: &[Value], want: &[&str]| {
            let steps = of_set(&set(old, "s", "a"), &set(new, "s", "a"), &Classes(&known));
            assert_eq!(steps.len(), want.len(), "{steps:?}");
            for (step, want) in steps.iter().zip(want) {
                assert!(step.contains(want), "{step} lacks {want}");
            }
        };
        let data = |size: &str| template("data", size, "fast");
        let orphan = "delete statefulset db --cascade=orphan";
        check(&[data("1Gi")], &[data("2Gi")], &["\"storage\":\"2Gi\"", orphan]);
        check(&[data("1Gi")], &[data("2Gi")], &["data-db-0, data-db-1", "without a restart"]);
        let fixed = |size: &str| template("data", size, "fixed");
        check(&[fixed("1Gi")], &[fixed("2Gi")], &["`fixed` does not allow growth", orphan]);
        check(&[data("2Gi")], &[data("1Gi")], &["never shrink"]);
        check(&[data("1Gi")], &[data("1Gi"), template("wal", "1Gi", "fast")], &["141876", orphan]);
        check(
            &[data("1Gi"), template("wal", "1Gi", "fast")],
            &[data("1Gi")],
            &["the claims of `wal` stay", orphan],
        );
        check(&[data("1Gi")], &[template("data", "1Gi", "slow")], &["only new ones differ", orphan]);
        check(&[data("1Gi")], &[data("1Gi")], &[]);
        let steps = |new: &Object| of_set(&set(&[], "s", "a"), new, &Classes(&known));
        assert!(steps(&set(&[], "other", "a"))[0].contains(orphan));
        assert!(steps(&set(&[], "s", "b"))[0].contains("would not be adopted"));
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
