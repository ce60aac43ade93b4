//! The gate.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_cluster::{Cluster, ClusterError};
use windlass_model::{Digest, Event, GatePassed, GroupKind, Level, Object, ObjectRef, Sink, Stage};
use windlass_settings::{AdmissionPolicy, Constraint, Gatekeeper, PolicyRules};

use crate::proof::{Signature, prove};
use crate::{Finding, GateError, admission, gatekeeper};

/// A policy takes 0.5 to 0.8 s from its creation to its first refusal (measured on 1.36).
const ATTEMPTS: u32 = 3;
const PAUSE: Duration = Duration::from_secs(1);

/// One policy that was looked at.
pub(crate) struct Examined {
    /// The policy's name in reports.
    pub(crate) title: String,
    /// What keeps the gate closed.
    pub(crate) findings: Vec<Finding>,
    /// The specifications that decide what is refused.
    pub(crate) specification: Value,
}

/// Checks that every expected policy is present and enforced right now.
///
/// All policies are looked at, so that one run tells everything. Nothing is changed: the objects that must
/// be refused are sent as dry-runs.
///
/// # Errors
/// [`GateError::NotReady`] with every finding; anything that is not known counts as a no.
pub async fn check(cluster: &Cluster, rules: &PolicyRules, sink: &dyn Sink) -> Result<GatePassed, GateError> {
    Ok(passed(&examine_all(cluster, rules, sink, Depth::Proof).await?))
}

/// Reads whether every expected policy is present and says that it is enforced, without the proof: no object is sent
/// that it must refuse. Returns the digest of the policies.
///
/// # Errors
/// [`GateError::NotReady`] with every finding.
pub async fn read(cluster: &Cluster, rules: &PolicyRules, sink: &dyn Sink) -> Result<Digest, GateError> {
    Ok(digest(&examine_all(cluster, rules, sink, Depth::Words).await?))
}

/// How deep a policy is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Depth {
    /// What it says about itself is read.
    Words,
    /// An object that it must refuse is sent besides.
    Proof,
}

async fn examine_all(
    cluster: &Cluster,
    rules: &PolicyRules,
    sink: &dyn Sink,
    depth: Depth,
) -> Result<Vec<Examined>, GateError> {
    let all = all(rules);
    let total = all.len();
    if total == 0 {
        let Some(reason) = rules.none.as_ref().filter(|reason| !reason.trim().is_empty()) else {
            return Err(GateError::Undecided);
        };
        let text = format!("no policy is expected here: {reason}");
        sink.emit(Event::Message { level: Level::Info, text });
    }
    let mut examined = Vec::new();
    for rule in all {
        examined.push(patiently(cluster, &rule, depth).await?);
        tell(sink, &examined, total, depth);
    }
    let findings: Vec<Finding> = examined.iter().flat_map(|policy| policy.findings.clone()).collect();
    if findings.is_empty() { Ok(examined) } else { Err(GateError::NotReady { findings }) }
}

/// One entry of the environment file.
enum Rule<'a> {
    Admission(&'a AdmissionPolicy),
    Constraint(&'a Gatekeeper, &'a Constraint),
}

fn all(rules: &PolicyRules) -> Vec<Rule<'_>> {
    let constraints = rules.gatekeeper.iter().flat_map(|gatekeeper| {
        gatekeeper.constraints.iter().map(move |one| Rule::Constraint(gatekeeper, one))
    });
    rules.validating_admission_policies.iter().map(Rule::Admission).chain(constraints).collect()
}

/// Looks again, a few times, while something that was found may pass by itself.
async fn patiently(cluster: &Cluster, rule: &Rule<'_>, depth: Depth) -> Result<Examined, ClusterError> {
    let mut attempt = 1;
    loop {
        let examined = match rule {
            Rule::Admission(rule) => examine(cluster, rule, depth).await?,
            Rule::Constraint(rules, rule) => gatekeeper::examine(cluster, rules, rule, depth).await?,
        };
        if attempt == ATTEMPTS || !examined.findings.iter().any(|finding| finding.class.may_pass()) {
            return Ok(examined);
        }
        attempt += 1;
        tokio::time::sleep(PAUSE).await;
    }
}

#[expect(clippy::disallowed_methods, reason = "the only place that proves enforcement")]
fn passed(examined: &[Examined]) -> GatePassed {
    let names = examined.iter().map(|policy| policy.title.clone()).collect();
    GatePassed::attest(names, digest(examined))
}

fn digest(examined: &[Examined]) -> Digest {
    let mut specifications: Vec<(&str, &Value)> =
        examined.iter().map(|policy| (policy.title.as_str(), &policy.specification)).collect();
    specifications.sort_by_key(|(title, _)| *title);
    Digest::of_json(&json!(specifications))
}

fn tell(sink: &dyn Sink, examined: &[Examined], total: usize, depth: Depth) {
    let Some(last) = examined.last() else { return };
    let text = match last.findings.first() {
        None if depth == Depth::Words => format!("{}: in place, not tried out", last.title),
        None => format!("{}: enforced", last.title),
        Some(finding) => finding.to_string(),
    };
    sink.emit(Event::Progress { stage: Stage::Gate, done: examined.len(), total, text });
}

async fn examine(cluster: &Cluster, rule: &AdmissionPolicy, depth: Depth) -> Result<Examined, ClusterError> {
    let title = admission::title(rule);
    let policy = get(cluster, "ValidatingAdmissionPolicy", &rule.name).await?;
    let binding = get(cluster, "ValidatingAdmissionPolicyBinding", &rule.binding).await?;
    let mut findings = admission::judge(rule, policy.as_ref(), binding.as_ref());
    // What already says no need not be proved.
    if findings.is_empty() && depth == Depth::Proof {
        let signature = Signature::Policy { policy: rule.name.clone(), bindings: vec![rule.binding.clone()] };
        findings.extend(prove(cluster, &title, &rule.refuses, &[signature]).await?);
    }
    let spec = |object: &Option<Object>| object.as_ref().map(|object| object.body()["spec"].clone());
    let specification =
        json!({"policy": spec(&policy), "bindingName": rule.binding, "binding": spec(&binding)});
    Ok(Examined { title, findings, specification })
}

async fn get(cluster: &Cluster, kind: &str, name: &str) -> Result<Option<Object>, ClusterError> {
    let reference = ObjectRef {
        kind: GroupKind::new("admissionregistration.k8s.io", kind),
        version: "v1".to_owned(),
        namespace: None,
        name: name.to_owned(),
    };
    cluster.get(&reference).await
}
