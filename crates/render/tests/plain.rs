//! Units that are read file by file, and what is refused in any unit.

mod support;

use serde_json::json;
use support::{names, refusals, render, unit};

const SECRET: &str = "hunter2";

fn config(name: &str) -> String {
    format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}, namespace: shop}}\n")
}

/// Renders one file as one unit and compares the messages.
async fn refused(text: &str, want: &[&str]) {
    let got = refusals(&[("app/a.yaml", text)], &[unit("app", "app")]).await;
    assert_eq!(got, want, "{text}");
}

#[tokio::test]
async fn each_refusal_names_file_line_and_object() {
    let head = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n";
    let check = |body: &str| format!("# first line\n{head}{body}");
    refused(
        &check("  namespace: a\n"),
        &["app/a.yaml:2: ConfigMap: field `metadata.name` is missing or is not a text"],
    )
    .await;
    refused(
        &check("  name: 1\n"),
        &["app/a.yaml:2: ConfigMap: field `metadata.name` is missing or is not a text"],
    )
    .await;
    refused(
        &check("  generateName: a-\n"),
        &["app/a.yaml:2: ConfigMap a-: `metadata.generateName` cannot be applied: give the object a `metadata.name`"],
    )
    .await;
    refused(
        &check("  name: a\n"),
        &["app/a.yaml:2: ConfigMap a: no `metadata.namespace`, but the kind is namespaced"],
    )
    .await;
    refused(
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: a, namespace: b}\n",
        &["app/a.yaml:1: Namespace b/a: `metadata.namespace` is given, but the kind is cluster-scoped"],
    )
    .await;
    refused(
        &check("  name: a\n  namespace: b\n  labels: {applyset.kubernetes.io/part-of: x}\n"),
        &["app/a.yaml:2: ConfigMap b/a: the label `applyset.kubernetes.io/part-of` is set, which only Windlass sets"],
    )
    .await;
    refused(
        &check("  name: a\n  namespace: b\n  managedFields: []\n"),
        &["app/a.yaml:2: ConfigMap b/a: `metadata.managedFields` is set, which only the server sets"],
    )
    .await;
    refused(
        &check("  name: a\n  namespace: b\n  labels: {on: off}\n"),
        &["app/a.yaml:2: ConfigMap b/a: `metadata.labels.true` must be a text, but it is read as a boolean"],
    )
    .await;
    refused(
        &check("  name: a\n  namespace: b\ndata: {port: 8080}\n"),
        &["app/a.yaml:2: ConfigMap b/a: `data.port` must be a text, but it is read as a number"],
    )
    .await;
    refused(
        &check("  name: a/b\n  namespace: b\n"),
        &["app/a.yaml:2: ConfigMap b/a/b: `metadata.name` is not a legal name"],
    )
    .await;
    refused("- a\n", &["app/a.yaml:1: object: expected an object, found a list"]).await;
    refused(
        "kind: ConfigMap\n",
        &["app/a.yaml:1: ConfigMap: field `apiVersion` is missing or is not a text"],
    )
    .await;
    refused(
        "apiVersion: /v1\nkind: A\nmetadata: {name: a}\n",
        &["app/a.yaml:1: A a: `apiVersion` is neither `version` nor `group/version`"],
    )
    .await;
    refused(
        "apiVersion: v1\nkind: List\nitems: [null]\n",
        &["app/a.yaml:3: object: `items` holds a null item"],
    )
    .await;
    refused("apiVersion: v1\nkind: List\n", &["app/a.yaml:1: List: a list without `items`"]).await;
    refused(
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\nspec: {containers: [{args: [a, null]}]}\n",
        &["app/a.yaml:1: Pod b/a: `spec.containers.args` holds a null item"],
    )
    .await;
    refused("a: 1\na: 2\n", &["app/a.yaml:2:1: key `a` is here again, first on line 1"]).await;
}

#[tokio::test]
async fn everything_that_is_wrong_is_told_at_once() {
    let files = [
        ("a/1.yaml", "x: [\n"),
        ("a/2.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n---\nkind: X\n"),
        ("b/1.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a, namespace: b}\n"),
    ];
    assert_eq!(refusals(&files, &[unit("a", "a"), unit("b", "b")]).await.len(), 4);
}

#[tokio::test]
async fn an_object_written_twice_names_both_places() {
    let one = config("one");
    let files = [("a/1.yaml", one.as_str()), ("b/2.yaml", one.as_str())];
    let want = "b/2.yaml:1: ConfigMap shop/one: the same object is also written in a/1.yaml:1 (unit a)";
    assert_eq!(refusals(&files, &[unit("a", "a"), unit("b", "b")]).await, [want]);
}

#[tokio::test]
async fn the_same_object_in_two_versions_is_a_duplicate() {
    let hpa = |version: &str| {
        format!(
            "apiVersion: autoscaling/{version}\nkind: HorizontalPodAutoscaler\nmetadata: {{name: a, namespace: b}}\n"
        )
    };
    let text = format!("{}---\n{}", hpa("v1"), hpa("v2"));
    assert_eq!(refusals(&[("a/1.yaml", text.as_str())], &[unit("a", "a")]).await.len(), 1);
}

#[tokio::test]
async fn no_value_of_a_secret_is_repeated() {
    for data in [
        format!("stringData: {{a: [{SECRET}]}}"),
        format!("data: {{a: '{SECRET}!'}}"),
        "stringData: {a: 424242}".to_owned(),
        format!("stringData: {SECRET}"),
        format!("stringData: {{a: {SECRET}, a: {SECRET}}}"),
        format!("stringData: {{a: {SECRET}: b}}"),
        format!("stringData: {{a: !!int {SECRET}}}"),
    ] {
        let text = format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: a, namespace: b}}\n{data}\n");
        let errors = render(&[("a/1.yaml", &text)], &[unit("a", "a")]).await.expect_err(&data);
        let all = format!("{errors} {errors:?} {}", errors.0[0].hint());
        assert!(!all.contains(SECRET) && !all.contains("424242"), "{all}");
    }
}

/// Renders one document and returns its body and the warnings.
#[expect(clippy::unwrap_used, reason = "helper of tests")]
async fn body(text: &str) -> (serde_json::Value, Vec<String>) {
    let rendering = render(&[("a/1.yaml", text)], &[unit("a", "a")]).await.unwrap();
    let body = rendering.units[0].objects.last().unwrap().body().clone();
    (body, rendering.warnings)
}

#[tokio::test]
async fn what_is_sent() {
    let (secret, warnings) = body(
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a, namespace: b, labels: {}, creationTimestamp: null}\n\
         data: {a: 'aHVu\n  dGVyMg==', b: eA==, c: null}\nstringData: {b: 'y'}\nstatus: {}\n",
    )
    .await;
    assert_eq!(
        secret,
        json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a", "namespace": "b"},
               "data": {"a": "aHVudGVyMg==", "b": "eQ=="}})
    );
    assert_eq!(
        warnings,
        [
            "a/1.yaml:1: Secret b/a: `status` is left out",
            "a/1.yaml:1: Secret b/a: `data.c` is null and left out"
        ]
    );
}

/// Exported with `kubectl get -o yaml`, it carries the uid of an object that is never met again.
#[tokio::test]
async fn what_only_the_server_sets_is_left_out() {
    let (map, warnings) = body(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b, uid: x, resourceVersion: '7', generation: 2, \
         creationTimestamp: '2026-01-01T00:00:00Z', selfLink: /a}\n",
    )
    .await;
    assert_eq!(map["metadata"], json!({"name": "a", "namespace": "b"}));
    let left = |field: &str| format!("a/1.yaml:1: ConfigMap b/a: `metadata.{field}` is left out");
    assert_eq!(warnings, ["uid", "resourceVersion", "generation", "creationTimestamp", "selfLink"].map(left));
}

/// Whoever declares the annotation lets kubectl remove at its next apply what Windlass declared, and shows a Secret in it.
#[tokio::test]
async fn what_kubectl_keeps_of_what_it_applied_is_left_out() {
    let annotation = "kubectl.kubernetes.io/last-applied-configuration";
    let manifest = |others: &str| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: a, namespace: b, annotations: {{{annotation}: '{{}}'{others}}}}}\n"
        )
    };
    let (map, warnings) = body(&manifest(", x: one")).await;
    assert_eq!(map["metadata"], json!({"name": "a", "namespace": "b", "annotations": {"x": "one"}}));
    assert_eq!(warnings, [format!("a/1.yaml:1: ConfigMap b/a: the annotation `{annotation}` is left out")]);
    let (map, _) = body(&manifest("")).await;
    assert_eq!(map["metadata"], json!({"name": "a", "namespace": "b"}));
}

#[tokio::test]
async fn nulls_of_custom_resources_follow_the_schema() {
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\n\
        spec:\n  group: x.io\n  names: {kind: Foo}\n  scope: Cluster\n  versions:\n  - name: v1\n    schema:\n      \
        openAPIV3Schema: {properties: {spec: {properties: {a: {nullable: true}, b: {type: string}}}}}\n---\n";
    let foo = "apiVersion: x.io/v1\nkind: Foo\nmetadata: {name: a}\nspec: {a: null, b: null, c: null}\n";
    let (known, _) = body(&format!("{crd}{foo}")).await;
    assert_eq!(known["spec"], json!({"a": null, "c": null}));
    let (unknown, _) = body(foo).await;
    assert_eq!(unknown["spec"], json!({"a": null, "b": null, "c": null}));
}

#[tokio::test]
async fn scopes_come_from_the_tree_and_the_caller() {
    let foo = "apiVersion: x.io/v1\nkind: Foo\nmetadata: {name: a}\n";
    let crd = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: foos.x.io}\n\
        spec: {group: x.io, names: {kind: Foo}, scope: Namespaced}\n";
    let units = [unit("crds", "crds"), unit("app", "app")];
    let with_crd = [("crds/1.yaml", crd), ("app/1.yaml", foo)];
    assert_eq!(
        refusals(&with_crd, &units).await,
        ["app/1.yaml:1: Foo.x.io a: no `metadata.namespace`, but the kind is namespaced"]
    );
    assert!(render(&with_crd[1..], &units[1..]).await.is_ok());
    let tree = support::tree(&with_crd[1..]);
    let caller = |kind: &windlass_model::GroupKind| kind.is("x.io", "Foo").then_some(true);
    let limits = windlass_render::Limits::default();
    assert!(windlass_render::render(&tree, &units[1..], &support::tools(), &limits, &caller).await.is_err());
}

#[tokio::test]
async fn lists_are_flattened() {
    let text = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a}}\n\
        - apiVersion: v1\n  kind: NamespaceList\n  items: [{metadata: {name: b}}]\n";
    let rendering = render(&[("a/1.yaml", text)], &[unit("a", "a")]).await.unwrap();
    assert_eq!(names(&rendering), ["a: Namespace a", "a: Namespace b"]);
    let lines: Vec<_> = rendering.objects().map(|(_, object)| object.origin().unwrap().to_string()).collect();
    assert_eq!(lines, ["a/1.yaml:4", "a/1.yaml:7"]);
}

#[tokio::test]
async fn files_in_path_order_without_other_units() {
    let maps = ["one", "two", "three", "four"].map(config);
    let files = [
        ("infra/b.yml", maps[0].as_str()),
        ("infra/a/z.json", r#"{"apiVersion":"v1","kind":"Namespace","metadata":{"name":"shop"}}"#),
        ("infra/db/c.yaml", maps[2].as_str()),
        ("infra/README.md", "no: [manifest"),
        ("windlass.yaml", "units: []"),
    ];
    let rendering = render(&files, &[unit("all", ""), unit("db", "infra/db")]).await.unwrap();
    assert_eq!(
        names(&rendering),
        ["all: Namespace shop", "all: ConfigMap shop/one", "db: ConfigMap shop/three"]
    );
    assert_eq!(rendering.renderer, "plain");
}

#[tokio::test]
async fn a_nested_kustomization_is_refused() {
    let files = [("a/b/kustomization.yaml", "resources: []")];
    let want = "a/b/kustomization.yaml: a kustomization inside a unit that is read file by file";
    assert_eq!(refusals(&files, &[unit("a", "a")]).await, [want]);
}

#[tokio::test]
async fn an_empty_unit_is_noted() {
    let rendering = render(&[("a/1.yaml", "# nothing\n")], &[unit("a", "a")]).await.unwrap();
    assert_eq!(rendering.warnings, ["a: the unit `a` holds no object"]);
}

/// A digest over a short secret can be guessed from (decision 4).
#[tokio::test]
async fn the_digest_says_nothing_about_secret_values() {
    let secret = |data: &str| {
        format!("apiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: a}}\nstringData: {{{data}}}\n")
    };
    let digest =
        async |data: &str| render(&[("a/s.yaml", &secret(data))], &[unit("a", "a")]).await.unwrap().digest;
    assert_eq!(digest("k: one").await, digest("k: two").await);
    assert_ne!(digest("k: one").await, digest("l: one").await);
}

#[tokio::test]
async fn the_digest_ignores_order_and_layout_but_not_content_or_unit() {
    let (one, two) = (config("one"), config("two"));
    let digest =
        async |files: &[(&str, &str)], name: &str| render(files, &[unit(name, "a")]).await.unwrap().digest;
    let base = digest(&[("a/1.yaml", &one), ("a/2.yaml", &two)], "a").await;
    assert_eq!(base, digest(&[("a/1.yaml", &format!("{two}---\n{one}"))], "a").await);
    assert_ne!(base, digest(&[("a/1.yaml", &one)], "a").await);
    assert_ne!(base, digest(&[("a/1.yaml", &one), ("a/2.yaml", &two)], "b").await);
    assert_ne!(
        base,
        digest(&[("a/1.yaml", &one), ("a/2.yaml", &format!("{two}data: {{a: b}}\n"))], "a").await
    );
}

#[tokio::test]
async fn plain_files_mean_what_they_mean_to_kubectl() {
    let text = "apiVersion: x.io/v1\nkind: Foo\nmetadata: {name: y1}\nspec: &s {a: yes, b: 0755, on: 1_000, c: 12:30}\n\
        ---\napiVersion: x.io/v1\nkind: Foo\nmetadata: {name: b}\nspec: {a: [1.0, 1e3, .5], t: \"yes\", 0x10: |-\n  a\n}\n";
    let text = text.replace("0x10: |-\n  a\n}", "0x10: 08}");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.yaml");
    std::fs::write(&file, &text).unwrap();
    let output = std::process::Command::new(support::kubectl())
        .args(["label", "--local", "k=v", "-o", "json", "-f"])
        .arg(&file)
        .output()
        .unwrap();
    let theirs: Vec<serde_json::Value> =
        serde_json::Deserializer::from_slice(&output.stdout).into_iter().collect::<Result<_, _>>().unwrap();
    let rendering = render(&[("a/a.yaml", &text)], &[unit("a", "a")]).await.unwrap();
    let ours: Vec<serde_json::Value> = rendering
        .objects()
        .map(|(_, object)| {
            let mut object = object.clone();
            object.set_label("k", "v");
            object.into_body()
        })
        .collect();
    assert_eq!(ours, theirs);
}
