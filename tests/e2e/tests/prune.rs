//! What is deleted, and when, and what is not.

use serde_json::json;
use windlass_e2e::{Audit, Files, World, manifests};

/// Two ConfigMaps, of which the second one will go.
fn with_old(world: &World) -> Files {
    let namespace = world.namespace("app");
    world.small().with("app/old.yaml", manifests::config_map(&namespace, "old", &[("a", "b")]))
}

#[test]
fn an_object_that_git_no_longer_holds_is_deleted_after_the_probes() {
    let world = World::new();
    let namespace = world.namespace("app");
    let db =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let files = with_old(&world).with("app/db.yaml", manifests::stateful_set(&db)).with(
        "app/public.yaml",
        manifests::load_balancer(&namespace, "db-public", "db", 8080, &[("http-body", "fine")]),
    );
    let probe = "smoke:
  - name: it answers
    service: NAMESPACE/db-public
    port: 8080
    http: {body: fine}
    interval: 200ms
";
    let units = files.content("windlass.yaml").to_owned();
    let files = files.with("windlass.yaml", units + &probe.replace("NAMESPACE", &namespace));
    world.deliver(&files);
    // First the probe fails: nothing may be deleted.
    let files = files.without("app/old.yaml").replace("app/db.yaml", "db:1", "db:2");
    let failing = files.clone().replace("windlass.yaml", "body: fine", "body: other");
    world.commit(&failing);
    world.windlass(&["run"]).refuses(9, &["it answers"]);
    assert!(world.kubectl.exists("configmap", &namespace, "old"), "deleted although a probe failed");
    world.commit(&files);
    let mark = Audit::mark();
    world.windlass(&["run"]).ok().says("old");
    assert!(!world.kubectl.exists("configmap", &namespace, "old"));
    let deletions: Vec<_> =
        mark.requests(&namespace).into_iter().filter(|r| r.verb == "delete" && !r.dry_run).collect();
    assert_eq!(deletions.len(), 1, "{deletions:?}");
    assert!(world.kubectl.exists("configmap", &namespace, "settings"));
}

#[test]
fn a_plan_of_a_deletion_deletes_nothing() {
    // The API server ignores `?dryRun=All` beside a body: a preview was once a deletion.
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&with_old(&world));
    let before = world.kubectl.field("configmap", &namespace, "old", "/metadata/resourceVersion");
    world.commit(&with_old(&world).without("app/old.yaml"));
    for command in ["plan", "drift", "gate"] {
        world.windlass(&[command]).ok();
        let now = world.kubectl.field("configmap", &namespace, "old", "/metadata/resourceVersion");
        assert_eq!(now, before, "{command} has written");
    }
}

#[test]
fn what_only_looks_like_ours_is_kept() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&with_old(&world));
    let set = world.kubectl.field("configmap", &namespace, "settings", "/metadata/labels");
    let label = set["applyset.kubernetes.io/part-of"].as_str().unwrap().to_owned();
    let owner = world.kubectl.field("configmap", &namespace, "settings", "/metadata/uid");
    let labelled = |name: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"},
            "metadata": {"name": name, "namespace": namespace, "labels": {"applyset.kubernetes.io/part-of": label}},
        })
    };
    // Somebody copies the label by hand; an operator copies all labels of its object to what it makes.
    world.kubectl.feed(&["create", "-f", "-"], &labelled("by-hand").to_string());
    let mut child = labelled("child");
    child["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "settings", "uid": owner, "controller": true,
    }]);
    world.kubectl.feed(&["create", "-f", "-"], &child.to_string());
    // Even an object that our manager applied is no member if no run recorded it.
    world.kubectl.feed(
        &["apply", "--server-side", "--field-manager=windlass", "-f", "-"],
        &labelled("same-manager").to_string(),
    );
    world.commit(&with_old(&world).without("app/old.yaml"));
    let plan = world.windlass(&["plan"]);
    plan.ok();
    for name in ["by-hand", "child", "same-manager"] {
        plan.says(name);
    }
    world.windlass(&["run"]).ok();
    assert!(!world.kubectl.exists("configmap", &namespace, "old"));
    for name in ["by-hand", "child", "same-manager"] {
        assert!(world.kubectl.exists("configmap", &namespace, name), "{name} was deleted");
    }
}

#[test]
fn an_object_that_moves_to_another_unit_is_not_deleted() {
    let world = World::new();
    let namespace = world.namespace("app");
    let old = with_old(&world).content("app/old.yaml").to_owned();
    world.deliver(&with_old(&world));
    let uid = world.kubectl.field("configmap", &namespace, "old", "/metadata/uid");
    world.commit(&with_old(&world).without("app/old.yaml").with("base/old.yaml", old));
    world.windlass(&["run"]).ok();
    assert_eq!(world.kubectl.field("configmap", &namespace, "old", "/metadata/uid"), uid);
    world.windlass(&["drift"]).ok();
}

#[test]
fn a_generated_config_map_is_replaced_and_the_old_one_deleted_after_the_rollout() {
    let world = World::new();
    let namespace = world.namespace("app");
    let db =
        manifests::Workload { namespace: &namespace, name: "db", version: "1", replicas: 1, symptoms: &[] };
    let mounted = manifests::stateful_set(&db).replace(
        "  volumeClaimTemplates:",
        "      volumes: [{name: config, configMap: {name: config}}]\n  volumeClaimTemplates:",
    );
    let kustomization = format!(
        "apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: {namespace}
resources: [db.yaml]
configMapGenerator:
  - name: config
    literals: [size=1]
"
    );
    let files = world
        .small()
        .without("app/settings.yaml")
        .with("app/db.yaml", mounted)
        .with("app/kustomization.yaml", kustomization);
    world.deliver(&files);
    let generated = |world: &World| {
        let all = crate::names(&world.kubectl.json(&["configmaps", "-n", &namespace]));
        all.into_iter().filter(|name| name.starts_with("config-")).collect::<Vec<_>>()
    };
    let first = generated(&world);
    assert_eq!(first.len(), 1);
    world.commit(&files.replace("app/kustomization.yaml", "size=1", "size=2"));
    world.windlass(&["run"]).ok();
    let second = generated(&world);
    assert_eq!(second.len(), 1, "{second:?}");
    assert_ne!(first, second);
    let pod = world.kubectl.field("pod", &namespace, "db-0", "/spec/volumes").to_string();
    assert!(pod.contains(&second[0]), "{pod}");
}
