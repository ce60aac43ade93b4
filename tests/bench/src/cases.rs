//! What is measured.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::generate::Set;
use crate::measure::{Cost, cost};
use crate::table::Row;

/// One benchmark: where everything is.
pub(crate) struct Bench {
    pub(crate) objects: usize,
    pub(crate) bed: PathBuf,
    pub(crate) windlass: PathBuf,
    pub(crate) kubectl: PathBuf,
    pub(crate) work: PathBuf,
}

/// Controllers write what follows from an apply; a measurement starts when they are done.
const QUIET: Duration = Duration::from_secs(8);

impl Bench {
    /// Measures everything. Each tool has objects of its own, of the same kinds and sizes.
    pub(crate) fn run(&self) -> io::Result<Vec<Row>> {
        fs::create_dir_all(&self.work)?;
        let (ours, theirs) = (self.set("w", 0)?, self.set("k", 0)?);
        let (ours_changed, theirs_changed) =
            (self.set("w", self.objects / 100)?, self.set("k", self.objects / 100)?);
        self.write_settings()?;
        let mut rows = Vec::new();
        let mut add =
            |case, tool, cost: io::Result<Cost>| cost.map(|cost| rows.push(Row { case, tool, cost }));
        add("apply, first", "kubectl apply", self.kubectl("apply", &theirs))?;
        add("apply, first", "windlass run", self.windlass_run(&ours))?;
        thread::sleep(QUIET);
        add("plan, nothing changed", "kubectl diff", self.kubectl("diff", &theirs))?;
        add(
            "plan, nothing changed, nothing remembered",
            "windlass plan",
            self.windlass_plan(&ours, &["--no-memo"]),
        )?;
        // Once to remember.
        self.windlass_plan(&ours, &[])?;
        add("plan, nothing changed, remembered", "windlass plan", self.windlass_plan(&ours, &[]))?;
        add("plan, 1 % changed", "kubectl diff", self.kubectl("diff", &theirs_changed))?;
        add("plan, 1 % changed", "windlass plan", self.windlass_plan(&ours_changed, &[]))?;
        add("apply again, nothing changed", "kubectl apply", self.kubectl("apply", &theirs))?;
        self.windlass_run(&ours)?;
        add("apply again, nothing changed", "windlass run", self.windlass_run(&ours))?;
        Ok(rows)
    }

    fn set(&self, prefix: &str, changed: usize) -> io::Result<PathBuf> {
        let folder = self.work.join(format!("{prefix}-{changed}"));
        Set { prefix, objects: self.objects, changed }.write(&folder)?;
        Ok(folder)
    }

    /// Namespaces come first in every file, so one pass is enough.
    fn kubectl(&self, verb: &str, set: &Path) -> io::Result<Cost> {
        let mut command = Command::new(&self.kubectl);
        command.arg("--kubeconfig").arg(self.bed.join("kubeconfig"));
        command.args([verb, "--server-side", "--filename"]).arg(set.join("objects"));
        self.measured(&mut command, "kubectl", &[0, i32::from(verb == "diff")])
    }

    fn windlass_plan(&self, set: &Path, arguments: &[&str]) -> io::Result<Cost> {
        let mut command = self.windlass();
        command.arg("plan").arg(set.join("objects"));
        command
            .arg("--kubeconfig")
            .arg(self.bed.join("kubeconfig"))
            .args(["--context", "testbed"])
            .args(arguments);
        self.measured(&mut command, "windlass/", &[0])
    }

    fn windlass_run(&self, set: &Path) -> io::Result<Cost> {
        let mut command = self.windlass();
        command.args(["run", "--env"]).arg(self.settings()).arg("--dir").arg(set);
        self.measured(&mut command, "windlass/", &[0])
    }

    fn windlass(&self) -> Command {
        let mut command = Command::new(&self.windlass);
        command.env("WINDLASS_CACHE", self.work.join("cache"));
        command
    }

    fn measured(&self, command: &mut Command, agent: &str, expected: &[i32]) -> io::Result<Cost> {
        let output = self.work.join("output.txt");
        let cost = cost(command, &output, &self.bed, agent)?;
        if cost.code.is_some_and(|code| expected.contains(&code)) {
            return Ok(cost);
        }
        let text = fs::read_to_string(&output)?;
        let start = text.char_indices().rev().nth(2000).map_or(0, |(start, _)| start);
        let end = text.get(start..).unwrap_or_default();
        Err(io::Error::other(format!("{command:?} ended with {:?}: {end}", cost.code)))
    }

    fn settings(&self) -> PathBuf {
        self.work.join("environment.yaml")
    }

    fn write_settings(&self) -> io::Result<()> {
        let settings = json!({
            "environment": "bench",
            "cluster": {"kubeconfig": self.bed.join("kubeconfig"), "context": "testbed"},
            "source": {"repository": "file:///none", "branch": "main", "unsigned": "allowed"},
            "policies": {"none": "a benchmark"},
            "approval": {"required": "never"},
            "record": {"reports": self.work.join("reports")},
        });
        fs::write(self.settings(), settings.to_string())
    }
}
