//! Stage 4: may this plan be carried out?

use std::path::{Path, PathBuf};

use windlass_approve::{
    ConfirmError, Document, Judgement, RejectedApproval, Rejection, Rules, TYPED_DIGITS, beyond,
    load_directory,
};
use windlass_model::{ApprovedPlan, Digest, Event, Evidence, ExitCode, Plan, Sink as _, Stage, StageOutcome};
use windlass_record::EnvironmentState;

use crate::error::CommandError;
use crate::executor::stage::skip;
use crate::session::Session;

/// How many actions are listed that nobody approved.
const LINES: usize = 50;

/// What is known about a plan's approval.
pub(crate) enum Decision {
    /// It may be carried out.
    Approved(Box<ApprovedPlan>),
    /// Nobody has approved it, but someone sits at the terminal.
    Ask(Box<Plan>),
}

/// Decides by the rules and by the approval files in these folders.
pub(crate) fn decide<'a>(
    session: &Session,
    plan: Plan,
    state: &EnvironmentState,
    folders: impl Iterator<Item = &'a PathBuf>,
    papers: &Path,
) -> Result<Decision, CommandError> {
    let documents: Vec<Document> = folders.flat_map(|folder| load_directory(folder)).collect();
    let author = plan.source.author().map(str::to_owned);
    let actor = session.surroundings.actor();
    let rules = rules(session, state, author.as_deref(), &actor);
    if plan.source.commit().is_none() && plan.requirement.needed() {
        // Only a commit pins what a plan masks.
        let what = "a directory cannot be approved: nothing says that it stays what it is";
        let error = CommandError::new(ExitCode::ApprovalRequired, what, "commit it, and deliver the commit");
        return Err(failed(session, error));
    }
    match windlass_approve::judge(plan, &rules, documents) {
        Judgement::Approved { plan, rejected } => {
            if session.shell.is_verbose() {
                tell_rejected(session, &rejected);
            }
            tell_approved(session, &plan);
            Ok(Decision::Approved(Box::new(plan)))
        }
        Judgement::Required { plan, rejected, .. } | Judgement::Stale { plan, rejected, .. }
            if may_ask(session) =>
        {
            tell_rejected(session, &rejected);
            Ok(Decision::Ask(Box::new(plan)))
        }
        Judgement::Required { reasons, given, needed, rejected, .. } => {
            let mut error = CommandError::new(
                ExitCode::ApprovalRequired,
                missing(needed, &given),
                format!(
                    "look at the plan, then: windlass approve {} --key KEY --as NAME --out DIR",
                    papers.join("plan.json").display()
                ),
            )
            .hint("run the same command again with --approvals DIR");
            for reason in reasons {
                error = error.detail(reason);
            }
            Err(failed(session, with_rejected(error, &rejected)))
        }
        Judgement::Stale { plan, uncovered, rejected } => {
            let what = format!(
                "the approved effect is no longer the effect; the change digest is now {}",
                plan.change_digest()
            );
            let hint =
                format!("look at the new plan and have it approved: {}", papers.join("plan.json").display());
            let mut error = CommandError::new(ExitCode::Stale, what, hint);
            error = with_lines(error, "not approved: ", &uncovered);
            Err(failed(session, with_rejected(error, &rejected)))
        }
    }
}

/// Checks that the plan has the effect that the caller named by its digest, or is what is left of it: with another
/// digest it is carried out only on an approval that was given for the named one and covers the rest.
pub(crate) fn check_digest<'a>(
    session: &Session,
    approved: &ApprovedPlan,
    digest: Digest,
    folders: impl Iterator<Item = &'a PathBuf>,
) -> Result<(), CommandError> {
    let plan = approved.plan();
    let covers_rest = match approved.evidence() {
        Evidence::Signed { approvals } => approvals.iter().any(|approval| approval.change_digest == digest),
        Evidence::NotRequired | Evidence::Terminal { .. } => false,
    };
    if digest == plan.change_digest() || covers_rest || !plan.has_changes() {
        return Ok(());
    }
    let what = format!("the plan is now {}, not {digest}", plan.change_digest());
    let hint = "plan again, look at the difference and have it approved";
    let error = CommandError::new(ExitCode::Stale, what, hint);
    let error = if let Some(effects) = effects_of(digest, folders) {
        with_lines(error, "not approved: ", &beyond(plan, &effects))
    } else {
        let known = "of the named plan nothing is known but its digest; all that the present one does:";
        with_lines(error.detail(known), "", &beyond(plan, &[]))
    };
    Err(failed(session, error))
}

/// Returns the effects of the plan with a digest, if some approval lists them. They explain, they permit nothing, so that
/// nobody's signature is checked.
fn effects_of<'a>(digest: Digest, folders: impl Iterator<Item = &'a PathBuf>) -> Option<Vec<Digest>> {
    let documents = folders.flat_map(|folder| load_directory(folder));
    let mut approvals = documents.filter_map(|document| Some(document.content.ok()?.approval));
    approvals
        .find(|approval| approval.change_digest == digest && approval.is_consistent())
        .map(|approval| approval.effects)
}

fn with_lines(mut error: CommandError, before: &str, lines: &[String]) -> CommandError {
    for line in lines.iter().take(LINES) {
        error = error.detail(format!("{before}{line}"));
    }
    match lines.len().saturating_sub(LINES) {
        0 => error,
        more => error.detail(format!("and {more} more")),
    }
}

/// Says how many approvals are needed, and who gave those that are there.
fn missing(needed: usize, given: &[String]) -> String {
    let by = if given.is_empty() { String::new() } else { format!(" (by {})", given.join(", ")) };
    let plural = if needed == 1 { "" } else { "s" };
    format!("the plan needs {needed} approval{plural}, {} given{by}", given.len())
}

/// A plan that somebody has looked at, and what they typed to approve it.
pub(crate) struct Typed {
    pub(crate) seen: Box<Plan>,
    pub(crate) text: String,
}

/// Takes what was typed at the terminal.
pub(crate) fn confirm(
    session: &Session,
    plan: Plan,
    state: &EnvironmentState,
    typed: &Typed,
) -> Result<Decision, CommandError> {
    let author = plan.source.author().map(str::to_owned);
    let actor = session.surroundings.actor();
    let rules = rules(session, state, author.as_deref(), &actor);
    let declined = match windlass_approve::confirm(plan, &typed.seen, &rules, &typed.text, &actor) {
        Ok(approved) => {
            tell_approved(session, &approved);
            return Ok(Decision::Approved(Box::new(approved)));
        }
        Err(declined) => declined,
    };
    let (what, hint) = (declined.why.to_string(), declined.why.hint());
    let error = match &declined.why {
        ConfirmError::Changed(lines) => {
            with_lines(CommandError::new(ExitCode::Stale, what, hint), "not looked at: ", lines)
        }
        _ => CommandError::new(ExitCode::ApprovalRequired, what, hint),
    };
    Err(failed(session, error))
}

/// Asks at the terminal; returns what was typed once it fits the plan.
pub(crate) async fn ask(session: &Session, plan: Box<Plan>) -> Result<Typed, CommandError> {
    let digest = plan.change_digest().hex();
    let question = format!(
        "\nType the first {TYPED_DIGITS} digits of the change digest ({}…) to approve, anything else to stop: ",
        &digest[..TYPED_DIGITS]
    );
    session.shell.talk(&question);
    let line = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map(|_| line)
    });
    let line = tokio::select! {
        line = line => line.ok().and_then(Result::ok).unwrap_or_default(),
        () = session.stop.cancelled() => return Err(CommandError::interrupted()),
    };
    let typed = line.trim().to_lowercase();
    if typed.len() >= TYPED_DIGITS && digest.starts_with(typed.as_str()) {
        Ok(Typed { seen: plan, text: typed })
    } else {
        let error =
            CommandError::new(ExitCode::ApprovalRequired, "the plan was not approved", "nothing was changed");
        Err(failed(session, error))
    }
}

fn may_ask(session: &Session) -> bool {
    let rules = &session.settings.approval;
    session.surroundings.interactive && rules.terminal && rules.count == 1 && !session.shell.is_json()
}

fn rules<'a>(
    session: &'a Session,
    state: &'a EnvironmentState,
    author: Option<&'a str>,
    trigger: &'a str,
) -> Rules<'a> {
    Rules {
        approval: &session.settings.approval,
        author,
        trigger: Some(trigger),
        now: session.clock.now(),
        consumed: &state.consumed,
    }
}

/// A folder of approvals fills over time: those of other commits say nothing about this one.
fn relevant(rejected: &[RejectedApproval]) -> impl Iterator<Item = &RejectedApproval> {
    rejected.iter().filter(|approval| !matches!(approval.why, Rejection::OtherSubject(_)))
}

fn tell_approved(session: &Session, approved: &ApprovedPlan) {
    let sink = &*session.reporter;
    let summary = match approved.evidence() {
        Evidence::NotRequired => return skip(sink, Stage::Approve, "not needed"),
        Evidence::Terminal { user, .. } => format!("confirmed at the terminal by {user}"),
        Evidence::Signed { approvals } => {
            let names: Vec<&str> = approvals.iter().map(|approval| approval.approver.as_str()).collect();
            format!("signed by {}", names.join(", "))
        }
    };
    sink.emit(Event::StageFinished {
        stage: Stage::Approve,
        outcome: StageOutcome::Passed { summary },
        milliseconds: 0,
    });
}

fn failed(session: &Session, error: CommandError) -> CommandError {
    let outcome = StageOutcome::Failed { reason: error.report.what.clone() };
    session.reporter.emit(Event::StageFinished { stage: Stage::Approve, outcome, milliseconds: 0 });
    error
}

fn tell_rejected(session: &Session, rejected: &[RejectedApproval]) {
    for approval in relevant(rejected) {
        session.reporter.say(
            windlass_model::Level::Info,
            format!("approval {} does not count: {}", approval.file, approval.why),
        );
    }
}

fn with_rejected(mut error: CommandError, rejected: &[RejectedApproval]) -> CommandError {
    for approval in relevant(rejected) {
        error = error.detail(format!("{} does not count: {}", approval.file, approval.why));
        let hint = approval.why.hint().to_owned();
        if !error.report.hints.contains(&hint) {
            error.report.hints.push(hint);
        }
    }
    error
}
