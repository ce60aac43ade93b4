//! Runs `git fetch`, and nothing else of Git.

use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::NamedTempFile;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

use crate::address::{Address, without_userinfo};
use crate::cache::Cache;
use crate::error::{FetchProblem, SourceError};
use crate::refusal::Refusal;
use crate::request::Request;

/// What of the caller's environment reaches `git`.
const PASSED_ON: [&str; 19] = [
    "PATH",
    "HOME",
    "TMPDIR",
    "SSH_AUTH_SOCK",
    "SSH_ASKPASS",
    "GIT_SSH_COMMAND",
    "GIT_ASKPASS",
    "HTTPS_PROXY",
    "https_proxy",
    "ALL_PROXY",
    "all_proxy",
    "NO_PROXY",
    "no_proxy",
    "GIT_SSL_CAINFO",
    "GIT_SSL_CAPATH",
    "GIT_SSL_CERT",
    "GIT_SSL_KEY",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
];

/// Settings of every call. Old histories hold commits with irregular people and folders with padded modes;
/// what is delivered is read strictly anyway, so these do not stop a fetch.
const SETTINGS: [&str; 17] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "credential.helper=",
    "fetch.fsckObjects=true",
    "transfer.fsckObjects=true",
    "fetch.fsck.zeroPaddedFilemode=ignore",
    "fetch.fsck.badTimezone=ignore",
    "fetch.fsck.missingEmail=ignore",
    "fetch.fsck.missingSpaceBeforeEmail=ignore",
    "fetch.unpackLimit=1",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "fetch.bundleURI=",
    "transfer.bundleURI=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "http.followRedirects=false",
];

/// How much of what `git` says is kept.
const MAX_STDERR: usize = 16 * 1024;
const MAX_MESSAGE: usize = 600;

/// Fetches the branch into the private copy.
pub(crate) async fn fetch(
    request: &Request<'_>,
    address: &Address,
    cache: &Cache,
) -> Result<(), SourceError> {
    let trusted = trusted_source(address)?;
    let mut command = command(request, address, cache, trusted.as_ref().map(NamedTempFile::path));
    // The lock as standard input: should this process be killed, the copy stays locked until git ends.
    command.stdin(Stdio::from(cache.lock_handle()?)).stdout(Stdio::null()).stderr(Stdio::piped());
    let fail = |problem| SourceError::Fetch { repository: address.to_string(), problem };
    let child = command.process_group(0).kill_on_drop(true).spawn().map_err(|error| {
        fail(FetchProblem::NoGit { program: request.git.display().to_string(), problem: error.to_string() })
    })?;
    let mut group = Group::of(child);
    let seconds = request.fetch_timeout.as_secs();
    match tokio::time::timeout(request.fetch_timeout, group.finish()).await {
        Err(_) => Err(fail(FetchProblem::Timeout { seconds })),
        Ok(Err(error)) => Err(fail(FetchProblem::Git(error.to_string()))),
        Ok(Ok(Ended { success: true, .. })) => Ok(()),
        Ok(Ok(Ended { stderr, .. })) => Err(explain(request, address, &stderr)),
    }
}

fn command(request: &Request<'_>, address: &Address, cache: &Cache, config: Option<&Path>) -> Command {
    let mut command = Command::new(request.git);
    command.env_clear().envs(request.environment.iter().filter(|(name, _)| is_passed_on(name)).cloned());
    command
        .env("GIT_DIR", cache.repository())
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", config.unwrap_or(Path::new("/dev/null")))
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_ALLOW_PROTOCOL", address.scheme().name())
        .env("LC_ALL", "C")
        .current_dir(cache.repository());
    if !request.environment.iter().any(|(name, _)| name == "GIT_SSH_COMMAND") {
        command.env("GIT_SSH_COMMAND", "ssh -o BatchMode=yes -o StrictHostKeyChecking=yes");
    }
    for setting in SETTINGS {
        command.args(["-c", setting]);
    }
    command.args(["fetch", "--quiet", "--no-progress", "--no-tags", "--no-write-fetch-head"]);
    command.args(["--no-recurse-submodules", "--no-auto-maintenance", "--"]);
    command.arg(address.for_git());
    command.arg(format!("+refs/heads/{}:refs/windlass/tip", request.branch));
    command
}

fn is_passed_on(name: &OsString) -> bool {
    PASSED_ON.iter().any(|passed| name == passed)
}

/// Writes a configuration file that lets `git` read this one local repository whoever owns it.
///
/// The environment file names the repository, which is the consent that `safe.directory` asks for. Git
/// honours the setting neither from the command line nor from the environment here, because it removes both
/// for the process that serves a local repository; a global configuration file reaches it.
fn trusted_source(address: &Address) -> Result<Option<NamedTempFile>, SourceError> {
    let Some(path) = address.file_path() else { return Ok(None) };
    let fail = |error: std::io::Error| SourceError::cache(Path::new(path), &error);
    let mut text = String::from("[safe]\n");
    let real = std::fs::canonicalize(path).ok().and_then(|real| real.to_str().map(str::to_owned));
    for base in [Some(path.trim_end_matches('/').to_owned()), real].into_iter().flatten() {
        for end in ["", "/.git", ".git", ".git/.git"] {
            let quoted = format!("{base}{end}").replace('\\', "\\\\").replace('"', "\\\"");
            text.push_str("\tdirectory = \"");
            text.push_str(&quoted);
            text.push_str("\"\n");
        }
    }
    let mut file = NamedTempFile::with_prefix("windlass-git-").map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    Ok(Some(file))
}

struct Ended {
    success: bool,
    stderr: String,
}

/// A child and all processes it started. Whatever still runs when this is dropped is killed: `git` starts
/// helpers that would outlive it.
struct Group {
    child: Child,
    leader: Option<Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        let leader = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        Self { child, leader }
    }

    async fn finish(&mut self) -> std::io::Result<Ended> {
        let stderr = match self.child.stderr.take() {
            Some(pipe) => read_end(pipe).await?,
            None => String::new(),
        };
        let status = self.child.wait().await?;
        self.leader = None;
        Ok(Ended { success: status.success(), stderr })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            // It may have ended just now; then there is nothing to kill.
            let _ended = kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Reads everything and keeps the end.
async fn read_end(mut pipe: impl AsyncRead + Unpin) -> std::io::Result<String> {
    let (mut kept, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        let count = pipe.read(&mut buffer).await?;
        if count == 0 {
            return Ok(String::from_utf8_lossy(&kept).into_owned());
        }
        kept.extend_from_slice(&buffer[..count]);
        if kept.len() > 2 * MAX_STDERR {
            kept.drain(..kept.len() - MAX_STDERR);
        }
    }
}

/// Tells refusals and bad input from a repository that was not reached.
fn explain(request: &Request<'_>, address: &Address, stderr: &str) -> SourceError {
    let repository = address.to_string();
    let lower = stderr.to_ascii_lowercase();
    if lower.contains("couldn't find remote ref") {
        return SourceError::NoSuchBranch { repository, branch: request.branch.to_owned() };
    }
    if lower.contains("mismatched algorithms") {
        return Refusal::ObjectFormat.into();
    }
    let problem = readable(stderr);
    if lower.contains("fsck error") || lower.contains("error in object") {
        return Refusal::BadObjects { problem }.into();
    }
    SourceError::Fetch { repository, problem: FetchProblem::Git(problem) }
}

/// Returns what `git` says without credentials, control characters and advice, in one line.
fn readable(stderr: &str) -> String {
    let advice =
        |line: &&str| !line.is_empty() && !line.starts_with("hint:") && !line.starts_with("Please make sure");
    let lines: Vec<&str> = stderr.lines().map(str::trim).filter(advice).take(6).collect();
    let plain: String =
        without_userinfo(&lines.join("; ")).chars().filter(|c| !c.is_control()).take(MAX_MESSAGE).collect();
    if plain.is_empty() { "nothing".to_owned() } else { plain }
}

/// Waits until the lock file is ours.
pub(crate) async fn wait_for_lock(lock: &std::fs::File, limit: Duration) -> Result<bool, std::io::Error> {
    let step = Duration::from_millis(100);
    let mut waited = Duration::ZERO;
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(true),
            Err(std::fs::TryLockError::WouldBlock) if waited < limit => {
                tokio::time::sleep(step).await;
                waited += step;
            }
            Err(std::fs::TryLockError::WouldBlock) => return Ok(false),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}
