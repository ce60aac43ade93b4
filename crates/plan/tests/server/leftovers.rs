//! Fields of other managers that stay, and pods that use what is to go.

use serde_json::json;

use crate::bed::Bed;

/// kubectl issue 1796: adopted from another applier, then removed from Git.
#[tokio::test]
async fn a_key_that_kubectl_owns_too_is_told_until_it_is_gone() {
    let bed = Bed::new().await;
    let both = bed.config("a", &json!({"a": "1", "b": "2"}));
    let apply = ["apply", "--server-side", "-f", "-"];
    bed.kubectl(&apply, &both.to_string());
    bed.deliver(&[("shop", std::slice::from_ref(&both))]).await;
    bed.check(std::slice::from_ref(&both), &[&["no-op ConfigMap/a"]]).await;
    let one = bed.config("a", &json!({"a": "1"}));
    let told = "warning stays although the manifest does not declare it";
    let field = "data.b (kubectl)";
    bed.check(std::slice::from_ref(&one), &[&["update ConfigMap/a", told, field]]).await;
    bed.deliver(&[("shop", std::slice::from_ref(&one))]).await;
    bed.check(std::slice::from_ref(&one), &[&["no-op ConfigMap/a", told, field]]).await;
    bed.kubectl(&apply, &one.to_string());
    let plan = bed.check(&[one], &[&["no-op ConfigMap/a"]]).await;
    assert!(plan.actions[0].warnings.is_empty(), "{plan:?}");
}

#[tokio::test]
async fn pods_that_use_what_goes_are_named() {
    let bed = Bed::new().await;
    let (stays, goes) = (bed.config("stays", &json!({})), bed.config("goes", &json!({})));
    bed.deliver(&[("shop", &[stays.clone(), goes])]).await;
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "old", "namespace": bed.namespace},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "a", "image": "registry.example/a:1",
            "envFrom": [{"configMapRef": {"name": "goes"}}]}]}});
    bed.kubectl(&["create", "-f", "-"], &pod.to_string());
    bed.check(
        &[stays],
        &[&["no-op"], &["prune ConfigMap/goes Server", "deleted once nothing uses it; now these do: old"]],
    )
    .await;
}
