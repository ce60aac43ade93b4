//! What a program asked the API server, counted from the audit log.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use serde_json::Value;

/// A place in the audit log.
#[derive(Debug)]
pub(crate) struct Mark {
    log: PathBuf,
    from: u64,
}

impl Mark {
    /// Marks the end of a control plane's log.
    pub(crate) fn new(bed: &Path) -> io::Result<Self> {
        let log = bed.join("audit.log");
        let from = log.metadata()?.len();
        Ok(Self { log, from })
    }

    /// Counts the requests since then whose user agent begins with `agent`, by verb; dry-runs are a verb of their own.
    pub(crate) fn requests(&self, agent: &str) -> io::Result<BTreeMap<String, usize>> {
        let mut file = File::open(&self.log)?;
        file.seek(SeekFrom::Start(self.from))?;
        let mut counts = BTreeMap::new();
        for line in BufReader::new(file).lines() {
            // The last line may still be being written.
            let Ok(event) = serde_json::from_str::<Value>(&line?) else { continue };
            let text = |field: &str| event[field].as_str().unwrap_or_default();
            if text("stage") == "ResponseComplete" && text("userAgent").starts_with(agent) {
                let dry_run = text("requestURI").contains("dryRun=All");
                let verb = if dry_run { "dry-run" } else { text("verb") };
                *counts.entry(verb.to_owned()).or_default() += 1;
            }
        }
        Ok(counts)
    }
}
