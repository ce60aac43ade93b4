//! The journal: every event of a run on the agent's disk, every write before it is sent.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use windlass_model::{Clock, Event, Mutation, RunId};

/// One line of a journal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub at: Timestamp,
    /// The number of the line, from 0.
    pub seq: u64,
    /// What.
    #[serde(flatten)]
    pub event: Event,
}

/// An open journal; several threads may append to it.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    clock: Clock,
    writer: Mutex<Writer>,
}

#[derive(Debug)]
struct Writer {
    file: File,
    next: u64,
}

impl Journal {
    /// Creates the journal `RUN.jsonl` in a directory, which is made if it is missing. Only the owner may read
    /// either.
    ///
    /// # Errors
    /// The directory cannot be made, or the journal is there already.
    pub fn create(directory: &Path, run: &RunId, clock: Clock) -> io::Result<Self> {
        make_private(directory)?;
        let path = directory.join(format!("{run}.jsonl"));
        let file = create_private(&path)?;
        // A file whose name is not on disk does not survive either.
        File::open(directory)?.sync_all()?;
        Ok(Self { path, clock, writer: Mutex::new(Writer { file, next: 0 }) })
    }

    /// Returns where the journal is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends an event. Returns for [`Event::Sending`] only once it is on disk: after a power cut the journal
    /// still names every write that the server may have seen.
    pub fn append(&self, event: &Event) -> io::Result<()> {
        let mut writer = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = Entry { at: self.clock.now(), seq: writer.next, event: event.clone() };
        let mut line = serde_json::to_vec(&entry)?;
        line.push(b'\n');
        writer.file.write_all(&line)?;
        writer.next += 1;
        if matches!(event, Event::Sending { .. }) {
            writer.file.sync_data()?;
        }
        Ok(())
    }

    /// Reads a journal. A last line that was cut off while it was written is left out.
    ///
    /// # Errors
    /// The file cannot be read, or a line before the last is no entry.
    pub fn read(path: &Path) -> io::Result<Vec<Entry>> {
        let bytes = std::fs::read(path)?;
        let mut entries = Vec::new();
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate().peekable();
        while let Some((index, line)) = lines.next() {
            match serde_json::from_slice(line) {
                Ok(entry) => entries.push(entry),
                Err(_) if lines.peek().is_none() && !line.ends_with(b"\n") => {}
                Err(error) => {
                    let message = format!("line {}: {error}", index + 1);
                    return Err(io::Error::new(io::ErrorKind::InvalidData, message));
                }
            }
        }
        Ok(entries)
    }
}

/// Returns the writes that were sent and to which no answer is known: a crash came between.
pub fn unanswered(entries: &[Entry]) -> Vec<&Mutation> {
    let mut open: Vec<&Mutation> = Vec::new();
    for entry in entries {
        match &entry.event {
            Event::Sending { mutation } => open.push(mutation),
            Event::Answered { mutation, .. } => {
                if let Some(position) = open.iter().position(|sent| *sent == mutation) {
                    open.remove(position);
                }
            }
            _ => {}
        }
    }
    open
}

#[cfg(unix)]
fn make_private(directory: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(directory)
}

#[cfg(not(unix))]
fn make_private(directory: &Path) -> io::Result<()> {
    std::fs::create_dir_all(directory)
}

#[cfg(unix)]
fn create_private(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt as _;
    OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)
}

#[cfg(not(unix))]
fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use windlass_model::{GroupKind, Level, MutationResult, ObjectRef, Stage, StageOutcome};

    use super::*;

    fn mutation(name: &str) -> Mutation {
        let kind = GroupKind::new("", "ConfigMap");
        let object = ObjectRef { kind, version: "v1".into(), namespace: Some("a".into()), name: name.into() };
        Mutation { verb: "create".into(), object, uid: None }
    }

    fn events() -> Vec<Event> {
        vec![
            Event::StageStarted { stage: Stage::Apply },
            Event::Sending { mutation: mutation("x") },
            Event::Sending { mutation: mutation("y") },
            Event::Answered {
                mutation: mutation("x"),
                result: MutationResult::Failed { message: "no\nreally".into() },
            },
            Event::StageFinished {
                stage: Stage::Apply,
                outcome: StageOutcome::Failed { reason: "x".into() },
                milliseconds: 7,
            },
            Event::Message { level: Level::Warning, text: String::new() },
        ]
    }

    fn journal(directory: &Path) -> Journal {
        let run = RunId::parse("r1").unwrap();
        Journal::create(&directory.join("journals"), &run, Clock::new(|| Timestamp::UNIX_EPOCH)).unwrap()
    }

    fn append_all(journal: &Journal) {
        for event in events() {
            journal.append(&event).unwrap();
        }
    }

    #[test]
    fn a_journal_reads_what_it_writes() {
        let directory = tempfile::tempdir().unwrap();
        let journal = journal(directory.path());
        append_all(&journal);
        let entries = Journal::read(journal.path()).unwrap();
        assert_eq!(entries.iter().map(|entry| entry.event.clone()).collect::<Vec<_>>(), events());
        assert!(entries.iter().map(|entry| entry.seq).eq(0..6));
        assert_eq!(unanswered(&entries), [&mutation("y")]);
    }

    #[test]
    fn a_line_cut_off_by_a_crash_hides_nothing_before_it() {
        let directory = tempfile::tempdir().unwrap();
        let journal = journal(directory.path());
        append_all(&journal);
        let whole = std::fs::read(journal.path()).unwrap();
        for cut in 1..40 {
            std::fs::write(journal.path(), &whole[..whole.len() - cut]).unwrap();
            let read = Journal::read(journal.path()).unwrap().len();
            // Without its line feed the last line is whole, with anything less it is gone.
            assert_eq!(read, if cut == 1 { 6 } else { 5 }, "{cut} bytes cut off");
        }
    }

    #[test]
    fn damage_before_the_end_is_an_error() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("j.jsonl");
        std::fs::write(&path, "{}\n{}\n").unwrap();
        assert_eq!(Journal::read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_reads_a_journal() {
        use std::os::unix::fs::PermissionsExt as _;
        let directory = tempfile::tempdir().unwrap();
        let journal = journal(directory.path());
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(journal.path()), 0o600);
        assert_eq!(mode(journal.path().parent().unwrap()), 0o700);
    }
}
