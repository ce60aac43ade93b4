//! A call of the binary that is still running.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::Outcome;

/// A call of the binary that is still running.
#[derive(Debug)]
pub struct Process {
    child: Child,
    command: String,
    streams: TempDir,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts a command; its streams go to files, so that it never waits for a reader.
    pub(crate) fn start(command: &mut Command) -> Self {
        let streams = tempfile::tempdir().unwrap();
        let stream = |name: &str| File::create(streams.path().join(name)).unwrap();
        let child = command.stdin(Stdio::null()).stdout(stream("out")).stderr(stream("err")).spawn();
        let child =
            child.unwrap_or_else(|error| panic!("{command:?}: {error}; is WINDLASS_TEST_BINARY built?"));
        let words: Vec<String> =
            command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        Self { child, command: format!("windlass {}", words.join(" ")), streams, ended: None }
    }

    /// Sends a signal, by its name without `SIG`.
    #[track_caller]
    pub fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success(), "kill -{name}: the process has ended\n{}", self.so_far());
    }

    /// Says whether the process still runs.
    pub fn runs(&mut self) -> bool {
        self.ended = self.ended.or(self.child.try_wait().unwrap());
        self.ended.is_none()
    }

    /// Waits for the end, and returns with it how large the process became, in KiB.
    pub fn wait_and_measure(mut self) -> (Outcome, u64) {
        let mut peak = 0;
        while self.runs() {
            peak = peak.max(self.peak().unwrap_or_default());
            std::thread::sleep(Duration::from_millis(2));
        }
        (self.wait(), peak)
    }

    /// Returns the largest size so far, in KiB.
    fn peak(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    }

    /// Returns what was written so far.
    pub fn so_far(&self) -> String {
        format!("{}{}", self.read("out"), self.read("err"))
    }

    /// Waits for the end.
    pub fn wait(mut self) -> Outcome {
        let status = match self.ended {
            Some(status) => status,
            None => self.child.wait().unwrap(),
        };
        self.ended = Some(status);
        Outcome {
            command: self.command.clone(),
            code: status.code().unwrap_or_else(|| -status.signal().unwrap_or_default()),
            stdout: self.read("out"),
            stderr: self.read("err"),
        }
    }

    fn read(&self, stream: &str) -> String {
        let path: PathBuf = self.streams.path().join(stream);
        String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned()
    }
}

impl Drop for Process {
    /// A test that failed leaves nothing running.
    fn drop(&mut self) {
        if self.runs() {
            self.child.kill().ok();
            self.child.wait().ok();
        }
    }
}
