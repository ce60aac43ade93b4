//! Whether the approvals at hand cover a plan.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use jiff::SignedDuration;
use windlass_model::{Approval, ApprovedPlan, Evidence, Plan, Requirement};
use windlass_settings::Approver;
use windlass_trust::sshsig::{self, APPROVAL_NAMESPACE, SshRefusal};

use crate::difference::beyond;
use crate::person::{Person, is_person};
use crate::sign::{FORM, message};
use crate::{Document, RejectedApproval, Rejection, Rules, SignedApproval, requirement};

/// How far the approver's clock may be ahead of the agent's.
const CLOCK_SKEW: SignedDuration = SignedDuration::from_secs(60);

/// What stage 4 finds.
#[derive(Debug)]
pub enum Judgement {
    /// The plan may be carried out.
    Approved {
        /// The plan with its evidence.
        plan: ApprovedPlan,
        /// The approvals that did not count.
        rejected: Vec<RejectedApproval>,
    },
    /// An approval is missing: exit code 3.
    Required {
        /// The plan.
        plan: Plan,
        /// Why an approval is needed.
        reasons: Vec<String>,
        /// Whose approvals count.
        given: Vec<String>,
        /// How many are needed.
        needed: usize,
        /// The approvals that did not count.
        rejected: Vec<RejectedApproval>,
    },
    /// Somebody approved this commit, but the plan now does something else: exit code 5.
    Stale {
        /// The plan.
        plan: Plan,
        /// What the nearest approval does not cover, one line an object.
        uncovered: Vec<String>,
        /// The approvals that did not count.
        rejected: Vec<RejectedApproval>,
    },
}

/// Decides whether the plan may be carried out. The requirement is computed again from the rules; the
/// reasons that the plan already carries are kept.
pub fn judge(mut plan: Plan, rules: &Rules<'_>, documents: Vec<Document>) -> Judgement {
    let Requirement { mut reasons, approval } = requirement(&plan, rules.approval);
    let known = std::mem::take(&mut plan.requirement.reasons);
    reasons.extend(known.into_iter().filter(|reason| !reasons.contains(reason)).collect::<Vec<_>>());
    plan.requirement = Requirement { reasons: reasons.clone(), approval };
    if reasons.is_empty() {
        return Judgement::Approved { plan: attest(plan, Evidence::NotRequired), rejected: Vec::new() };
    }

    let needed = rules.approval.count.max(1);
    let mut tally = Tally::default();
    for document in documents {
        let verdict = document
            .content
            .map_err(Rejection::from)
            .and_then(|signed| check(&signed, &plan, rules).map(|signer| (signed.approval, signer)));
        match verdict {
            Ok((approval, signer)) => tally.count(document.file, approval, signer, &plan),
            Err(why) => tally.rejected.push(RejectedApproval { file: document.file, why }),
        }
    }
    let Tally { approvals, rejected, nearest, .. } = tally;
    if approvals.len() >= needed {
        return Judgement::Approved { plan: attest(plan, Evidence::Signed { approvals }), rejected };
    }
    if let Some(uncovered) = nearest {
        return Judgement::Stale { plan, uncovered, rejected };
    }
    let given = approvals.into_iter().map(|approval| approval.approver).collect();
    Judgement::Required { plan, reasons, given, needed, rejected }
}

#[expect(clippy::disallowed_methods, reason = "this is the stage that proves an approval")]
pub(crate) fn attest(plan: Plan, evidence: Evidence) -> ApprovedPlan {
    ApprovedPlan::attest(plan, evidence)
}

/// The approvals that count so far.
#[derive(Default)]
struct Tally {
    approvals: Vec<Approval>,
    people: Vec<Person>,
    keys: BTreeSet<String>,
    nonces: BTreeSet<String>,
    rejected: Vec<RejectedApproval>,
    /// What the stale approval that comes closest does not cover.
    nearest: Option<Vec<String>>,
}

impl Tally {
    /// Counts a genuine approval if it covers the plan and comes from somebody new.
    fn count(&mut self, file: String, approval: Approval, signer: &Approver, plan: &Plan) {
        match self.place(&approval, signer, plan) {
            Ok(()) => self.approvals.push(approval),
            Err(why) => self.rejected.push(RejectedApproval { file, why }),
        }
    }

    fn place(&mut self, approval: &Approval, signer: &Approver, plan: &Plan) -> Result<(), Rejection> {
        if !approval.covers(plan) {
            let (uncovered, why) = uncovered(approval, plan);
            if self.nearest.as_ref().is_none_or(|nearest| uncovered.len() < nearest.len()) {
                self.nearest = Some(uncovered);
            }
            return Err(why);
        }
        let person = Person::of(signer);
        let key = sshsig::fingerprint(&signer.key).unwrap_or_default();
        if self.people.iter().any(|other| other.is(&person)) {
            return Err(Rejection::SamePerson(signer.name.clone()));
        }
        if self.keys.contains(&key) {
            return Err(Rejection::SameEvidence("key"));
        }
        if self.nonces.contains(&approval.nonce) {
            return Err(Rejection::SameEvidence("nonce"));
        }
        self.people.push(person);
        self.keys.insert(key);
        self.nonces.insert(approval.nonce.clone());
        Ok(())
    }
}

/// Checks everything about one approval but what it covers; returns whose key signed it.
///
/// The signature comes first: nothing that somebody unknown wrote decides what is said about it.
fn check<'a>(document: &SignedApproval, plan: &Plan, rules: &Rules<'a>) -> Result<&'a Approver, Rejection> {
    let approval = &document.approval;
    let signer = signer(document, &rules.approval.approvers)?;
    if approval.schema != FORM {
        return Err(Rejection::UnknownForm(approval.schema));
    }
    if !approval.is_consistent() || !approval.effects.is_sorted() {
        return Err(Rejection::Inconsistent);
    }
    let subject = plan.subject();
    for (key, what) in [
        ("environment", "environment"),
        ("cluster", "cluster"),
        ("commit", "commit"),
        ("rollback", "direction: a rollback and an ordinary delivery are approved separately"),
    ] {
        if approval.subject[key] != subject[key] {
            return Err(Rejection::OtherSubject(what));
        }
    }
    check_time(approval, rules)?;
    if rules.author.is_some_and(|author| is_person(author, signer)) {
        return Err(Rejection::Author(signer.name.clone()));
    }
    if rules.trigger.is_some_and(|trigger| is_person(trigger, signer)) {
        return Err(Rejection::Trigger(signer.name.clone()));
    }
    if approval.nonce.is_empty() || rules.consumed.contains(&approval.nonce) {
        return Err(Rejection::Used);
    }
    Ok(signer)
}

fn check_time(approval: &Approval, rules: &Rules<'_>) -> Result<(), Rejection> {
    let allowed = SignedDuration::try_from(rules.approval.valid_for.get()).unwrap_or(SignedDuration::MAX);
    if approval.given_at.duration_since(rules.now) > CLOCK_SKEW {
        return Err(Rejection::Future(approval.given_at));
    }
    if approval.not_after.duration_since(approval.given_at) > allowed {
        return Err(Rejection::TooLong(rules.approval.valid_for));
    }
    if rules.now > approval.not_after {
        return Err(Rejection::Expired(approval.not_after));
    }
    Ok(())
}

/// Finds the listed approver whose key made the signature and who is the one that the approval names.
fn signer<'a>(document: &SignedApproval, approvers: &'a [Approver]) -> Result<&'a Approver, Rejection> {
    let named = &document.approval.approver;
    let text = message(&document.approval);
    let verify = |approver: &Approver| {
        sshsig::verify(&approver.key, APPROVAL_NAMESPACE, text.as_bytes(), document.signature.as_bytes())
    };
    let short = || named.chars().take(60).collect::<String>();
    let mut refusal = None;
    for approver in approvers.iter().filter(|approver| &approver.name == named) {
        match verify(approver) {
            Ok(()) => return Ok(approver),
            // With several keys, the refusal of the right one says more than that of the others.
            Err(why) if refusal.is_none() || !matches!(why, SshRefusal::OtherKey { .. }) => {
                refusal = Some(why);
            }
            Err(_) => {}
        }
    }
    match (approvers.iter().find(|approver| verify(approver).is_ok()), refusal) {
        (Some(other), _) => Err(Rejection::OtherSigner { named: short(), signer: other.name.clone() }),
        (None, Some(why)) => Err(Rejection::BadSignature { named: short(), why }),
        (None, None) => Err(Rejection::UnknownApprover(short())),
    }
}

/// Says what of the plan an approval of the same commit does not cover.
fn uncovered(approval: &Approval, plan: &Plan) -> (Vec<String>, Rejection) {
    let actions = beyond(plan, &approval.effects);
    if actions.is_empty() {
        let line = "the commit renders to other objects than when it was approved".to_owned();
        return (vec![line], Rejection::OtherRendering);
    }
    let why = Rejection::Stale(actions.len());
    (actions, why)
}
