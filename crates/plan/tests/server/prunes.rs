//! Deletions by evidence, on real objects.

use serde_json::json;
use windlass_model::PART_OF;

use crate::bed::Bed;

/// Operators copy labels to their children; people set them by hand. Neither makes a member.
#[tokio::test]
async fn a_label_alone_is_no_evidence() {
    let bed = Bed::new().await;
    let (stays, goes, child) =
        (bed.config("stays", &json!({})), bed.config("goes", &json!({})), bed.config("child", &json!({})));
    bed.deliver(&[("shop", &[stays.clone(), goes.clone(), child.clone()])]).await;
    let namespace = bed.namespace.as_str();
    let uid =
        bed.kubectl(&["-n", namespace, "get", "configmap", "stays", "-o", "jsonpath={.metadata.uid}"], "");
    let owner = json!({"metadata": {"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "stays", "uid": uid}]}});
    bed.kubectl(&["-n", namespace, "patch", "configmap", "child", "-p", &owner.to_string()], "");
    bed.kubectl(&["-n", namespace, "create", "configmap", "labelled"], "");
    let label = format!("{PART_OF}={}", bed.set("shop").id());
    bed.kubectl(&["-n", namespace, "label", "configmap", "labelled", &label], "");
    bed.check(
        &[stays],
        &[
            &["no-op ConfigMap/stays"],
            &["keep ConfigMap/child", "ConfigMap stays owns it"],
            &["prune ConfigMap/goes Server"],
            &["keep ConfigMap/labelled", "the inventory of unit `shop` does not list it"],
        ],
    )
    .await;
}

#[tokio::test]
async fn an_object_moves_between_units_without_being_deleted() {
    let bed = Bed::new().await;
    let (moves, stays) = (bed.config("moves", &json!({})), bed.config("stays", &json!({})));
    bed.deliver(&[("one", &[moves.clone(), stays.clone()])]).await;
    bed.check_units(
        &[("one", std::slice::from_ref(&stays)), ("two", std::slice::from_ref(&moves))],
        &[&["no-op ConfigMap/stays"], &["update ConfigMap/moves", "moves here from the unit `one`"]],
    )
    .await;
}

#[tokio::test]
async fn a_claim_that_goes_is_shown_with_its_size_and_refused() {
    let bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": bed.namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "absent",
            "resources": {"requests": {"storage": "8Gi"}}}});
    bed.deliver(&[("shop", &[stays.clone(), claim])]).await;
    bed.check(
        &[stays],
        &[
            &["no-op"],
            &["prune PersistentVolumeClaim/data Server", "8Gi", "bound to no volume"],
            &["refused protected-kind"],
        ],
    )
    .await;
}

#[tokio::test]
async fn a_bare_directory_deletes_nothing_and_takes_no_label_off() {
    let bed = Bed::new().await;
    let (stays, gone) = (bed.config("stays", &json!({})), bed.config("gone", &json!({})));
    bed.deliver(&[("shop", &[stays.clone(), gone])]).await;
    let rendering = crate::bed::rendering(&[("shop", std::slice::from_ref(&stays))]);
    let options = windlass_plan::ObserveOptions {
        concurrency: 4,
        remembering: None,
        rules: &bed.fields,
        stand_in: &bed.namespace,
        trials: windlass_plan::Trials::Each,
    };
    let observation =
        windlass_plan::observe(&bed.cluster, None, &bed.namespace, &rendering, &options).await.unwrap();
    assert!(observation.candidates.is_empty() && observation.sets.is_empty());
    let plan = bed.plan_of(None, &rendering, &observation);
    assert!(crate::bed::is_quiet(&plan), "{plan:?}");
}

/// A label that was taken off hides the object from every listing; it is named at least once.
#[tokio::test]
async fn a_member_without_its_label_is_named_and_left_alone() {
    let _all_groups_answer = crate::sets::LISTS.lock().await;
    let bed = Bed::new().await;
    let (stays, stray) = (bed.config("stays", &json!({})), bed.config("stray", &json!({})));
    bed.deliver(&[("shop", &[stays.clone(), stray, bed.config("deleted", &json!({}))])]).await;
    let namespace = bed.namespace.as_str();
    bed.kubectl(&["-n", namespace, "label", "configmap", "stray", &format!("{PART_OF}-")], "");
    bed.kubectl(&["-n", namespace, "delete", "configmap", "deleted"], "");
    let plan = bed.check(&[stays], &[&["no-op ConfigMap/stays"]]).await;
    assert_eq!(plan.warnings.len(), 1, "{:?}", plan.warnings);
    assert!(plan.warnings[0].contains(&format!("ConfigMap {namespace}/stray")), "{:?}", plan.warnings);
}
