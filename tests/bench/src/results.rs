//! What was measured so far, a JSON line each, so that a run that was interrupted goes on.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::case::Case;
use crate::measure::Cost;
use crate::tools::Tool;

/// One call and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row {
    /// How many objects the set holds, namespaces and all.
    pub(crate) objects: usize,
    pub(crate) tool: Tool,
    /// The tool's step.
    pub(crate) step: String,
    pub(crate) case: Case,
    /// The call, for people.
    pub(crate) label: String,
    pub(crate) outcome: Outcome,
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Outcome {
    /// It did what it should.
    Measured(Cost),
    /// It did not; why.
    Failed(String),
    /// It was not tried; why.
    LeftOut(String),
}

impl Row {
    /// Returns the cost, if it is known.
    pub(crate) fn cost(&self) -> Option<&Cost> {
        match &self.outcome {
            Outcome::Measured(cost) => Some(cost),
            Outcome::Failed(_) | Outcome::LeftOut(_) => None,
        }
    }
}

/// The rows of one set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) objects: usize,
    all: &'a [Row],
}

impl<'a> Rows<'a> {
    /// Returns the rows of each size, the smallest first.
    pub(crate) fn by_size(all: &'a [Row]) -> Vec<Self> {
        let mut sizes: Vec<usize> = all.iter().map(|row| row.objects).collect();
        sizes.sort_unstable();
        sizes.dedup();
        sizes.into_iter().map(|objects| Self { objects, all }).collect()
    }

    /// Returns them case by case, and tool by tool within.
    pub(crate) fn sorted(self) -> Vec<&'a Row> {
        let mut rows: Vec<&Row> = self.all.iter().filter(|row| row.objects == self.objects).collect();
        rows.sort_by_key(|row| (row.case, row.tool));
        rows
    }

    /// Returns the cost of one step.
    pub(crate) fn cost(self, tool: Tool, step: &str) -> Option<&'a Cost> {
        let found = |row: &&Row| row.objects == self.objects && row.tool == tool && row.step == step;
        self.all.iter().find(found)?.cost()
    }
}

/// The rows, in memory and on disk.
#[derive(Debug)]
pub(crate) struct Results {
    file: PathBuf,
    rows: Vec<Row>,
}

impl Results {
    /// Reads a file, which may be missing.
    pub(crate) fn open(file: PathBuf) -> io::Result<Self> {
        let text = if file.exists() { fs::read_to_string(&file)? } else { String::new() };
        let rows = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
        Ok(Self { file, rows })
    }

    pub(crate) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Returns whether a step needs no further try.
    pub(crate) fn has(&self, objects: usize, tool: Tool, step: &str) -> bool {
        self.rows.iter().any(|row| {
            let tried = !matches!(row.outcome, Outcome::LeftOut(_));
            tried && row.objects == objects && row.tool == tool && row.step == step
        })
    }

    /// Adds a row in the place of an earlier one of the same step.
    pub(crate) fn put(&mut self, row: Row) -> io::Result<()> {
        let same = |old: &Row| old.objects == row.objects && old.tool == row.tool && old.step == row.step;
        self.rows.retain(|old| !same(old));
        self.rows.push(row);
        write(&self.file, &self.rows)
    }
}

/// Replaces the file: it is short, and never half written.
fn write(file: &Path, rows: &[Row]) -> io::Result<()> {
    let fresh = file.with_extension("fresh");
    let mut out = OpenOptions::new().write(true).create(true).truncate(true).open(&fresh)?;
    for row in rows {
        writeln!(out, "{}", serde_json::to_string(row)?)?;
    }
    fs::rename(fresh, file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(step: &str, outcome: Outcome) -> Row {
        let (step, label) = (step.to_owned(), String::new());
        Row { objects: 10, tool: Tool::Kapp, step, case: Case::Plan, label, outcome }
    }

    #[test]
    fn an_interrupted_run_goes_on_with_what_is_missing() {
        let file = std::env::temp_dir().join(format!("windlass-bench-{}.jsonl", std::process::id()));
        let mut results = Results::open(file.clone()).unwrap();
        results.put(row("plan", Outcome::LeftOut("no time".into()))).unwrap();
        results.put(row("again", Outcome::Failed("too large".into()))).unwrap();
        assert!(!results.has(10, Tool::Kapp, "plan"), "there may be time now");
        results.put(row("plan", Outcome::Measured(Cost::default()))).unwrap();
        let read = Results::open(file.clone()).unwrap();
        assert_eq!(read.rows(), results.rows());
        assert_eq!(read.rows().len(), 2);
        assert!(read.has(10, Tool::Kapp, "plan") && read.has(10, Tool::Kapp, "again"));
        assert!(!read.has(11, Tool::Kapp, "plan") && !read.has(10, Tool::Flux, "plan"));
        fs::remove_file(file).unwrap();
    }
}
