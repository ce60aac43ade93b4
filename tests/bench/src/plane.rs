//! A control plane of its own for each tool: nobody is measured on what another one left behind.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::ticks;

/// A running control plane; it ends, and its data goes, with the value.
#[derive(Debug)]
pub(crate) struct ControlPlane {
    testbed: PathBuf,
    folder: PathBuf,
    server: Vec<u64>,
}

/// Controllers write what follows from an apply. This long they are waited for, at most.
const LONGEST_SETTLE: usize = 60;

impl ControlPlane {
    /// Starts one in a folder that is replaced.
    pub(crate) fn start(testbed: &Path, folder: PathBuf) -> io::Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        let mut up = Command::new(testbed);
        up.arg("up").arg(&folder).args(["--watch-pid", &std::process::id().to_string()]);
        let mut plane = Self { testbed: testbed.to_path_buf(), folder, server: Vec::new() };
        let output = up.output()?;
        if !output.status.success() {
            return Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let state: Value = serde_json::from_slice(&fs::read(plane.folder.join("state.json"))?)?;
        let pids = ["apiserver", "etcd"].map(|role| state["processes"][role]["pid"].as_u64());
        plane.server = pids.into_iter().flatten().collect();
        plane.settle()?;
        Ok(plane)
    }

    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    /// Returns the processor time of the API server and its store.
    pub(crate) fn processor(&self) -> io::Result<Duration> {
        self.server.iter().map(|pid| ticks::of_process(*pid)).sum()
    }

    /// Waits until the server has had next to nothing to do for two seconds.
    pub(crate) fn settle(&self) -> io::Result<()> {
        let mut quiet = 0;
        for _ in 0..LONGEST_SETTLE {
            let before = self.processor()?;
            thread::sleep(Duration::from_secs(1));
            let busy = self.processor()?.saturating_sub(before) > Duration::from_millis(150);
            quiet = if busy { 0 } else { quiet + 1 };
            if quiet == 2 {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        let mut down = Command::new(&self.testbed);
        down.arg("down").arg(&self.folder).stdout(Stdio::null()).status().ok();
        fs::remove_dir_all(&self.folder).ok();
    }
}
