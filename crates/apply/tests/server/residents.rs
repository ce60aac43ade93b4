//! What comes into a namespace between its plan and its deletion.

use serde_json::json;
use windlass_apply::{Pruned, apply, prune};
use windlass_model::{Object, Operation};

use crate::bed::{Bed, object};
use crate::plan::{approve, plan, rendering};

fn namespace(bed: &Bed) -> Object {
    object(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": format!("{}-other", bed.namespace)}}),
    )
}

fn inside(bed: &Bed, kind: &str, name: &str) -> Object {
    let namespace = namespace(bed).reference().name.clone();
    let mut body =
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name, "namespace": namespace}});
    if kind == "PersistentVolumeClaim" {
        body["spec"] = json!({"storageClassName": "", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}});
    }
    object(body)
}

/// Plans that a namespace goes which takes along what the plan names, and prunes once something else has come in.
async fn pruned(bed: &Bed, named: &[Object], comes: &[Object]) -> Pruned {
    let stays = bed.map("stays", "1");
    let all = [stays.clone(), namespace(bed), inside(bed, "ConfigMap", "ours")];
    bed.run(&rendering(&[("shop", &all)])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let mut plan = plan(bed, &next).await;
    let prunes = |action: &&mut windlass_model::Action| action.operation == Operation::Prune;
    for action in plan.actions.iter_mut().filter(prunes) {
        action.takes = named.iter().map(|object| object.reference().clone()).collect();
    }
    for object in named.iter().chain(comes) {
        bed.put(object).await;
    }
    let approved = approve(plan);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    prune(&applied, &approved, &next, &bed.context()).await.unwrap()
}

#[tokio::test]
async fn a_namespace_stays_while_it_holds_what_the_plan_did_not_name() {
    let bed = Bed::up().await;
    for kind in ["Secret", "PersistentVolumeClaim", "ConfigMap"] {
        let comes = inside(&bed, kind, "late");
        let pruned = pruned(&bed, &[], std::slice::from_ref(&comes)).await;
        let kept: Vec<&str> = pruned.kept.iter().map(|kept| kept.reason.as_str()).collect();
        assert_eq!(kept.len(), 1, "{kind}: {pruned:?}");
        assert!(kept[0].contains("the plan did not name") && kept[0].contains("late"), "{kept:?}");
        assert!(!bed.get(namespace(&bed).reference()).await.unwrap().is_terminating());
        bed.delete(comes.reference()).await;
    }
    bed.delete(namespace(&bed).reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn a_namespace_takes_along_what_the_plan_named() {
    let bed = Bed::up().await;
    let named = [inside(&bed, "Secret", "named"), inside(&bed, "ConfigMap", "named")];
    let pruned = pruned(&bed, &named, &[]).await;
    assert_eq!(pruned.kept.len(), 0, "{pruned:?}");
    assert!(pruned.deleted.iter().any(|object| object == namespace(&bed).reference()), "{pruned:?}");
    bed.down().await;
}
