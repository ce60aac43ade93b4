//! A summary where even the names of what is grave fill the budget: names alone, deletions first.
//!
//! A host drops a summary that is too large as a whole, so that more names than fit would show none at all. What is not
//! named is counted at the top.

use std::collections::BTreeMap;

use super::escape::code;
use crate::view::{Danger, ObjectView, View};

/// How many names stand on one line.
const ROW: usize = 20;

/// A line with the number of findings that it names.
struct Row {
    text: String,
    names: usize,
    deletes: bool,
}

/// How many findings have no room.
#[derive(Default)]
struct Unnamed {
    deletions: usize,
    others: usize,
}

/// Returns verdict, counts and as many names as fit into `budget` bytes. `whole` says where the whole plan is.
pub(super) fn summary(view: &View<'_>, whole: &str, budget: usize) -> String {
    let head = head(view);
    // The sentence about what has no room has numbers of any length.
    let mut room = budget.saturating_sub(head.len() + whole.len() + 256);
    let (mut names, mut unnamed) = (String::new(), Unnamed::default());
    for row in rows(view) {
        if row.text.len() <= room {
            room -= row.text.len();
            names.push_str(&row.text);
        } else if row.deletes {
            unnamed.deletions += row.names;
        } else {
            unnamed.others += row.names;
        }
    }
    format!("{head}**{} {whole}**\n{names}", unnamed.told())
}

fn head(view: &View<'_>) -> String {
    let toll = view.toll.as_ref().map(|toll| format!("Altogether {}\n\n", toll.text())).unwrap_or_default();
    let digest =
        view.digest.as_ref().map(|digest| format!("change digest {}\n\n", code(digest))).unwrap_or_default();
    format!(
        "## Windlass: {} — 🛑 {}\n\n**{}**\n\n{toll}{digest}",
        view.title,
        view.verdict.text(),
        view.counts_line()
    )
}

impl Unnamed {
    fn told(&self) -> String {
        let what = match (self.deletions, self.others) {
            (0, 0) => "what deletes, stops or restarts is named.".to_owned(),
            (0, others) => format!("every deletion is named, {others} other findings are not."),
            (deletions, 0) => format!("{deletions} deletions are NOT named below."),
            (deletions, others) => {
                format!("{deletions} deletions are NOT named below, nor are {others} other findings.")
            }
        };
        format!("This summary has no room for the plan: fields, warnings and reasons are left out; {what}")
    }
}

/// Returns the findings as lines, those about deletions first.
fn rows(view: &View<'_>) -> Vec<Row> {
    let (deletions, others): (Vec<&Danger>, Vec<&Danger>) =
        view.dangers.iter().partition(|danger| danger.deletes);
    let all = deletions.into_iter().chain(others);
    all.flat_map(|danger| rows_of(danger, &view.objects)).collect()
}

fn rows_of(danger: &Danger, objects: &[ObjectView<'_>]) -> Vec<Row> {
    let deletes = danger.deletes;
    // Names by kind are in no order of time.
    let heading = danger.heading.trim_end_matches(", in this order");
    let heading = format!("\n**{heading} ({})**\n\n", danger.findings.len());
    let mut rows = vec![Row { text: heading, names: 0, deletes }];
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<&str>> = BTreeMap::new();
    for finding in &danger.findings {
        match finding.object.and_then(|position| objects.get(position)) {
            Some(object) => {
                groups.entry((&object.kind, object.namespace.as_deref())).or_default().push(&object.own_name);
            }
            None => rows.push(Row { text: format!("- {}\n", code(finding.text.text())), names: 1, deletes }),
        }
    }
    for ((kind, namespace), names) in groups {
        let place = namespace.map(|namespace| format!(" in {}", code(namespace))).unwrap_or_default();
        rows.extend(names.chunks(ROW).map(|names| Row {
            text: format!("- {}{place}: {}\n", code(kind), code(&names.join(", "))),
            names: names.len(),
            deletes,
        }));
    }
    rows
}
