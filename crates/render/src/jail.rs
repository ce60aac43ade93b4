//! The jail in which a renderer runs: no network, no environment, no files but the tree.
//!
//! `kubectl kustomize` follows directories out of the checkout, fetches remote bases and expands aliases without
//! end (measured), so it gets a file system that holds the tree and the binary, and limits.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, Command};
use windlass_model::SourceTree;

use crate::Limits;

/// What rendering may use of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// A `kubectl` or `kustomize` binary, as a path. `None`: units with a kustomization are refused.
    pub kustomize: Option<PathBuf>,
    /// How strictly the binary is locked up.
    pub jail: Jail,
}

/// How strictly the renderer is locked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jail {
    /// Without a jail nothing is rendered.
    #[default]
    Required,
    /// Where no jail can be made, the renderer runs without one, and a warning says so.
    BestEffort,
}

/// How a process is locked up, the best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walls {
    /// bubblewrap: only the tree and the binary exist.
    Bubblewrap,
    /// bubblewrap with the system's libraries, for a binary that is linked to them.
    BubblewrapWithLibraries,
    /// util-linux: own network, changed root.
    Unshare,
    /// None.
    Open,
}

/// Why a process gave no output.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RunError {
    #[error("cannot be started: {0}")]
    Start(String),
    #[error("did not end within {0:?}")]
    Time(std::time::Duration),
    #[error("wrote more than {0} bytes")]
    Output(usize),
    #[error("{0}")]
    Failed(String),
}

/// What a process wrote.
#[derive(Debug)]
pub(crate) struct Output {
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// A private folder with a tree and a renderer in it.
pub(crate) struct Cell {
    folder: TempDir,
    binary: PathBuf,
    /// The name by which the binary was called; it may decide what the binary does.
    name: OsString,
    pub(crate) walls: Walls,
    limits: Limits,
}

/// Programs of the system are looked for where distributions put them, not in `PATH`.
pub(crate) fn system(program: &str) -> Option<PathBuf> {
    ["/usr/bin", "/bin", "/usr/sbin", "/usr/local/bin"]
        .iter()
        .map(|dir| Path::new(dir).join(program))
        .find(|p| p.exists())
}

impl Cell {
    /// Writes the tree into a fresh folder that only its owner can enter.
    pub(crate) fn new(tree: &SourceTree, binary: &Path, limits: &Limits) -> std::io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("windlass-").tempdir()?;
        for directory in ["tree", "bin", "tmp"] {
            fs::create_dir(folder.path().join(directory))?;
        }
        for (path, file) in tree.files() {
            let target = folder.path().join("tree").join(path);
            if let Some(parent) = target.parent() {
                fs::create_dir_all(parent)?;
            }
            fs::write(target, &file.bytes)?;
        }
        let name = binary.file_name().unwrap_or_default().to_owned();
        let binary = fs::canonicalize(binary)?;
        Ok(Self { folder, binary, name, walls: Walls::Open, limits: *limits })
    }

    /// Runs the binary inside the walls, with `directory` of the tree as its working directory.
    pub(crate) async fn run(&self, directory: &str, arguments: &[&str]) -> Result<Output, RunError> {
        let mut command = self.command(directory).map_err(|error| RunError::Start(error.to_string()))?;
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| RunError::Start(error.to_string()))?;
        let ended = tokio::time::timeout(self.limits.time, gather(&mut child, self.limits.output)).await;
        let result = ended.unwrap_or(Err(RunError::Time(self.limits.time)));
        if result.is_err() {
            kill(&mut child).await;
        }
        result
    }

    fn command(&self, directory: &str) -> std::io::Result<Command> {
        let inside = Path::new("/bin").join(&self.name);
        let tree = self.folder.path().join("tree");
        let mut command = self.limited(match self.walls {
            Walls::Bubblewrap | Walls::BubblewrapWithLibraries => "bwrap",
            Walls::Unshare => "unshare",
            Walls::Open => "",
        });
        command.env_clear().env("HOME", "/nonexistent").env("PATH", "/nonexistent").env("TMPDIR", "/tmp");
        match self.walls {
            Walls::Bubblewrap | Walls::BubblewrapWithLibraries => {
                command.args(["--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
                command.arg("--ro-bind").arg(&tree).arg("/tree");
                command.arg("--ro-bind").arg(&self.binary).arg(&inside);
                if self.walls == Walls::BubblewrapWithLibraries {
                    for directory in ["/usr", "/lib", "/lib64"] {
                        command.args(["--ro-bind-try", directory, directory]);
                    }
                }
                command.args([
                    "--size",
                    "67108864",
                    "--tmpfs",
                    "/tmp",
                    "--dev-bind-try",
                    "/dev/null",
                    "/dev/null",
                ]);
                command.arg("--chdir").arg(Path::new("/tree").join(directory)).arg("--").arg(inside);
            }
            Walls::Unshare => {
                let copy = self.folder.path().join("bin").join(&self.name);
                if !copy.exists() {
                    fs::hard_link(&self.binary, &copy)
                        .or_else(|_| fs::copy(&self.binary, &copy).map(drop))?;
                }
                let mut root = OsString::from("--root=");
                root.push(self.folder.path());
                command.args(["--user", "--map-root-user", "--net", "--ipc"]).arg(root);
                command.arg(format!("--wd=/tree/{directory}")).arg("--").arg(inside);
            }
            Walls::Open => {
                command.env("TMPDIR", self.folder.path().join("tmp")).current_dir(tree.join(directory));
                command.arg0(&self.name);
            }
        }
        Ok(command)
    }

    /// Returns a command for a system program, or for the binary itself, behind limits of memory and CPU time.
    fn limited(&self, program: &str) -> Command {
        let target = if program.is_empty() { Some(self.binary.clone()) } else { system(program) };
        let target = target.unwrap_or_else(|| PathBuf::from("/nonexistent"));
        let Some(prlimit) = system("prlimit").filter(|_| self.walls != Walls::Open) else {
            return Command::new(target);
        };
        let mut command = Command::new(prlimit);
        command.arg(format!("--as={}", self.limits.memory)).arg("--core=0");
        command.arg(format!("--cpu={}", self.limits.time.as_secs().saturating_mul(4).saturating_add(4)));
        command.arg("--").arg(target);
        command
    }
}

async fn gather(child: &mut Child, limit: usize) -> Result<Output, RunError> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let cap = limit as u64 + 1;
    let (stdout, stderr) = tokio::try_join!(
        async {
            let bytes = read(stdout, cap).await?;
            if bytes.len() > limit { Err(RunError::Output(limit)) } else { Ok(bytes) }
        },
        async { read(stderr, 1 << 20).await },
    )?;
    let status = child.wait().await.map_err(|error| RunError::Failed(error.to_string()))?;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    if status.success() {
        Ok(Output { stdout, stderr })
    } else {
        Err(RunError::Failed(first_line(&stderr, status)))
    }
}

async fn read(pipe: Option<impl AsyncRead + Unpin>, cap: u64) -> Result<Vec<u8>, RunError> {
    let mut bytes = Vec::new();
    if let Some(pipe) = pipe {
        pipe.take(cap).read_to_end(&mut bytes).await.map_err(|error| RunError::Failed(error.to_string()))?;
    }
    Ok(bytes)
}

/// Kills the process with everything it started.
async fn kill(child: &mut Child) {
    let group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(rustix::process::Pid::from_raw);
    if let Some(group) = group {
        // Fails only when the group is gone already.
        let _gone = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _status = child.wait().await;
}

/// Returns one line of what a failed process said, cut where a printed object, and so a Secret, could begin.
fn first_line(stderr: &str, status: std::process::ExitStatus) -> String {
    let lines = || stderr.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let error = |line: &&str| line.to_ascii_lowercase().starts_with("error:");
    let Some(line) = lines().find(error).or_else(|| lines().next()) else {
        return format!("ended with {status}");
    };
    let line = line.trim_start_matches("error: ").trim_start_matches("Error: ");
    // Of a generator's values kustomize repeats all when one is wrong.
    if line.contains("KV pairs") || line.contains("literal source") || line.contains("env source") {
        return "the values of a generator cannot be read; its words are withheld, since they repeat values: check \
                `literals`, `envs` and `files` of every configMapGenerator and secretGenerator"
            .to_owned();
    }
    let end =
        ["map[", "{\"", "&{", "{map"].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    line[..end].chars().take(600).collect()
}

#[cfg(test)]
#[path = "jail_tests.rs"]
mod tests;
