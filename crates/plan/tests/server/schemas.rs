//! Objects that do not fit their schema: the server answers 500 or 422, and each time it is the manifest.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;

use crate::bed::{Bed, served};

fn deployment(bed: &Bed, container: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a", "namespace": bed.namespace},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [container]}}}})
}

/// kubernetes issue 113482, facts 10.4.
#[tokio::test]
async fn each_flaw_is_told_with_its_path() {
    let bed = Bed::new().await;
    let container = |more: Value| {
        let mut container = json!({"name": "a", "image": "registry.example/a:1"});
        for (key, value) in more.as_object().unwrap() {
            container[key] = value.clone();
        }
        deployment(&bed, &container)
    };
    let ports = json!([{"containerPort": 93, "hostPort": 1}, {"containerPort": 93, "hostPort": 2}]);
    let twice = json!([{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]);
    let mut misspelt = container(json!({}));
    misspelt["spec"]["replcas"] = json!(2);
    for (object, want) in [
        (container(json!({"ports": ports})), ".ports: duplicate entries for key"),
        (container(json!({"env": twice})), ".env: duplicate entries for key"),
        (container(json!({"image": 1})), ".image: expected string"),
        (misspelt, ".spec.replcas: field not declared in schema"),
        (container(json!({"resources": {"limits": {"cpu": "much"}}})), "quantities must match"),
    ] {
        let plan = bed
            .check(
                &[object, bed.config("a", &json!({}))],
                &[&["create ConfigMap/a Server"], &["create Deployment", "problem invalid: ", want]],
            )
            .await;
        assert_eq!(exit_code(&plan), Some(ExitCode::BadInput), "{want}");
    }
}

#[tokio::test]
async fn values_of_custom_resources_are_judged_by_their_schema() {
    let mut bed = Bed::new().await;
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.push(("customresourcedefinition".into(), name.clone()));
    let spec = json!({"type": "object", "properties": {
        "size": {"type": "integer", "maximum": 5}, "mode": {"type": "string", "enum": ["a", "b"]}}});
    let definition = json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": name}, "spec": {"group": group, "scope": "Namespaced",
            "names": {"kind": "Foo", "plural": "foos"}, "versions": [{"name": "v1", "served": true, "storage": true,
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}}]}});
    bed.kubectl(&["apply", "--server-side", "-f", "-"], &definition.to_string());
    bed.cluster.forget_discovery().await;
    served(&bed, &group, "Foo").await;
    for (spec, want) in [
        (json!({"size": "3"}), ".spec.size: expected "),
        (json!({"size": 3.5}), "spec.size"),
        (json!({"size": 6}), "spec.size: "),
        (json!({"mode": "c"}), "spec.mode: Unsupported value"),
        (json!({"sizes": 1}), ".spec.sizes: field not declared in schema"),
    ] {
        let foo = json!({"apiVersion": format!("{group}/v1"), "kind": "Foo",
            "metadata": {"name": "a", "namespace": bed.namespace}, "spec": spec});
        let plan = bed.check(&[foo], &[&["create Foo", "problem invalid: ", want]]).await;
        assert_eq!(exit_code(&plan), Some(ExitCode::BadInput), "{want}");
    }
}

/// The server warns of it on dry-runs, too.
#[tokio::test]
async fn a_deprecated_api_is_told_in_the_plan() {
    let bed = Bed::new().await;
    let endpoints = json!({"apiVersion": "v1", "kind": "Endpoints", "metadata": {"name": "db", "namespace": bed.namespace},
        "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 5432}]}]});
    bed.check(&[endpoints], &[&["create Endpoints", "warning v1 Endpoints is deprecated"]]).await;
}
