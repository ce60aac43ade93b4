//! Kinds that cannot be listed: nothing is concluded from what was not seen.

use serde_json::json;
use windlass_model::{ExitCode, GroupKind};
use windlass_plan::exit_code;

use crate::bed::Bed;

/// kubectl only logs it, and prunes the rest.
#[tokio::test]
async fn without_the_right_to_list_a_kind_no_deletion_of_it_is_overlooked() {
    let _no_kind_comes_that_may_not_be_listed = crate::sets::LISTS.lock().await;
    let bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "old", "namespace": bed.namespace}});
    bed.deliver(&[("shop", &[stays.clone(), secret.clone()])]).await;
    let limited = bed.as_identity("get,list,create,patch,delete", "configmaps,namespaces").await;
    let plan = limited
        .check(
            std::slice::from_ref(&stays),
            &[&["no-op ConfigMap/stays"], &["refused incomplete-list", "kind `Secret`", "old.", "forbidden"]],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    // Rendered, it is not overlooked, but the plan says what it could not see.
    let plan = limited.plan(&[("shop", &[stays, secret])]).await;
    assert!(plan.warnings.iter().any(|warning| warning.contains("kind `Secret`")), "{:?}", plan.warnings);
}

/// rancher issue 29031, kapp issue 12: one broken API service made tools give up, or see nothing where something was.
#[tokio::test]
async fn an_api_service_that_does_not_answer_stops_only_what_needs_it() {
    let _a_group_cannot_be_discovered = crate::sets::LISTS.lock().await;
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("v1.{group}");
    let inner = format!("inner-{}", bed.suffix);
    bed.leftovers.push(("namespace".into(), inner.clone()));
    let stays = bed.config("stays", &json!({}));
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inner}});
    bed.deliver(&[("shop", &[stays.clone(), bed.config("goes", &json!({}))])]).await;
    bed.deliver(&[("rooms", std::slice::from_ref(&namespace))]).await;
    let service = json!({"apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService", "metadata": {"name": name},
        "spec": {"group": group, "version": "v1", "groupPriorityMinimum": 100, "versionPriority": 100,
            "insecureSkipTLSVerify": true, "service": {"namespace": bed.namespace, "name": "nobody"}}});
    bed.leftovers.push(("apiservice".into(), name.clone()));
    bed.kubectl(&["apply", "-f", "-"], &service.to_string());
    for attempt in 0.. {
        bed.cluster.forget_discovery().await;
        if bed.cluster.stale_groups().await.unwrap().contains(&group) {
            break;
        }
        assert!(attempt < 100, "the API service is never stale");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let others = ("rooms", std::slice::from_ref(&namespace));
    let plan = bed
        .check_units(
            &[("shop", std::slice::from_ref(&stays)), others],
            &[&["no-op ConfigMap/stays"], &["no-op Namespace"], &["prune ConfigMap/goes"]],
        )
        .await;
    assert!(plan.is_executable(), "{plan:?}");
    assert!(plan.warnings.iter().any(|warning| warning.contains(&group)), "{:?}", plan.warnings);

    let thing = json!({"apiVersion": format!("{group}/v1"), "kind": "Thing", "metadata": {"name": "a", "namespace": bed.namespace}});
    let plan = bed
        .check_units(
            &[("shop", &[stays.clone(), thing]), others],
            &[
                &["no-op ConfigMap/stays"],
                &["Thing", "Not(", "problem", "the API service of its group does not answer"],
                &["no-op Namespace"],
                &["prune ConfigMap/goes"],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused), "nobody knows whether the manifest is wrong");

    // The server deletes no namespace while it cannot tell what is in it.
    let told: &[&str] = &["refused incomplete-list", &inner, &group];
    let plan = bed.plan(&[("shop", &[stays]), ("rooms", &[])]).await;
    let refusals: Vec<String> = plan
        .refusals
        .iter()
        .map(|refusal| format!("refused {} {}", refusal.guard, refusal.message))
        .collect();
    let found = refusals.iter().any(|refusal| told.iter().all(|want| refusal.contains(want)));
    assert!(found, "{refusals:?}");
    bed.kubectl(&["delete", "apiservice", &name], "");
}

/// Served by nobody, the objects are stored all the same; they were taken for gone, and forgotten.
#[tokio::test]
async fn objects_of_a_definition_that_serves_no_version_are_not_taken_for_gone() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.push(("customresourcedefinition".into(), name.clone()));
    let definition = |served: bool| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": name}, "spec": {"group": group, "scope": "Namespaced",
                "names": {"kind": "Foo", "plural": "foos"}, "versions": [{"name": "v1", "served": served, "storage": true,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}})
    };
    bed.kubectl(&["apply", "-f", "-"], &definition(true).to_string());
    bed.cluster.forget_discovery().await;
    crate::bed::served(&bed, &group, "Foo").await;
    let foo = json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
        "metadata": {"name": "a", "namespace": bed.namespace}});
    let stays = bed.config("stays", &json!({}));
    bed.deliver(&[("shop", &[stays.clone(), foo])]).await;
    bed.kubectl(&["apply", "-f", "-"], &definition(false).to_string());
    for attempt in 0.. {
        bed.cluster.forget_discovery().await;
        if bed.cluster.is_namespaced(&GroupKind::new(&group, "Foo")).await.unwrap().is_none() {
            break;
        }
        assert!(attempt < 100, "the kind is served for ever");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let told: &[&str] = &["refused incomplete-list", "Foo", &name, "serves no version"];
    bed.check(&[stays], &[&["no-op"], told]).await;
}
