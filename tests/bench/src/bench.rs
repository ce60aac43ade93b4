//! One benchmark: every tool does every case, on a control plane of its own.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::case::Case;
use crate::results::Results;
use crate::set::{Folder, Set};
use crate::tools::Tool;
use crate::turn::Turn;

/// What is measured, with what, for how long.
#[derive(Debug)]
pub(crate) struct Bench {
    pub(crate) objects: usize,
    pub(crate) tools: Vec<Tool>,
    pub(crate) cases: Vec<Case>,
    /// `TOOL/STEP` that are known to take long.
    pub(crate) skip: Vec<String>,
    /// How often each call is repeated, but the first apply; the one in the middle counts.
    pub(crate) repeat: usize,
    /// When nothing more is started, and what runs is stopped.
    pub(crate) deadline: Instant,
    /// The folder of the binaries, named as the tools; `NAME.failed` says why one is missing.
    pub(crate) programs: PathBuf,
    /// The program of the control plane.
    pub(crate) testbed: PathBuf,
    /// Windlass' own roles and bindings.
    pub(crate) rights: PathBuf,
    /// A folder for sets, settings and output.
    pub(crate) work: PathBuf,
}

/// The set, unchanged and with one object in a hundred changed.
#[derive(Debug)]
pub(crate) struct Sets {
    /// How many objects each holds, namespaces and all.
    pub(crate) size: usize,
    pub(crate) plain: Folder,
    pub(crate) changed: Folder,
}

impl Bench {
    /// Measures what the results lack. What a tool cannot do becomes a row, and the others go on.
    pub(crate) fn run(&self, results: &mut Results, tell: fn(&str)) -> io::Result<()> {
        let sets = self.sets()?;
        for tool in &self.tools {
            Turn { bench: self, sets: &sets, results: &mut *results, tell, tool: *tool }.take()?;
        }
        Ok(())
    }

    fn sets(&self) -> io::Result<Sets> {
        fs::create_dir_all(&self.work)?;
        let plain = Set { objects: self.objects, changed: 0 };
        let changed = Set { changed: (self.objects / 100).max(1), ..plain };
        let size = plain.len();
        Ok(Sets {
            size,
            plain: plain.write(&self.work.join(format!("set-{size}")))?,
            changed: changed.write(&self.work.join(format!("set-{size}-changed")))?,
        })
    }

    /// Returns how much time is left.
    pub(crate) fn left(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }
}
