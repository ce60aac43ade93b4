//! One object of a plan as people read it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use windlass_model::{Action, Conflict, Forecast, Operation, Preview, Problem, Replacement, Risk};

use super::change::Change;
use super::created;
use super::definition;
use super::line::{Line, Tone};
use super::recipe;
use crate::actions::{forecast_line, is_loss, plural};
use crate::clean;

/// What is said about one object.
pub(crate) struct ObjectView<'a> {
    /// The action.
    pub(crate) action: &'a Action,
    /// Kind, with its group.
    pub(crate) kind: String,
    /// Namespace and name.
    pub(crate) name: String,
    /// The namespace, if it has one.
    pub(crate) namespace: Option<String>,
    /// The name alone.
    pub(crate) own_name: String,
    /// Where it is written.
    pub(crate) origin: Option<String>,
    /// What is wrong and what follows.
    pub(crate) notes: Vec<Line>,
    /// The fields that differ.
    pub(crate) changes: Vec<Change>,
    /// Whose fields are taken over, how far the prediction can be trusted, what the server warned of.
    pub(crate) remarks: Vec<Change>,
}

/// Returns what is said about each object, the most dangerous first.
pub(crate) fn by_danger(mut actions: Vec<&Action>) -> Vec<ObjectView<'_>> {
    actions.sort_by_key(|action| (action.problem.is_none(), Reverse(action.risk), action.operation));
    actions.into_iter().map(ObjectView::of).collect()
}

impl<'a> ObjectView<'a> {
    fn of(action: &'a Action) -> Self {
        let object = &action.object;
        let name = match &object.namespace {
            Some(namespace) => format!("{namespace}/{}", object.name),
            None => object.name.clone(),
        };
        Self {
            action,
            kind: clean(&object.kind.to_string()),
            name: clean(&name),
            namespace: object.namespace.as_deref().map(clean),
            own_name: clean(&object.name),
            origin: action.origin.as_ref().map(|origin| clean(&origin.to_string())),
            notes: notes(action),
            changes: changes(action),
            remarks: remarks(action),
        }
    }

    /// Returns kind, namespace and name.
    pub(crate) fn full_name(&self) -> String {
        clean(&self.action.object.to_string())
    }

    /// Returns the word for what happens.
    pub(crate) fn word(&self) -> &'static str {
        self.action.operation.word()
    }

    /// Returns what the word stands for.
    pub(crate) fn tone(&self) -> Tone {
        match self.action.operation {
            _ if self.action.problem.is_some() => Tone::Danger,
            Operation::Prune | Operation::Recreate => Tone::Danger,
            Operation::Update | Operation::Adopt => Tone::Changed,
            Operation::Create => Tone::Added,
            Operation::Keep | Operation::NoOp => Tone::Dim,
        }
    }

    /// Says whether the object must never be left out of a report.
    pub(crate) fn is_grave(&self) -> bool {
        self.action.problem.is_some()
            || matches!(self.action.operation, Operation::Prune | Operation::Recreate)
            || self.action.risk == Risk::Data
    }
}

fn notes(action: &Action) -> Vec<Line> {
    let mut notes = Vec::new();
    if let Some(problem) = &action.problem {
        notes.push(Line::new(Tone::Danger, problem.summary()));
        notes.extend((!problem.hint().is_empty()).then(|| Line::new(Tone::Hint, problem.hint())));
        if let Problem::Immutable { recipe: Some(recipe), .. } = problem {
            notes.extend(recipe::lines(recipe));
        }
    }
    notes.extend(
        action.forecasts.iter().map(|forecast| Line::new(tone_of(forecast), forecast_line(forecast))),
    );
    notes.extend(created::lines(action));
    notes
}

/// Only what is bad news looks like it: a note can as well say that data stays.
fn tone_of(forecast: &Forecast) -> Tone {
    match forecast {
        _ if is_loss(forecast) => Tone::Danger,
        Forecast::Note { .. } => Tone::Plain,
        _ => Tone::Warning,
    }
}

fn changes(action: &Action) -> Vec<Change> {
    if let Some(Replacement { object, delta }) = &action.replaces {
        let what = if delta.is_empty() { "the same content as" } else { "compared with" };
        let head = Change::line(Tone::Dim, format!("{what} {}, which it replaces", object.name));
        return std::iter::once(head).chain(delta.iter().map(Change::of)).collect();
    }
    if action.object.kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        definition::changes(&action.delta)
    } else {
        action.delta.iter().map(Change::of).collect()
    }
}

fn remarks(action: &Action) -> Vec<Change> {
    let mut remarks = taken_over(&action.takes_over);
    if let Preview::Not(why) = &action.preview {
        remarks.push(Change::line(Tone::Warning, format!("not previewable: {why}")));
    }
    let warning = |warning: &String| Change::line(Tone::Warning, format!("warning: {warning}"));
    remarks.extend(action.warnings.iter().map(warning));
    remarks
}

/// Names the managers that fields are taken from, and those fields.
fn taken_over(conflicts: &[Conflict]) -> Vec<Change> {
    let mut managers: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for conflict in conflicts {
        managers.entry((&conflict.manager, conflict.last_written())).or_default().push(&conflict.field);
    }
    let describe = |((manager, written), fields): ((&str, String), Vec<&str>)| {
        if let [field] = fields.as_slice() {
            return Change::line(Tone::Warning, format!("takes over {field} from {manager}, {written}"));
        }
        let head =
            format!("takes over {} field{} from {manager}, {written}:", fields.len(), plural(fields.len()));
        let body = fields.iter().map(|field| Line::new(Tone::Plain, format!("    {field}"))).collect();
        Change { head: Line::new(Tone::Warning, head), body }
    };
    managers.into_iter().map(describe).collect()
}
