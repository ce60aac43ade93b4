//! Plans to be shown.

use serde_json::{Value, json};
use windlass_model::{
    Action, Bodies, Conflict, Forecast, LiveId, Object, Operation, Origin, Plan, Preview, Problem,
    Provenance, Recipe, RecipeStep, Refusal, Risk, Shown, Toll, UnitName, VerifiedCommit, delta,
};

/// An action on an object: what it is before and after makes the rest.
#[expect(clippy::needless_pass_by_value, reason = "callers build the bodies in place")]
pub(crate) fn action(operation: Operation, before: Option<Value>, after: Option<Value>) -> Action {
    let object = |body: &Value| Object::new(body.clone(), None).unwrap();
    let named = object(after.as_ref().or(before.as_ref()).unwrap());
    let kind = named.reference().kind.clone();
    let changed = |pair: (&Value, &Value)| delta(&kind, pair.0, pair.1);
    Action {
        origin: after.as_ref().map(|_| Origin { path: "apps/shop/stateful/prd".to_owned(), line: Some(12) }),
        live: before.as_ref().map(|_| LiveId {
            uid: "u-1".to_owned(),
            resource_version: "7".to_owned(),
            generation: None,
            terminating: false,
        }),
        delta: before.as_ref().zip(after.as_ref()).map(changed).unwrap_or_default(),
        risk: Risk::Routine,
        bodies: Bodies {
            before: before.as_ref().map(|body| Shown::of(&object(body))),
            after: after.as_ref().map(|body| Shown::of(&object(body))),
        },
        ..Action::new(UnitName::new("shop").unwrap(), named.reference().clone(), operation)
    }
}

pub(crate) fn config(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data})
}

pub(crate) fn stateful_set(image: &str, replicas: u32, cpu: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "orders-db", "namespace": "shop"},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [
            {"name": "db", "image": image, "resources": {"requests": {"cpu": cpu}}},
            {"name": "exporter", "image": "registry.example/exporter:0.15"},
        ]}}},
    })
}

fn definition(fields: &Value, versions: &[&str]) -> Value {
    let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": fields}}});
    let version = |name: &&str| json!({"name": name, "served": true, "storage": *name == "v1", "schema": {"openAPIV3Schema": schema}});
    let versions: Vec<Value> = versions.iter().map(version).collect();
    json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "postgresqls.acid.zalan.do"}, "spec": {"group": "acid.zalan.do", "versions": versions}})
}

pub(crate) fn plan(actions: Vec<Action>) -> Plan {
    Plan {
        source: commit("Grow the orders database", "Anna Example <anna@example.org>"),
        ..windlass_bed::plan_of(actions)
    }
}

#[expect(clippy::disallowed_methods, reason = "a sample proves nothing")]
pub(crate) fn commit(subject: &str, author: &str) -> Provenance {
    let id: windlass_model::CommitId = "62bc080798ced7f198836a2a33ce522a55ebc7a9".parse().unwrap();
    let signer = windlass_model::Signer {
        fingerprint: "A".repeat(40),
        name: "release".to_owned(),
        signed_at: "2026-06-01T11:00:00Z".parse().unwrap(),
    };
    Provenance::Verified(VerifiedCommit::attest(
        "https://git.example.com/platform.git".to_owned(),
        "main".to_owned(),
        id.clone(),
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904".to_owned(),
        id,
        signer,
        author.to_owned(),
        subject.to_owned(),
    ))
}

/// What a busy day looks like: one of everything.
pub(crate) fn rich() -> Plan {
    let mut plan = plan(vec![
        restarted_database(),
        grown_definition(),
        changed_text(),
        adopted(),
        lost_claim(),
        action(Operation::Prune, Some(config("old-settings", &json!({"a": "1"}))), None),
        secret(),
        invalid(),
        created(),
        left_alone(),
    ]);
    let same = config("unchanged", &json!({}));
    plan.actions.push(action(Operation::NoOp, Some(same.clone()), Some(same)));
    plan.refusals.push(Refusal {
        guard: "protected-kind".to_owned(),
        message: "PersistentVolumeClaim shop/data-orders-db-2 holds data and no permission names it"
            .to_owned(),
        hint: "save the data, then add an entry to guards.allowDeletions".to_owned(),
    });
    plan.toll = Toll {
        restarted_pods: 3,
        uncounted_restarts: 1,
        deleted_claims: 1,
        destroyed_volumes: 1,
        destroyed_bytes: 10 << 30,
        ..Toll::default()
    };
    plan.requirement.reasons =
        vec!["2 objects are deleted".to_owned(), "an API definition changes".to_owned()];
    plan.warnings = vec!["the API service of the group `metrics.k8s.io` does not answer".to_owned()];
    plan
}

fn restarted_database() -> Action {
    let (before, after) = ("registry.example/postgres:17.2", "registry.example/postgres:17.4");
    let mut action =
        action(Operation::Update, Some(stateful_set(before, 3, "500m")), Some(stateful_set(after, 3, "1")));
    let why =
        "orders-db-2, orders-db-1, orders-db-0, one after the other: the pod template changes".to_owned();
    action.forecasts = vec![Forecast::Restart { why, pods: Some(3) }];
    action.risk = Risk::Restart;
    action
}

fn grown_definition() -> Action {
    let old = json!({"size": {"type": "integer", "maximum": 5}, "legacy": {"type": "string"}});
    let new = json!({"size": {"type": "integer", "maximum": 10}, "backup": {"type": "object"}, "tls": {"type": "boolean"}});
    let mut action = action(
        Operation::Update,
        Some(definition(&old, &["v1beta1", "v1"])),
        Some(definition(&new, &["v1", "v2"])),
    );
    action.risk = Risk::Definition;
    action
}

fn changed_text() -> Action {
    let text = |workers: u32| {
        let lines: Vec<String> = (1..30).map(|line| format!("option_{line} = {line}")).collect();
        format!("# nginx\nworker_processes {workers};\n{}\n", lines.join("\n"))
    };
    action(
        Operation::Update,
        Some(config("proxy", &json!({"nginx.conf": text(2), "level": "info"}))),
        Some(config("proxy", &json!({"nginx.conf": text(4), "level": "debug"}))),
    )
}

fn adopted() -> Action {
    let service = |port: u32| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "orders-db", "namespace": "shop"},
            "spec": {"ports": [{"port": port, "protocol": "TCP"}]}})
    };
    let mut action = action(Operation::Adopt, Some(service(5432)), Some(service(5433)));
    let last_write = Some("2025-11-02T08:15:00Z".to_owned());
    action.takes_over = ["spec.ports[port=5432]", "spec.selector.app", "metadata.labels.team"]
        .map(|field| Conflict {
            field: field.to_owned(),
            manager: "kubectl-client-side-apply".to_owned(),
            last_write: last_write.clone(),
            last_write_age: Some("211 days".to_owned()),
            ..Conflict::default()
        })
        .to_vec();
    action.takes_over.push(Conflict {
        field: "metadata.annotations.owner".to_owned(),
        manager: "helm".to_owned(),
        ..Conflict::default()
    });
    action
}

fn lost_claim() -> Action {
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data-orders-db-2", "namespace": "shop"}, "spec": {"resources": {"requests": {"storage": "10Gi"}}}});
    let mut action = action(Operation::Prune, Some(claim), None);
    action.risk = Risk::Data;
    let what = "10Gi on volume pv-7, whose reclaim policy is Delete".to_owned();
    action.forecasts = vec![Forecast::DataLoss { what }];
    action
}

fn secret() -> Action {
    let secret = |value: &str| json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "shop"}, "data": {"password": value}});
    action(Operation::Update, Some(secret("aHVudGVyMQ==")), Some(secret("aHVudGVyMg==")))
}

fn invalid() -> Action {
    let mut action = action(
        Operation::Update,
        Some(stateful_set("registry.example/mq:1", 1, "1")),
        Some(stateful_set("registry.example/mq:1", 2, "1")),
    );
    action.object.name = String::from("queue");
    let causes = vec![".spec.replcas: field not declared in schema".to_owned()];
    action.problem = Some(Problem::Invalid { causes });
    action
}

/// A change that the server refuses, with the way to it.
pub(crate) fn replaced() -> Action {
    let binding = |role: &str| {
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
            "metadata": {"name": "reader", "namespace": "shop"}, "roleRef": {"kind": "ClusterRole", "name": role}})
    };
    let recipe = Recipe {
        down: "the rights that it gives, until it is back".to_owned(),
        data: "none at risk".to_owned(),
        data_at_risk: false,
        steps: vec![
            RecipeStep::run(
                "delete it",
                "kubectl -n shop delete rolebinding.rbac.authorization.k8s.io/reader",
            ),
            RecipeStep::told("run the same commit again: it is created with the new role"),
        ],
        instead: Some("with no gap: deliver the new binding as `reader-2`".to_owned()),
    };
    Action {
        problem: Some(Problem::Immutable { paths: vec!["roleRef.name".to_owned()], recipe: Some(recipe) }),
        ..action(Operation::Recreate, Some(binding("view")), Some(binding("edit")))
    }
}

fn created() -> Action {
    let mut action = action(Operation::Create, None, Some(config("features", &json!({"search": "on"}))));
    action.preview = Preview::Locally("the namespace `shop` is created by the same commit".to_owned());
    action.warnings = vec!["v1 ConfigMaps with this label are deprecated".to_owned()];
    action
}

fn left_alone() -> Action {
    let mut action = action(Operation::Keep, Some(config("stray", &json!({}))), None);
    let text =
        "looks like ours, is not to be deleted: the inventory of unit `shop` does not list it".to_owned();
    action.forecasts = vec![Forecast::Note { text }];
    action
}

/// As many objects as a large cluster has, every one of them changed.
pub(crate) fn many(count: usize) -> Plan {
    let one = |number: usize| {
        let data = |value: &str| json!({"colour": value, "number": number.to_string(), "text": "a\nb\nc\n"});
        let name = format!("settings-{number:05}");
        match number % 3 {
            0 => action(Operation::Create, None, Some(config(&name, &data("blue")))),
            1 => action(Operation::Prune, Some(config(&name, &data("blue"))), None),
            _ => action(
                Operation::Update,
                Some(config(&name, &data("blue"))),
                Some(config(&name, &data("green"))),
            ),
        }
    };
    plan((0..count).map(one).collect())
}

/// Nothing but deletions, of names as long as generated ones are.
pub(crate) fn deletions(count: usize) -> Plan {
    let one = |number: usize| {
        let name = format!("application-settings-of-the-orders-service-{number:05}-7f9c5b6d8e");
        action(Operation::Prune, Some(config(&name, &json!({}))), None)
    };
    plan((0..count).map(one).collect())
}
