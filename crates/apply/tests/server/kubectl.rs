use windlass_model::PART_OF;

use crate::bed::{Bed, kubeconfig};
use crate::plan::rendering;

/// Runs the stock kubectl in a namespace; says whether it succeeded, and returns all that it said.
pub(crate) fn kubectl(namespace: &str, arguments: &[&str]) -> (bool, String) {
    let answer = windlass_bed::kubectl(&kubeconfig(), &[&["-n", namespace], arguments].concat(), "");
    (answer.is_ok(), answer.unwrap_or_else(|error| error))
}

#[tokio::test]
async fn kubectl_reads_our_sets_and_keeps_its_hands_off_them() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])])).await.unwrap();
    let set = bed.set("shop");
    let selector = format!("{PART_OF}={}", set.id());
    let (found, names) = kubectl(&bed.namespace, &["get", "configmaps", "-l", &selector, "-o", "name"]);
    assert_eq!((found, names.as_str()), (true, "configmap/a\nconfigmap/b\n"));

    let file = std::env::temp_dir().join(format!("{}.json", bed.namespace));
    std::fs::write(&file, bed.map("a", "2").body().to_string()).unwrap();
    let parent = format!("--applyset=configmap/{}", set.parent().name);
    let (done, said) = kubectl(
        &bed.namespace,
        &["apply", "--server-side", "--prune", &parent, "-f", file.to_str().unwrap()],
    );
    std::fs::remove_file(&file).unwrap();
    assert!(!done && said.contains("managed by tooling \"windlass\""), "{said}");
    assert_eq!(bed.members("shop").await.unwrap().len(), 2);
    bed.down().await;
}

/// A set changes hands by its tooling annotation alone: everything else is as the other one needs it.
#[tokio::test]
async fn a_set_can_be_handed_to_kubectl_and_back() {
    let bed = Bed::up().await;
    let (a, b, c) = (bed.map("a", "1"), bed.map("b", "1"), bed.map("c", "1"));
    bed.run(&rendering(&[("shop", &[a.clone(), b.clone()])])).await.unwrap();
    let parent = bed.set("shop").parent().name;
    let hand_to = |tool: &str| {
        let tooling = format!("applyset.kubernetes.io/tooling={tool}");
        let (done, said) =
            kubectl(&bed.namespace, &["annotate", "configmap", &parent, "--overwrite", &tooling]);
        assert!(done, "{said}");
    };
    hand_to("kubectl/v1.36.3");
    let file = std::env::temp_dir().join(format!("{}.json", bed.namespace));
    let list = serde_json::json!({"apiVersion": "v1", "kind": "List", "items": [a.body(), c.body()]});
    std::fs::write(&file, list.to_string()).unwrap();
    let (set, file_name) = (format!("--applyset=configmap/{parent}"), file.to_str().unwrap());
    let (done, said) = kubectl(&bed.namespace, &["apply", "--server-side", "--prune", &set, "-f", file_name]);
    std::fs::remove_file(&file).unwrap();
    assert!(done && said.contains("configmap/b pruned"), "{said}");
    assert!(bed.get(b.reference()).await.is_none());

    // What kubectl added is none of ours as long as no run of ours has recorded it.
    hand_to("windlass/0.0.0");
    let pruned = bed.run(&rendering(&[("shop", std::slice::from_ref(&a))])).await.unwrap();
    assert!(pruned.kept[0].object == *c.reference() && pruned.deleted.is_empty(), "{pruned:?}");
    bed.run(&rendering(&[("shop", &[a, c])])).await.unwrap();
    assert_eq!(bed.members("shop").await.unwrap(), ["ConfigMap./a", "ConfigMap./c"]);
    bed.down().await;
}

/// Between the plan and the write, somebody forces the object into a set of kubectl's.
#[tokio::test]
async fn an_object_that_another_set_takes_meanwhile_is_left_to_it() {
    let bed = Bed::up().await;
    let (first, second) = (bed.map("a", "1"), bed.map("a", "2"));
    bed.run(&rendering(&[("shop", &[first])])).await.unwrap();
    let all = rendering(&[("shop", std::slice::from_ref(&second))]);
    let approved = crate::plan::approve(crate::plan::plan(&bed, &all).await);
    let file = std::env::temp_dir().join(format!("{}.json", bed.namespace));
    std::fs::write(&file, bed.map("a", "theirs").body().to_string()).unwrap();
    let file_name = file.to_str().unwrap();
    let flags =
        ["apply", "--server-side", "--prune", "--force-conflicts", "--applyset=configmap/theirs", "-f"];
    let (done, said) = kubectl(&bed.namespace, &[&flags[..], &[file_name]].concat());
    std::fs::remove_file(&file).unwrap();
    assert!(done, "{said}");
    let error = windlass_apply::apply(&approved, &all, &bed.context()).await.unwrap_err();
    assert!(matches!(error, windlass_apply::ApplyError::Stale { .. }), "{error}");
    assert!(error.to_string().contains("is owned by kubectl"), "{error}");
    assert_eq!(bed.get(second.reference()).await.unwrap().body()["data"]["k"], "theirs");
    bed.down().await;
}
