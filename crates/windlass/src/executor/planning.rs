//! Stages 2 and 3: are the policies enforced, and what would change?

use jiff::Timestamp;
use windlass_cluster::Cluster;
use windlass_model::{ClusterId, Digest, EnvironmentName, Level, Plan, Rendering, Stage};
use windlass_plan::{FieldRules, Inputs, Observation, ObserveOptions, Remembering, Trials};

use crate::error::CommandError;
use crate::executor::desired::Desired;
use crate::executor::memory::MemoryFile;
use crate::executor::stage::{skip, stage};
use crate::reporter::Reporter;
use crate::session::{Session, TOOL};

/// Requests of one plan that are prepared at once; the connection decides how many are in flight.
const CONCURRENCY: usize = 32;

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

/// Reads whether every expected policy is in place, without proving that it is enforced. Returns their digest.
pub(crate) async fn read_policies(session: &Session) -> Result<Digest, CommandError> {
    let sink = &*session.reporter;
    stage(sink, Stage::Gate, async {
        let digest = windlass_gate::read(&session.cluster, &session.settings.policies, sink).await?;
        Ok((digest, "read only: the policies say that they are enforced, and none was tried out".to_owned()))
    })
    .await
}

/// What a plan is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose<'a> {
    /// To show what a delivery would do.
    Preview,
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
        let fields = FieldRules::new(
            &session.settings.ownership,
            &desired.repository.ignore,
            Some(session.name.as_str()),
            session.clock.now(),
        );
        let question = Question {
            cluster: &session.cluster,
            cluster_id: &session.cluster_id,
            environment: Some(&session.name),
            record_namespace,
            rendering: &desired.rendering,
            rules: &fields,
            stand_in: session.settings.guards.stand_in_namespace.as_deref().unwrap_or(record_namespace),
            // Who looks at a plan wants to know of each object; a delivery does not take twice as long for it.
            trials: if purpose == Purpose::Preview { Trials::Each } else { Trials::Shapes },
        };
        let now = session.clock.now();
        let observation = observe(question, session.memory.as_ref(), now, &session.reporter).await?;
        let inputs = Inputs {
            environment: Some(session.name.clone()),
            cluster_id: session.cluster_id.clone(),
            source: desired.provenance.clone(),
            rendering: &desired.rendering,
            policies,
            rollback: match purpose {
                Purpose::Rollback(reason) => Some(reason.to_owned()),
                Purpose::Preview | Purpose::Delivery | Purpose::Drift => None,
            },
            guards: &session.settings.guards,
            deletions: &desired.repository.deletions_in(session.name.as_str()),
            fields: &fields,
            record_namespace,
            tool: TOOL,
            now,
        };
        let mut plan = windlass_plan::plan(inputs, &observation);
        plan.before = Some(desired.before.clone());
        if purpose == Purpose::Drift {
            // Nothing is going to be carried out, so nobody is asked.
            let summary = windlass_report::drift_line(&plan);
            return Ok((plan, summary));
        }
        plan.refusals.extend(windlass_plan::rules(&plan, &session.settings.guards));
        plan.requirement = windlass_approve::requirement(&plan, &session.settings.approval);
        let summary = windlass_report::plan_line(&plan);
        Ok((plan, summary))
    })
    .await
}

/// What is looked at for a plan.
#[derive(Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) cluster: &'a Cluster,
    pub(crate) cluster_id: &'a ClusterId,
    pub(crate) environment: Option<&'a EnvironmentName>,
    pub(crate) record_namespace: &'a str,
    pub(crate) rendering: &'a Rendering,
    pub(crate) rules: &'a FieldRules,
    /// The namespace in which objects are tried out whose own does not exist yet.
    pub(crate) stand_in: &'a str,
    pub(crate) trials: Trials,
}

/// Looks at the cluster, with the help of what earlier plans were answered, and keeps the new answers.
pub(crate) async fn observe(
    question: Question<'_>,
    file: Option<&MemoryFile>,
    now: Timestamp,
    reporter: &Reporter,
) -> Result<Observation, CommandError> {
    let earlier = file.map(MemoryFile::load);
    if let Some((_, Some(note))) = &earlier {
        reporter.say(Level::Info, note);
    }
    let remembering =
        earlier.as_ref().map(|(memory, _)| Remembering { memory, cluster: question.cluster_id, now });
    let options = ObserveOptions {
        concurrency: CONCURRENCY,
        remembering,
        rules: question.rules,
        stand_in: question.stand_in,
        trials: question.trials,
    };
    let observation = windlass_plan::observe(
        question.cluster,
        question.environment,
        question.record_namespace,
        question.rendering,
        &options,
    )
    .await?;
    if let Some(reason) = &observation.recollection.unusable {
        let text = format!("every object is asked about, for earlier answers cannot be used: {reason}");
        reporter.say(Level::Info, text);
    }
    if let (Some(file), Some((earlier, _)), Some(later)) = (file, &earlier, &observation.recollection.memory)
        && earlier != later
        && let Some(note) = file.save(later)
    {
        reporter.say(Level::Info, note);
    }
    Ok(observation)
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
    if !hint.is_empty() && !hints.iter().any(|known| known == hint) {
        hints.push(hint.to_owned());
    }
}
