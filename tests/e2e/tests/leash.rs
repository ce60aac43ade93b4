//! Every way in which an identity that may only dry-run could write: what its rights refuse, and what the policy
//! refuses where somebody has given it more rights.

use serde_json::{Value, json};
use windlass_e2e::{Bed, Files, Kubectl, Raw, Reply, World, manifests, until};

/// Who answers a request, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    Granted,
    RefusedByRights,
    RefusedByPolicy,
    /// There are no dry-runs of this.
    NotDry,
}

use Answer::{Granted, NotDry, RefusedByPolicy as Policy, RefusedByRights as Rights};

/// One way to write.
struct Row {
    method: &'static str,
    /// Below `/api` or `/apis`; `NS` is the namespace.
    path: &'static str,
    body: Value,
    /// What the identity hears for a real request and for a dry-run: with the rights of `pipeline/rbac`, and with all
    /// rights that there are.
    shipped: [Answer; 2],
    unlimited: [Answer; 2],
}

/// A way to write of which the dry-run is harmless.
fn row(method: &'static str, path: &'static str, body: Value, shipped: [Answer; 2]) -> Row {
    Row { method, path, body, shipped, unlimited: [Policy, Granted] }
}

/// A way to act in or through a pod.
fn connection(method: &'static str, path: &'static str) -> Row {
    Row { method, path, body: Value::Null, shipped: [Rights, Rights], unlimited: [Policy, NotDry] }
}

/// A way to write that only the rights refuse, since policies do not apply to policies.
fn by_rights(method: &'static str, path: &'static str, body: Value) -> Row {
    Row { method, path, body, shipped: [Rights, Rights], unlimited: [Granted, Granted] }
}

const MAP: &str = "api/v1/namespaces/NS/configmaps/kept";
const DEPLOYMENT: &str = "apis/apps/v1/namespaces/NS/deployments/web";
const POD: &str = "api/v1/namespaces/NS/pods/alone";

fn rows() -> Vec<Row> {
    let label = json!({"metadata": {"labels": {"leash": "off"}}});
    let map =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "kept"}, "data": {"a": "c"}});
    let new = |api_version: &str, kind: &str, more: Value| {
        let mut body =
            json!({"apiVersion": api_version, "kind": kind, "metadata": {"generateName": "leash-"}});
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let role_ref =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"});
    let binding = json!({"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "unbound"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "testbed-node-1"}});
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "alone"}});
    let replicas = json!({"spec": {"replicas": 0}});
    let token = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
    let condition = json!({"status": {"conditions": [{"type": "Approved", "status": "True", "reason": "x", "message": "x"}]}});
    let container =
        json!({"spec": {"ephemeralContainers": [{"name": "debug", "image": "registry.example/a:1"}]}});
    vec![
        // ── What is delivered: the rights are there, and the policy turns them into dry-runs.
        row("POST", "api/v1/namespaces/NS/configmaps", new("v1", "ConfigMap", json!({})), [Policy, Granted]),
        row("POST", "api/v1/namespaces/NS/secrets", new("v1", "Secret", json!({})), [Policy, Granted]),
        row("POST", "api/v1/namespaces/NS/pods", pod("another"), [Policy, Granted]),
        row("APPLY", MAP, map.clone(), [Policy, Granted]),
        row("APPLY", "api/v1/namespaces/NS/configmaps/new", renamed(&map, "new"), [Policy, Granted]),
        row("MERGE", MAP, label.clone(), [Policy, Granted]),
        row("STRATEGIC", MAP, label.clone(), [Policy, Granted]),
        row("JSON", MAP, json!([{"op": "add", "path": "/data/b", "value": "x"}]), [Policy, Granted]),
        row("MERGE", DEPLOYMENT, replicas.clone(), [Policy, Granted]),
        row("MERGE", "api/v1/namespaces/NS", label.clone(), [Policy, Granted]),
        row("DELETE", MAP, Value::Null, [Policy, Granted]),
        row("DELETE", "api/v1/namespaces/NS", Value::Null, [Policy, Granted]),
        // ── What no delivery does: there is no right, and the policy would refuse it all the same.
        row("PUT", MAP, map, [Rights, Rights]),
        row("DELETE", "api/v1/namespaces/NS/configmaps", Value::Null, [Rights, Rights]),
        row("MERGE", "apis/apps/v1/namespaces/NS/deployments/web/scale", replicas, [Rights, Rights]),
        row(
            "MERGE",
            "apis/apps/v1/namespaces/NS/deployments/web/status",
            json!({"status": {"replicas": 9}}),
            [Rights, Rights],
        ),
        row("POST", "api/v1/namespaces/NS/pods/alone/eviction", eviction, [Rights, Rights]),
        row("POST", "api/v1/namespaces/NS/pods/unbound/binding", binding, [Rights, Rights]),
        row("STRATEGIC", "api/v1/namespaces/NS/pods/alone/ephemeralcontainers", container, [Rights, Rights]),
        row("DELETE", POD, Value::Null, [Rights, Rights]),
        row("PUT", "api/v1/namespaces/NS/finalize", Value::Null, [Rights, Rights]),
        row(
            "MERGE",
            "apis/certificates.k8s.io/v1/certificatesigningrequests/NS/approval",
            condition,
            [Rights, Rights],
        ),
        row("MERGE", "api/v1/nodes/testbed-node-1", label.clone(), [Rights, Rights]),
        row(
            "POST",
            "apis/coordination.k8s.io/v1/namespaces/NS/leases",
            new("coordination.k8s.io/v1", "Lease", json!({})),
            [Rights, Rights],
        ),
        // ── Handing on rights: rights of a delivery, but none to give away more than one holds.
        row(
            "POST",
            "apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
            new(
                "rbac.authorization.k8s.io/v1",
                "ClusterRoleBinding",
                json!({"roleRef": role_ref, "subjects": []}),
            ),
            [Rights, Rights],
        ),
        // ── What a dry-run does for real: the token that it hands out works.
        Row {
            method: "POST",
            path: "api/v1/namespaces/NS/serviceaccounts/default/token",
            body: token,
            shipped: [Rights, Rights],
            unlimited: [Policy, Policy],
        },
        connection("POST", "api/v1/namespaces/NS/pods/alone/exec?command=true&stdout=true"),
        connection("POST", "api/v1/namespaces/NS/pods/alone/attach?stdout=true"),
        connection("POST", "api/v1/namespaces/NS/pods/alone/portforward"),
        connection("GET", "api/v1/namespaces/NS/pods/alone/proxy/"),
        connection("GET", "api/v1/namespaces/NS/services/db/proxy/"),
        // ── The leash itself.
        by_rights("MERGE", "apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/NS", label),
        by_rights(
            "DELETE",
            "apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/NS",
            Value::Null,
        ),
    ]
}

fn renamed(object: &Value, name: &str) -> Value {
    let mut object = object.clone();
    object["metadata"]["name"] = json!(name);
    object
}

fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{"name": "a", "image": "registry.example/a:1"}]}})
}

/// Sends a request, and says who answered.
fn ask(raw: &Raw, namespace: &str, row: &Row, dry_run: bool) -> (Answer, Reply) {
    let (method, content_type) = match row.method {
        "APPLY" => ("PATCH", "application/apply-patch+yaml"),
        "MERGE" => ("PATCH", "application/merge-patch+json"),
        "STRATEGIC" => ("PATCH", "application/strategic-merge-patch+json"),
        "JSON" => ("PATCH", "application/json-patch+json"),
        method => (method, "application/json"),
    };
    let mut query = vec!["fieldManager=leash"];
    query.extend(dry_run.then_some("dryRun=All"));
    query.extend((row.method == "APPLY").then_some("force=true"));
    let path = row.path.replace("NS", namespace);
    let start = if path.contains('?') { '&' } else { '?' };
    let path = format!("/{path}{start}{}", query.join("&"));
    let mut body = row.body.clone();
    if row.path.ends_with("/finalize") {
        body = raw.get(&format!("/api/v1/namespaces/{namespace}")).body;
    }
    let reply = raw.send(method, &path, content_type, &body);
    let text = reply.body.to_string();
    let answer = if text.contains("dryRun is not supported") {
        Answer::NotDry
    } else if text.contains("ValidatingAdmissionPolicy 'windlass-dry-run-only'") {
        Answer::RefusedByPolicy
    } else if reply.status == 403 && text.contains("cannot ")
        || text.contains("attempting to grant RBAC permissions")
    {
        Answer::RefusedByRights
    } else {
        Answer::Granted
    };
    (answer, reply)
}

/// Asks every row of the table, for real and dry.
fn check(raw: &Raw, namespace: &str, want: impl Fn(&Row) -> [Answer; 2]) {
    let mut wrong = Vec::new();
    for row in rows() {
        let want = want(&row);
        // A grant that a row expects is not tried out.
        for (dry_run, want) in
            [(false, want[0]), (true, want[1])].into_iter().filter(|(dry, want)| *dry || *want != Granted)
        {
            let (got, reply) = ask(raw, namespace, &row, dry_run);
            let carried_out = got != Granted || reply.is_ok();
            if got != want || !carried_out {
                wrong.push(format!(
                    "{} {} dry-run {dry_run}: {got:?}, not {want:?}: {} {}",
                    row.method, row.path, reply.status, reply.body
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Makes what the rows write to, and returns the world and its namespace.
fn target() -> (World, String) {
    let world = World::new();
    let namespace = world.namespace("app");
    let kept = manifests::config_map(&namespace, "kept", &[("a", "b")]);
    let web = manifests::Workload { name: "web", ..manifests::Workload::db(&namespace, &[]) };
    let mut unbound = pod("unbound");
    unbound["spec"]["schedulerName"] = json!("nobody");
    let files = Files::new()
        .with("a", manifests::namespace(&namespace))
        .with("b", kept)
        .with("c", manifests::deployment(&web))
        .with("d", manifests::headless(&namespace, "db"));
    for (_, manifest) in files.iter() {
        world.kubectl.apply(manifest);
    }
    let account = || world.kubectl.exists("serviceaccount", &namespace, "default").then_some(());
    until(20, "the namespace has its service account", account);
    for pod in [pod("alone"), unbound] {
        world.kubectl.feed(&["create", "-n", &namespace, "-f", "-"], &pod.to_string());
    }
    world.kubectl.run(&["wait", "--for=condition=Ready", "pod/alone", "-n", &namespace, "--timeout=60s"]);
    world.kubectl.run(&["rollout", "status", "deployment/web", "-n", &namespace, "--timeout=60s"]);
    world.owns(&format!("certificatesigningrequest/{namespace}"));
    world.kubectl.apply(&signing_request(&namespace));
    // A policy that nobody is bound to, in place of the one that is the leash.
    world.kubectl.apply(&manifests::policy(&namespace, "Audit"));
    for kind in ["validatingadmissionpolicy", "validatingadmissionpolicybinding"] {
        world.owns(&format!("{kind}/{namespace}"));
    }
    (world, namespace)
}

/// Asks for a certificate of the name `leash`. Nobody has the key that it was made with.
const REQUEST: &str = "-----BEGIN CERTIFICATE REQUEST-----
MIHLMHICAQAwEDEOMAwGA1UEAwwFbGVhc2gwWTATBgcqhkjOPQIBBggqhkjOPQMB
BwNCAAT2otBBAcJMa6rFTPrjiq0ea726PF8Ah18NwCDrXLSM7qkY2M/PD3qxJb7v
eOpl37BKSokaqWd6HDvd1hoz/pTwoAAwCgYIKoZIzj0EAwIDSQAwRgIhAI7FqJpi
dNHdAUayfrBxj2JjxhwslVzdsTd9iJfNhbffAiEA3lT1HEQ/5/9uHPCmX5tL2xVh
0RAcTZ8TPF7HaFv0dRE=
-----END CERTIFICATE REQUEST-----
";

fn signing_request(name: &str) -> String {
    let request = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, REQUEST);
    json!({"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": {"name": name},
        "spec": {"request": request, "signerName": "example.dev/nobody", "usages": ["client auth"]}})
    .to_string()
}

/// Everything that the rows aim at, as it is stored.
fn stored(world: &World, namespace: &str) -> Value {
    let mut stored = json!([
        world.kubectl.json(&["configmaps,secrets,pods,deployments,services,leases", "-n", namespace])["items"],
        world.kubectl.json(&["namespace", namespace]),
        world.kubectl.json(&["certificatesigningrequest", namespace]),
        world.kubectl.json(&["validatingadmissionpolicy", namespace]),
        world.kubectl.json(&["validatingadmissionpolicybinding", namespace]),
    ]);
    // Conditions of pods may move by themselves.
    for object in stored[0].as_array_mut().into_iter().flatten().filter(|object| object["kind"] == "Pod") {
        *object = json!([object["metadata"]["uid"], object["metadata"]["deletionTimestamp"], object["spec"]]);
    }
    stored
}

#[test]
fn an_identity_that_may_only_dry_run_can_write_in_no_way() {
    let (world, namespace) = target();
    let before = stored(&world, &namespace);
    for identity in ["windlass-plan", "windlass-drift"] {
        check(&Kubectl::identity(Bed::get(), identity).proxy(), &namespace, |row| row.shipped);
    }
    assert_eq!(windlass_e2e::difference(&before, &stored(&world, &namespace)), [""; 0]);
}

/// Facts 10.6: the policy alone holds, whatever rights somebody adds, but for the policies themselves.
#[test]
fn the_policy_holds_an_identity_that_was_given_every_right() {
    let (world, namespace) = target();
    let name = format!("leashed-{}", world.suffix);
    let group = format!("leashed:{}", world.suffix);
    world.owns(&format!("clusterrolebinding/{name}"));
    let group_flag = format!("--group={group}");
    world.kubectl.run(&["create", "clusterrolebinding", &name, "--clusterrole=cluster-admin", &group_flag]);
    Bed::get().new_identity(&name, &["windlass:plan", &group]);
    let before = stored(&world, &namespace);
    let raw = Kubectl::identity(Bed::get(), &name).proxy();
    until(10, "the rights are in force", || raw.get("/api/v1/nodes").is_ok().then_some(()));
    check(&raw, &namespace, |row| row.unlimited);
    assert_eq!(windlass_e2e::difference(&before, &stored(&world, &namespace)), [""; 0]);
}
