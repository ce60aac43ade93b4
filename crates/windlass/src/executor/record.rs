//! Keeps the run's record in the cluster up to date.

use serde_json::json;
use windlass_model::{ApprovedPlan, Evidence, ExitCode, Level, Plan, Provenance};
use windlass_record::{Delivered, RunRecord, trim_reports};

use crate::error::CommandError;
use crate::executor::desired::Desired;
use crate::session::Session;

/// Returns the record of a run that begins.
pub(crate) fn begin(session: &Session, reason: Option<&str>) -> RunRecord {
    let actor = session.surroundings.actor();
    let mut record =
        RunRecord::begin(session.run.clone(), session.command, session.name.clone(), &actor, session.started);
    record.reason = reason.map(str::to_owned);
    record
}

/// Takes down what is delivered.
pub(crate) fn note_source(record: &mut RunRecord, desired: &Desired) {
    record.commit = desired.provenance.commit().cloned();
    match &desired.provenance {
        Provenance::Verified(commit) => {
            commit.subject().clone_into(&mut record.subject);
            record.signer = Some(commit.signer().clone());
        }
        Provenance::Unsigned { what, .. } => record.subject = format!("unsigned {what}"),
    }
}

/// Takes down what would change.
pub(crate) fn note_plan(record: &mut RunRecord, plan: &Plan) {
    record.count(&plan.counts());
    record.change_digest = Some(plan.change_digest());
}

/// Takes down on what grounds the plan is carried out. The effects that an approval lists are left out: the
/// change digest names them.
pub(crate) fn note_approval(record: &mut RunRecord, approved: &ApprovedPlan) {
    record.approval = Some(match approved.evidence() {
        Evidence::NotRequired => json!({"evidence": "notRequired"}),
        Evidence::Terminal { user, digest } => {
            json!({"evidence": "terminal", "user": user, "digest": digest})
        }
        Evidence::Signed { approvals } => {
            let list: Vec<_> = approvals
                .iter()
                .map(|approval| {
                    json!({
                        "approver": approval.approver,
                        "reason": approval.reason,
                        "givenAt": approval.given_at,
                        "changeDigest": approval.change_digest,
                    })
                })
                .collect();
            json!({"evidence": "signed", "approvals": list})
        }
    });
}

/// Stores the record of a run that goes on to write.
pub(crate) async fn announce(
    session: &Session,
    record: &RunRecord,
    desired: &Desired,
    approved: &ApprovedPlan,
) -> Result<(), CommandError> {
    session.store.save(record).await?;
    let (run, tip, nonces) = (session.run.clone(), desired.tip.clone(), nonces(approved));
    session
        .store
        .update(move |state| {
            state.begin(run.clone(), &nonces);
            if let Some(tip) = &tip {
                state.highest_tip = Some(tip.clone());
            }
        })
        .await?;
    Ok(())
}

/// Takes down that everything went through, which uses the approvals up.
pub(crate) async fn complete(
    session: &Session,
    desired: &Desired,
    approved: &ApprovedPlan,
) -> Result<(), CommandError> {
    let delivered = Delivered {
        run: session.run.clone(),
        commit: desired.provenance.commit().cloned(),
        tree: desired.tree_id.clone(),
        rendering: desired.rendering.digest,
        change_digest: approved.plan().change_digest(),
        at: session.clock.now(),
    };
    session.store.update(move |state| state.complete(delivered.clone())).await?;
    Ok(())
}

fn nonces(approved: &ApprovedPlan) -> Vec<String> {
    match approved.evidence() {
        Evidence::Signed { approvals } => approvals.iter().map(|approval| approval.nonce.clone()).collect(),
        Evidence::NotRequired | Evidence::Terminal { .. } => Vec::new(),
    }
}

/// Stores how the run ended. Trouble here never changes the outcome.
pub(crate) async fn finish(
    session: &Session,
    record: &mut RunRecord,
    result: &Result<ExitCode, CommandError>,
) {
    record.finished_at = Some(session.clock.now());
    record.stages = session.reporter.stages();
    for object in session.reporter.touched() {
        record.touch(&object);
    }
    let (code, failure) = match result {
        Ok(code) => (*code, None),
        Err(error) => (error.code, Some(error.report.what.clone())),
    };
    record.outcome = Some(code.name().to_owned());
    record.failure = failure;
    let stored = async {
        session.store.save(record).await?;
        session.store.trim(session.settings.record.keep).await
    };
    if let Err(error) = stored.await {
        session.reporter.say(Level::Warning, format!("the run record could not be stored: {error}"));
    }
    let rules = &session.settings.record;
    if let Err(error) = trim_reports(&rules.reports, rules.keep, session.clock.now()) {
        let text = format!("old reports in {} could not be removed: {error}", rules.reports.display());
        session.reporter.say(Level::Warning, text);
    }
}
