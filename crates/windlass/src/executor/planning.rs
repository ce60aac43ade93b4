//! Stages 2 and 3: are the policies enforced, and what would change?

use windlass_model::{Digest, Plan, Stage};
use windlass_plan::{Inputs, ObserveOptions};

use crate::error::CommandError;
use crate::executor::desired::Desired;
use crate::executor::stage::{skip, stage};
use crate::session::{Session, TOOL};

/// Requests of one plan in flight; the connection has its own limit beside it.
const CONCURRENCY: usize = 16;

/// Proves that every expected policy is enforced.
pub(crate) async fn gate(session: &Session) -> Result<windlass_model::GatePassed, CommandError> {
    let sink = &*session.reporter;
    if let (Some(reason), []) =
        (&session.settings.policies.none, session.settings.policies.validating_admission_policies.as_slice())
        && session.settings.policies.gatekeeper.is_none()
    {
        let passed = windlass_gate::check(&session.cluster, &session.settings.policies, sink).await?;
        skip(sink, Stage::Gate, &format!("no policy is expected: {reason}"));
        return Ok(passed);
    }
    stage(sink, Stage::Gate, async {
        let passed = windlass_gate::check(&session.cluster, &session.settings.policies, sink).await?;
        let summary = format!("enforced: {}", passed.names().join(", "));
        Ok((passed, summary))
    })
    .await
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose<'a> {
    /// To deliver a commit.
    Delivery,
    /// To go back to an older commit, for this reason.
    Rollback(&'a str),
    /// To compare.
    Drift,
}

/// Computes what would change.
pub(crate) async fn plan(
    session: &Session,
    desired: &Desired,
    policies: Option<Digest>,
    purpose: Purpose<'_>,
) -> Result<Plan, CommandError> {
    stage(&*session.reporter, Stage::Plan, async {
        let record_namespace = session.settings.record.namespace.as_str();
        let options = ObserveOptions { concurrency: CONCURRENCY };
        let observation = windlass_plan::observe(
            &session.cluster,
            Some(&session.name),
            record_namespace,
            &desired.rendering,
            &options,
        )
        .await?;
        let inputs = Inputs {
            environment: Some(session.name.clone()),
            cluster_id: session.cluster_id.clone(),
            source: desired.provenance.clone(),
            rendering: &desired.rendering,
            policies,
            rollback: match purpose {
                Purpose::Rollback(reason) => Some(reason.to_owned()),
                Purpose::Delivery | Purpose::Drift => None,
            },
            guards: &session.settings.guards,
            record_namespace,
            tool: TOOL,
            now: session.clock.now(),
        };
        let mut plan = windlass_plan::plan(inputs, &observation);
        if purpose == Purpose::Drift {
            // Nothing is going to be carried out, so nobody is asked.
            let summary = windlass_report::drift_line(&plan);
            return Ok((plan, summary));
        }
        plan.refusals.extend(windlass_plan::rules(&plan, &session.settings.guards));
        plan.requirement = windlass_approve::requirement(&plan, session.settings.approval.required);
        let summary = windlass_report::plan_line(&plan);
        Ok((plan, summary))
    })
    .await
}

/// Returns the error of a plan that may not be carried out.
pub(crate) fn refusal(plan: &Plan) -> Option<CommandError> {
    let code = windlass_plan::exit_code(plan)?;
    let mut error =
        CommandError::new(code, windlass_report::plan_line(plan), "the plan above names every cause");
    error.report.hints.clear();
    for action in &plan.actions {
        if let Some(problem) = &action.problem {
            let place = action.origin.as_ref().map(|origin| format!("{origin}: ")).unwrap_or_default();
            error = error.detail(format!("{place}{}: {}", action.object, problem.summary()));
            push_once(&mut error.report.hints, problem.hint());
        }
    }
    for refusal in &plan.refusals {
        error = error.detail(format!("{}: {}", refusal.guard, refusal.message));
        push_once(&mut error.report.hints, &refusal.hint);
    }
    Some(error)
}

fn push_once(hints: &mut Vec<String>, hint: &str) {
    if !hints.iter().any(|known| known == hint) {
        hints.push(hint.to_owned());
    }
}
