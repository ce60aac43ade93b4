//! Rules of freezes and plan rules.

use super::Findings;
use crate::freeze::{first, last, weekly, zone};
use crate::tree::quoted;
use crate::{Freeze, PlanRule};

/// Checks freezes.
pub(super) fn freezes(freezes: &[Freeze], found: &mut Findings<'_>) {
    for (index, freeze) in freezes.iter().enumerate() {
        one(&format!("guards.freezes[{index}]"), freeze, found);
    }
}

fn one(path: &str, freeze: &Freeze, found: &mut Findings<'_>) {
    found.want_text(&format!("{path}.name"), &freeze.name);
    found.want_text(&format!("{path}.reason"), &freeze.reason);
    if zone(&freeze.time_zone).is_none() {
        let what = format!("{} is not a time zone that this machine knows", quoted(&freeze.time_zone));
        let hint = "use a name of the IANA database, such as `Europe/Amsterdam`, or `UTC`";
        found.rule(&format!("{path}.timeZone"), what, hint);
    }
    match (&freeze.from, &freeze.until, &freeze.weekly) {
        (Some(from), Some(until), None) => once(path, from, until, found),
        (None, None, Some(every)) => {
            let path = format!("{path}.weekly");
            let ends = [("from", &every.from), ("until", &every.until)].map(|(key, text)| {
                let minute = weekly(text);
                if minute.is_none() {
                    let what = format!("{} is not a time of the week", quoted(text));
                    found.rule(
                        &format!("{path}.{key}"),
                        what,
                        "write `Fri 16:00`: Mon, Tue, Wed, Thu, Fri, Sat or Sun",
                    );
                }
                minute
            });
            if matches!(ends, [Some(from), Some(until)] if from == until) {
                let hint = "give another end, or use `from` and `until` for a freeze without one";
                found.rule(&format!("{path}.until"), "begins and ends at the same time", hint);
            }
        }
        _ => {
            let hint = "give `from` and `until`, or `weekly`";
            found.rule(path, "it is not clear when the freeze is", hint);
        }
    }
}

fn once(path: &str, from: &str, until: &str, found: &mut Findings<'_>) {
    let hint = "write `2026-12-18` or `2026-12-18T18:00`";
    let (begin, end) = (first(from), last(until));
    for (key, text, unread) in [("from", from, begin.is_none()), ("until", until, end.is_none())] {
        if unread {
            found.rule(&format!("{path}.{key}"), format!("{} is not a moment", quoted(text)), hint);
        }
    }
    if matches!((begin, end), (Some(begin), Some(end)) if end <= begin) {
        found.rule(
            &format!("{path}.until"),
            "the freeze ends before it begins",
            "exchange `from` and `until`",
        );
    }
}

/// Checks rules over plans.
pub(super) fn plan_rules(rules: &[PlanRule], found: &mut Findings<'_>) {
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("guards.rules[{index}]");
        found.want_text(&format!("{path}.name"), &rule.name);
        found.want_text(&format!("{path}.message"), &rule.message);
        if let Err(errors) = cel::Program::compile(&rule.deny) {
            let what = format!("not a CEL expression: {}", errors.to_string().replace('\n', " "));
            let hint = "see cel.dev for the language and docs/concepts/plan.md for examples";
            found.rule(&format!("{path}.deny"), what, hint);
        }
    }
    found.want_once("name", rules.iter().map(|rule| rule.name.as_str()), |index| {
        format!("guards.rules[{index}].name")
    });
}
