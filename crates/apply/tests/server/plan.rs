//! Plans as the planning stage would make them, as far as applying looks at them.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_cluster::{ApplyRequest, Expect, Selector};
use windlass_model::{
    Action, ApplySet, ApprovedPlan, Evidence, LiveId, Object, ObjectRef, Operation, PART_OF, Plan, Rendering,
    Risk, UnitName,
};

use crate::bed::Bed;

pub(crate) fn rendering(units: &[(&str, &[Object])]) -> Rendering {
    let bodies = |objects: &[Object]| objects.iter().map(|object| object.body().clone()).collect();
    let units: Vec<(&str, Vec<Value>)> =
        units.iter().map(|(name, objects)| (*name, bodies(objects))).collect();
    let units: Vec<(&str, &[Value])> =
        units.iter().map(|(name, bodies)| (*name, bodies.as_slice())).collect();
    windlass_bed::rendering(&units)
}

#[expect(clippy::disallowed_methods, reason = "tests approve their own plans")]
pub(crate) fn approve(plan: Plan) -> ApprovedPlan {
    ApprovedPlan::attest(plan, Evidence::NotRequired)
}

/// Plans a rendering: what is missing is created, what a dry-run changes is updated, and members of the
/// environment's sets that are not rendered are pruned.
pub(crate) async fn plan(bed: &Bed, rendering: &Rendering) -> Plan {
    let mut actions = Vec::new();
    for (unit, object) in rendering.objects() {
        let live = bed.get(object.reference()).await;
        let operation = match &live {
            None => Operation::Create,
            Some(live) if changes(bed, &unit.name, object, live).await => Operation::Update,
            Some(_) => Operation::NoOp,
        };
        actions.push(action(&unit.name, object.reference(), operation, live.as_ref()));
    }
    actions.extend(prunes(bed, rendering).await);
    Plan {
        environment: Some(bed.environment.clone()),
        rendering: rendering.digest,
        ..windlass_bed::plan_of(actions)
    }
}

pub(crate) fn action(
    unit: &UnitName,
    object: &ObjectRef,
    operation: Operation,
    live: Option<&Object>,
) -> Action {
    let live = live.map(|live| LiveId {
        uid: live.uid().unwrap().to_owned(),
        resource_version: live.resource_version().unwrap().to_owned(),
        generation: live.generation(),
        terminating: live.is_terminating(),
    });
    Action { live, risk: Risk::Routine, ..Action::new(unit.clone(), object.clone(), operation) }
}

async fn changes(bed: &Bed, unit: &UnitName, object: &Object, live: &Object) -> bool {
    let mut object = object.clone();
    object.set_label(PART_OF, &bed.set(unit.as_str()).id());
    let expect = Expect::Uid(live.uid().unwrap());
    let request = ApplyRequest { object: &object, expect, force: true, dry_run: true };
    let answer = bed.cluster.apply(request).await.unwrap().object;
    let content = |object: &Object| {
        let mut body = object.body().clone();
        body["metadata"]["generation"] = Value::Null;
        body
    };
    content(&answer) != content(live)
}

async fn prunes(bed: &Bed, rendering: &Rendering) -> Vec<Action> {
    let rendered: BTreeSet<_> = rendering.objects().map(|(_, object)| object.reference().key()).collect();
    let maps = bed.cluster.resource_of(&bed.set("x").parent()).await.unwrap();
    let labels = ApplySet::parents_of(&bed.environment);
    let selector = Selector { namespace: Some(&bed.namespace), labels: Some(&labels), fields: None };
    let parents = bed.cluster.list(&maps, selector).await.unwrap().objects;
    let mut prunes = Vec::new();
    for parent in parents.iter().filter_map(|parent| ApplySet::read(parent).ok()) {
        for kind in parent.scope() {
            let Ok(resource) = bed.cluster.preferred(&kind).await else { continue };
            let label = format!("{PART_OF}={}", parent.id());
            let selector = Selector { labels: Some(&label), ..Selector::default() };
            for live in bed.cluster.list(&resource, selector).await.unwrap().objects {
                if !rendered.contains(&live.reference().key()) {
                    // What goes already is left to that.
                    let operation = if live.is_terminating() { Operation::Keep } else { Operation::Prune };
                    prunes.push(action(&parent.unit, live.reference(), operation, Some(&live)));
                }
            }
        }
    }
    prunes
}
