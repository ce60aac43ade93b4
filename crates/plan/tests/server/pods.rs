//! Policies on pods, which the server enforces only when a controller makes them.

use serde_json::{Value, json};
use windlass_model::ExitCode;
use windlass_plan::exit_code;
use windlass_settings::PodPolicyRule;

use crate::bed::{Bed, is_quiet};
use crate::policy::{Policy, until_refused};

fn deployment(bed: &Bed, spec: &Value) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": bed.namespace},
        "spec": {"replicas": 1, "selector": {"matchLabels": {"app": "web"}},
            "template": {"metadata": {"labels": {"app": "web"}}, "spec": spec}}})
}

fn with_image(bed: &Bed, image: &str) -> Value {
    deployment(bed, &json!({"containers": [{"name": "web", "image": image}]}))
}

/// A policy on pods of the test's namespace, which the server enforces when this returns its name.
async fn enforce(bed: &mut Bed, expression: &str, condition: Option<&str>) -> String {
    let validation = json!({"expression": expression, "message": "this image is not allowed"});
    let policy = Policy { word: "pods", resource: "pods", validation, condition, matching: None };
    let name = policy.enforce(bed);
    let probe = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe", "namespace": bed.namespace},
        "spec": {"containers": [{"name": "a", "image": "registry.example/bad:1"}]}});
    until_refused(bed, probe).await;
    name
}

const GOOD_ONLY: &str = "object.spec.containers.all(c, c.image.startsWith('registry.example/good'))";

/// The Deployment was accepted, and no pod of it ever started.
#[tokio::test]
async fn a_policy_on_pods_speaks_before_the_workload_is_applied() {
    let mut bed = Bed::new().await;
    let good = with_image(&bed, "registry.example/good:1");
    bed.deliver(&[("shop", std::slice::from_ref(&good))]).await;
    let policy = enforce(&mut bed, GOOD_ONLY, None).await;
    let plan = bed.check(std::slice::from_ref(&good), &[&["no-op"]]).await;
    assert!(is_quiet(&plan), "{plan:?}");
    let other = with_image(&bed, "registry.example/good:2");
    bed.check(&[other], &[&["update Deployment", "because of: image of web"]]).await;
    let bad = with_image(&bed, "registry.example/bad:1");
    let refusal: &[&str] = &["refused pod-policy", &policy, "this image is not allowed"];
    let plan = bed.check(std::slice::from_ref(&bad), &[&["update Deployment"], refusal]).await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    let mut idle = bad.clone();
    idle["spec"]["replicas"] = 0.into();
    bed.check(&[idle], &[&["update Deployment", "warning its pods would be refused", &policy]]).await;
    bed.guards.pod_policy = PodPolicyRule::Warn;
    bed.check(&[bad], &[&["update Deployment", "warning its pods would be refused", "podPolicy: warn"]])
        .await;
}

/// The controller that makes the real pods is another user, whom such a policy lets through.
#[tokio::test]
async fn a_policy_that_asks_for_the_sender_only_warns() {
    let mut bed = Bed::new().await;
    let who = "!request.userInfo.username.startsWith('system:serviceaccount:kube-system:')";
    enforce(&mut bed, GOOD_ONLY, Some(who)).await;
    let bad = with_image(&bed, "registry.example/bad:1");
    bed.check(&[bad], &[&["create Deployment", "warning its pods would be refused", "asks who sends a pod"]])
        .await;
}

#[tokio::test]
async fn pods_of_every_workload_kind_are_tried_out() {
    let mut bed = Bed::new().await;
    let policy = enforce(&mut bed, GOOD_ONLY, None).await;
    let meta = |name: &str| json!({"name": name, "namespace": bed.namespace});
    let pod = |restart: &str| {
        json!({"restartPolicy": restart, "containers": [{"name": "a", "image": "registry.example/bad:1",
            "volumeMounts": [{"name": "data", "mountPath": "/data"}]}]})
    };
    let template = |restart: &str| json!({"metadata": {"labels": {"app": "a"}}, "spec": pod(restart)});
    let selector = json!({"matchLabels": {"app": "a"}});
    let claim = json!({"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}}}});
    let with_volume = |mut template: Value| {
        template["spec"]["volumes"] = json!([{"name": "data", "emptyDir": {}}]);
        template
    };
    let objects = [
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta("db"),
            "spec": {"serviceName": "db", "replicas": 2, "selector": selector, "template": template("Always"),
                "volumeClaimTemplates": [claim]}}),
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": meta("agent"),
            "spec": {"selector": selector, "template": with_volume(template("Always"))}}),
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta("once"),
            "spec": {"template": with_volume(template("Never"))}}),
        json!({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": meta("often"),
            "spec": {"schedule": "* * * * *", "jobTemplate": {"spec": {"template": with_volume(template("Never"))}}}}),
    ];
    let refused: &[&str] = &["refused pod-policy", &policy];
    bed.check(
        &objects,
        &[
            &["create StatefulSet"],
            &["create DaemonSet"],
            &["create Job"],
            &["create CronJob"],
            refused,
            refused,
            refused,
            refused,
        ],
    )
    .await;
}

/// The workload is accepted with a warning; its pods are not.
#[tokio::test]
async fn pod_security_is_judged_by_the_labels_that_the_namespace_has() {
    let bed = Bed::new().await;
    let label = "pod-security.kubernetes.io/enforce=restricted";
    bed.kubectl(&["label", "namespace", &bed.namespace, label], "");
    let web = with_image(&bed, "registry.example/web:1");
    let plan = bed
        .check(
            std::slice::from_ref(&web),
            &[
                &["create Deployment", "warning would violate PodSecurity"],
                &["refused pod-policy", "violates PodSecurity"],
            ],
        )
        .await;
    assert_eq!(exit_code(&plan), Some(ExitCode::Refused));
    // The same commit loosens the namespace: then the server judged by the old label.
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": bed.namespace,
        "labels": {"pod-security.kubernetes.io/enforce": "privileged"}}});
    bed.check(
        &[namespace, web],
        &[
            &["adopt Namespace"],
            &["create Deployment", "warning its pods would be refused", "the same commit changes"],
        ],
    )
    .await;
}

#[tokio::test]
async fn what_the_pods_lack_stops_nothing() {
    let bed = Bed::new().await;
    let container = json!([{"name": "web", "image": "registry.example/web:1"}]);
    let mine = deployment(&bed, &json!({"serviceAccountName": "web", "containers": container}));
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": bed.namespace}});
    bed.check(
        std::slice::from_ref(&mine),
        &[&["create Deployment", "the ServiceAccount `web` does not exist"]],
    )
    .await;
    bed.check(
        &[account, mine],
        &[
            &["create ServiceAccount"],
            &["create Deployment", "without the ServiceAccount `web`, which comes with the same commit"],
        ],
    )
    .await;
    let urgent = deployment(&bed, &json!({"priorityClassName": "absent", "containers": container}));
    bed.check(&[urgent], &[&["create Deployment", "the PriorityClass `absent` does not exist"]]).await;
    let jailed = deployment(&bed, &json!({"runtimeClassName": "absent", "containers": container}));
    bed.check(&[jailed], &[&["create Deployment", "the RuntimeClass `absent` does not exist"]]).await;
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": bed.namespace},
        "spec": {"hard": {"pods": "0"}}});
    bed.kubectl(&["apply", "-f", "-"], &quota.to_string());
    let web = with_image(&bed, "registry.example/web:1");
    for attempt in 0.. {
        let plan = bed.plan(&[("shop", std::slice::from_ref(&web))]).await;
        assert!(plan.is_executable(), "{plan:?}");
        if plan.actions[0].warnings.iter().any(|warning| warning.contains("exceeded quota")) {
            break;
        }
        // The controller publishes the quota's status before admission counts by it.
        assert!(attempt < 100, "{plan:?}");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
}

/// A first delivery brings the ServiceAccount, whose absence the server notices before any policy speaks.
#[tokio::test]
async fn pods_whose_service_account_comes_with_the_commit_are_tried_out_without_it() {
    let mut bed = Bed::new().await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": bed.namespace}});
    let class = format!("urgent-{}", bed.suffix);
    let urgent = json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": class}, "value": 7});
    let web = |image: &str| {
        let containers = json!([{"name": "web", "image": image}]);
        deployment(
            &bed,
            &json!({"serviceAccountName": "web", "priorityClassName": class, "containers": containers}),
        )
    };
    let (good, bad) = (web("registry.example/good:1"), web("registry.example/bad:1"));
    let told = "tried out without the ServiceAccount `web` and the PriorityClass `";
    let comes: [&[&str]; 2] = [&["create PriorityClass"], &["create ServiceAccount"]];
    let policy = enforce(&mut bed, GOOD_ONLY, None).await;
    let commit = |web: &Value| [urgent.clone(), account.clone(), web.clone()];
    let plan = bed.check(&commit(&good), &[comes[0], comes[1], &["create Deployment", told]]).await;
    assert_eq!(exit_code(&plan), None, "{plan:?}");
    let refusal: &[&str] = &["refused pod-policy", &policy, "this image is not allowed"];
    bed.check(&commit(&bad), &[comes[0], comes[1], &["create Deployment", told], refusal]).await;
}

/// The policy refuses the account `default`, by which the pod was tried out, and not the one that comes.
#[tokio::test]
async fn a_policy_that_asks_for_the_service_account_that_comes_only_warns() {
    let mut bed = Bed::new().await;
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": bed.namespace}});
    let containers = json!([{"name": "web", "image": "registry.example/web:1"}]);
    let mine = deployment(&bed, &json!({"serviceAccountName": "web", "containers": containers}));
    enforce(&mut bed, "object.spec.serviceAccountName == 'web'", None).await;
    let doubt: &[&str] =
        &["create Deployment", "its pods would be refused", "tried out without the ServiceAccount `web`"];
    bed.check(&[account, mine], &[&["create ServiceAccount"], doubt]).await;
}

#[tokio::test]
async fn without_the_right_to_create_pods_the_plan_says_so() {
    let bed = Bed::new().await;
    let verbs = "get,list,create,patch";
    let limited = bed.as_identity(verbs, "deployments.apps,configmaps,secrets,namespaces").await;
    let web = with_image(&bed, "registry.example/web:1");
    let note = "its pods were not previewed: the identity may not create pods";
    limited.check(&[web], &[&["create Deployment", note]]).await;
}
