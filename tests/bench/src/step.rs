//! What one tool is made to do, call by call.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::case::Case;
use crate::set::Folder;

/// Where a tool finds everything.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The tool.
    pub(crate) program: PathBuf,
    /// The stock kubectl, for what has to be there first.
    pub(crate) kubectl: PathBuf,
    /// The folder of the control plane.
    pub(crate) bed: PathBuf,
    /// The set.
    pub(crate) set: Folder,
    /// The same with one object in a hundred changed.
    pub(crate) changed: Folder,
    /// Windlass' own roles and bindings.
    pub(crate) rights: PathBuf,
    /// A folder for what the tool wants to have.
    pub(crate) scratch: PathBuf,
}

impl Place {
    pub(crate) fn kubeconfig(&self) -> PathBuf {
        self.bed.join("kubeconfig")
    }

    /// Makes a call of the tool, whose home is its own: caches are cold at first and warm later.
    pub(crate) fn call<S: AsRef<std::ffi::OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("HOME", &self.scratch).env_remove("XDG_CACHE_HOME");
        command.env("KUBECONFIG", self.kubeconfig());
        command
    }

    /// Makes a call of kubectl that prepares something.
    pub(crate) fn prepare(&self, arguments: &[&str], file: &Path) -> Step {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(self.kubeconfig()).args(arguments).arg(file);
        Step::new("prepare", None, "", command)
    }
}

/// One call.
#[derive(Debug)]
pub(crate) struct Step {
    /// The name among the tool's steps.
    pub(crate) id: &'static str,
    /// What it counts as. What counts as nothing prepares what follows.
    pub(crate) case: Option<Case>,
    /// The call, for people.
    pub(crate) label: &'static str,
    pub(crate) command: Command,
    /// The exit code of success.
    pub(crate) success: i32,
    /// A folder that is deleted before.
    pub(crate) forget: Option<PathBuf>,
    /// A folder that holds the journal afterwards.
    pub(crate) journal: Option<PathBuf>,
}

impl Step {
    pub(crate) fn new(id: &'static str, case: Option<Case>, label: &'static str, command: Command) -> Self {
        Self { id, case, label, command, success: 0, forget: None, journal: None }
    }

    /// Makes a step whose name is its case's.
    pub(crate) fn of(case: Case, label: &'static str, command: Command) -> Self {
        let id = match case {
            Case::List => "list",
            Case::First => "first",
            Case::Plan => "plan",
            Case::Remembered => "remembered",
            Case::Changed => "changed",
            Case::Again => "again",
            Case::AgainRemembered => "again-remembered",
        };
        Self::new(id, Some(case), label, command)
    }

    pub(crate) fn exits_with(mut self, code: i32) -> Self {
        self.success = code;
        self
    }
}
