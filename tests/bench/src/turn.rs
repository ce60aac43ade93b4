//! The turn of one tool: a control plane, and its steps on it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::bench::{Bench, Sets};
use crate::case::Case;
use crate::journal::applying;
use crate::measure::{Cost, End, measure};
use crate::plane::ControlPlane;
use crate::results::{Outcome, Results, Row};
use crate::step::{Place, Step};
use crate::tools::Tool;

/// Less time than this is not worth starting a control plane for.
const SHORTEST: Duration = Duration::from_secs(20);

pub(crate) struct Turn<'a> {
    pub(crate) bench: &'a Bench,
    pub(crate) sets: &'a Sets,
    pub(crate) results: &'a mut Results,
    pub(crate) tell: fn(&str),
    pub(crate) tool: Tool,
}

impl Turn<'_> {
    /// Measures what is asked for and not known. Only files of the benchmark itself are a reason for an error.
    pub(crate) fn take(&mut self) -> io::Result<()> {
        let place = self.place()?;
        let mut steps = self.tool.steps(&place)?;
        self.leave_out(&steps, "skipped, for it takes long", Self::is_skipped)?;
        steps.retain(|step| self.is_needed(step));
        if !steps.iter().any(|step| self.is_due(step)) {
            return Ok(());
        }
        let hindrance = match self.missing() {
            None if self.bench.left() < SHORTEST => Some("the time is used up".to_owned()),
            other => other,
        };
        if let Some(reason) = hindrance {
            return self.leave_out(&steps, &reason, Self::is_due);
        }
        (self.tell)(&format!("{} objects: {}", self.sets.size, self.tool.name()));
        if let Err(error) = self.perform(&mut steps, &place) {
            (self.tell)(&format!("  {error}"));
            self.leave_out(&steps, &last_line(&error.to_string()), Self::is_due)?;
        }
        Ok(())
    }

    fn perform(&mut self, steps: &mut [Step], place: &Place) -> io::Result<()> {
        let server = ControlPlane::start(&self.bench.testbed, place.bed.clone())?;
        for step in steps {
            let outcome = self.measure(step, &server, &place.scratch)?;
            let failure = match &outcome {
                Outcome::Measured(_) => None,
                Outcome::Failed(reason) | Outcome::LeftOut(reason) => Some(reason.clone()),
            };
            if let Some(reason) = &failure {
                (self.tell)(&format!("  {}: {reason}", step.id));
            }
            if let Some(case) = step.case.filter(|_| self.is_due(step)) {
                self.note(step, case, outcome)?;
            }
            // What prepares, and the first apply, is what the rest stands on.
            if let (Some(reason), None | Some(Case::First)) = (failure, step.case) {
                return Err(io::Error::other(format!("{} failed: {reason}", step.id)));
            }
            server.settle()?;
        }
        Ok(())
    }

    fn measure(&self, step: &mut Step, server: &ControlPlane, scratch: &Path) -> io::Result<Outcome> {
        let repeat = if matches!(step.case, None | Some(Case::First)) { 1 } else { self.bench.repeat };
        let mut costs = Vec::new();
        for _ in 0..repeat {
            if let Some(folder) = step.forget.as_ref().filter(|folder| folder.exists()) {
                fs::remove_dir_all(folder)?;
            }
            if self.bench.left().is_zero() {
                return Ok(Outcome::LeftOut("the time is used up".to_owned()));
            }
            let output = scratch.join(format!("{}.log", step.id));
            match measure(&mut step.command, &output, server, self.bench.left())? {
                End::Exit(status, cost) if status.code() == Some(step.success) => costs.push(cost),
                End::Exit(status, _) => {
                    let text = fs::read(&output)?;
                    let text = last_line(&String::from_utf8_lossy(&text));
                    return Ok(Outcome::Failed(format!("{status}: {text}")));
                }
                End::Stopped => return Ok(Outcome::Failed("stopped, for the time is used up".to_owned())),
            }
        }
        costs.sort_by(|one, other| one.wall.total_cmp(&other.wall));
        let middle = costs.swap_remove(costs.len() / 2);
        let applying = step.journal.as_deref().map(applying).transpose()?.flatten();
        Ok(Outcome::Measured(Cost { applying, ..middle }))
    }

    fn place(&self) -> io::Result<Place> {
        let scratch = self.bench.work.join(format!("{}-{}", self.tool.name(), self.sets.size));
        if scratch.exists() {
            fs::remove_dir_all(&scratch)?;
        }
        fs::create_dir_all(&scratch)?;
        Ok(Place {
            program: self.program(),
            kubectl: self.bench.programs.join(Tool::Kubectl.name()),
            bed: scratch.join("bed"),
            set: self.sets.plain.clone(),
            changed: self.sets.changed.clone(),
            rights: self.bench.rights.clone(),
            scratch,
        })
    }

    fn program(&self) -> PathBuf {
        self.bench.programs.join(self.tool.program())
    }

    /// Says why there is no binary.
    fn missing(&self) -> Option<String> {
        let program = self.program();
        if program.exists() {
            return None;
        }
        let reason = fs::read_to_string(program.with_extension("failed")).unwrap_or_default();
        Some(format!("there is no binary: {}", last_line(&reason)))
    }

    /// The first apply is always needed: the others find what it left.
    fn is_needed(&self, step: &Step) -> bool {
        match step.case {
            None | Some(Case::First) => true,
            Some(_) => self.is_wanted(step) && !self.is_skipped(step),
        }
    }

    /// Whether a step's result is asked for and not known.
    fn is_due(&self, step: &Step) -> bool {
        let known = self.results.has(self.sets.size, self.tool, step.id);
        self.is_wanted(step) && !self.is_skipped(step) && !known
    }

    fn is_wanted(&self, step: &Step) -> bool {
        step.case.is_some_and(|case| self.bench.cases.contains(&case))
    }

    fn is_skipped(&self, step: &Step) -> bool {
        self.bench.skip.iter().any(|skip| *skip == format!("{}/{}", self.tool.name(), step.id))
    }

    fn leave_out(&mut self, steps: &[Step], reason: &str, which: fn(&Self, &Step) -> bool) -> io::Result<()> {
        for step in steps {
            if let Some(case) = step.case.filter(|_| self.is_wanted(step) && which(self, step)) {
                self.note(step, case, Outcome::LeftOut(reason.to_owned()))?;
            }
        }
        Ok(())
    }

    fn note(&mut self, step: &Step, case: Case, outcome: Outcome) -> io::Result<()> {
        let (objects, tool) = (self.sets.size, self.tool);
        let (step, label) = (step.id.to_owned(), step.label.to_owned());
        self.results.put(Row { objects, tool, step, case, label, outcome })
    }
}

/// Returns the last line that says anything, without what would break a table.
fn last_line(text: &str) -> String {
    let line = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    line.trim().replace('|', "/").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_fits_into_a_table() {
        assert_eq!(last_line("begin\n  Error: a | b\n\n"), "Error: a / b");
    }
}
