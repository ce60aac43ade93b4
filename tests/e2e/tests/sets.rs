//! ApplySets beside the stock kubectl, which knows them too.

use std::process::{Command, Output};

use serde_json::{Value, json};
use windlass_e2e::{Bed, Files, World, manifests};

const PART_OF: &str = "/metadata/labels/applyset.kubernetes.io~1part-of";
const KINDS: &str = "/metadata/annotations/applyset.kubernetes.io~1contains-group-kinds";

/// Runs `kubectl apply --prune --applyset` over manifests.
fn kubectl_apply(world: &World, namespace: &str, set: &str, manifests: &[String], more: &[&str]) -> Output {
    let file = world.path("kubectl.yaml");
    std::fs::write(&file, manifests.join("---\n")).unwrap();
    let bed = Bed::get();
    let mut kubectl = Command::new(&bed.kubectl);
    kubectl.arg("--kubeconfig").arg(&bed.kubeconfig).env("KUBECTL_APPLYSET", "true");
    kubectl.args(["apply", "--server-side", "--prune", "-n", namespace, "-f"]).arg(&file);
    kubectl.arg(format!("--applyset=configmap/{set}")).args(more).output().unwrap()
}

#[track_caller]
fn succeeds(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Two ConfigMaps, of which the second one will go.
fn with_old(world: &World) -> Files {
    let old = manifests::config_map(&world.namespace("app"), "old", &[]);
    world.small().with("app/old.yaml", old)
}

fn parent(world: &World) -> String {
    format!("windlass.{}.app", world.environment)
}

#[test]
fn an_object_of_a_set_of_kubectls_is_not_taken_over() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&world.small());
    let theirs = manifests::config_map(&namespace, "theirs", &[("a", "b")]);
    succeeds(&kubectl_apply(&world, &namespace, "their-set", std::slice::from_ref(&theirs), &[]));
    let label = world.kubectl.field("configmap", &namespace, "theirs", PART_OF);
    world.commit(&world.small().with("app/theirs.yaml", theirs));
    world.windlass(&["run"]).refuses(4, &["theirs", "their-set"]);
    assert_eq!(world.kubectl.field("configmap", &namespace, "theirs", PART_OF), label);
}

/// kubectl prunes by label and namespace alone; ours are none of its business.
#[test]
fn a_set_of_kubectls_and_ours_live_side_by_side() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&with_old(&world));
    let map = |name: &str| manifests::config_map(&namespace, name, &[]);
    succeeds(&kubectl_apply(&world, &namespace, "theirs", &[map("their-a"), map("their-b")], &[]));
    succeeds(&kubectl_apply(&world, &namespace, "theirs", &[map("their-a")], &[]));
    assert!(!world.kubectl.exists("configmap", &namespace, "their-b"), "kubectl has pruned nothing");
    for name in ["settings", "old", "their-a"] {
        assert!(world.kubectl.exists("configmap", &namespace, name), "{name}");
    }
    world.deliver(&world.small());
    assert!(!world.kubectl.exists("configmap", &namespace, "old"));
    assert!(world.kubectl.exists("configmap", &namespace, "their-a"), "we have pruned what is theirs");
    world.windlass(&["drift"]).ok();
}

/// Somebody moved our member into a set of kubectl's by force: it is theirs now.
#[test]
fn a_member_that_kubectl_took_into_a_set_of_its_own_is_not_deleted() {
    let world = World::new();
    let namespace = world.namespace("app");
    world.deliver(&with_old(&world));
    let old = manifests::config_map(&namespace, "old", &[]);
    let gentle = kubectl_apply(&world, &namespace, "theirs", std::slice::from_ref(&old), &[]);
    assert!(!gentle.status.success(), "the label of our set has an owner: the manager windlass");
    succeeds(&kubectl_apply(&world, &namespace, "theirs", &[old], &["--force-conflicts"]));
    // Rendered, it would belong to two sets.
    world.windlass(&["run"]).refuses(4, &["old", "theirs"]);
    world.commit(&world.small());
    world.windlass(&["run"]).ok();
    assert!(world.kubectl.exists("configmap", &namespace, "old"), "we have deleted what is theirs");
}

#[test]
fn members_are_found_although_somebody_narrowed_the_scope_of_their_set() {
    for annotation in [KINDS, "/metadata/annotations/applyset.kubernetes.io~1additional-namespaces"] {
        let world = World::new();
        let namespace = world.namespace("app");
        let secret = manifests::secret(&namespace, "old-secret", &[("a", "b")]);
        let both = with_old(&world).with("app/old-secret.yaml", secret);
        let mut world = world;
        world.configure(|settings| {
            settings["guards"]["allowDeletions"] = json!([{
                "kind": "Secret", "namespace": namespace, "name": "old-secret", "until": "2099-12-31", "reason": "a test",
            }]);
        });
        world.deliver(&both);
        let edit = json!([{"op": "replace", "path": annotation, "value": ""}]).to_string();
        let parent = parent(&world);
        world.kubectl.run(&[
            "patch",
            "configmap",
            &parent,
            "-n",
            "windlass-system",
            "--type=json",
            "-p",
            &edit,
        ]);
        world.deliver(&world.small());
        for (kind, name) in [("configmap", "old"), ("secret", "old-secret")] {
            assert!(!world.kubectl.exists(kind, &namespace, name), "{annotation}: {name} is left behind");
        }
        let kinds = world.kubectl.field("configmap", "windlass-system", &parent, KINDS);
        assert_eq!(kinds, json!("ConfigMap"), "{annotation}: the scope is mended");
        let namespaces = "/metadata/annotations/applyset.kubernetes.io~1additional-namespaces";
        assert_eq!(
            world.kubectl.field("configmap", "windlass-system", &parent, namespaces),
            json!(namespace)
        );
    }
}

/// A set whose parent names a kind that is gone cannot be used by kubectl any more.
#[test]
fn a_kind_whose_definition_is_gone_leaves_the_set_with_its_members() {
    let world = World::new();
    let namespace = world.namespace("app");
    let group = format!("gone-{}.example.dev", world.suffix);
    let definition = format!("customresourcedefinition/widgets.{group}");
    world.owns(&definition);
    world.kubectl.apply(&manifests::widgets(&group));
    world.kubectl.apply(&rights(&world, &[&group]));
    for kind in ["clusterrole", "clusterrolebinding"] {
        world.owns(&format!("{kind}/sets-{}", world.suffix));
    }
    world.kubectl.run(&["wait", "--for=condition=Established", &definition]);
    world.deliver(&world.small().with("app/widget.yaml", manifests::widget(&group, &namespace, "w", 1)));
    let scope = || world.kubectl.field("configmap", "windlass-system", &parent(&world), KINDS);
    assert_eq!(scope(), json!(format!("ConfigMap,Widget.{group}")));
    world.kubectl.run(&["delete", &definition]);
    world.commit(&world.small());
    world.windlass(&["run"]).ok();
    assert_eq!(scope(), json!("ConfigMap"));
    let members = world.kubectl.field("configmap", "windlass-system", &parent(&world), "/data/members");
    assert!(!members.to_string().contains("Widget"), "{members}");
}

/// Returns a role over everything in a group, for whoever delivers.
pub(crate) fn rights(world: &World, groups: &[&str]) -> String {
    let name = format!("sets-{}", world.suffix);
    let role: Value = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name},
        "rules": [{"apiGroups": groups, "resources": ["*"], "verbs": ["get", "list", "create", "patch", "delete"]}],
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "windlass:run"}],
    });
    format!("{role}\n---\n{binding}\n")
}
