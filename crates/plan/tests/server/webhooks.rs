//! Admission webhooks that answer: what they add, deny and warn of.

use serde_json::{Value, json};
use windlass_bed::{Says, Webhook, kubeconfig};
use windlass_model::{Action, ExitCode, Operation, Plan, Problem};
use windlass_plan::exit_code;

use crate::bed::{Bed, is_quiet};
use crate::policy::{in_namespace_of, until_refused};

/// Starts a webhook of a kind about these resources of the test's namespace. It denies everything until the server is
/// known to ask it, and then says yes.
async fn installed(bed: &mut Bed, kind: &str, resources: &[&str]) -> Webhook {
    let hook = Webhook::start(&kubeconfig(), |_| Says::no(403, "not yet told what to say"));
    let name = format!("hook-{}", bed.suffix);
    let selector = in_namespace_of(bed)["namespaceSelector"].clone();
    let configuration = hook.configuration(kind, &name, resources, &selector);
    bed.leftovers.insert(0, (configuration["kind"].as_str().unwrap().to_owned(), name));
    bed.kubectl(&["apply", "-f", "-"], &configuration.to_string());
    let mut probe = match resources {
        ["pods"] => pod(bed),
        ["configmaps", ..] => bed.config("probe", &json!({})),
        _ => deployment(bed, "probe", "registry.example/probe:1"),
    };
    probe["metadata"]["name"] = "probe".into();
    until_refused(bed, probe).await;
    hook.answer_with(|_| Says::yes());
    hook
}

fn pod(bed: &Bed) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": bed.namespace},
        "spec": {"containers": [{"name": "a", "image": "registry.example/a:1"}]}})
}

fn deployment(bed: &Bed, name: &str, image: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": bed.namespace,
            "labels": {"app": name}},
        "spec": {"replicas": 0, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "web", "image": image}]}}}})
}

/// Adds a label and a sidecar to whatever lacks them, as service meshes do.
fn inject(label: &'static str) -> impl Fn(&Value) -> Says + Send {
    move |review| {
        let object = &review["request"]["object"];
        let mut operations =
            vec![json!({"op": "add", "path": "/metadata/labels/injected-by", "value": label})];
        let containers = object.pointer("/spec/template/spec/containers").and_then(Value::as_array);
        if containers.is_some_and(|all| all.iter().all(|container| container["name"] != "mesh")) {
            let sidecar = json!({"name": "mesh", "image": "registry.example/mesh:1"});
            operations
                .push(json!({"op": "add", "path": "/spec/template/spec/containers/-", "value": sidecar}));
        }
        Says::patched(&json!(operations))
    }
}

fn only(plan: &Plan) -> &Action {
    let [action] = plan.actions.as_slice() else { panic!("{plan:?}") };
    action
}

/// Argo CD issue 4403 and its kin: what an injector adds looked like drift for ever.
#[tokio::test]
async fn what_a_webhook_adds_is_shown_once_and_never_flaps() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Mutating", &["deployments"]).await;
    hook.answer_with(inject("mesh"));
    let web = |image: &str| [deployment(&bed, "web", image)];
    let first = web("registry.example/web:1");
    let plan = bed.plan(&[("shop", &first)]).await;
    let shown = only(&plan).bodies.after.as_ref().unwrap().body();
    assert_eq!(shown["metadata"]["labels"]["injected-by"], "mesh", "{shown}");
    assert_eq!(shown["spec"]["template"]["spec"]["containers"][1]["name"], "mesh", "{shown}");
    bed.deliver(&[("shop", &first)]).await;
    for round in 0..2 {
        let plan = bed.plan(&[("shop", &first)]).await;
        assert!(is_quiet(&plan), "round {round}: {plan:?}");
        bed.deliver(&[("shop", &first)]).await;
    }
    // A change of ours is a change, and nothing of the webhook's is counted in.
    let plan = bed.plan(&[("shop", &web("registry.example/web:2"))]).await;
    let paths: Vec<String> = only(&plan).delta.iter().map(|change| change.path.to_string()).collect();
    assert_eq!(paths.len(), 1, "{paths:?}");
    assert!(paths[0].contains("image"), "{paths:?}");
    // What the webhook makes of it now is what an apply would do.
    hook.answer_with(inject("another"));
    let plan = bed.plan(&[("shop", &first)]).await;
    let paths: Vec<String> = only(&plan).delta.iter().map(|change| change.path.to_string()).collect();
    assert_eq!((only(&plan).operation, paths.len()), (Operation::Update, 1), "{paths:?}");
    assert!(paths[0].contains("injected-by"), "{paths:?}");
    hook.answer_with(|_| Says::yes());
    let plan = bed.plan(&[("shop", &first)]).await;
    assert!(is_quiet(&plan), "what it added stays when it is gone: {plan:?}");
}

/// The value that the commit declares is overruled for good: it is no difference that an apply could remove.
#[tokio::test]
async fn a_field_that_a_webhook_rewrites_is_no_change() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Mutating", &["deployments"]).await;
    let path = "/spec/template/spec/containers/0/image";
    hook.answer_with(move |_| {
        Says::patched(&json!([{"op": "replace", "path": path, "value": "mirror.example/web:1"}]))
    });
    let web = [deployment(&bed, "web", "registry.example/web:1")];
    bed.deliver(&[("shop", &web)]).await;
    let plan = bed.plan(&[("shop", &web)]).await;
    assert!(is_quiet(&plan), "{plan:?}");
}

/// One object that is denied, with whatever code, stops neither the plan nor the others.
#[tokio::test]
async fn a_denial_is_the_webhooks_whatever_its_code() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Validating", &["configmaps"]).await;
    let live = bed.config("bad", &json!({"k": "1"}));
    bed.deliver(&[("shop", std::slice::from_ref(&live))]).await;
    let objects = [bed.config("bad", &json!({"k": "2"})), bed.config("fine", &json!({}))];
    for code in [401, 404, 409, 422, 429, 500, 503] {
        hook.answer_with(move |review| match review["request"]["name"].as_str() {
            Some("bad") => Says::no(code, "ConfigMaps named bad are not wanted"),
            _ => Says::yes(),
        });
        hook.reviews();
        let want: &[&[&str]] = &[
            &["update ConfigMap/bad", "Server", "denied by policy", "\"hook-", "are not wanted"],
            &["create ConfigMap/fine"],
        ];
        let plan = bed.check(&objects, want).await;
        assert_eq!(exit_code(&plan), Some(ExitCode::Refused), "{code}");
        let asked = hook.reviews().iter().filter(|review| review["request"]["name"] == "bad").count();
        assert_eq!(asked, 1, "{code} is asked about again");
    }
}

/// What comes from a webhook can be anything; its name comes first and stays.
#[tokio::test]
async fn a_denial_without_end_still_names_its_webhook() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Validating", &["configmaps", "secrets"]).await;
    hook.answer_with(|_| Says::no(403, &"hunter2 \u{1b}[2J\r\n##vso[task.complete]".repeat(40_000)));
    let secret = json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "s", "namespace": bed.namespace}, "stringData": {"k": "hunter2"}});
    let plan = bed.plan(&[("shop", &[bed.config("a", &json!({})), secret])]).await;
    for action in &plan.actions {
        let Some(Problem::Denied { message }) = &action.problem else { panic!("{:?}", action.problem) };
        assert!(message.contains("hook-") && message.len() < 2000, "{} bytes: {message}", message.len());
        let is_secret = action.object.kind.kind == "Secret";
        assert_eq!(message.contains("hunter2"), !is_secret, "{message}");
    }
}

#[tokio::test]
async fn a_webhook_that_hangs_or_errs_is_named_and_decides_nothing() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Validating", &["configmaps"]).await;
    let map = [bed.config("a", &json!({}))];
    for (says, words) in [
        (Says::Nothing, "does not answer at https://127.0.0.1"),
        (Says::Raw { status: 500, body: "boom".into() }, "gives no answer that the server can use"),
        (Says::Raw { status: 200, body: "{}".into() }, "gives no answer that the server can use"),
    ] {
        hook.answer_with(move |_| says.clone());
        let plan = bed.check(&map, &[&["create ConfigMap/a", "Not(", "`hook-", words]]).await;
        assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    }
}

#[tokio::test]
async fn a_warning_of_a_webhook_is_told_once() {
    let mut bed = Bed::new().await;
    let hook = installed(&mut bed, "Validating", &["configmaps"]).await;
    hook.answer_with(|_| Says::yes().warning(&["no owner label", "no owner label"]));
    let map = [bed.config("a", &json!({"k": "1"}))];
    let told = |plan: &Plan| {
        let warnings = &only(plan).warnings;
        warnings.iter().filter(|warning| warning.contains("no owner label")).count()
    };
    assert_eq!(told(&bed.plan(&[("shop", &map)]).await), 1);
    bed.deliver(&[("shop", &map)]).await;
    let theirs = bed.config("a", &json!({"k": "2"}));
    let arguments = ["apply", "--server-side", "--force-conflicts", "--field-manager=hand", "-f", "-"];
    bed.kubectl(&arguments, &theirs.to_string());
    // A conflict is asked about twice.
    assert_eq!(told(&bed.plan(&[("shop", &map)]).await), 1);
}

/// The Deployment was accepted, and no pod of it ever started.
#[tokio::test]
async fn a_webhook_on_pods_speaks_when_a_template_changes() {
    let mut bed = Bed::new().await;
    let web = |image: &str| {
        let mut web = deployment(&bed, "web", image);
        web["spec"]["replicas"] = 1.into();
        [web]
    };
    let (first, second) = (web("registry.example/web:1"), web("registry.example/web:2"));
    bed.deliver(&[("shop", &first)]).await;
    let hook = installed(&mut bed, "Validating", &["pods"]).await;
    for code in [403, 409, 500] {
        hook.answer_with(move |_| Says::no(code, "no PriorityClass with name gold was found in the sky"));
        let plan = bed.check(&first, &[&["no-op Deployment.apps/web"]]).await;
        assert!(is_quiet(&plan), "{plan:?}");
        let refused: &[&str] = &["refused pod-policy", "webhook \"hook-", "gold was found in the sky"];
        let plan = bed.check(&second, &[&["update Deployment.apps/web"], refused]).await;
        assert_eq!(exit_code(&plan), Some(ExitCode::Refused), "{code}");
    }
}

/// Version 1 of the configuration knows no webhook that cannot be asked in a dry-run.
#[tokio::test]
async fn a_webhook_with_side_effects_cannot_be_configured() {
    let mut bed = Bed::new().await;
    let hook = Webhook::start(&kubeconfig(), |_| Says::yes());
    let name = format!("hook-{}", bed.suffix);
    let nowhere = json!({"matchLabels": {"no-namespace": "has-this"}});
    bed.leftovers.push(("validatingwebhookconfiguration".into(), name.clone()));
    for effects in ["Some", "Unknown"] {
        let mut configuration = hook.configuration("Validating", &name, &["configmaps"], &nowhere);
        configuration["webhooks"][0]["sideEffects"] = effects.into();
        let plan = bed
            .check(&[configuration], &[&["create Validating", "invalid: webhooks[0].sideEffects: ", effects]])
            .await;
        assert_eq!(exit_code(&plan), Some(ExitCode::BadInput));
    }
}

/// kubectl's pruning took what it could not list for gone.
#[tokio::test]
async fn objects_that_cannot_be_converted_are_not_pruned() {
    let mut bed = Bed::new().await;
    let hook = Webhook::start(&kubeconfig(), |review| Says::converted(review, |_| {}));
    let group = format!("g{}.example.com", bed.suffix);
    let name = format!("foos.{group}");
    bed.leftovers.insert(0, ("customresourcedefinition".into(), name.clone()));
    let schema = json!({"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}});
    let version = |name: &str, storage: bool| json!({"name": name, "served": true, "storage": storage, "schema": schema});
    let definition = |versions: Vec<Value>| {
        json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": name},
            "spec": {"group": group, "scope": "Namespaced", "names": {"kind": "Foo", "plural": "foos"},
                "versions": versions, "conversion": {"strategy": "Webhook", "webhook":
                    {"conversionReviewVersions": ["v1"], "clientConfig": hook.client()}}}})
    };
    let both = || definition(vec![version("v1", false), version("v2", true)]);
    let foo = |version: &str, name: &str| {
        json!({"apiVersion": format!("{group}/{version}"), "kind": "Foo",
            "metadata": {"name": name, "namespace": bed.namespace}, "spec": {"k": "v"}})
    };
    bed.deliver(&[("kinds", &[both()])]).await;
    crate::bed::served(&bed, &group, "Foo").await;
    let (stays, goes) = (foo("v1", "stays"), foo("v1", "goes"));
    bed.deliver(&[("shop", &[stays.clone(), goes])]).await;
    let units: [(&str, &[Value]); 2] = [("kinds", &[both()]), ("shop", std::slice::from_ref(&stays))];
    bed.check_units(
        &units,
        &[&["no-op CustomResourceDefinition"], &["no-op Foo"], &["prune Foo"], &["refused protected-kind"]],
    )
    .await;
    hook.answer_with(|_| Says::not_converted("out of order"));
    // Lists are answered from what was converted before, until an object changes: in the version that is stored, no
    // conversion is needed.
    bed.kubectl(&["-n", &bed.namespace, "label", &format!("foos.v2.{group}"), "goes", "a=b"], "");
    let plan = bed.plan(&units).await;
    let broken: Vec<&Action> = plan.actions.iter().filter(|action| action.problem.is_some()).collect();
    assert!(!broken.is_empty() && !plan.is_executable(), "{plan:?}");
    let said = format!("{:?} {:?}", plan.refusals, broken);
    assert!(said.contains("out of order"), "{said}");
    // A conversion that loses a field shows as a change that no apply brings to an end.
    hook.answer_with(|review| {
        Says::converted(review, |object| {
            object.as_object_mut().unwrap().remove("spec");
        })
    });
    let plan = bed.plan(&units).await;
    let foo = plan.actions.iter().find(|action| action.object.name == "stays").unwrap();
    assert_ne!(foo.operation, Operation::NoOp, "{foo:?}");
}

/// An operator makes its webhook configuration itself, so that no commit removes it. Without the Service the server refuses
/// whatever it would ask about.
#[tokio::test]
async fn a_service_that_the_server_goes_on_calling_is_not_deleted() {
    let mut bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "hook", "namespace": bed.namespace},
        "spec": {"selector": {"app": "hook"}, "ports": [{"port": 443}]}});
    bed.deliver(&[("shop", &[stays.clone(), service.clone()])]).await;
    bed.check(std::slice::from_ref(&stays), &[&["no-op"], &["prune Service/hook"]]).await;
    let name = format!("kept-{}", bed.suffix);
    bed.leftovers.insert(0, ("validatingwebhookconfiguration".into(), name.clone()));
    let configuration = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{"name": "w.example.com", "sideEffects": "None",
            "admissionReviewVersions": ["v1"], "failurePolicy": "Fail", "namespaceSelector": {"matchLabels": {"none": bed.suffix}},
            "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}],
            "clientConfig": {"service": {"namespace": bed.namespace, "name": "hook"}}}]});
    bed.kubectl(&["apply", "-f", "-"], &configuration.to_string());
    let refused: &[&str] =
        &["refused webhook-backend", "Service", "the API server calls it for what stays", &name];
    bed.check(std::slice::from_ref(&stays), &[&["no-op"], &["prune Service/hook"], refused]).await;
    let lenient = json!([{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": "Ignore"}]);
    bed.kubectl(
        &["patch", "validatingwebhookconfiguration", &name, "--type=json", "-p", &lenient.to_string()],
        "",
    );
    bed.check(&[stays], &[&["no-op"], &["prune Service/hook"]]).await;
}
