//! What the environment was delivered before: a reader wants to know from where to where.

use windlass_model::{Before, Plan, RunId};

/// Says which commit was delivered last, and whether a run after it broke off.
pub(super) fn sentence(before: &Before, plan: &Plan) -> String {
    let unfinished = |run: &RunId| format!("run {run} began to write and did not complete");
    let Some(last) = &before.completed else {
        let nothing = "nothing".to_owned();
        return before
            .unfinished
            .as_ref()
            .map_or(nothing, |run| format!("nothing to its end; {}", unfinished(run)));
    };
    let what = match &last.commit {
        Some(commit) if plan.source.commit() == Some(commit) => format!("the same commit {}", commit.short()),
        Some(commit) => format!("commit {}", commit.short()),
        None => "a directory".to_owned(),
    };
    let when = last.at.strftime("%Y-%m-%d %H:%M:%S UTC");
    let later = before.unfinished.as_ref().map(|run| format!("; {}", unfinished(run))).unwrap_or_default();
    format!("{what} on {when} by run {}{later}", last.run)
}
