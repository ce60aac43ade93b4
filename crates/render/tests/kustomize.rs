//! Units with a kustomization, rendered by the real kubectl in a real jail.

mod support;

use support::{names, refusals, render, unit};
use windlass_render::{Jail, Limits, Tools};

const BASE: &str = "resources: [set.yaml]\nnamespace: shop\n";
const SET: &str =
    "# comment\napiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\nspec: {replicas: 1}\n";
const OVERLAY: &str = "resources: [../base]\nreplicas: [{name: db, count: 3}]\n\
    configMapGenerator: [{name: settings, literals: [flag=yes]}]\n";

fn files() -> Vec<(&'static str, &'static str)> {
    vec![("base/kustomization.yaml", BASE), ("base/set.yaml", SET), ("prd/kustomization.yml", OVERLAY)]
}

#[tokio::test]
async fn an_overlay_is_rendered_alike_every_time() {
    let first = render(&files(), &[unit("prd", "prd")]).await;
    // The generated ConfigMap lies outside of the base that sets the namespace.
    let message = first.expect_err("the ConfigMap has no namespace").to_string();
    assert!(message.contains("prd: ConfigMap settings-"), "{message}");
    let mut files = files();
    let overlay = format!("namespace: shop\n{OVERLAY}");
    files[2].1 = &overlay;
    let first = render(&files, &[unit("prd", "prd")]).await.unwrap();
    let second = render(&files, &[unit("prd", "prd")]).await.unwrap();
    assert_eq!(first.digest, second.digest);
    assert!(first.renderer.starts_with("kustomize v5."), "{}", first.renderer);
    let set = first.objects().find(|(_, object)| object.reference().name == "db").unwrap().1;
    assert_eq!(set.body()["spec"]["replicas"], 3);
    assert_eq!(set.origin().unwrap().to_string(), "base/set.yaml:2");
    assert!(names(&first)[0].starts_with("prd: ConfigMap shop/settings-"), "{:?}", names(&first));
    assert_eq!(first.objects().next().unwrap().1.body()["data"]["flag"], "yes");
}

#[tokio::test]
async fn what_is_not_rendered_is_named_with_its_line() {
    async fn check(kustomization: &str, want: &str) {
        let files = [("a/kustomization.yaml", kustomization), ("a/m.yaml", SET), ("b/m.yaml", SET)];
        assert_eq!(refusals(&files, &[unit("a", "a")]).await, [want], "{kustomization}");
    }
    let remote = "is fetched from elsewhere, which is not allowed";
    check(
        "resources:\n- m.yaml\n- https://example.com/x.yaml\n",
        &format!("a/kustomization.yaml:3: `https://example.com/x.yaml` {remote}"),
    )
    .await;
    check(
        "resources:\n- github.com/x/y//z?ref=v1\n",
        &format!("a/kustomization.yaml:2: `github.com/x/y//z?ref=v1` {remote}"),
    )
    .await;
    check(
        "resources: ['git@example.com:x/y.git']\n",
        &format!("a/kustomization.yaml:1: `git@example.com:x/y.git` {remote}"),
    )
    .await;
    check(
        "bases: ['ssh://git@example.com/x']\n",
        &format!("a/kustomization.yaml:1: `ssh://git@example.com/x` {remote}"),
    )
    .await;
    check(
        "resources: [m.yaml]\npatches:\n- path: https://example.com/p\n",
        &format!("a/kustomization.yaml:3: `https://example.com/p` {remote}"),
    )
    .await;
    check("resources: [../../x]\n", "a/kustomization.yaml:1: `../../x` leads out of the repository").await;
    check("resources: [/etc]\n", "a/kustomization.yaml:1: `/etc` leads out of the repository").await;
    check(
        "configMapGenerator: [{name: a, files: [x=../../../../etc/passwd]}]\n",
        "a/kustomization.yaml:1: `../../../../etc/passwd` leads out of the repository",
    )
    .await;
    check("resources: [gone.yaml]\n", "a/kustomization.yaml:1: `gone.yaml` is not in the tree").await;
    check("resources: [../b]\n", "a/kustomization.yaml:1: `../b` is a directory without a kustomization")
        .await;
    check(
        "resources: [m.yaml]\nhelmCharts: [{name: x}]\n",
        "a/kustomization.yaml:2: `helmCharts` is not supported: charts are not rendered",
    )
    .await;
    check(
        "resources: [m.yaml\n",
        "a/kustomization.yaml:2:1: did not find expected ',' or ']' while parsing a flow sequence",
    )
    .await;
}

#[tokio::test]
async fn the_renderers_own_refusals_come_through_in_one_line() {
    let files = [("a/kustomization.yaml", "resources: [m.yaml]\nunknownField: 1\n"), ("a/m.yaml", SET)];
    let got = refusals(&files, &[unit("a", "a")]).await;
    assert!(got[0].starts_with("a: kustomize: invalid Kustomization") && !got[0].contains('\n'), "{got:?}");
}

#[tokio::test]
async fn a_printed_object_is_cut_off() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: hunter2, b: .inf}\n";
    let files = [("a/kustomization.yaml", "resources: [m.yaml]\n"), ("a/m.yaml", secret)];
    for message in refusals(&files, &[unit("a", "a")]).await {
        assert!(!message.contains("hunter2"), "{message}");
    }
}

#[tokio::test]
async fn without_a_binary_kustomizations_are_refused() {
    let tree = support::tree(&[("a/kustomization.yaml", "resources: [m.yaml]\n"), ("a/m.yaml", SET)]);
    let tools = Tools { kustomize: None, jail: Jail::Required };
    let errors =
        windlass_render::render(&tree, &[unit("a", "a")], &tools, &Limits::default(), &|_| None).await;
    assert!(errors.unwrap_err().to_string().contains("no kubectl and no kustomize"));
}

#[tokio::test]
async fn an_alias_bomb_ends_at_a_limit() {
    let mut bomb =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\na: &a [x,x,x,x,x,x,x,x,x]\n"
            .to_owned();
    for (name, last) in ["b", "c", "d", "e", "f", "g", "h"].iter().zip(["a", "b", "c", "d", "e", "f", "g"]) {
        let items = vec![format!("*{last}"); 9].join(",");
        bomb = format!("{bomb}{name}: &{name} [{items}]\n");
    }
    let tree = support::tree(&[("a/kustomization.yaml", "resources: [m.yaml]\n"), ("a/m.yaml", &bomb)]);
    let limits = Limits { time: std::time::Duration::from_secs(5), memory: 1 << 30, ..Limits::default() };
    let result =
        windlass_render::render(&tree, &[unit("a", "a")], &support::tools(), &limits, &|_| None).await;
    assert!(result.unwrap_err().to_string().contains("a: kustomize: "));
}
