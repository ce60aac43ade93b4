//! What the environment was delivered before: a reader wants to know from where to where.

use windlass_model::{Before, CommitId, Plan, UnfinishedRun};

/// Says which commit was delivered last, and whether a run after it broke off.
pub(super) fn sentence(before: &Before, plan: &Plan) -> String {
    let Some(last) = &before.completed else {
        return match &before.unfinished {
            Some(run) => format!("nothing to its end; {}", unfinished(run, plan)),
            None => "nothing".to_owned(),
        };
    };
    let what = last.commit.as_ref().map_or_else(|| "a directory".to_owned(), |commit| named(commit, plan));
    let when = last.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    let later = before.unfinished.as_ref().map(|run| format!("; since then {}", unfinished(run, plan)));
    format!("{what} on {when} by run {}{}", last.run, later.unwrap_or_default())
}

fn named(commit: &CommitId, plan: &Plan) -> String {
    let same = if plan.source.commit() == Some(commit) { "the same " } else { "" };
    format!("{same}commit {}", commit.short())
}

fn unfinished(run: &UnfinishedRun, plan: &Plan) -> String {
    let UnfinishedRun { run, commit, subject } = run;
    let Some(commit) = commit else { return format!("run {run} began to write and did not complete") };
    let subject = if subject.is_empty() { String::new() } else { format!(" \"{subject}\"") };
    format!("{}{subject}, which run {run} began to write and did not complete", named(commit, plan))
}
