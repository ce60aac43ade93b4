//! The running control plane, as `scripts/test.sh` hands it over.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::Kubectl;

/// The running control plane and the programs under test.
#[derive(Debug)]
pub struct Bed {
    /// The testbed's folder: kubeconfig, identities, audit log, certificate authority.
    pub folder: PathBuf,
    /// The administrator's kubeconfig.
    pub kubeconfig: PathBuf,
    /// The `windlass` binary.
    pub binary: PathBuf,
    /// The server of Git repositories.
    pub githost: PathBuf,
    /// The stock kubectl.
    pub kubectl: PathBuf,
    /// The search path for the binary: kubectl's folder, then the surrounding one.
    pub path: String,
}

impl Bed {
    /// Returns the control plane that the environment names; the first call makes the storage class.
    pub fn get() -> &'static Self {
        static BED: OnceLock<Bed> = OnceLock::new();
        BED.get_or_init(|| {
            let bed = Self::read();
            Kubectl::admin(&bed).apply(STORAGE_CLASS);
            bed
        })
    }

    fn read() -> Self {
        let kubectl = given("WINDLASS_TEST_KUBECTL");
        let beside = kubectl.parent().unwrap_or(Path::new("/")).display();
        let path = format!("{beside}:{}", given("PATH").display());
        Self {
            folder: given("WINDLASS_TEST_BED"),
            kubeconfig: given("WINDLASS_TEST_KUBECONFIG"),
            binary: given("WINDLASS_TEST_BINARY"),
            githost: given("WINDLASS_TEST_GITHOST"),
            kubectl,
            path,
        }
    }

    /// Returns the kubeconfig of one of the testbed's identities, such as `windlass-run`.
    pub fn identity(&self, name: &str) -> PathBuf {
        self.folder.join("identities").join(format!("{name}.kubeconfig"))
    }

    /// Makes a new identity that signs in by a certificate; returns its kubeconfig.
    pub fn new_identity(&self, name: &str, groups: &[&str]) -> PathBuf {
        let mut testbed = std::process::Command::new(given("WINDLASS_TEST_TESTBED"));
        testbed.arg("identity").arg(&self.folder).arg(name);
        for group in groups {
            testbed.args(["--group", group]);
        }
        let output = testbed.output().unwrap();
        assert!(output.status.success(), "testbed identity: {}", String::from_utf8_lossy(&output.stderr));
        self.identity(name)
    }

    /// Returns the API server's audit log.
    pub fn audit_log(&self) -> PathBuf {
        self.folder.join("audit.log")
    }

    /// Returns the certificate that signed the certificates of TLS load balancers, as PEM.
    pub fn ca(&self) -> String {
        std::fs::read_to_string(self.folder.join("pki/ca.crt")).unwrap()
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "scripts/test.sh hands the control plane over in the environment"
)]
fn given(name: &str) -> PathBuf {
    let Some(value) = std::env::var_os(name) else {
        panic!("{name} is not set: these tests need a running control plane, start them through `make test`")
    };
    value.into()
}

/// For the claims of the tests: deleting a claim frees its volume.
const STORAGE_CLASS: &str = "\
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: windlass-e2e}
provisioner: kubernetes.io/host-path
allowVolumeExpansion: true
volumeBindingMode: WaitForFirstConsumer
";
