//! A server that serves repositories as a forge does.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;

use crate::Bed;

/// The running `tests/githost`; it ends with this value.
#[derive(Debug)]
pub struct GitHost {
    /// The address over HTTPS, without a path.
    pub https: String,
    /// The address over SSH, without a path.
    pub ssh: String,
    keys: TempDir,
    child: Child,
}

impl GitHost {
    /// Serves the repositories below a folder.
    pub fn start(root: &Path) -> Self {
        let keys = tempfile::tempdir().unwrap();
        let mut command = Command::new(&Bed::get().githost);
        let mut child =
            command.args([root, keys.path()]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut addresses = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = || addresses.next().unwrap().unwrap();
        Self { https: address(), ssh: address(), keys, child }
    }

    /// Returns the certificate that the HTTPS server shows, as a file.
    pub fn certificate(&self) -> PathBuf {
        self.keys.path().join("ca.pem")
    }

    /// Returns the SSH command of someone who may sign in and knows these hosts.
    pub fn ssh_command(&self, known_hosts: &Path) -> String {
        format!(
            "ssh -F /dev/null -i {} -o IdentitiesOnly=yes -o BatchMode=yes -o StrictHostKeyChecking=yes \
             -o UserKnownHostsFile={} -o GlobalKnownHostsFile=/dev/null",
            self.keys.path().join("id").display(),
            known_hosts.display()
        )
    }

    /// Returns the file that names the SSH server's key.
    pub fn known_hosts(&self) -> PathBuf {
        self.keys.path().join("known_hosts")
    }
}

impl Drop for GitHost {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
