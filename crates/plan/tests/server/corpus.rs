//! Definitions that others publish, read from Go modules at test time: installed, upgraded, taken back.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_bed::{definitions, module};
use windlass_model::{Object, Operation, Plan, Preview, defined_kind};

use crate::bed::Bed;

/// Applies definitions as an executor would, and waits until they are served.
pub(crate) async fn install(bed: &mut Bed, definitions: &[Value]) {
    let names =
        definitions.iter().map(|definition| definition["metadata"]["name"].as_str().unwrap().to_owned());
    bed.leftovers.extend(names.map(|name| ("customresourcedefinition".into(), name)));
    bed.deliver(&[("crds", definitions)]).await;
    for definition in definitions {
        let object = Object::new(definition.clone(), None).unwrap();
        let kind = defined_kind(&object).unwrap();
        let versions = definition["spec"]["versions"].as_array().unwrap().iter();
        let served = versions.filter(|version| version["served"] == true);
        for version in served.map(|version| version["name"].as_str().unwrap()) {
            for attempt in 0.. {
                bed.cluster.forget_discovery().await;
                if let Ok(resource) = bed.cluster.resource(&kind, version).await
                    && bed.cluster.list(&resource, windlass_cluster::Selector::default()).await.is_ok()
                {
                    break;
                }
                assert!(attempt < 200, "{kind} {version} is never served");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

pub(crate) fn shown(plan: &Plan) -> String {
    let actions = plan.actions.iter().map(|action| {
        let problem = action.problem.as_ref().map(windlass_model::Problem::summary).unwrap_or_default();
        format!(
            "{} {} {:?} {problem} {:?}",
            action.operation.word(),
            action.object,
            action.preview,
            action.warnings
        )
    });
    let refusals =
        plan.refusals.iter().map(|refusal| format!("refused {}: {}", refusal.guard, refusal.message));
    actions.chain(refusals).collect::<Vec<_>>().join("\n")
}

/// Every object of a kind of the corpus is verified locally, and nothing stands in the way.
fn is_clean(plan: &Plan, locally: bool) {
    assert!(plan.is_executable(), "{}", shown(plan));
    let custom = plan.actions.iter().filter(|action| action.object.kind.group.contains("gateway"));
    for action in custom {
        assert!(matches!(action.preview, Preview::Locally(_)) == locally, "{}", shown(plan));
        assert!(action.warnings.is_empty(), "{}", shown(plan));
    }
}

#[tokio::test]
async fn gateway_api_from_channel_to_channel() {
    let mut bed = Bed::new().await;
    let folder = module("sigs.k8s.io/gateway-api@v1.6.3");
    let standard = definitions(&folder.join("config/crd/standard"));
    let experimental = definitions(&folder.join("config/crd/experimental"));
    let route = |api: &str, kind: &str, name: &str, spec: Value| {
        json!({"apiVersion": format!("gateway.networking.k8s.io/{api}"), "kind": kind,
            "metadata": {"name": name, "namespace": bed.namespace}, "spec": spec})
    };
    let rule = json!({"backendRefs": [{"name": "web", "port": 80}]});
    let objects = [
        route("v1", "HTTPRoute", "web", json!({"parentRefs": [{"name": "g"}], "rules": [rule]})),
        // Stored in v1beta1 although v1 is served.
        route(
            "v1beta1",
            "ReferenceGrant",
            "grant",
            json!({
            "from": [{"group": "gateway.networking.k8s.io", "kind": "HTTPRoute", "namespace": "default"}],
            "to": [{"group": "", "kind": "Service"}]}),
        ),
    ];
    let retried = {
        let mut rule = rule.clone();
        rule["retry"] = json!({"attempts": 3});
        route("v1", "HTTPRoute", "retried", json!({"parentRefs": [{"name": "g"}], "rules": [rule]}))
    };
    let early = route(
        "v1alpha2",
        "TLSRoute",
        "early",
        json!({"parentRefs": [{"name": "g"}],
        "hostnames": ["a.example.com"], "rules": [rule]}),
    );
    let both = |definitions: &[Value]| [definitions.to_vec(), objects.to_vec()];

    let [crds, apps] = both(&standard);
    is_clean(&bed.plan(&[("crds", &crds), ("apps", &apps)]).await, true);
    install(&mut bed, &standard).await;
    bed.deliver(&[("apps", &objects)]).await;
    let plan = bed.plan(&[("crds", &crds), ("apps", &apps)]).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::NoOp), "{}", shown(&plan));
    is_clean(&plan, false);

    let [crds, apps] = both(&experimental);
    let plan = bed.plan(&[("crds", &crds), ("apps", &apps)]).await;
    assert!(plan.is_executable(), "{}", shown(&plan));
    install(&mut bed, &experimental).await;
    for object in [&retried, &early] {
        bed.kubectl(&["apply", "--server-side", "--field-manager", "shop", "-f", "-"], &object.to_string());
    }

    let [crds, apps] = both(&standard);
    let plan = bed.plan(&[("crds", &crds), ("apps", &apps)]).await;
    let shown = shown(&plan);
    for want in [
        "definition-narrowing: the new schema of `httproutes.gateway.networking.k8s.io` does not fit 1 of the 2",
        "/retried: spec.rules[0].retry: is not declared",
        "version-in-use: `tlsroutes.gateway.networking.k8s.io`",
        "/early by `shop`",
    ] {
        assert!(shown.contains(want), "{want}\n{shown}");
    }
}

/// kube-prometheus issue 1511: too large for what client-side apply notes down, and close to what etcd stores.
#[tokio::test]
async fn a_definition_as_large_as_etcd_takes() {
    let mut bed = Bed::new().await;
    let folder = module("github.com/spotahome/redis-operator@v1.2.4");
    let mut all = definitions(&folder.join("manifests/databases.spotahome.com_redisfailovers.yaml"));
    let versions = all[0]["spec"]["versions"].as_array_mut().unwrap();
    let served = versions[0].clone();
    for name in ["v2", "v3"] {
        let mut version = served.clone();
        version["name"] = json!(name);
        version["storage"] = json!(false);
        versions.push(version);
    }
    assert!(all[0].to_string().len() > 1_250_000);
    let object = |version: &str, replicas: Value| {
        json!({"apiVersion": format!("databases.spotahome.com/{version}"), "kind": "RedisFailover",
            "metadata": {"name": "cache", "namespace": bed.namespace}, "spec": {"redis": {"replicas": replicas}}})
    };
    let (good, mut bad) = (object("v2", json!(3)), object("v2", json!("3")));
    bad["metadata"]["name"] = json!("bad");
    let plan = bed.plan(&[("crds", &all), ("apps", &[good.clone(), bad])]).await;
    let problems: Vec<String> =
        plan.actions.iter().filter_map(|action| Some(action.problem.as_ref()?.summary())).collect();
    assert_eq!(problems.len(), 1, "{}", shown(&plan));
    assert!(problems[0].contains("spec.redis.replicas: must be a whole number"), "{problems:?}");
    install(&mut bed, &all).await;
    bed.deliver(&[("apps", std::slice::from_ref(&good))]).await;
    let plan = bed.plan(&[("crds", &all), ("apps", std::slice::from_ref(&good))]).await;
    assert!(plan.actions.iter().all(|action| action.operation == Operation::NoOp), "{}", shown(&plan));
    let mut narrower = all.clone();
    for version in narrower[0]["spec"]["versions"].as_array_mut().unwrap() {
        let replicas = "/schema/openAPIV3Schema/properties/spec/properties/redis/properties/replicas";
        version.pointer_mut(replicas).unwrap()["maximum"] = json!(2);
    }
    let plan = bed.plan(&[("crds", &narrower), ("apps", &[good])]).await;
    assert!(shown(&plan).contains("invalid: spec.redis.replicas: must be at most 2"), "{}", shown(&plan));
}
