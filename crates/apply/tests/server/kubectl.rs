use std::process::Command;

use windlass_model::PART_OF;

use crate::bed::{Bed, kubeconfig};
use crate::plan::rendering;

/// Runs the stock `kubectl` as the environment names it.
#[expect(clippy::disallowed_methods, reason = "tests are told by the environment where kubectl is")]
fn kubectl(bed: &Bed, arguments: &[&str]) -> (bool, String) {
    let program = std::env::var_os("WINDLASS_TEST_KUBECTL").expect("start them through `make test`");
    let output = Command::new(program)
        .args(["--kubeconfig", kubeconfig().to_str().unwrap(), "--context", "testbed", "-n", &bed.namespace])
        .args(arguments)
        .env("KUBECTL_APPLYSET", "true")
        .output()
        .expect("kubectl runs");
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    (output.status.success(), text)
}

#[tokio::test]
async fn kubectl_reads_our_sets_and_keeps_its_hands_off_them() {
    let bed = Bed::up().await;
    bed.run(&rendering(&[("shop", &[bed.map("a", "1"), bed.map("b", "1")])])).await.unwrap();
    let set = bed.set("shop");
    let selector = format!("{PART_OF}={}", set.id());
    let (found, names) = kubectl(&bed, &["get", "configmaps", "-l", &selector, "-o", "name"]);
    assert_eq!((found, names.as_str()), (true, "configmap/a\nconfigmap/b\n"));

    let file = std::env::temp_dir().join(format!("{}.json", bed.namespace));
    std::fs::write(&file, bed.map("a", "2").body().to_string()).unwrap();
    let parent = format!("--applyset=configmap/{}", set.parent().name);
    let (done, said) =
        kubectl(&bed, &["apply", "--server-side", "--prune", &parent, "-f", file.to_str().unwrap()]);
    std::fs::remove_file(&file).unwrap();
    assert!(!done && said.contains("managed by tooling \"windlass\""), "{said}");
    assert_eq!(bed.members("shop").await.unwrap().len(), 2);
    bed.down().await;
}
