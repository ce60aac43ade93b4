//! Definitions as their publishers ship them, delivered by the whole program: installed, upgraded, and not taken back.

use serde_json::{Value, json};
use windlass_bed::{definitions, kafka, module};
use windlass_e2e::{Files, World};

/// A world in which these groups of custom resources may be delivered.
fn world(groups: &[&str]) -> World {
    let world = World::new();
    world.kubectl.apply(&crate::sets::rights(&world, groups));
    for kind in ["clusterrole", "clusterrolebinding"] {
        world.owns(&format!("{kind}/sets-{}", world.suffix));
    }
    world
}

/// Puts definitions into the first unit and their objects into the second.
fn files(world: &World, definitions: &[Value], objects: &[&Value]) -> Files {
    let documents = |all: &[&Value]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n---\n");
    for definition in definitions {
        world.owns(&format!("customresourcedefinition/{}", definition["metadata"]["name"].as_str().unwrap()));
    }
    world
        .small()
        .with("base/definitions.yaml", documents(&definitions.iter().collect::<Vec<_>>()))
        .with("app/objects.yaml", documents(objects))
}

fn delivered(world: &World, files: &Files) {
    world.commit(files);
    world.windlass(&["run"]).ok();
    world.windlass(&["plan", "--detailed-exitcode"]).ok();
}

#[test]
fn gateway_api_is_installed_and_goes_from_channel_to_channel() {
    let world = world(&["gateway.networking.k8s.io", "gateway.networking.x-k8s.io"]);
    let namespace = world.namespace("app");
    let folder = module("sigs.k8s.io/gateway-api@v1.6.3").join("config/crd");
    let [standard, experimental] = ["standard", "experimental"].map(|name| definitions(&folder.join(name)));
    let route = |more: Value| {
        let mut rule = json!({"backendRefs": [{"name": "web", "port": 80}]});
        rule.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"parentRefs": [{"name": "g"}], "rules": [rule]}})
    };
    // Stored in v1beta1 although v1 is served.
    let grant = json!({"apiVersion": "gateway.networking.k8s.io/v1beta1", "kind": "ReferenceGrant",
        "metadata": {"name": "grant", "namespace": namespace},
        "spec": {"from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "default"}],
            "to": [{"group": "", "kind": "Service"}]}});
    let (plain, retried) = (route(json!({})), route(json!({"retry": {"attempts": 3}})));
    delivered(&world, &files(&world, &standard, &[&plain, &grant]));
    delivered(&world, &files(&world, &experimental, &[&retried, &grant]));
    let live = world.kubectl.get("httproute", &namespace, "web").unwrap();
    assert_eq!(live["spec"]["rules"][0]["retry"]["attempts"], 3);
    // The way back would take a field from a live object, and kinds from the cluster.
    world.commit(&files(&world, &standard, &[&plain, &grant]));
    let only =
        experimental.iter().find(|definition| !standard.iter().any(|kept| name(kept) == name(definition)));
    world.windlass(&["run"]).refuses(4, &["protected-kind", name(only.unwrap())]);
    let live = world.kubectl.get("httproute", &namespace, "web").unwrap();
    assert_eq!(live["spec"]["rules"][0]["retry"]["attempts"], 3);
}

fn name(definition: &Value) -> &str {
    definition["metadata"]["name"].as_str().unwrap()
}

/// 1.4 MB of YAML, stored in an older version than it prefers.
#[test]
fn the_definition_of_kafka_is_installed_and_stored_in_its_newest_version() {
    let world = world(&["kafka.strimzi.io"]);
    let namespace = world.namespace("app");
    let definition = kafka();
    let listener = json!({"name": "plain", "port": 9092, "type": "internal", "tls": false});
    let events = json!({"apiVersion": "kafka.strimzi.io/v1beta2", "kind": "Kafka",
        "metadata": {"name": "events", "namespace": namespace},
        "spec": {"kafka": {"replicas": 3, "listeners": [listener]}}});
    delivered(&world, &files(&world, std::slice::from_ref(&definition), &[&events]));
    let mut newest = definition;
    for version in newest["spec"]["versions"].as_array_mut().unwrap() {
        version["storage"] = (version["name"] == "v1beta2").into();
    }
    let next = files(&world, std::slice::from_ref(&newest), &[&events]);
    world.commit(&next);
    world.windlass(&["plan"]).says("would store its objects in `v1beta2` instead of `v1beta1`");
    delivered(&world, &next);
    let live = world.kubectl.json(&["customresourcedefinition", name(&newest)]);
    assert_eq!(live["status"]["storedVersions"], json!(["v1beta1", "v1beta2"]));
}
