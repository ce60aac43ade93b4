//! What Windlass must not exceed, and whether it does. The numbers are the project's; the docs explain them.

use crate::measure::Cost;
use crate::results::Rows;
use crate::tools::Tool;

/// What is looked at of a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Wall,
    /// The time in which objects were applied, without plan and rollout.
    Applying,
    OwnCpu,
    ServerCpu,
    /// MiB.
    Peak,
    Requests,
    Writes,
}

/// What it is held against.
#[derive(Debug, Clone, Copy)]
enum Limit {
    AtMost(f64),
    /// One for each object, and some more.
    EachObjectAnd(f64),
    /// So many times the sum of the wall times of these steps.
    Times(f64, &'static [(Tool, &'static str)]),
}

/// One target: a step of Windlass, what is looked at, the limit.
type Target = (&'static str, Measure, Limit);

const KUBECTL_DIFF: &[(Tool, &str)] = &[(Tool::Kubectl, "plan")];
const KUBECTL_FIRST: &[(Tool, &str)] = &[(Tool::Kubectl, "first")];
const KUBECTL_AGAIN: &[(Tool, &str)] = &[(Tool::Kubectl, "again")];
/// What must be asked for a plan: everything that is there, and a dry-run of everything.
const PLAN_FLOOR: &[(Tool, &str)] = &[(Tool::Floor, "list"), (Tool::Floor, "plan")];
const APPLY_FLOOR: &[(Tool, &str)] = &[(Tool::Floor, "first")];

const SMALL: &[Target] = &[
    ("plan", Measure::Requests, Limit::EachObjectAnd(40.0)),
    ("plan", Measure::Wall, Limit::Times(1.2, PLAN_FLOOR)),
    ("plan", Measure::Wall, Limit::Times(0.35, KUBECTL_DIFF)),
    ("plan", Measure::OwnCpu, Limit::AtMost(0.8)),
    ("plan", Measure::Peak, Limit::AtMost(80.0)),
    ("remembered", Measure::Requests, Limit::AtMost(40.0)),
    ("remembered", Measure::ServerCpu, Limit::AtMost(0.3)),
    ("remembered", Measure::OwnCpu, Limit::AtMost(0.3)),
    ("remembered", Measure::Wall, Limit::Times(0.05, KUBECTL_DIFF)),
    ("remembered", Measure::Peak, Limit::AtMost(60.0)),
    ("changed", Measure::Requests, Limit::AtMost(60.0)),
    ("first", Measure::Applying, Limit::Times(1.2, APPLY_FLOOR)),
    ("first", Measure::Applying, Limit::Times(0.5, KUBECTL_FIRST)),
    ("again-remembered", Measure::Requests, Limit::AtMost(40.0)),
    ("again-remembered", Measure::Writes, Limit::AtMost(0.0)),
    ("again-remembered", Measure::Wall, Limit::Times(0.1, KUBECTL_AGAIN)),
];

const LARGE: &[Target] = &[
    ("plan", Measure::Wall, Limit::AtMost(35.0)),
    ("plan", Measure::Requests, Limit::AtMost(10_200.0)),
    ("plan", Measure::Peak, Limit::AtMost(200.0)),
    ("remembered", Measure::Wall, Limit::AtMost(2.0)),
    ("remembered", Measure::Requests, Limit::AtMost(150.0)),
    ("remembered", Measure::Peak, Limit::AtMost(200.0)),
    ("first", Measure::Applying, Limit::Times(1.3, APPLY_FLOOR)),
    ("again-remembered", Measure::Wall, Limit::AtMost(3.0)),
    ("again-remembered", Measure::Writes, Limit::AtMost(0.0)),
];

/// The sizes that targets are set for: 1,010 and 10,050 objects, namespaces and all.
const SIZES: [(usize, &[Target]); 2] = [(1010, SMALL), (10_050, LARGE)];

/// A target that was looked at.
#[derive(Debug, PartialEq)]
pub(crate) struct Verdict {
    /// Windlass' step.
    pub(crate) step: &'static str,
    /// What is looked at.
    pub(crate) what: &'static str,
    /// The limit, in words.
    pub(crate) limit: String,
    /// Limit and measured value with their unit, if both are known.
    pub(crate) values: Option<(String, String)>,
    pub(crate) met: Option<bool>,
}

/// Judges one size; there are targets for two.
pub(crate) fn judge(rows: Rows<'_>) -> Vec<Verdict> {
    let of_size = SIZES.iter().find(|(objects, _)| *objects == rows.objects);
    of_size.map_or(&[][..], |(_, targets)| targets).iter().map(|target| verdict(target, rows)).collect()
}

fn verdict((step, measure, limit): &Target, rows: Rows<'_>) -> Verdict {
    let known = limit.value(rows).zip(rows.cost(Tool::Windlass, step).and_then(|cost| measure.of(cost)));
    Verdict {
        step,
        what: measure.name(),
        limit: limit.text(*measure),
        values: known.map(|(limit, value)| (measure.show(limit), measure.show(value))),
        met: known.map(|(limit, value)| value <= limit),
    }
}

impl Measure {
    fn name(self) -> &'static str {
        match self {
            Self::Wall => "wall",
            Self::Applying => "wall of the apply stage",
            Self::OwnCpu => "own CPU",
            Self::ServerCpu => "server CPU",
            Self::Peak => "peak memory",
            Self::Requests => "requests",
            Self::Writes => "writes to the set",
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts and sizes are far below 2^52")]
    fn of(self, cost: &Cost) -> Option<f64> {
        match self {
            Self::Wall => Some(cost.wall),
            Self::Applying => cost.applying,
            Self::OwnCpu => Some(cost.own),
            Self::ServerCpu => Some(cost.server),
            Self::Peak => Some(cost.peak as f64 / 1024.0),
            Self::Requests => Some(cost.requests.values().sum::<usize>() as f64),
            Self::Writes => Some(cost.writes as f64),
        }
    }

    fn show(self, value: f64) -> String {
        match self {
            Self::Wall | Self::Applying | Self::OwnCpu | Self::ServerCpu => format!("{value:.2} s"),
            Self::Peak => format!("{value:.0} MiB"),
            Self::Requests | Self::Writes => format!("{value:.0}"),
        }
    }
}

impl Limit {
    #[expect(clippy::cast_precision_loss, reason = "sets are far below 2^52 objects")]
    fn value(self, rows: Rows<'_>) -> Option<f64> {
        match self {
            Self::AtMost(value) => Some(value),
            Self::EachObjectAnd(more) => Some(rows.objects as f64 + more),
            Self::Times(factor, steps) => {
                let walls = steps.iter().map(|(tool, step)| rows.cost(*tool, step).map(|cost| cost.wall));
                Some(factor * walls.sum::<Option<f64>>()?)
            }
        }
    }

    fn text(self, measure: Measure) -> String {
        match self {
            Self::AtMost(value) => measure.show(value),
            Self::EachObjectAnd(more) => format!("one an object + {more}"),
            Self::Times(factor, steps) => {
                let names: Vec<String> =
                    steps.iter().map(|(tool, step)| format!("{} {step}", tool.name())).collect();
                format!("{factor} × ({})", names.join(" + "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::results::{Outcome, Row};

    fn row(tool: Tool, step: &str, cost: Cost) -> Row {
        let (step, label, outcome) = (step.to_owned(), String::new(), Outcome::Measured(cost));
        Row { objects: 1010, tool, step, case: Case::Plan, label, outcome }
    }

    fn wall(wall: f64) -> Cost {
        Cost { wall, ..Cost::default() }
    }

    #[test]
    fn a_target_is_met_missed_or_unknown() {
        let rows = [
            row(Tool::Windlass, "plan", wall(4.0)),
            row(Tool::Kubectl, "plan", wall(10.0)),
            row(Tool::Floor, "list", wall(0.5)),
            row(Tool::Floor, "plan", wall(3.0)),
            row(Tool::Windlass, "first", Cost { applying: Some(3.0), ..wall(9.0) }),
            row(Tool::Floor, "first", wall(2.5)),
        ];
        let sizes = Rows::by_size(&rows);
        let verdicts = judge(*sizes.first().unwrap());
        let met = |step: &str, limit: &str| {
            let found = verdicts.iter().find(|verdict| verdict.step == step && verdict.limit == limit);
            found.unwrap_or_else(|| panic!("no {step} {limit} in {verdicts:?}")).met
        };
        assert_eq!(met("plan", "1.2 × (floor list + floor plan)"), Some(true));
        assert_eq!(met("plan", "0.35 × (kubectl plan)"), Some(false));
        assert_eq!(met("plan", "one an object + 40"), Some(true));
        assert_eq!(met("first", "1.2 × (floor first)"), Some(true));
        assert_eq!(met("first", "0.5 × (kubectl first)"), None, "kubectl was not measured");
        assert_eq!(met("remembered", "40"), None, "Windlass was not measured");
    }
}
