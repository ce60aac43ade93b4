//! Whether a human must approve a plan, and why.

use windlass_model::{Action, Approvals, Operation, Plan, Requirement, Risk};
use windlass_settings::{ApprovalMode, ApprovalRules};

use crate::person::is_person;

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

/// Says whether a human must approve the plan under these rules, gives the reasons as sentences with counts, and names who
/// may. A plan that writes nothing needs no approval, so that nobody learns to approve without looking.
pub fn requirement(plan: &Plan, rules: &ApprovalRules) -> Requirement {
    let mode = rules.required;
    let writing: Vec<&Action> = plan.actions.iter().filter(|action| action.operation.writes()).collect();
    if mode == ApprovalMode::Never || writing.is_empty() {
        return Requirement::default();
    }
    let mut reasons = Vec::new();
    if let Some(why) = &plan.rollback {
        reasons.push(format!("every rollback needs an approval (reason given: {why})"));
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
            "{}: every change to this environment needs an approval",
            counted(writing.len(), "changed object")
        ));
    }
    let approval = (!reasons.is_empty()).then(|| approvals(plan, rules));
    Requirement { reasons, approval }
}

/// Nobody approves a commit of their own.
fn approvals(plan: &Plan, rules: &ApprovalRules) -> Approvals {
    let author = plan.source.author();
    let others =
        rules.approvers.iter().filter(|approver| !author.is_some_and(|author| is_person(author, approver)));
    let mut approvers: Vec<String> = others.map(|approver| approver.name.clone()).collect();
    approvers.sort();
    approvers.dedup();
    let count = rules.count.max(1);
    Approvals { count, approvers, terminal: rules.terminal && count == 1 }
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

#[cfg(test)]
mod tests {
    use windlass_model::Provenance;

    use super::*;
    use crate::samples::{action, plan, update};

    fn rules(required: ApprovalMode) -> ApprovalRules {
        ApprovalRules { required, ..ApprovalRules::default() }
    }

    fn check(actions: Vec<Action>, mode: ApprovalMode, want: &[&str]) {
        assert_eq!(requirement(&plan(actions), &rules(mode)).reasons, want);
    }

    #[test]
    fn ordinary_changes() {
        let quiet = || {
            vec![
                update("StatefulSet.apps", "db", 2),
                action(Operation::Create, "ConfigMap", "a", Risk::Routine),
                action(Operation::Adopt, "Service", "b", Risk::Restart),
                action(Operation::NoOp, "ClusterRole.rbac.authorization.k8s.io", "c", Risk::None),
                action(Operation::Keep, "PersistentVolumeClaim", "d", Risk::None),
            ]
        };
        check(quiet(), ApprovalMode::Risky, &[]);
        check(quiet(), ApprovalMode::Never, &[]);
        check(
            quiet(),
            ApprovalMode::Always,
            &["3 changed objects: every change to this environment needs an approval"],
        );
    }

    #[test]
    fn nothing_to_do_needs_no_approval() {
        let idle = || {
            vec![
                action(Operation::NoOp, "Secret", "a", Risk::None),
                action(Operation::Keep, "Pod", "b", Risk::None),
            ]
        };
        for mode in [ApprovalMode::Always, ApprovalMode::Risky, ApprovalMode::Never] {
            check(vec![], mode, &[]);
            check(idle(), mode, &[]);
        }
        let mut rollback = plan(idle());
        rollback.rollback = Some("why".to_owned());
        assert!(!requirement(&rollback, &rules(ApprovalMode::Always)).needed());
    }

    #[test]
    fn grave_changes() {
        let check = |action: Action, want: &str| {
            check(vec![action.clone()], ApprovalMode::Risky, &[want]);
            check(vec![action.clone()], ApprovalMode::Never, &[]);
            check(
                vec![action],
                ApprovalMode::Always,
                &[want, "1 changed object: every change to this environment needs an approval"],
            );
        };
        check(action(Operation::Prune, "Service", "a", Risk::Deletion), "1 deletion: Service shop/a");
        check(
            action(Operation::Prune, "PersistentVolumeClaim", "a", Risk::Data),
            "1 deletion: PersistentVolumeClaim shop/a",
        );
        check(
            action(Operation::Recreate, "Job.batch", "a", Risk::Routine),
            "1 replacement: Job.batch shop/a",
        );
        check(
            action(Operation::Update, "Foo.x.y", "a", Risk::Data),
            "1 change that can lose data: Foo.x.y shop/a",
        );
        check(
            action(Operation::Update, "Deployment.apps", "operator", Risk::Definition),
            "1 change of operators or API definitions: Deployment.apps shop/operator",
        );
        check(
            action(Operation::Create, "NetworkPolicy.networking.k8s.io", "a", Risk::Access),
            "1 change of rights, webhooks, policies, network or storage rules: NetworkPolicy.networking.k8s.io shop/a",
        );
    }

    /// The kinds are grave even if the plan took them for ordinary ones.
    #[test]
    fn grave_kinds() {
        let constraint = ("constraints.gatekeeper.sh", "K8sRequiredLabels", Concern::Access);
        for (group, kind, concern) in GRAVE_KINDS.into_iter().chain([constraint]) {
            let action = action(Operation::Create, &format!("{kind}.{group}"), "a", Risk::Routine);
            assert_eq!(concern_of(&action), Some(concern), "{kind}");
        }
        assert_eq!(concern_of(&action(Operation::Create, "Role.example.org", "a", Risk::Routine)), None);
    }

    #[test]
    fn reasons_name_a_few_objects_and_count_the_rest() {
        let many =
            || (0..5).map(|n| action(Operation::Prune, "Pod", &format!("p{n}"), Risk::Deletion)).collect();
        check(
            many(),
            ApprovalMode::Risky,
            &["5 deletions: Pod shop/p0, Pod shop/p1, Pod shop/p2 and 2 more"],
        );
    }

    #[test]
    fn a_rollback_needs_an_approval() {
        let mut rollback = plan(vec![update("StatefulSet.apps", "db", 2)]);
        rollback.rollback = Some("release 7 loses orders".to_owned());
        let reasons = |mode| requirement(&rollback, &rules(mode)).reasons;
        assert_eq!(
            reasons(ApprovalMode::Risky),
            ["every rollback needs an approval (reason given: release 7 loses orders)"]
        );
        assert!(reasons(ApprovalMode::Never).is_empty());
    }

    #[test]
    fn whoever_may_approve_is_named_but_for_the_author() {
        let approver = |name: &str, email: Option<&str>| windlass_settings::Approver {
            name: name.to_owned(),
            email: email.map(str::to_owned),
            key: String::new(),
        };
        let everybody =
            [approver("bob", None), approver("alice", Some("Dev@Example.com")), approver("bob", None)];
        let mut plan = plan(vec![update("StatefulSet.apps", "db", 2)]);
        let mut check = |author: Option<&str>, count, want: &[&str], terminal| {
            let author = author.map(str::to_owned);
            plan.source = Provenance::Unsigned { what: "a commit".to_owned(), commit: None, author };
            let approvers = everybody.to_vec();
            let rules = ApprovalRules { approvers, count, ..rules(ApprovalMode::Always) };
            let got = requirement(&plan, &rules).approval.unwrap();
            assert_eq!(
                (got.approvers.as_slice(), got.terminal),
                (&*want.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), terminal)
            );
        };
        check(None, 1, &["alice", "bob"], true);
        check(Some("Dev <dev@example.com>"), 1, &["bob"], true);
        check(None, 2, &["alice", "bob"], false);
    }
}
