//! `windlass accept-rewrite`: go on with a branch that was rewritten on purpose.

use serde_json::json;
use windlass_model::{CommitId, ExitCode, Provenance};
use windlass_record::{EnvironmentState, Lock, RunRecord};
use windlass_source::Wanted;

use crate::args::AcceptRewriteArguments;
use crate::error::CommandError;
use crate::executor::desired::{self, Found};
use crate::executor::{locking, record};
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

/// Records that the branch goes on from its present tip. Only the place on the branch is accepted: the tip is verified
/// like every commit, and what is delivered from it is planned and approved as always.
pub(crate) async fn accept_rewrite(
    arguments: &AcceptRewriteArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let reason = arguments.reason.trim();
    if reason.is_empty() {
        let hint = "say why with --reason; it is recorded";
        return Err(CommandError::new(ExitCode::Usage, "the reason is empty", hint));
    }
    let tip: CommitId = arguments.tip.parse()?;
    let session = Session::open(&arguments.environment.env, "accept-rewrite", shell, surroundings).await?;
    // A run under way goes by what the state says.
    let lock = locking::lock(&session, Some(tip.clone()), session.settings.timeouts.lock.get()).await?;
    let accepted = accept(&session, &lock, &tip, reason).await;
    let before = locking::unlock(&session, lock, accepted).await?;
    let text = format!(
        "the branch {} goes on from {tip}; its tip was {}\n",
        windlass_report::clean(&session.settings.source.branch),
        before.as_ref().map_or("not known", CommitId::as_str),
    );
    shell.result(&text, || json!({"tip": tip, "before": before}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}

/// Returns the tip that was seen before.
async fn accept(
    session: &Session,
    lock: &Lock,
    tip: &CommitId,
    reason: &str,
) -> Result<Option<CommitId>, CommandError> {
    let before = session.store.state().await?;
    let nothing = EnvironmentState::default();
    let found = session.unless_stopped(desired::fetch(session, &Wanted::Tip, true, &nothing)).await?;
    if found.tip.as_ref() != Some(tip) {
        let now = found.tip.as_ref().map_or("nothing", CommitId::as_str);
        let what = format!("the branch is at {now}, not at {tip}");
        let hint = "look at the branch as it is now, then name its tip";
        return Err(CommandError::new(ExitCode::Refused, what, hint));
    }
    let delivered = EnvironmentState { last_completed: before.last_completed.clone(), ..nothing };
    let again = desired::fetch(session, &Wanted::Tip, true, &delivered);
    let holds_delivered = match session.unless_stopped(again).await {
        Ok(_) => true,
        // The tip itself was not refused.
        Err(error) if error.code == ExitCode::Refused => false,
        Err(error) => return Err(error),
    };
    // Who accepted it, and why, is stored before it counts.
    session.store.save(&run_record(session, &found, tip, reason)).await?;
    lock.check()?;
    session.store.update(|state| state.accept_rewrite(tip.clone(), holds_delivered)).await?;
    Ok(before.highest_tip)
}

fn run_record(session: &Session, found: &Found, tip: &CommitId, reason: &str) -> RunRecord {
    let mut run = record::begin(session, Some(reason));
    run.commit = Some(tip.clone());
    match &found.provenance {
        Provenance::Verified(commit) => {
            commit.subject().clone_into(&mut run.subject);
            run.signer = Some(commit.signer().clone());
        }
        Provenance::Unsigned { what, .. } => run.subject = format!("unsigned {what}"),
    }
    run.finished_at = Some(session.clock.now());
    run.outcome = Some(ExitCode::Ok.name().to_owned());
    run
}
