//! `windlass drift`: does the cluster still hold what was delivered last? Writes nothing to the cluster.

use serde_json::json;
use windlass_model::{ExitCode, Plan};
use windlass_report::{Palette, PlanText, plan_text};
use windlass_source::Wanted;

use crate::args::DriftArguments;
use crate::error::CommandError;
use crate::executor::desired::{self, From};
use crate::executor::papers;
use crate::executor::planning::{self, Purpose};
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn drift(
    arguments: &DriftArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.environment.env, "drift", shell, surroundings).await?;
    let session =
        if arguments.read_only { session.reading_only() } else { session.remembering(arguments.no_memo) };
    let plan = session.unless_stopped(compare(&session, arguments)).await?;
    if let Some(folder) = &arguments.out {
        papers::write_plan(folder, "drift", &plan)?;
    }
    crate::ci::summarise(&plan, true, arguments.out.as_deref(), surroundings);
    Ok(conclude(&plan, arguments, shell))
}

async fn compare(session: &Session, arguments: &DriftArguments) -> Result<Plan, CommandError> {
    let state = session.store.state().await?;
    let last = state.last_completed.as_ref().and_then(|delivered| delivered.commit.clone());
    let commit = match &arguments.commit {
        Some(text) => text.parse()?,
        None => last.ok_or_else(|| {
            let what = match &state.last_completed {
                Some(_) => "a directory was delivered last, and a directory cannot be fetched again",
                None => "nothing was delivered to this environment yet",
            };
            CommandError::new(ExitCode::BadInput, what, "deliver a commit first, or name one with --commit")
        })?,
    };
    let from = From::Commit { wanted: Wanted::Commit(commit), rollback: true };
    let desired = desired::obtain(session, from, &state).await?;
    let policies = if arguments.read_only {
        planning::read_policies(session).await?
    } else {
        planning::gate(session).await?.policies()
    };
    planning::plan(session, &desired, Some(policies), Purpose::Drift).await
}

fn conclude(plan: &Plan, arguments: &DriftArguments, shell: Shell) -> ExitCode {
    let drift = plan.has_drift();
    let code = if drift { ExitCode::Changes } else { ExitCode::Ok };
    let palette = if shell.is_json() { Palette::plain() } else { shell.palette() };
    let diff = arguments.diff.into();
    let text = plan_text(plan, PlanText { drift: true, palette, diff, fields: 50, objects: 500 });
    let document = || {
        let mut document = plan.to_json();
        document["drift"] = json!(drift);
        document["readOnly"] = json!(arguments.read_only);
        document
    };
    shell.result(&text, document, code);
    code
}
