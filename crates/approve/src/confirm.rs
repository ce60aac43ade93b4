//! Approving at a terminal.

use windlass_model::{ApprovedPlan, Evidence, Plan};

use crate::Rules;
use crate::difference::beyond;
use crate::judge::attest;
use crate::person::Person;

/// How many hex digits of the change digest a person types.
pub const TYPED_DIGITS: usize = 8;

/// A plan that was not confirmed, with the reason.
#[derive(Debug)]
pub struct Declined {
    /// The plan, unchanged.
    pub plan: Plan,
    /// Why.
    pub why: ConfirmError,
}

/// Says why a confirmation at the terminal does not count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfirmError {
    /// The environment takes no approval from a terminal.
    #[error("this environment takes no approval from a terminal")]
    NotAllowed,
    /// More than one person must approve.
    #[error("{0} people must approve, and a terminal has one")]
    NotEnough(usize),
    /// What was typed is not the digest.
    #[error("what was typed is not the beginning of the change digest")]
    OtherDigest,
    /// The plan now does something that was not looked at, one line an object.
    #[error("the plan changed while it was looked at")]
    Changed(Vec<String>),
    /// The person at the terminal wrote the commit.
    #[error("`{0}` is the author of the commit")]
    Author(String),
}

impl ConfirmError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAllowed => {
                "give a signed approval with `windlass approve`, or set `approval.terminal: true`"
            }
            Self::NotEnough(_) => "give signed approvals with `windlass approve`",
            Self::OtherDigest => "type the first 8 digits of the change digest that stands beside the counts",
            Self::Changed(_) => "run the same command again, and look at the new plan",
            Self::Author(_) => "ask another approver: nobody approves a commit of their own",
        }
    }
}

/// Takes the beginning of the change digest of a plan, typed by a person who looks at it, as the approval of the plan as
/// it is now: of the same effect or a part of it, and of nothing else.
///
/// `user` is how the agent knows that person. It is recorded; nothing proves it, so it is only held
/// against the author, never counted as an approver's name.
pub fn confirm(
    plan: Plan,
    seen: &Plan,
    rules: &Rules<'_>,
    typed: &str,
    user: &str,
) -> Result<ApprovedPlan, Box<Declined>> {
    let digest = seen.change_digest();
    let checked = check(rules, &digest.hex(), typed, user).and_then(|()| is_part(&plan, seen));
    match checked {
        Ok(()) => Ok(attest(plan, Evidence::Terminal { user: user.to_owned(), digest })),
        Err(why) => Err(Box::new(Declined { plan, why })),
    }
}

/// Checks that a plan does nothing but what another one does.
fn is_part(plan: &Plan, seen: &Plan) -> Result<(), ConfirmError> {
    let mut new = beyond(plan, &seen.effects());
    if new.is_empty() && plan.subject() != seen.subject() {
        new.push("the commit, or what it renders to, is another one now".to_owned());
    }
    if new.is_empty() { Ok(()) } else { Err(ConfirmError::Changed(new)) }
}

fn check(rules: &Rules<'_>, digest: &str, typed: &str, user: &str) -> Result<(), ConfirmError> {
    if !rules.approval.terminal {
        return Err(ConfirmError::NotAllowed);
    }
    if rules.approval.count > 1 {
        return Err(ConfirmError::NotEnough(rules.approval.count));
    }
    let typed = typed.trim().to_lowercase();
    let typed = typed.strip_prefix("sha256:").unwrap_or(&typed);
    if typed.len() < TYPED_DIGITS || !digest.starts_with(typed) {
        return Err(ConfirmError::OtherDigest);
    }
    let person = Person::parse(user);
    if rules.author.is_some_and(|author| Person::parse(author).is(&person)) {
        return Err(ConfirmError::Author(user.to_owned()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use windlass_model::{Action, Digest, Operation, Risk};
    use windlass_settings::ApprovalRules;

    use super::*;
    use crate::samples::{action, mixed, plan, update, volume};

    #[test]
    fn confirmations() {
        let hex = mixed().change_digest().hex();
        let check = |approval: &ApprovalRules, typed: &str, user: &str, want: Result<(), ConfirmError>| {
            let now = "2026-06-01T12:00:00Z".parse().unwrap();
            let rules = Rules {
                approval,
                author: Some("Anna <anna@example.org>"),
                trigger: Some(user),
                now,
                consumed: &[],
            };
            let got = confirm(mixed(), &mixed(), &rules, typed, user);
            if let Ok(plan) = &got {
                let digest = mixed().change_digest();
                assert_eq!(plan.evidence(), &Evidence::Terminal { user: user.to_owned(), digest });
            }
            assert_eq!(got.map(|_| ()).map_err(|declined| declined.why), want, "{typed}");
        };
        let rules = ApprovalRules::default();
        check(&rules, &hex[..8], "root", Ok(()));
        check(&rules, &format!("  {}\n", hex[..8].to_uppercase()), "root", Ok(()));
        check(&rules, &format!("sha256:{hex}"), "root", Ok(()));
        for typed in ["", "y", "yes", &hex[..7], &hex[1..9], &format!("{hex}0")] {
            check(&rules, typed, "root", Err(ConfirmError::OtherDigest));
        }
        check(&rules, &hex, "anna", Err(ConfirmError::Author("anna".to_owned())));
        let two = ApprovalRules { count: 2, ..ApprovalRules::default() };
        check(&two, &hex, "root", Err(ConfirmError::NotEnough(2)));
        let remote = ApprovalRules { terminal: false, ..ApprovalRules::default() };
        check(&remote, &hex, "root", Err(ConfirmError::NotAllowed));
    }

    /// Between looking and typing the cluster moves on.
    #[test]
    fn what_was_seen_is_confirmed_and_what_is_left_of_it() {
        let check = |seen: Vec<Action>, now: Vec<Action>, want: Option<&[&str]>| {
            let approval = ApprovalRules::default();
            let now_is = "2026-06-01T12:00:00Z".parse().unwrap();
            let rules =
                Rules { approval: &approval, author: None, trigger: None, now: now_is, consumed: &[] };
            let seen = plan(seen);
            let typed = seen.change_digest().hex();
            let got = confirm(plan(now), &seen, &rules, &typed, "root").map_err(|declined| declined.why);
            let want = want.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
            assert_eq!(got.map(|_| ()).err(), want.map(ConfirmError::Changed));
        };
        let goes = || action(Operation::Prune, "ConfigMap", "old", Risk::Deletion);
        let change = || update("Deployment.apps", "web", 2);
        check(vec![goes(), change()], vec![goes(), change()], None);
        check(vec![goes(), change()], vec![change()], None);
        check(vec![change()], vec![goes(), change()], Some(&["prune ConfigMap shop/old"]));
        let more = Action { destroys: vec![volume()], ..goes() };
        let line =
            "prune ConfigMap shop/old destroys the volume pv-1 of PersistentVolumeClaim shop/data-db-0";
        check(vec![goes()], vec![more.clone()], Some(&[line]));
        check(vec![more], vec![goes()], None);
        let mut other = plan(vec![change()]);
        other.rendering = Digest::of_bytes(b"other");
        let declined = is_part(&other, &plan(vec![change()])).unwrap_err();
        assert!(matches!(declined, ConfirmError::Changed(lines) if lines[0].contains("another one now")));
    }
}
