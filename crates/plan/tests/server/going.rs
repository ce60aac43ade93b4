//! Objects and definitions that are on their way out.

use serde_json::json;
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::{Bed, served};

const FREE: &str = r#"[{"op": "remove", "path": "/metadata/finalizers"}]"#;

/// kubernetes issue 89254: pruned again and again, or a failure, each time.
#[tokio::test]
async fn a_member_that_is_being_deleted_already_is_left_to_that() {
    let bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    let mut goes = bed.config("goes", &json!({}));
    goes["metadata"]["finalizers"] = json!(["example.com/hold"]);
    bed.deliver(&[("shop", &[stays.clone(), goes])]).await;
    bed.kubectl(&["-n", &bed.namespace, "delete", "configmap", "goes", "--wait=false"], "");
    let plan =
        bed.check(&[stays], &[&["no-op"], &["keep ConfigMap/goes", "it is already being deleted"]]).await;
    assert!(plan.is_executable() && !plan.has_changes() && !plan.has_drift(), "{plan:?}");
    bed.kubectl(&["-n", &bed.namespace, "patch", "configmap", "goes", "--type=json", "-p", FREE], "");
}

/// Facts 10.5: the definition takes an apply with 200 and goes all the same; its objects are refused with 403, which is
/// no missing right.
#[tokio::test]
async fn a_definition_that_is_being_deleted_takes_no_objects() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.push(("customresourcedefinition".into(), name.clone()));
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name}, "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}}}]}});
    let foo = |name: &str| {
        json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
            "metadata": {"name": name, "namespace": bed.namespace}})
    };
    let mut held = foo("held");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    bed.deliver(&[("shop", std::slice::from_ref(&definition))]).await;
    bed.cluster.forget_discovery().await;
    served(&bed, &group, "Foo").await;
    bed.deliver(&[("shop", &[definition.clone(), held])]).await;
    let plural = format!("foos.{group}");
    bed.kubectl(&["delete", "customresourcedefinition", &name, "--wait=false"], "");
    // Its deletion begins with that of its objects.
    let stamp = "--for=jsonpath={.metadata.deletionTimestamp}";
    bed.kubectl(&["-n", &bed.namespace, "wait", stamp, "--timeout=60s", &format!("{plural}/held")], "");
    let new = foo("new");
    let plan = bed
        .check(
            &[definition, foo("held"), new],
            &[
                &[
                    "CustomResourceDefinition",
                    "problem the live object is being deleted since",
                    "customresourcecleanup",
                ],
                &["Foo", "/held", "problem the live object is being deleted since", "example.com/hold"],
                &["create Foo", "/new", "problem", "custom resource definition is terminating"],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused), "it is no missing right");
    bed.kubectl(&["-n", &bed.namespace, "patch", &plural, "held", "--type=json", "-p", FREE], "");
}
