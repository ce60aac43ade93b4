//! How long Windlass says that it applied: the rest of a run plans, waits and records.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Reads from the newest journal of a folder how many seconds the apply stage took.
pub(crate) fn applying(folder: &Path) -> io::Result<Option<f64>> {
    let mut journals: Vec<PathBuf> =
        fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    journals.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    journals.sort();
    let Some(journal) = journals.last() else { return Ok(None) };
    Ok(stage_seconds(&fs::read_to_string(journal)?, "apply"))
}

fn stage_seconds(journal: &str, stage: &str) -> Option<f64> {
    let mut events = journal.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let event = events.find(|event| event["event"] == "stageFinished" && event["stage"] == stage)?;
    event["milliseconds"].as_f64().map(|milliseconds| milliseconds / 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_tells_how_long_the_apply_took() {
        let journal = r#"
{"at":"2026-01-01T00:00:00Z","seq":0,"event":"stageFinished","stage":"plan","outcome":"passed","milliseconds":900}
{"at":"2026-01-01T00:00:00Z","seq":1,"event":"stageFinished","stage":"apply","outcome":"passed","milliseconds":2500}
{"at":"2026-01-01T00:00:00Z","se"#;
        assert_eq!(stage_seconds(journal, "apply"), Some(2.5));
        assert_eq!(stage_seconds(journal, "prune"), None);
    }
}
