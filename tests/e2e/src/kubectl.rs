//! The stock kubectl, as somebody who is not Windlass would use it.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::{Bed, Raw};

/// Calls kubectl as one identity.
#[derive(Debug, Clone)]
pub struct Kubectl {
    program: PathBuf,
    kubeconfig: PathBuf,
}

impl Kubectl {
    /// Returns the administrator's kubectl.
    pub fn admin(bed: &Bed) -> Self {
        Self { program: bed.kubectl.clone(), kubeconfig: bed.kubeconfig.clone() }
    }

    /// Returns the kubectl of one of the testbed's identities.
    pub fn identity(bed: &Bed, name: &str) -> Self {
        Self { program: bed.kubectl.clone(), kubeconfig: bed.identity(name) }
    }

    /// Calls kubectl and returns its standard output.
    #[track_caller]
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.attempt(arguments, "");
        assert!(
            output.status.success(),
            "kubectl {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Calls kubectl with a text on standard input, and says how it ended.
    pub fn attempt(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(&self.program)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // kubectl may end without reading.
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        child.wait_with_output().unwrap()
    }

    /// Opens a way to send requests in the server's own words.
    pub fn proxy(&self) -> Raw {
        Raw::start(Command::new(&self.program).arg("--kubeconfig").arg(&self.kubeconfig))
    }

    /// Applies manifests server-side.
    #[track_caller]
    pub fn apply(&self, manifests: &str) {
        self.feed(&["apply", "--server-side", "-f", "-"], manifests);
    }

    /// Calls kubectl with manifests on standard input.
    #[track_caller]
    pub fn feed(&self, arguments: &[&str], manifests: &str) {
        let output = self.attempt(arguments, manifests);
        assert!(
            output.status.success(),
            "kubectl {arguments:?}: {}\n{manifests}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    /// Edits an object as somebody with an editor would; the editor is a sed script.
    #[track_caller]
    pub fn edit(&self, kind: &str, namespace: &str, name: &str, script: &str) {
        let edited = Command::new(&self.program)
            .arg("--kubeconfig")
            .arg(&self.kubeconfig)
            .args(["edit", kind, name, "-n", namespace])
            .env("KUBE_EDITOR", format!("sed -i {script}"))
            .output()
            .unwrap();
        assert!(edited.status.success(), "kubectl edit: {}", String::from_utf8_lossy(&edited.stderr));
    }

    /// Returns objects as JSON, with their managed fields.
    #[track_caller]
    pub fn json(&self, arguments: &[&str]) -> Value {
        let text = self.run(&[&["get", "-o", "json", "--show-managed-fields"], arguments].concat());
        serde_json::from_str(&text).unwrap()
    }

    /// Returns one object, if it exists.
    #[track_caller]
    pub fn get(&self, kind: &str, namespace: &str, name: &str) -> Option<Value> {
        let arguments =
            ["get", "-o", "json", "--show-managed-fields", "--ignore-not-found", "-n", namespace, kind, name];
        let text = self.run(&arguments);
        (!text.trim().is_empty()).then(|| serde_json::from_str(&text).unwrap())
    }

    /// Says whether an object exists and is not being deleted.
    #[track_caller]
    pub fn exists(&self, kind: &str, namespace: &str, name: &str) -> bool {
        self.get(kind, namespace, name)
            .is_some_and(|object| object["metadata"]["deletionTimestamp"].is_null())
    }

    /// Returns one field of an object by JSON pointer; null if either is missing.
    #[track_caller]
    pub fn field(&self, kind: &str, namespace: &str, name: &str, pointer: &str) -> Value {
        self.get(kind, namespace, name)
            .and_then(|object| object.pointer(pointer).cloned())
            .unwrap_or_default()
    }
}
