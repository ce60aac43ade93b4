//! Whether a human must approve a plan, and why.

use windlass_model::{Action, Operation, Plan, Requirement, Risk};
use windlass_settings::ApprovalMode;

/// How many objects a reason names before it only counts them.
const NAMED: usize = 3;

/// Kinds of action that need an approval even where ordinary changes do not, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Concern {
    Deletion,
    Replacement,
    Data,
    Definition,
    Access,
}

const CONCERNS: [Concern; 5] =
    [Concern::Deletion, Concern::Replacement, Concern::Data, Concern::Definition, Concern::Access];

/// Kinds whose change concerns everybody, whatever risk the plan gives it: `(group, kind, concern)`.
const GRAVE_KINDS: [(&str, &str, Concern); 14] = [
    ("apiextensions.k8s.io", "CustomResourceDefinition", Concern::Definition),
    ("apiregistration.k8s.io", "APIService", Concern::Definition),
    ("rbac.authorization.k8s.io", "Role", Concern::Access),
    ("rbac.authorization.k8s.io", "RoleBinding", Concern::Access),
    ("rbac.authorization.k8s.io", "ClusterRole", Concern::Access),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding", Concern::Access),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", Concern::Access),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration", Concern::Access),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy", Concern::Access),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding", Concern::Access),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicy", Concern::Access),
    ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding", Concern::Access),
    ("templates.gatekeeper.sh", "ConstraintTemplate", Concern::Access),
    ("storage.k8s.io", "StorageClass", Concern::Access),
];

/// Says whether a human must approve the plan under this rule, and gives the reasons as sentences with
/// counts. A plan that writes nothing needs no approval, so that nobody learns to approve without looking.
pub fn requirement(plan: &Plan, mode: ApprovalMode) -> Requirement {
    let writing: Vec<&Action> = plan.actions.iter().filter(|action| action.operation.writes()).collect();
    if mode == ApprovalMode::Never || writing.is_empty() {
        return Requirement::default();
    }
    let mut reasons = Vec::new();
    if let Some(why) = &plan.rollback {
        reasons.push(format!("a rollback needs an approval: {why}"));
    }
    for concern in CONCERNS {
        let actions: Vec<&Action> =
            writing.iter().copied().filter(|action| concern_of(action) == Some(concern)).collect();
        if !actions.is_empty() {
            reasons.push(sentence(concern, &actions));
        }
    }
    if mode == ApprovalMode::Always {
        reasons.push(format!(
            "{}: every change needs an approval here",
            counted(writing.len(), "changed object")
        ));
    }
    Requirement { reasons }
}

fn concern_of(action: &Action) -> Option<Concern> {
    let kind = &action.object.kind;
    match (action.operation, action.risk) {
        (Operation::Recreate, _) => Some(Concern::Replacement),
        (Operation::Prune, _) | (_, Risk::Deletion) => Some(Concern::Deletion),
        (_, Risk::Data) => Some(Concern::Data),
        (_, Risk::Definition) => Some(Concern::Definition),
        (_, Risk::Access) => Some(Concern::Access),
        (_, Risk::None | Risk::Routine | Risk::Restart) => {
            let constraint = kind.group == "constraints.gatekeeper.sh";
            let grave = GRAVE_KINDS
                .iter()
                .find(|(group, name, _)| kind.is(group, name))
                .map(|(.., concern)| *concern);
            grave.or(constraint.then_some(Concern::Access))
        }
    }
}

fn sentence(concern: Concern, actions: &[&Action]) -> String {
    let what = match concern {
        Concern::Deletion => counted(actions.len(), "deletion"),
        Concern::Replacement => counted(actions.len(), "replacement"),
        Concern::Data => format!("{} that can lose data", counted(actions.len(), "change")),
        Concern::Definition => {
            format!("{} of operators or API definitions", counted(actions.len(), "change"))
        }
        Concern::Access => {
            format!(
                "{} of rights, webhooks, policies, network or storage rules",
                counted(actions.len(), "change")
            )
        }
    };
    let named: Vec<String> = actions.iter().take(NAMED).map(|action| action.object.to_string()).collect();
    let more = match actions.len().saturating_sub(NAMED) {
        0 => String::new(),
        rest => format!(" and {rest} more"),
    };
    format!("{what}: {}{more}", named.join(", "))
}

fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}
