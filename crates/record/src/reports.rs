//! The report folders of past runs on the agent's disk.

use std::io;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use windlass_model::RunId;

/// How long a folder stays whatever their number: its run may still go on, or have failed and be looked into.
const STAYS: SignedDuration = SignedDuration::from_hours(14 * 24);

/// Removes the report folders of old runs: all but the newest `keep` and those of the last fourteen days. Returns how
/// many.
///
/// Only folders go that are named as a run and hold that run's journal. Everything else below `reports` is somebody
/// else's.
///
/// # Errors
/// The folder cannot be read, or one of those in it cannot be removed: the others are, all the same. One that is not
/// there is empty.
pub fn trim_reports(reports: &Path, keep: usize, now: Timestamp) -> io::Result<usize> {
    let entries = match std::fs::read_dir(reports) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error),
    };
    let mut runs: Vec<(Timestamp, PathBuf)> = Vec::new();
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        let run = name.to_str().and_then(RunId::parse);
        let Some((run, started)) = run.and_then(|run| Some((run.clone(), run.started()?))) else { continue };
        // The type of the entry itself: a link is none of ours.
        if entry.file_type()?.is_dir() && entry.path().join(format!("{run}.jsonl")).is_file() {
            runs.push((started, entry.path()));
        }
    }
    runs.sort_unstable_by(|one, other| other.cmp(one));
    let old = |started: Timestamp| now.duration_since(started) > STAYS;
    let surplus: Vec<PathBuf> =
        runs.into_iter().skip(keep).filter(|(started, _)| old(*started)).map(|(_, path)| path).collect();
    let removed: Vec<io::Result<()>> = surplus.iter().map(std::fs::remove_dir_all).collect();
    removed.into_iter().collect::<io::Result<()>>()?;
    Ok(surplus.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: &str = "2026-06-15T12:00:00Z";

    fn run(reports: &Path, days_ago: i64, suffix: &str) -> String {
        let now: Timestamp = NOW.parse().unwrap();
        let run = RunId::new(now - SignedDuration::from_hours(days_ago * 24), suffix);
        let folder = reports.join(run.as_str());
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join(format!("{run}.jsonl")), "").unwrap();
        std::fs::write(folder.join("plan.json"), "{}").unwrap();
        run.as_str().to_owned()
    }

    fn left(reports: &Path) -> Vec<String> {
        let names = std::fs::read_dir(reports).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn check(days_ago: &[i64], keep: usize, want: &[i64]) {
        let folder = tempfile::tempdir().unwrap();
        let runs: Vec<String> = days_ago.iter().map(|days| run(folder.path(), *days, "abcd")).collect();
        let gone = trim_reports(folder.path(), keep, NOW.parse().unwrap()).unwrap();
        let mut wanted: Vec<String> =
            days_ago.iter().zip(runs).filter(|(days, _)| want.contains(days)).map(|(_, name)| name).collect();
        wanted.sort();
        assert_eq!(left(folder.path()), wanted, "{days_ago:?} {keep}");
        assert_eq!(gone, days_ago.len() - want.len());
    }

    #[test]
    fn the_newest_stay_and_so_does_whatever_is_young() {
        check(&[], 1, &[]);
        check(&[40, 0, 30, 20], 2, &[0, 20]);
        check(&[40, 30, 20], 2, &[20, 30]);
        check(&[40, 14, 13, 1, 0], 1, &[0, 1, 13, 14]);
        check(&[40, 30], 5, &[30, 40]);
        // The clock was wrong once.
        check(&[-400, 40], 1, &[-400]);
    }

    #[test]
    fn what_is_no_run_of_ours_stays() {
        let folder = tempfile::tempdir().unwrap();
        let reports = folder.path();
        let elsewhere = tempfile::tempdir().unwrap();
        let target = run(elsewhere.path(), 100, "abcd");
        std::os::unix::fs::symlink(elsewhere.path().join(&target), reports.join(&target)).unwrap();
        for name in ["notes", "20200101-000000-file", "20200101-000000-none", "20209901-000000-abcd"] {
            std::fs::create_dir(reports.join(name)).unwrap();
        }
        std::fs::write(reports.join("20200101-000000-text"), "").unwrap();
        let before = left(reports);
        assert_eq!(trim_reports(reports, 0, NOW.parse().unwrap()).unwrap(), 0);
        assert_eq!(left(reports), before);
        assert_eq!(left(elsewhere.path()), [target]);
        assert_eq!(trim_reports(&reports.join("absent"), 1, NOW.parse().unwrap()).unwrap(), 0);
    }
}
