//! Webhooks and policies.

use std::collections::BTreeSet;

use jiff::Timestamp;
use windlass_cluster::{ClusterError, Selector};
use windlass_model::{GroupKind, Object};

use super::age::latest_change;
use super::{list, version_of};
use crate::memory::Matcher;
use crate::observe::{Reader, tolerate};

/// What judges objects on their way in.
#[derive(Default)]
pub(super) struct Admission {
    /// Every part of the configuration, named in its present version.
    pub(super) identities: Vec<String>,
    /// What cannot be foreseen.
    pub(super) judges: Vec<Matcher>,
    /// When something was changed last.
    pub(super) latest: Option<Timestamp>,
}

const GROUP: &str = "admissionregistration.k8s.io";
const WEBHOOKS: [&str; 2] = ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"];
/// A kind of policy and that of its bindings.
const POLICIES: [(&str, &str); 2] = [
    ("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"),
    ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
];

pub(super) async fn read(reader: &Reader<'_>) -> Result<Admission, ClusterError> {
    let whole = |kind: &'static str| async move { bodies(reader, kind).await };
    let (mutating, validating, validations, validation_bindings, mutations, mutation_bindings) = futures::try_join!(
        whole(WEBHOOKS[0]),
        whole(WEBHOOKS[1]),
        whole(POLICIES[0].0),
        whole(POLICIES[0].1),
        whole(POLICIES[1].0),
        whole(POLICIES[1].1),
    )?;
    let mut admission = Admission::default();
    for configuration in mutating.iter().chain(&validating) {
        let webhooks = configuration.body()["webhooks"].as_array().into_iter().flatten();
        admission.judges.extend(webhooks.map(|webhook| Matcher::read(webhook, "rules")));
    }
    let mut parameters = Parameters::default();
    for (policies, bindings) in [(&validations, &validation_bindings), (&mutations, &mutation_bindings)] {
        for policy in policies {
            if !parameters.read(reader, policy, bindings).await? || asks_about_rights(policy) {
                admission
                    .judges
                    .push(Matcher::read(&policy.body()["spec"]["matchConstraints"], "resourceRules"));
            }
        }
    }
    let all = [mutating, validating, validations, validation_bindings, mutations, mutation_bindings];
    for object in all.iter().flatten() {
        admission.take(specification_of(object), latest_change(object));
    }
    for object in &parameters.objects {
        admission.take(version_of(object), latest_change(object));
    }
    admission.identities.sort();
    Ok(admission)
}

impl Admission {
    fn take(&mut self, identity: String, changed: Option<Timestamp>) {
        self.identities.push(identity);
        self.latest = self.latest.max(changed);
    }
}

/// Lists the objects of a kind of the group, none where the server does not serve it.
async fn bodies(reader: &Reader<'_>, kind: &str) -> Result<Vec<Object>, ClusterError> {
    let kind = GroupKind::new(GROUP, kind);
    if reader.cluster.is_namespaced(&kind).await?.is_none() {
        return Ok(Vec::new());
    }
    let resource = reader.cluster.preferred(&kind).await?;
    Ok(reader.cluster.list(&resource, Selector::default()).await?.objects)
}

/// Names an object in one version of its specification: its status is written again and again.
fn specification_of(object: &Object) -> String {
    match object.generation() {
        Some(generation) => {
            format!("{} {} {generation}", object.reference(), object.uid().unwrap_or_default())
        }
        None => version_of(object),
    }
}

/// Says whether a policy may ask the authorizer: what it answers depends on roles, groups and other servers.
fn asks_about_rights(policy: &Object) -> bool {
    policy.body()["spec"].to_string().contains("authorizer")
}

/// The objects that policies take parameters from.
#[derive(Default)]
struct Parameters {
    objects: Vec<Object>,
    /// Kinds that were listed, and whether that succeeded.
    listed: BTreeSet<(GroupKind, bool)>,
}

impl Parameters {
    /// Reads the parameters that a policy may get, and says whether that succeeded.
    async fn read(
        &mut self,
        reader: &Reader<'_>,
        policy: &Object,
        bindings: &[Object],
    ) -> Result<bool, ClusterError> {
        let Some(kind) = parameter_kind(policy) else { return Ok(true) };
        let bound = bindings
            .iter()
            .filter(|binding| binding.body()["spec"]["policyName"] == policy.reference().name.as_str());
        if bound.count() == 0 {
            return Ok(true);
        }
        if let Some((_, succeeded)) = self.listed.iter().find(|(listed, _)| *listed == kind) {
            return Ok(*succeeded);
        }
        let listed = tolerate(list(reader.cluster, &kind.group, &kind.kind).await)?;
        self.listed.insert((kind, listed.is_ok()));
        let succeeded = listed.is_ok();
        self.objects.extend(listed.unwrap_or_default());
        Ok(succeeded)
    }
}

fn parameter_kind(policy: &Object) -> Option<GroupKind> {
    let kind = policy.body().pointer("/spec/paramKind")?;
    let group = kind["apiVersion"].as_str()?.rsplit_once('/').map_or("", |(group, _)| group);
    Some(GroupKind::new(group, kind["kind"].as_str()?))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn policy(spec: &Value) -> Object {
        let body = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": "a"}, "spec": spec});
        Object::new(body, None).unwrap()
    }

    #[test]
    fn parameters_and_questions_about_rights_are_found() {
        let check = |spec: Value, kind: Option<&str>, rights: bool| {
            let policy = policy(&spec);
            assert_eq!(parameter_kind(&policy).map(|kind| kind.to_string()).as_deref(), kind);
            assert_eq!(asks_about_rights(&policy), rights);
        };
        check(json!({"validations": [{"expression": "object.spec.replicas < 5"}]}), None, false);
        check(json!({"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}), Some("ConfigMap"), false);
        check(json!({"paramKind": {"apiVersion": "x.dev/v1", "kind": "Limit"}}), Some("Limit.x.dev"), false);
        check(json!({"variables": [{"expression": "authorizer.group('apps').check('get')"}]}), None, true);
    }
}
