//! Definitions that change under live objects.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_model::{ExitCode, GroupKind};
use windlass_plan::exit_code;

use crate::bed::Bed;

/// A kind of a test's own.
struct Kind {
    bed: Bed,
    group: String,
}

/// One version of a definition: its name, whether it is served and stored, the fields of `spec`.
struct Version<'a>(&'a str, bool, bool, Value);

impl Kind {
    async fn new() -> Self {
        let mut bed = Bed::new().await;
        let group = format!("g{}.example.com", bed.suffix);
        bed.leftovers.push(("customresourcedefinition".into(), format!("foos.{group}")));
        Self { bed, group }
    }

    fn definition(&self, versions: &[Version<'_>]) -> Value {
        let versions: Vec<Value> = versions
            .iter()
            .map(|Version(name, served, storage, fields)| {
                json!({"name": name, "served": served, "storage": storage, "schema": {"openAPIV3Schema": {
                    "type": "object", "properties": {
                        "spec": {"type": "object", "properties": fields},
                        "status": {"type": "object", "properties": {"seen": {"type": "string"}}}}}}})
            })
            .collect();
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("foos.{}", self.group)},
            "spec": {"group": self.group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                "versions": versions}})
    }

    fn object(&self, version: &str, name: &str, spec: &Value) -> Value {
        json!({"apiVersion": format!("{}/{version}", self.group), "kind": "Foo",
            "metadata": {"name": name, "namespace": self.bed.namespace}, "spec": spec})
    }

    /// Delivers the definition, waits until it is served, and delivers these objects with it.
    async fn deliver(&self, definition: &Value, version: &str, objects: &[Value]) {
        self.bed.deliver(&[("shop", std::slice::from_ref(definition))]).await;
        let resource = loop {
            self.bed.cluster.forget_discovery().await;
            match self.bed.cluster.resource(&GroupKind::new(&self.group, "Foo"), version).await {
                Ok(resource) => break resource,
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        while self.bed.cluster.list(&resource, windlass_cluster::Selector::default()).await.is_err() {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let all = [std::slice::from_ref(definition), objects].concat();
        self.bed.deliver(&[("shop", &all)]).await;
    }

    /// Writes an object as an operator would.
    fn operate(&self, manager: &str, object: &Value) {
        let field_manager = format!("--field-manager={manager}");
        self.bed.kubectl(&["apply", "--server-side", &field_manager, "-f", "-"], &object.to_string());
    }
}

fn text() -> Value {
    json!({"type": "string"})
}

fn v1(fields: Value) -> [Version<'static>; 1] {
    [Version("v1", true, true, fields)]
}

#[tokio::test]
async fn objects_are_judged_by_the_definition_of_the_same_commit() {
    let kind = Kind::new().await;
    let size = json!({"type": "integer", "maximum": 5, "default": 1,
        "x-kubernetes-validations": [{"rule": "self != 3", "message": "three is unlucky"},
            {"rule": "[1, 2].sum() == 3"}]});
    let new = kind.definition(&v1(json!({"size": size, "name": text()})));
    for (spec, want) in [
        (json!({"size": 4}), &["/a Locally(\"the kind", "warning spec.size: rule not checked locally"][..]),
        (json!({}), &["/a Locally", "warning spec.size: rule not checked locally"]),
        (json!({"size": 3}), &["/a Locally", "problem invalid: spec.size: three is unlucky"]),
        (json!({"size": 6}), &["/a Locally", "problem invalid: spec.size: must be at most 5"]),
        (json!({"size": "6"}), &["problem invalid: spec.size: must be a whole number, is a text"]),
        (json!({"sizes": 1}), &["problem invalid: spec.sizes: is not declared in the schema"]),
    ] {
        let object = kind.object("v1", "a", &spec);
        kind.bed.check(&[new.clone(), object], &[&["create CustomResourceDefinition", "Server"], want]).await;
    }
}

#[tokio::test]
async fn a_wider_schema_is_judged_locally_and_an_unchanged_one_by_the_server() {
    let kind = Kind::new().await;
    let old = kind.definition(&v1(json!({"a": text()})));
    let first = kind.object("v1", "a", &json!({"a": "1"}));
    kind.deliver(&old, "v1", std::slice::from_ref(&first)).await;
    let new = kind.definition(&v1(json!({"a": text(), "b": {"type": "string", "maxLength": 3}})));
    let check = async |definition: &Value, spec: Value, want: &[&str]| {
        let object = kind.object("v1", "a", &spec);
        let update = if definition == &old { "no-op Custom" } else { "update Custom" };
        kind.bed.check(&[definition.clone(), object], &[&[update], want]).await;
    };
    check(&new, json!({"a": "1", "b": "2"}), &["/a Locally(\"the definition", "Added spec.b"]).await;
    check(
        &new,
        json!({"a": "1", "b": "long"}),
        &["/a Locally", "problem invalid: spec.b: must have at most 3"],
    )
    .await;
    check(&new, json!({"a": "1"}), &["/a Locally"]).await;
    check(&old, json!({"a": "1", "b": "2"}), &["/a Server", "problem invalid: .spec.b"]).await;
    let mut labelled = old.clone();
    labelled["metadata"]["labels"] = json!({"a": "b"});
    check(&labelled, json!({"a": "2"}), &["/a Server"]).await;
}

#[tokio::test]
async fn a_narrower_schema_names_the_objects_it_does_not_fit() {
    let kind = Kind::new().await;
    let old = kind.definition(&v1(json!({"a": text(), "b": text(), "c": {"type": "integer"}})));
    let ours = kind.object("v1", "ours", &json!({"a": "long", "b": "kept"}));
    kind.deliver(&old, "v1", std::slice::from_ref(&ours)).await;
    kind.operate("operator", &kind.object("v1", "theirs", &json!({"a": "long", "b": "lost", "c": 9})));
    let check = async |fields: Value, ours: Value, want: &[&[&str]]| {
        let plan =
            kind.bed.check(&[kind.definition(&v1(fields)), kind.object("v1", "ours", &ours)], want).await;
        exit_code(&plan)
    };
    let short = json!({"type": "string", "maxLength": 2});
    let same = json!({"a": "long", "b": "kept"});
    // Its own change cures ours; theirs stands in the way.
    let exit = check(
        json!({"a": short, "b": text(), "c": {"type": "integer"}}),
        json!({"a": "ok", "b": "kept"}),
        &[
            &["update Custom"],
            &["/ours Locally"],
            &["refused definition-narrowing", "1 of the 2", "/theirs: spec.a"],
        ],
    )
    .await;
    assert_eq!(exit, Some(ExitCode::Refused));
    check(
        json!({"a": text(), "c": {"type": "integer"}}),
        json!({"a": "long"}),
        &[
            &["update Custom"],
            &["/ours Locally"],
            &["refused definition-narrowing", "/theirs: spec.b: is not declared"],
        ],
    )
    .await;
    // Facts 10.3: no apply works on an object that does not have the shape of the schema.
    check(
        json!({"a": text(), "b": text(), "c": text()}),
        same.clone(),
        &[
            &["update Custom"],
            &["/ours Locally"],
            &["refused definition-narrowing", "/theirs: spec.c: must be a text"],
        ],
    )
    .await;
    check(
        json!({"a": {"type": "integer"}, "b": text(), "c": {"type": "integer"}}),
        json!({"a": 1, "b": "kept"}),
        &[
            &["update Custom"],
            &["/ours Locally"],
            &["refused definition-narrowing", "2 of the 2", "/ours: spec.a"],
        ],
    )
    .await;
    check(
        json!({"a": text(), "b": text(), "c": {"type": "integer", "description": "more words"}}),
        same,
        &[&["update Custom"], &["/ours Locally"]],
    )
    .await;
}

#[tokio::test]
async fn a_required_field_that_objects_lack_is_narrowing() {
    let kind = Kind::new().await;
    let fields = json!({"a": text(), "b": text()});
    let old = kind.definition(&v1(fields.clone()));
    kind.deliver(&old, "v1", &[]).await;
    kind.operate("operator", &kind.object("v1", "theirs", &json!({"a": "1"})));
    let mut new = old.clone();
    new["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["required"] = json!(["b"]);
    kind.bed
        .check(&[new], &[&["update Custom"], &["refused definition-narrowing", "spec.b: is required"]])
        .await;
}

/// Facts 10.3 and kubernetes issue 111937.
#[tokio::test]
async fn versions_in_use_and_in_store_are_not_dropped() {
    let kind = Kind::new().await;
    let fields = || json!({"a": text()});
    let old =
        kind.definition(&[Version("v1alpha1", true, true, fields()), Version("v1", true, false, fields())]);
    let first = kind.object("v1alpha1", "one", &json!({"a": "1"}));
    kind.deliver(&old, "v1alpha1", std::slice::from_ref(&first)).await;
    let moved = kind.object("v1", "one", &json!({"a": "1"}));
    let dropped = kind.definition(&v1(fields()));
    let plan = kind
        .bed
        .check(
            &[dropped, moved.clone()],
            &[
                &["update Custom", "problem invalid: status.storedVersions"],
                &["/one"],
                &["refused stored-version", "`v1alpha1`", "1 exist: Foo"],
                &["refused version-in-use", "by `windlass`"],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));
    let unserved =
        kind.definition(&[Version("v1alpha1", false, false, fields()), Version("v1", true, true, fields())]);
    kind.bed.check(&[unserved.clone(), moved.clone()], &[&["update Custom"], &["/one Server"]]).await;
    kind.bed
        .check(
            &[unserved.clone(), first],
            &[&["update Custom"], &["/one Locally", "problem invalid", "does not serve version `v1alpha1`"]],
        )
        .await;
    kind.operate("operator", &kind.object("v1alpha1", "two", &json!({"a": "1"})));
    kind.bed
        .check(
            &[unserved, moved],
            &[&["update Custom"], &["/one Server"], &["refused version-in-use", "/two by `operator`"]],
        )
        .await;
}

#[tokio::test]
async fn scope_and_names_stay() {
    let kind = Kind::new().await;
    let old = kind.definition(&v1(json!({"a": text()})));
    let one = kind.object("v1", "one", &json!({"a": "1"}));
    kind.deliver(&old, "v1", std::slice::from_ref(&one)).await;
    for (field, value, told) in [
        ("/spec/scope", "Cluster", "spec.scope from `Namespaced` to `Cluster`; 1 exist"),
        ("/spec/group", "other.example.com", "to `other.example.com`"),
        ("/spec/names/plural", "fooes", "spec.names.plural from `foos` to `fooes`"),
    ] {
        let mut new = old.clone();
        *new.pointer_mut(field).unwrap() = json!(value);
        let path = field[1..].replace('/', ".");
        let plan = kind
            .bed
            .check(
                &[new, one.clone()],
                &[
                    &["recreate Custom", &format!("problem immutable: {path}")],
                    &["/one"],
                    &["refused definition-identity", told],
                ],
            )
            .await;
        assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    }
}

/// A webhook that does not answer makes every object in another version unreadable.
#[tokio::test]
async fn a_conversion_webhook_that_is_down_stops_everything_about_its_kind() {
    let _a_kind_cannot_be_listed = crate::sets::LISTS.lock().await;
    let kind = Kind::new().await;
    let fields = || json!({"a": text()});
    let mut old =
        kind.definition(&[Version("v1", true, true, fields()), Version("v2", true, false, fields())]);
    let one = kind.object("v1", "one", &json!({"a": "1"}));
    kind.deliver(&old, "v1", std::slice::from_ref(&one)).await;
    old["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": kind.bed.namespace, "name": "gone", "path": "/convert"}}}});
    kind.deliver(&old, "v1", &[]).await;
    let moved = kind.object("v2", "one", &json!({"a": "1"}));
    let other = kind.bed.config("a", &json!({}));
    kind.bed.deliver(&[("shop", &[old.clone(), one, other.clone()])]).await;
    let plan = kind
        .bed
        .check(
            &[old.clone(), moved, other.clone()],
            &[
                &["no-op Custom"],
                &["no-op ConfigMap"],
                &["/one", "problem", "webhook"],
                &["refused incomplete-list", "cannot be converted"],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    let mut storage = old.clone();
    storage["spec"]["versions"][0]["storage"] = json!(false);
    storage["spec"]["versions"][1]["storage"] = json!(true);
    let plan = kind.plan_lines(&[storage, other]).await;
    assert!(plan.contains("refused definition-unlisted") && !plan.contains("prune Foo"), "{plan}");
}

/// It was planned as good, and then no object could be read or written in its other version.
#[tokio::test]
async fn a_conversion_webhook_that_nobody_answers_for_is_not_switched_on() {
    let kind = Kind::new().await;
    let fields = || json!({"a": text()});
    let old = kind.definition(&[Version("v1", true, true, fields()), Version("v2", true, false, fields())]);
    let mut new = old.clone();
    new["spec"]["conversion"] = json!({"strategy": "Webhook", "webhook": {"conversionReviewVersions": ["v1"],
        "clientConfig": {"service": {"namespace": kind.bed.namespace, "name": "hook", "path": "/convert"}}}});
    kind.bed.check(std::slice::from_ref(&new), &[&["create Custom"]]).await;
    kind.deliver(&old, "v1", &[]).await;
    kind.bed.check(std::slice::from_ref(&new), &[&["update Custom"]]).await;
    let one = kind.object("v1", "one", &json!({"a": "1"}));
    kind.bed.deliver(&[("shop", &[old, one.clone()])]).await;
    let service = json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "hook", "namespace": kind.bed.namespace}, "spec": {"ports": [{"port": 443}]}});
    let missing: &[&str] = &["refused definition-conversion", "which does not exist so far", "/one"];
    let plan = kind
        .bed
        .check(
            &[new.clone(), one.clone(), service.clone()],
            &[&["update Custom"], &["create Service"], &["/one"], missing],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    kind.bed.kubectl(&["apply", "-f", "-"], &service.to_string());
    let unready: &[&str] = &["refused definition-conversion", "which has no ready endpoint", "1 exist"];
    kind.bed.check(&[new.clone(), one.clone()], &[&["update Custom"], &["/one"], unready]).await;
    let slice = json!({"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"name": "hook", "namespace": kind.bed.namespace, "labels": {"kubernetes.io/service-name": "hook"}},
        "endpoints": [{"addresses": ["192.0.2.1"]}]});
    kind.bed.kubectl(&["apply", "-f", "-"], &slice.to_string());
    kind.bed.check(&[new, one], &[&["update Custom"], &["/one"]]).await;
}

impl Kind {
    async fn plan_lines(&self, objects: &[Value]) -> String {
        let plan = self.bed.plan(&[("shop", objects)]).await;
        let actions =
            plan.actions.iter().map(|action| format!("{} {}", action.operation.word(), action.object));
        let refusals =
            plan.refusals.iter().map(|refusal| format!("refused {} {}", refusal.guard, refusal.message));
        actions.chain(refusals).collect::<Vec<_>>().join("\n")
    }
}

#[tokio::test]
async fn a_definition_with_objects_is_not_removed() {
    let kind = Kind::new().await;
    let old = kind.definition(&v1(json!({"a": text()})));
    kind.deliver(&old, "v1", &[]).await;
    let other = kind.bed.config("a", &json!({}));
    kind.bed.deliver(&[("shop", &[old, other.clone()])]).await;
    for name in ["one", "two"] {
        kind.operate("operator", &kind.object("v1", name, &json!({"a": "1"})));
    }
    let plan = kind.plan_lines(&[other]).await;
    assert!(plan.contains("refused definition-in-use") && plan.contains("2 so far: Foo"), "{plan}");
}

/// The server makes null of a map that stays declared and loses its last entry, also where that goes with its owner: the
/// plan of such an adoption was accepted, and the apply refused.
#[tokio::test]
async fn a_map_that_loses_its_last_entry_is_refused_with_what_helps() {
    let kind = Kind::new().await;
    let limits = json!({"limits": {"type": "object", "additionalProperties": {"type": "string"}}});
    let definition = kind.definition(&[Version("v1", true, true, limits)]);
    let spec = |limits: Value| kind.object("v1", "a", &json!({"limits": limits}));
    kind.deliver(&definition, "v1", &[spec(json!({"a": "x"}))]).await;
    let adopted = |limits: &Value| kind.object("v1", "b", &json!({"limits": limits}));
    kind.bed.kubectl(&["apply", "-f", "-"], &adopted(&json!({"a": "x"})).to_string());
    let refused = |word: &'static str| [word, "problem invalid: spec.limits", "leave it out of the manifest"];
    let (ours, theirs) = (spec(json!({})), adopted(&json!({})));
    kind.bed
        .check(
            &[definition.clone(), ours, theirs],
            &[&["no-op Custom"], &refused("update Foo"), &refused("adopt Foo")],
        )
        .await;
    let without = ["a", "b"].map(|name| kind.object("v1", name, &json!({})));
    let without = without.map(|mut object| {
        object.as_object_mut().unwrap().remove("spec");
        object
    });
    let removes = ["Foo", "Removed spec"];
    let objects = [definition, without[0].clone(), without[1].clone()];
    kind.bed.check(&objects, &[&["no-op Custom"], &removes, &removes]).await;
}
