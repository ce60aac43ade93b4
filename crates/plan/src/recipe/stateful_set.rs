//! The ways to refused changes of a StatefulSet.
//!
//! Measured on 1.36: deleted with its pods orphaned and created again, a StatefulSet adopts them without a restart, unless
//! a claim template was added.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_model::{Object, Recipe, RecipeStep, quantity_bytes};

use super::command;
use crate::forecast::ordinals;
use crate::growth::Classes;

const TEMPLATES: &str = "/spec/volumeClaimTemplates";
const REQUEST: &str = "/spec/resources/requests/storage";
const CLASS: &str = "/spec/storageClassName";
const RETENTION: &str = "/spec/persistentVolumeClaimRetentionPolicy";

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

/// Returns the recipe for making `after` of a live StatefulSet.
pub(super) fn of(live: &Object, after: &Object, classes: &BTreeMap<String, Object>) -> Recipe {
    let changes = changes(live, after);
    let shrinks = changes.iter().find_map(|change| match change {
        Change::Shrinks(name) => Some(name),
        _ => None,
    });
    if let Some(name) = shrinks {
        return shrinking(live, name);
    }
    if live.body().pointer("/spec/selector") != after.body().pointer("/spec/selector") {
        return selecting(live);
    }
    let classes = Classes(classes);
    let mut steps: Vec<RecipeStep> =
        changes.iter().filter_map(|change| before(live, change, &classes)).collect();
    steps.push(orphan(live, "delete it without its pods, which go on running"));
    steps.push(RecipeStep::told("run the same commit again: the StatefulSet is created and adopts its pods"));
    steps.extend(changes.iter().filter_map(afterwards));
    let template = |set: &Object| set.body().pointer("/spec/template").cloned();
    let restarts = template(live) != template(after)
        || changes.iter().any(|change| matches!(change, Change::Removed(_) | Change::Added(_)));
    let down = if restarts { "one pod at a time, at the end" } else { "nothing: no pod restarts" };
    Recipe {
        down: down.to_owned(),
        data: "none at risk: pods and claims stay".to_owned(),
        data_at_risk: false,
        steps,
        instead: None,
    }
}

/// With another selector the pods would not be adopted, and their names would stay taken.
fn selecting(live: &Object) -> Recipe {
    let object = live.reference();
    let rules = live.body().pointer(RETENTION);
    let deletes = |rule: &str| rules.is_some_and(|rules| rules[rule] == "Delete");
    let keep = (deletes("whenDeleted") || deletes("whenScaled")).then(|| {
        let all = r#"{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenDeleted":"Retain","whenScaled":"Retain"}}}"#;
        RecipeStep::run("keep its claims, which would go with its pods", command::patch(object, all))
    });
    let steps = [
        RecipeStep::run(
            "with another selector its pods are not adopted: scale to 0 first",
            format!("{} --replicas=0", command::kubectl("scale", object)),
        ),
        RecipeStep::run(
            "wait until its pods are gone",
            format!(
                "{} --for=jsonpath='{{.status.replicas}}'=0 --timeout=30m",
                command::kubectl("wait", object)
            ),
        ),
        orphan(live, "delete it, without its claims"),
        RecipeStep::told("run the same commit again: it is created, and its pods find their claims by name"),
    ];
    Recipe {
        down: "all its pods, until it is created again".to_owned(),
        data: "none at risk: its claims stay".to_owned(),
        data_at_risk: false,
        steps: keep.into_iter().chain(steps).collect(),
        instead: Some(format!("deliver it as `{}-2` beside this one, and move the data", object.name)),
    }
}

fn shrinking(live: &Object, template: &str) -> Recipe {
    Recipe {
        down: "what uses it, while the data is moved".to_owned(),
        data: format!("at risk if its claims are deleted: the claims `{template}` never shrink"),
        data_at_risk: true,
        steps: Vec::new(),
        instead: Some(format!(
            "leave this StatefulSet as it was in Git, deliver `{}-2` with smaller claims beside it, move the data, then remove the old one",
            live.reference().name
        )),
    }
}

/// What is done before the StatefulSet goes.
fn before(live: &Object, change: &Change, classes: &Classes<'_>) -> Option<RecipeStep> {
    let Change::Grows { name, to, class } = change else { return None };
    let (possible, why) = match class {
        // Unlike a claim's, a template's class is not filled in: each claim gets the default one.
        None => (true, "whether the default class allows growth is not known".to_owned()),
        Some(class) => classes.growth(Some(class)),
    };
    if !possible {
        return Some(RecipeStep::told(format!("the claims of `{name}` cannot grow: {why}")));
    }
    let replicas = crate::forecast::count(live, "/spec/replicas", 1);
    let start = crate::forecast::count(live, "/spec/ordinals/start", 0);
    let claims = ordinals(live, &format!("{name}-"), 0..replicas);
    let text = format!("grow each claim first ({why}): {claims}");
    let Some(last) = (start + replicas).checked_sub(1).filter(|_| replicas > 0) else {
        return Some(RecipeStep::told(format!(
            "claims of `{name}` that exist stay as they are; only new ones differ"
        )));
    };
    // Every part of the loop is a name or a quantity that the server accepted: neither needs quotes.
    let set = live.reference();
    Some(RecipeStep::run(
        text,
        format!(
            "for i in $(seq {start} {last}); do {} patch persistentvolumeclaim/{name}-{}-$i --type=merge -p '{{\"spec\":{{\"resources\":{{\"requests\":{{\"storage\":\"{to}\"}}}}}}}}'; done",
            command::prefix(set.namespace.as_deref()),
            set.name
        ),
    ))
}

/// What is known or done once the StatefulSet is back.
fn afterwards(change: &Change) -> Option<RecipeStep> {
    Some(RecipeStep::told(match change {
        Change::Added(name) => format!(
            "delete one pod after the other, from the lowest ordinal up, each once the one before is ready: running pods cannot be given the new claim `{name}` (kubernetes issue 141876)"
        ),
        Change::Removed(name) => {
            format!("the claims of `{name}` stay, unused; pods are replaced one after the other")
        }
        Change::Otherwise(name) => {
            format!("claims of `{name}` that exist stay as they are; only new ones differ")
        }
        Change::Grows { .. } | Change::Shrinks(_) => return None,
    }))
}

fn orphan(set: &Object, why: &str) -> RecipeStep {
    RecipeStep::run(why, format!("{} --cascade=orphan", command::delete(set.reference())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::growth::tests::class;

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
        let told = |old: &Object, new: &Object| {
            let recipe = of(old, new, &known);
            let steps = recipe.steps.iter().map(|step| step.command.as_ref().unwrap_or(&step.text).clone());
            (recipe.data_at_risk, steps.chain(recipe.instead).collect::<Vec<_>>())
        };
        let check = |old: &[Value], new: &[Value], at_risk: bool, want: &[&str]| {
            let (risk, told) = told(&set(old, "s", "a"), &set(new, "s", "a"));
            assert_eq!((risk, told.len()), (at_risk, want.len()), "{told:?}");
            for (told, want) in told.iter().zip(want) {
                assert!(told.contains(want), "{told} lacks {want}");
            }
        };
        let data = |size: &str| template("data", size, "fast");
        let orphan = "kubectl -n shop delete statefulset.apps/db --cascade=orphan";
        let again = "run the same commit again";
        let grow = r#"for i in $(seq 0 1); do kubectl -n shop patch persistentvolumeclaim/data-db-$i --type=merge -p '{"spec":{"resources":{"requests":{"storage":"2Gi"}}}}'; done"#;
        check(&[data("1Gi")], &[data("2Gi")], false, &[grow, orphan, again]);
        let fixed = |size: &str| template("data", size, "fixed");
        check(&[fixed("1Gi")], &[fixed("2Gi")], false, &["`fixed` does not allow growth", orphan, again]);
        let default = |size: &str| {
            let mut default = template("data", size, "");
            default["spec"].as_object_mut().unwrap().remove("storageClassName");
            default
        };
        check(&[default("1Gi")], &[default("2Gi")], false, &[grow, orphan, again]);
        let none = |size: &str| template("data", size, "");
        check(&[none("1Gi")], &[none("2Gi")], false, &["it has no class", orphan, again]);
        check(&[data("2Gi")], &[data("1Gi")], true, &["deliver `db-2` with smaller claims"]);
        let wal = || template("wal", "1Gi", "fast");
        check(&[data("1Gi")], &[data("1Gi"), wal()], false, &[orphan, again, "141876"]);
        check(&[data("1Gi"), wal()], &[data("1Gi")], false, &[orphan, again, "the claims of `wal` stay"]);
        let slow = template("data", "1Gi", "slow");
        check(&[data("1Gi")], &[slow], false, &[orphan, again, "only new ones differ"]);
        let (_, service) = told(&set(&[], "s", "a"), &set(&[], "other", "a"));
        assert_eq!(service[0], orphan);
        let (_, selector) = told(&set(&[], "s", "a"), &set(&[], "s", "b"));
        assert!(selector[0].ends_with("scale statefulset.apps/db --replicas=0"), "{selector:?}");
    }

    #[test]
    fn a_changed_template_restarts_pods_although_claims_change_too() {
        let down = |image: &str| {
            let with = |size: &str, image: &str| {
                let mut body = set(&[template("data", size, "fast")], "s", "a").body().clone();
                body["spec"]["template"] = json!({"spec": {"containers": [{"name": "db", "image": image}]}});
                Object::new(body, None).unwrap()
            };
            of(&with("1Gi", "db:1"), &with("2Gi", image), &BTreeMap::new()).down
        };
        assert_eq!(down("db:1"), "nothing: no pod restarts");
        assert_eq!(down("db:2"), "one pod at a time, at the end");
    }

    /// Scaling to 0 would have deleted every claim by its own rule.
    #[test]
    fn before_a_set_with_claims_is_scaled_to_nothing_they_are_kept() {
        let mut body = set(&[], "s", "a").body().clone();
        body["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenScaled": "Delete"});
        let live = Object::new(body, None).unwrap();
        let recipe = of(&live, &set(&[], "s", "b"), &BTreeMap::new());
        assert!(recipe.steps[0].command.as_ref().unwrap().contains(r#""whenScaled":"Retain""#), "{recipe:?}");
    }
}
