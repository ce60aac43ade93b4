//! The file in which the answers of earlier dry-runs are kept. Whatever is wrong with it, a run goes on without.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use windlass_model::{ClusterId, Digest, EnvironmentName};
use windlass_plan::Memory;

/// One environment's file in the cache folder.
#[derive(Debug, Clone)]
pub(crate) struct MemoryFile(PathBuf);

impl MemoryFile {
    /// Names the file. Directories that are planned without an environment share one.
    pub(crate) fn new(cache: &Path, cluster: &ClusterId, environment: Option<&EnvironmentName>) -> Self {
        let environment = environment.map(EnvironmentName::as_str).unwrap_or_default();
        let name = Digest::of_bytes(format!("{}\n{environment}", cluster.uid).as_bytes()).short();
        Self(cache.join("answers").join(format!("{name}.json")))
    }

    /// Reads the memory, or makes an empty one; the note says what was wrong with the file.
    pub(crate) fn load(&self) -> (Memory, Option<String>) {
        let read = read_own(&self.0).and_then(|bytes| {
            Memory::parse(&bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
        });
        match read {
            Ok(memory) => (memory, None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => (Memory::empty(rand::random()), None),
            Err(error) => (Memory::empty(rand::random()), Some(self.note("not used", &error))),
        }
    }

    /// Writes the memory; another run that reads meanwhile sees the old file or the new one. Returns a note if it failed.
    pub(crate) fn save(&self, memory: &Memory) -> Option<String> {
        self.write(&memory.to_bytes()).err().map(|error| self.note("not written", &error))
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.0.parent() {
            crate::session::private_folder(folder)?;
        }
        let fresh = self.0.with_extension(std::process::id().to_string());
        let mut file =
            fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&fresh)?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&fresh, &self.0));
        if written.is_err() {
            fs::remove_file(&fresh).ok();
        }
        written
    }

    fn note(&self, what: &str, error: &io::Error) -> String {
        format!("the answers of earlier plans in {} are {what}: {error}", self.0.display())
    }
}

/// Reads a file that nobody else can have written: whoever can write it can hide a change.
fn read_own(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = fs::File::open(path)?;
    let about = file.metadata()?;
    if about.uid() != rustix::process::geteuid().as_raw() || about.mode() & 0o022 != 0 {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "somebody else can write it"));
    }
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(folder: &Path) -> MemoryFile {
        let cluster = ClusterId { uid: "../../u".into(), server: String::new(), version: String::new() };
        MemoryFile::new(folder, &cluster, None)
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("windlass-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_saved_is_loaded_and_private() {
        let folder = folder("memory");
        let file = file(&folder);
        let (memory, note) = file.load();
        assert!(memory.is_empty() && note.is_none(), "{note:?}");
        assert_eq!(file.save(&memory), None);
        assert_eq!(file.load(), (memory, None));
        let path = &file.0;
        assert!(path.starts_with(folder.join("answers")), "{path:?}");
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "a temporary file was left");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_cannot_be_trusted_is_ignored_with_a_note() {
        let folder = folder("damaged");
        let file = file(&folder);
        let memory = file.load().0;
        file.save(&memory);
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(file.load().1.unwrap().contains("somebody else"));
        fs::set_permissions(&file.0, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&file.0, "{").unwrap();
        assert!(file.load().1.unwrap().contains("damaged"));
        fs::remove_dir_all(&folder).unwrap();
        // A place that cannot be written is a note too.
        fs::write(&folder, "").unwrap();
        assert!(file.save(&memory).is_some());
        fs::remove_file(folder).unwrap();
    }
}
