//! What all forms of a plan say alike: the words and their order are decided here, the forms only lay them out.
//!
//! Every text in here is [`clean()`] already. A form adds the escapes of its own language.

mod change;
mod danger;
mod definition;
mod line;
mod object;
mod recipe;

use std::collections::BTreeMap;

use windlass_model::{Action, Operation, Plan, Preview, Provenance, Toll};

pub(crate) use change::{Change, cut};
pub(crate) use danger::Danger;
pub(crate) use line::{Line, Tone};
pub(crate) use object::ObjectView;

use crate::actions::{counts, toll_line, verdict};
use crate::clean;

/// A plan as people read it.
pub(crate) struct View<'a> {
    /// `Plan for prd`.
    pub(crate) title: String,
    /// The verdict in one line, and whether it is good news.
    pub(crate) verdict: Line,
    /// How many objects each operation touches, in the order of danger, with words.
    pub(crate) counts: Vec<(Operation, usize, &'static str)>,
    /// Objects with a problem.
    pub(crate) problems: usize,
    /// How many differences ignore rules hide.
    pub(crate) ignored: usize,
    /// What all actions together restart and take along, on one line; none where that is nothing.
    pub(crate) toll: Option<Line>,
    /// What the plan is about: name and value.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// What an approval names; none where nobody is asked.
    pub(crate) digest: Option<String>,
    /// What destroys, stops or restarts, the worst first.
    pub(crate) dangers: Vec<Danger>,
    /// Why a human must approve.
    pub(crate) reasons: Vec<String>,
    /// What does not stop the run but should be known.
    pub(crate) warnings: Vec<String>,
    /// Why the server could not be asked about some objects, and about how many.
    pub(crate) unverified: Vec<(usize, String)>,
    /// The objects that something is to be said about, the most dangerous first.
    pub(crate) objects: Vec<ObjectView<'a>>,
    /// The names of all others.
    pub(crate) unchanged: Vec<String>,
}

impl<'a> View<'a> {
    /// Reads a plan; `drift` compares only, so nobody is asked for anything.
    pub(crate) fn of(plan: &'a Plan, drift: bool) -> Self {
        let environment = plan.environment.as_ref().map(|name| format!(" for {name}")).unwrap_or_default();
        let (shown, quiet): (Vec<&Action>, Vec<&Action>) =
            plan.actions.iter().partition(|action| is_shown(action));
        let objects = object::by_danger(shown);
        let counts_of = plan.counts();
        Self {
            title: format!("{}{environment}", if drift { "Drift" } else { "Plan" }),
            verdict: headline(plan, drift),
            counts: counts(&counts_of),
            problems: counts_of.problems,
            ignored: counts_of.ignored,
            toll: toll(&plan.toll),
            facts: facts(plan),
            digest: (!drift).then(|| plan.change_digest().to_string()),
            dangers: danger::of(plan, &objects),
            reasons: if !drift && plan.has_changes() {
                plan.requirement.reasons.iter().map(|reason| clean(reason)).collect()
            } else {
                Vec::new()
            },
            warnings: plan.warnings.iter().map(|warning| clean(warning)).collect(),
            unverified: unverified(plan),
            objects,
            unchanged: quiet.iter().map(|action| clean(&action.object.to_string())).collect(),
        }
    }

    /// Returns the counts on one line: `1 to prune, 2 to update, 40 unchanged`.
    pub(crate) fn counts_line(&self) -> String {
        crate::actions::joined(&self.counts, self.problems, self.ignored)
    }
}

/// Says whether there is anything to say about an object.
fn is_shown(action: &Action) -> bool {
    action.operation != Operation::NoOp || action.problem.is_some() || !action.warnings.is_empty()
}

fn headline(plan: &Plan, drift: bool) -> Line {
    match (drift, plan.has_drift()) {
        (true, true) => return Line::new(Tone::Danger, "DRIFT"),
        (true, false) => return Line::new(Tone::Added, "no drift"),
        (false, _) => {}
    }
    let tone = if !plan.is_executable() {
        Tone::Danger
    } else if plan.requirement.needed() && plan.has_changes() {
        Tone::Warning
    } else {
        Tone::Added
    };
    Line::new(tone, verdict(plan))
}

fn toll(toll: &Toll) -> Option<Line> {
    let tone = if toll.destroyed_volumes > 0 { Tone::Danger } else { Tone::Warning };
    toll_line(toll).map(|text| Line::new(tone, text))
}

fn facts(plan: &Plan) -> Vec<(&'static str, String)> {
    let mut facts = Vec::new();
    let mut fact = |name: &'static str, value: &str| facts.push((name, clean(value)));
    match &plan.source {
        Provenance::Verified(commit) => {
            fact("commit", &format!("{} \"{}\"", commit.id().short(), commit.subject()));
            fact("author", commit.author());
            fact("signed by", &format!("{} on {}", commit.signer().name, commit.signer().signed_at));
            fact("branch", &format!("{} of {}", commit.branch(), commit.repository()));
        }
        Provenance::Unsigned { what, author, .. } => {
            fact("source", &format!("unsigned {what}"));
            if let Some(author) = author {
                fact("author", author);
            }
        }
    }
    if let Some(reason) = &plan.rollback {
        fact("rollback", reason);
    }
    fact("cluster", &format!("{} ({})", plan.cluster.server, plan.cluster.version));
    fact("made", &format!("{} by {}", plan.created_at.strftime("%Y-%m-%d %H:%M:%S UTC"), plan.tool));
    facts
}

/// Counts, for each reason, the objects that the server could not be asked about yet.
fn unverified(plan: &Plan) -> Vec<(usize, String)> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for action in &plan.actions {
        if let Preview::Locally(why) = &action.preview {
            *reasons.entry(why).or_default() += 1;
        }
    }
    reasons.into_iter().map(|(why, count)| (count, clean(why))).collect()
}
