//! Trying objects out in a namespace that stands in for one that does not exist yet.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use windlass_cluster::{ApplyRequest, ClusterError, Denier, Expect, Failure, FailureKind};
use windlass_model::{Digest, GroupKind, Object, ObjectRef, Rendering};

use super::ask::failed;
use super::places::Places;
use super::recall::Given;
use super::{Reader, tolerate};
use crate::{Ask, ObjectKey, Outcome, Reply, Trial, kinds};

/// How many objects are tried out whose namespace does not exist yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trials {
    /// Each of them: one dry-run an object.
    Each,
    /// One of each kind and shape, so that a large first delivery costs little more than itself.
    Shapes,
}

/// The namespace that stands in, and what is tried out in it.
pub(super) struct StandIn<'a> {
    namespace: &'a str,
    /// Why nothing can be tried out.
    unusable: Option<String>,
    /// Namespaces that the commit brings: in all others an object cannot be created anyway.
    coming: BTreeSet<&'a str>,
    /// The objects that are tried out; `None` for all.
    chosen: Option<BTreeSet<ObjectKey>>,
}

impl<'a> StandIn<'a> {
    /// Chooses what is tried out in `namespace`.
    pub(super) fn new(namespace: &'a str, trials: Trials, rendering: &'a Rendering, places: &Places) -> Self {
        let coming: BTreeSet<&str> = rendering
            .objects()
            .map(|(_, object)| object.reference())
            .filter(|reference| kinds::is_namespace(&reference.kind))
            .map(|reference| reference.name.as_str())
            .collect();
        let placeless = rendering.objects().map(|(_, object)| object).filter(|object| {
            let key = ObjectKey::from(object.reference());
            places.lacks(&key) && key.namespace.is_some_and(|name| coming.contains(name.as_str()))
        });
        let chosen = match trials {
            Trials::Each => None,
            Trials::Shapes => {
                let mut shapes: BTreeMap<Digest, ObjectKey> = BTreeMap::new();
                for object in placeless {
                    let key = ObjectKey::from(object.reference());
                    shapes.entry(Digest::of_json(&shape(object.body()))).or_insert(key);
                }
                Some(shapes.into_values().collect())
            }
        };
        let unusable = (!places.has_stand_in()).then(|| {
            format!("the namespace `{namespace}`, which would stand in, does not exist or is being deleted")
        });
        Self { namespace, unusable, coming, chosen }
    }

    /// Sends an object as a dry-run creation in the stand-in namespace; `object` is as it would be sent.
    pub(super) async fn try_out(&self, reader: &Reader<'_>, object: &Object) -> Result<Trial, ClusterError> {
        let reference = object.reference();
        let Some(own) = reference.namespace.as_deref().filter(|name| self.coming.contains(name)) else {
            return Ok(Trial::Not("no unit delivers the namespace".to_owned()));
        };
        if reader.cluster.is_read_only() {
            return Ok(Trial::Not("nothing is asked".to_owned()));
        }
        if let Some(reason) = &self.unusable {
            return Ok(Trial::Not(reason.clone()));
        }
        let key = ObjectKey::from(reference);
        if self.chosen.as_ref().is_some_and(|chosen| !chosen.contains(&key)) {
            return Ok(Trial::Alike(self.namespace.to_owned()));
        }
        let Some(moved) = in_namespace(object, self.namespace) else {
            return Ok(Trial::Not("it cannot be written into another namespace".to_owned()));
        };
        let request = ApplyRequest { object: &moved, expect: Expect::Absent, force: false, dry_run: true };
        let answer = match tolerate(reader.cluster.apply(request).await)? {
            Ok(answer) => Ok(Reply { object: answer.object, warnings: answer.warnings }),
            Err(error) => Err(failed(error)),
        };
        Ok(self.trial(answer, own))
    }

    fn trial(&self, answer: Result<Reply, Ask>, own: &str) -> Trial {
        let made = |outcome| Trial::Made { stand_in: self.namespace.to_owned(), outcome };
        match answer {
            Ok(reply) => match in_namespace(&reply.object, own) {
                Some(object) => made(Outcome::Accepted(Reply { object, ..reply })),
                None => Trial::Not("the answer cannot be read".to_owned()),
            },
            Err(Ask::Refused(failure)) => untold(&failure, self.namespace).map_or_else(
                || {
                    let everywhere = is_about_the_object(&failure);
                    made(Outcome::Refused { failure: failure.clone(), everywhere })
                },
                Trial::Not,
            ),
            Err(Ask::Failed(reason)) => Trial::Not(reason),
            Err(_) => Trial::Not("there was no answer that can be used".to_owned()),
        }
    }
}

/// Finds out which of the policies that refused something refuse it in every namespace.
pub(super) async fn judge_policies(reader: &Reader<'_>, given: &mut [Given]) -> Result<(), ClusterError> {
    let mut known: BTreeMap<(String, String), bool> = BTreeMap::new();
    for given in given {
        let Ask::NamespaceMissing(Trial::Made { outcome: Outcome::Refused { failure, everywhere }, .. }) =
            &mut given.asked.answer
        else {
            continue;
        };
        let Some(Denier::Policy { name, binding }) = failure.denier() else { continue };
        let names = (name.to_owned(), binding.to_owned());
        *everywhere = if let Some(known) = known.get(&names) {
            *known
        } else {
            let found = is_the_same_everywhere(reader, &names.0, &names.1).await?;
            known.insert(names, found);
            found
        };
    }
    Ok(())
}

/// Says whether what was refused in one namespace is refused in every one: it is wrong itself, or the policy makes no
/// difference between namespaces.
pub(super) async fn refuses_everywhere(reader: &Reader<'_>, failure: &Failure) -> Result<bool, ClusterError> {
    match failure.denier() {
        Some(Denier::Policy { name, binding }) => is_the_same_everywhere(reader, name, binding).await,
        _ => Ok(is_about_the_object(failure)),
    }
}

async fn is_the_same_everywhere(
    reader: &Reader<'_>,
    policy: &str,
    binding: &str,
) -> Result<bool, ClusterError> {
    let policy = spec(reader, "ValidatingAdmissionPolicy", policy).await?;
    let binding = spec(reader, "ValidatingAdmissionPolicyBinding", binding).await?;
    Ok(policy.zip(binding).is_some_and(|(policy, binding)| sees_no_namespace(&policy, &binding)))
}

async fn spec(reader: &Reader<'_>, kind: &str, name: &str) -> Result<Option<Value>, ClusterError> {
    let reference = ObjectRef {
        kind: GroupKind::new("admissionregistration.k8s.io", kind),
        version: "v1".to_owned(),
        namespace: None,
        name: name.to_owned(),
    };
    let found = tolerate(reader.cluster.get(&reference).await)?.ok().flatten();
    Ok(found.map(|object| object.body()["spec"].clone()))
}

/// Says whether a policy with its binding cannot tell one namespace from another: neither selects namespaces, no
/// expression looks at one or asks for rights, which are rights in one, and there are no parameters that could be of
/// one.
fn sees_no_namespace(policy: &Value, binding: &Value) -> bool {
    let selects = |spec: &Value| {
        spec.pointer("/namespaceSelector")
            .and_then(Value::as_object)
            .is_some_and(|selector| !selector.is_empty())
    };
    let expressions = ["validations", "matchConditions", "variables", "auditAnnotations"];
    let looks = expressions.iter().any(|field| {
        let text = policy[field].to_string();
        text.contains("namespace") || text.contains("authorizer")
    });
    let has_parameters = !policy["paramKind"].is_null() || !binding["paramRef"].is_null();
    !selects(&policy["matchConstraints"]) && !selects(&binding["matchResources"]) && !looks && !has_parameters
}

/// Returns why a refusal says nothing about the object: it is about the stand-in namespace, the identity, or a
/// webhook.
fn untold(failure: &Failure, stand_in: &str) -> Option<String> {
    let reason = match failure.kind() {
        FailureKind::Modified => format!("`{stand_in}` holds an object of this name"),
        FailureKind::Quota => format!("the quota of `{stand_in}` has no room for it"),
        FailureKind::Forbidden if is_a_missing_right(failure) => {
            format!("the identity may not create it in `{stand_in}`, not even as a dry-run")
        }
        FailureKind::NoDryRun => "a webhook does not support dry-runs".to_owned(),
        FailureKind::WebhookFailed => "a webhook that must be asked does not answer".to_owned(),
        FailureKind::NamespaceMissing | FailureKind::NamespaceTerminating => {
            format!("the namespace `{stand_in}`, which would stand in, does not exist or is being deleted")
        }
        FailureKind::Throttled
        | FailureKind::Unavailable
        | FailureKind::QuotaContended
        | FailureKind::Foreign
        | FailureKind::Other => "there was no answer that can be used".to_owned(),
        _ => return None,
    };
    Some(reason)
}

/// An authorizer's words, unlike those of admission, name the user.
fn is_a_missing_right(failure: &Failure) -> bool {
    failure.message.contains("is forbidden: User \"") && failure.message.contains(" cannot ")
}

/// Says whether the object itself is wrong.
fn is_about_the_object(failure: &Failure) -> bool {
    matches!(
        failure.kind(),
        FailureKind::Invalid | FailureKind::Schema | FailureKind::Immutable | FailureKind::TooLarge
    )
}

/// Returns an object as it would be in another namespace.
pub(super) fn in_namespace(object: &Object, namespace: &str) -> Option<Object> {
    let mut body = object.body().clone();
    body["metadata"]["namespace"] = namespace.into();
    Object::new(body, object.origin().cloned()).ok()
}

/// Returns which fields an object has, without their values, names of objects and namespaces included.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let shapes: Map<String, Value> = fields
                .iter()
                .map(|(key, value)| {
                    let whole = matches!(key.as_str(), "apiVersion" | "kind");
                    (key.clone(), if whole { value.clone() } else { shape(value) })
                })
                .collect();
            shapes.into()
        }
        Value::Array(items) => {
            let mut shapes: Vec<String> = items.iter().map(|item| shape(item).to_string()).collect();
            shapes.sort_unstable();
            shapes.dedup();
            shapes.into()
        }
        Value::Null => Value::Null,
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        Value::String(_) => "string".into(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn policies_that_cannot_tell_namespaces_apart() {
        let check = |policy: Value, binding: Value, want: bool| {
            assert_eq!(sees_no_namespace(&policy, &binding), want, "{policy} {binding}");
        };
        let policy = |expression: &str| {
            json!({"matchConstraints": {"namespaceSelector": {}, "resourceRules": []},
                "validations": [{"expression": expression}]})
        };
        let plain = "object.spec.replicas < 5";
        let everywhere = || json!({"policyName": "p", "matchResources": {"namespaceSelector": {}}});
        check(policy(plain), everywhere(), true);
        check(policy(plain), json!({"policyName": "p"}), true);
        check(policy("object.metadata.namespace != 'prd'"), everywhere(), false);
        check(policy("namespaceObject.metadata.labels.env == 'prd'"), everywhere(), false);
        let right = "authorizer.requestResource.check('scale').allowed()";
        check(policy(right), everywhere(), false);
        let mut conditional = policy(plain);
        conditional["matchConditions"] = json!([{"name": "rights", "expression": right}]);
        check(conditional, everywhere(), false);
        check(policy(plain), json!({"paramRef": {"name": "limits"}}), false);
        let selector = json!({"namespaceSelector": {"matchLabels": {"env": "prd"}}});
        check(policy(plain), json!({"matchResources": selector}), false);
        check(json!({"matchConstraints": selector}), everywhere(), false);
    }

    #[test]
    fn objects_that_differ_in_values_only_have_one_shape() {
        let of = |body: Value| shape(&body).to_string();
        let config =
            |name: &str, data: Value| json!({"kind": "ConfigMap", "metadata": {"name": name}, "data": data});
        let (one, other) = (config("a", json!({"k": "1"})), config("b", json!({"k": "2"})));
        assert_eq!(of(one.clone()), of(other));
        assert_ne!(of(one.clone()), of(config("a", json!({"l": "1"}))));
        assert_ne!(of(one.clone()), of(config("a", json!({"k": 1}))));
        let mut secret = one.clone();
        secret["kind"] = "Secret".into();
        assert_ne!(of(one), of(secret));
        assert_eq!(of(json!([{"a": 1}, {"a": 2}])), of(json!([{"a": 3}])));
    }
}
