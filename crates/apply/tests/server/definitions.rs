use serde_json::{Value, json};
use windlass_model::{Object, Operation};

use crate::bed::{Bed, object};
use crate::plan::{plan, rendering};

/// A definition of a kind of its own for each test, and a resource of it.
pub(crate) fn definition(bed: &Bed) -> Object {
    with_field(bed, "size")
}

fn with_field(bed: &Bed, field: &str) -> Object {
    let group = group(bed);
    object(json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("widgets.{group}")},
        "spec": {
            "group": group, "scope": "Namespaced", "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object",
                "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}, field: {"type": "integer"}}}},
            }}}],
        },
    }))
}

pub(crate) fn widget(bed: &Bed, name: &str, spec: &Value) -> Object {
    object(json!({
        "apiVersion": format!("{}/v1", group(bed)), "kind": "Widget",
        "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec,
    }))
}

fn group(bed: &Bed) -> String {
    format!("{}.windlass.dev", bed.namespace)
}

#[tokio::test]
async fn a_definition_and_its_resources_come_in_one_run() {
    let bed = Bed::up().await;
    let size = json!({"size": 1});
    let definition = definition(&bed);
    let all = rendering(&[
        ("infra", &[widget(&bed, "first", &size), definition.clone()]),
        ("shop", &[widget(&bed, "second", &size)]),
    ]);
    bed.run(&all).await.unwrap();
    let writes = bed.sink.writes();
    let position = |write: &str| writes.iter().position(|seen| seen == write).expect(write);
    assert!(
        position(&format!("create {}", definition.reference().name)) < position("create first"),
        "{writes:?}"
    );
    position("create second");
    // A second run knows the kind and has nothing to do.
    assert_eq!(plan(&bed, &all).await.counts().of(Operation::NoOp), 3);
    bed.run(&all).await.unwrap();
    assert_eq!(bed.sink.writes(), [""; 0]);
    bed.delete(definition.reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn a_field_may_be_used_in_the_run_that_defines_it() {
    let bed = Bed::up().await;
    let old = definition(&bed);
    bed.run(&rendering(&[("infra", &[old.clone(), widget(&bed, "w", &json!({"size": 1}))])])).await.unwrap();
    for round in 0..5 {
        let field = format!("field{round}");
        let all = [with_field(&bed, &field), widget(&bed, "w", &json!({"size": 1, field: 2}))];
        let rendering = rendering(&[("infra", &all)]);
        // The server cannot be asked before the definition is there, so the plan says what will happen.
        let plan = plan_blindly(&bed, &rendering).await;
        windlass_apply::apply(&crate::plan::approve(plan), &rendering, &bed.context()).await.unwrap();
    }
    bed.delete(old.reference()).await;
    bed.down().await;
}

async fn plan_blindly(bed: &Bed, rendering: &windlass_model::Rendering) -> windlass_model::Plan {
    let mut plan = plan(bed, &crate::plan::rendering(&[])).await;
    plan.rendering = rendering.digest;
    plan.actions.clear();
    for (unit, object) in rendering.objects() {
        let live = bed.get(object.reference()).await;
        plan.actions.push(crate::plan::action(
            &unit.name,
            object.reference(),
            Operation::Update,
            live.as_ref(),
        ));
    }
    plan
}
