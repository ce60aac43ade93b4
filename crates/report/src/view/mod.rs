//! What all forms of a plan say alike: the words and their order are decided here, the forms only lay them out.
//!
//! Every text in here is [`clean()`] already. A form adds the escapes of its own language.

mod approving;
mod before;
mod change;
mod created;
mod danger;
mod definition;
mod line;
mod object;
mod recipe;
mod undo;

use std::collections::BTreeMap;

use windlass_model::{Action, Operation, Plan, Preview, Provenance};

pub(crate) use change::{Change, cut};
pub(crate) use danger::Danger;
pub(crate) use line::{Line, Tone};
pub(crate) use object::ObjectView;

use crate::actions::{Deletes, counts, plural, toll_line, verdict};
use crate::clean;

/// The name of the fact that says what the environment received before.
pub(crate) const BEFORE: &str = "delivered before";

/// A plan as people read it.
pub(crate) struct View<'a> {
    /// `Plan for prd`.
    pub(crate) title: String,
    /// The verdict in one line, and whether it is good news.
    pub(crate) verdict: Line,
    /// What the verdict means, where it could be taken for less.
    pub(crate) consequence: Option<&'static str>,
    /// How many objects each operation touches, in the order of danger, with words.
    pub(crate) counts: Vec<(Operation, usize, &'static str)>,
    /// Objects with a problem.
    pub(crate) problems: usize,
    /// How many differences ignore rules hide.
    pub(crate) ignored: usize,
    /// What all actions together restart, stop and destroy, on one line; none where nothing is deleted or restarted.
    pub(crate) toll: Option<Line>,
    /// That the previous commit undoes everything, where it does.
    pub(crate) undo: Option<Line>,
    /// What the plan is about: name and value.
    pub(crate) facts: Vec<(&'static str, String)>,
    /// What an approval names; none where nobody is asked.
    pub(crate) digest: Option<String>,
    /// What destroys, stops or restarts, the worst first.
    pub(crate) dangers: Vec<Danger>,
    /// What stands above the reasons.
    pub(crate) asks: &'static str,
    /// Why a human must approve.
    pub(crate) reasons: Vec<String>,
    /// Who may, and how.
    pub(crate) approving: String,
    /// What does not stop the run but should be known.
    pub(crate) warnings: Vec<String>,
    /// Which objects the server could not be asked about as they will be, and why.
    pub(crate) unverified: Vec<String>,
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
        let refused = !drift && !plan.is_executable();
        Self {
            title: format!("{}{environment}", subject(plan, drift)),
            verdict: headline(plan, drift),
            consequence: refused
                .then_some("Nothing of this plan is carried out, and no approval changes that."),
            counts: counts(&counts_of),
            problems: counts_of.problems,
            ignored: counts_of.ignored,
            toll: toll(plan),
            undo: if drift || refused { None } else { undo::whole(plan) },
            facts: facts(plan),
            digest: (!drift).then(|| plan.change_digest().to_string()),
            dangers: danger::of(plan, &objects, drift),
            asks: if refused {
                "Once nothing refuses it, a human must approve because"
            } else {
                "A human must approve because"
            },
            reasons: if !drift && plan.has_changes() {
                plan.requirement.reasons.iter().map(|reason| clean(reason)).collect()
            } else {
                Vec::new()
            },
            approving: approving::sentence(plan.requirement.approval.as_ref()),
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

fn subject(plan: &Plan, drift: bool) -> &'static str {
    match (drift, &plan.rollback) {
        (true, _) => "Drift",
        (false, Some(_)) => "Rollback plan",
        (false, None) => "Plan",
    }
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

fn toll(plan: &Plan) -> Option<Line> {
    let deletes = Deletes::of(&plan.actions);
    let tone = match deletes {
        Deletes::Data => Tone::Danger,
        Deletes::NoData | Deletes::Nothing => Tone::Warning,
    };
    toll_line(&plan.toll, deletes).map(|text| Line::new(tone, text))
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
        fact("rollback", &format!("reason given: {reason}"));
    }
    if let Some(before) = &plan.before {
        fact(BEFORE, &before::sentence(before, plan));
    }
    fact("cluster", &format!("{} ({})", plan.cluster.server, plan.cluster.version));
    fact("made", &format!("{} by {}", plan.created_at.strftime("%Y-%m-%d %H:%M:%S UTC"), plan.tool));
    facts
}

/// Names, for each reason, the objects that the server could not be asked about as they will be.
fn unverified(plan: &Plan) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<&Action>> = BTreeMap::new();
    for action in &plan.actions {
        if let Preview::Locally(why) = &action.preview {
            reasons.entry(why).or_default().push(action);
        }
    }
    let all = plan.actions.len();
    let sentence = |(why, actions): (&str, Vec<&Action>)| {
        let count = actions.len();
        let objects = format!("{count} of {all} object{} checked only in part", plural(all));
        clean(&format!("{objects}: {why} ({})", undo::named(&actions)))
    };
    reasons.into_iter().map(sentence).collect()
}
