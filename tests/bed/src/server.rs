//! The shared testbed, which the test runner names by the environment.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use windlass_cluster::{Cluster, Target};

/// How long a request of a test usually may take.
pub const SOON: Duration = Duration::from_mins(1);

/// Returns what the test runner says, if it says anything.
#[expect(clippy::disallowed_methods, reason = "the test runner names the testbed by the environment")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn demanded(name: &str) -> String {
    variable(name).unwrap_or_else(|| panic!("{name} is not set: start the tests through `make test`"))
}

/// Returns the administrator's kubeconfig; the testbed's other files lie beside it.
pub fn kubeconfig() -> PathBuf {
    demanded("WINDLASS_TEST_KUBECONFIG").into()
}

/// Connects by a kubeconfig of the testbed. `agent` is what the audit log shows, `timeout` how long a request may take.
pub async fn connect(kubeconfig: &Path, agent: &str, timeout: Duration) -> Cluster {
    rustls::crypto::ring::default_provider().install_default().ok();
    let target = Target {
        kubeconfig: kubeconfig.to_owned(),
        context: "testbed".to_owned(),
        proxy: None,
        user_agent: agent.to_owned(),
        request_timeout: timeout,
        concurrency: 8,
    };
    Cluster::connect(&target).await.unwrap()
}

/// Runs the stock kubectl, ApplySets switched on, and gives it this input. Returns what it printed, or what it said when
/// it failed.
pub fn kubectl(kubeconfig: &Path, arguments: &[&str], input: &str) -> Result<String, String> {
    let mut child = Command::new(demanded("WINDLASS_TEST_KUBECTL"))
        .arg("--kubeconfig")
        .arg(kubeconfig)
        .args(["--context", "testbed"])
        .args(arguments)
        .env("KUBECTL_APPLYSET", "true")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("kubectl runs");
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(String::from_utf8(output.stdout).unwrap()) } else { Err(said) }
}

/// Runs a line of a POSIX shell in which `kubectl` is the stock one with this kubeconfig. Returns what it printed, or what
/// it said when it failed.
pub fn shell(kubeconfig: &Path, line: &str) -> Result<String, String> {
    let script = format!(
        "set -e; kubectl() {{ \"$PROGRAM\" --kubeconfig \"$CONFIG\" --context testbed \"$@\"; }}; {line}"
    );
    let output = Command::new("sh")
        .args(["-c", &script])
        .env("PROGRAM", demanded("WINDLASS_TEST_KUBECTL"))
        .env("CONFIG", kubeconfig)
        .stdin(Stdio::null())
        .output()
        .expect("a shell runs");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() { Ok(String::from_utf8(output.stdout).unwrap()) } else { Err(said) }
}
