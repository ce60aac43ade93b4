//! Approval files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_model::Approval;

/// No approval file is larger: an effect takes 75 bytes, so this is room for 50,000 of them.
const MAX_BYTES: u64 = 4 << 20;

/// How many files of a folder are looked at.
const MAX_FILES: usize = 1000;

/// How much of a folder is read: the folder needs no protection, so anybody may fill it.
const MAX_TOTAL: u64 = 64 << 20;

/// An approval and the signature over its canonical JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedApproval {
    /// What is signed.
    pub approval: Approval,
    /// The armored SSH signature, in the namespace `windlass-approval`.
    pub signature: String,
}

/// An approval file: where it was found and what it holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The file's name, for reports.
    pub file: String,
    /// The content, or why it cannot be used.
    pub content: Result<SignedApproval, DocumentError>,
}

/// Says why a file is not an approval.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The file or folder cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(String),
    /// The file is too large to be one.
    #[error("is larger than {MAX_BYTES} bytes")]
    TooLarge,
    /// The content is no approval.
    #[error("is not an approval: {0}")]
    Malformed(String),
    /// The folder holds more than is looked at.
    #[error(
        "is one of more than {MAX_FILES} files or {MAX_TOTAL} bytes: the rest of the folder is not looked at"
    )]
    TooMany,
}

impl DocumentError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "give the user that runs Windlass the right to read it",
            Self::TooLarge | Self::Malformed(_) => "make the file again with `windlass approve`",
            Self::TooMany => "remove old approvals from the folder",
        }
    }
}

impl SignedApproval {
    /// Reads the text of an approval file.
    pub fn parse(text: &[u8]) -> Result<Self, DocumentError> {
        if text.len() as u64 > MAX_BYTES {
            return Err(DocumentError::TooLarge);
        }
        // serde_json's message may quote unknown field names but never values of the plan.
        serde_json::from_slice(text).map_err(|error| DocumentError::Malformed(error.to_string()))
    }

    /// Returns the text of an approval file.
    pub fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Returns the name that the file of this approval has by convention: `<12 hex digits>-<approver>.json`.
    pub fn file_name(&self) -> String {
        let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c.to_ascii_lowercase() } else { '-' };
        let approver: String = self.approval.approver.chars().take(40).map(safe).collect();
        format!("{}-{approver}.json", self.approval.change_digest.short())
    }
}

impl Document {
    /// Reads one approval file; one that cannot be used is returned with the reason.
    pub fn load(path: &Path) -> Self {
        let file =
            path.file_name().map_or_else(|| path.display().to_string(), |name| name.display().to_string());
        Self { file, content: read(path).and_then(|text| SignedApproval::parse(&text)) }
    }
}

/// Reads every `*.json` file of a folder, in the order of their names. A folder that does not exist holds
/// no approvals.
pub fn load_directory(folder: &Path) -> Vec<Document> {
    let unreadable = |error: std::io::Error| Document {
        file: folder.display().to_string(),
        content: Err(DocumentError::Unreadable(error.to_string())),
    };
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        Err(error) => return vec![unreadable(error)],
    };
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    paths.sort_unstable();
    let mut total = 0;
    let within = |(index, path): &(usize, &PathBuf)| {
        total += std::fs::metadata(path).map_or(0, |metadata| metadata.len().min(MAX_BYTES));
        *index < MAX_FILES && total <= MAX_TOTAL
    };
    let read = paths.iter().enumerate().take_while(within).map(|(_, path)| Document::load(path));
    let mut documents: Vec<Document> = read.collect();
    documents.extend(paths.get(documents.len()).map(|path| Document {
        file: path.file_name().unwrap_or_default().display().to_string(),
        content: Err(DocumentError::TooMany),
    }));
    documents
}

fn read(path: &Path) -> Result<Vec<u8>, DocumentError> {
    let unreadable = |error: std::io::Error| DocumentError::Unreadable(error.to_string());
    // Only regular files: a pipe would block the run, a device would never end.
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(DocumentError::Unreadable("not a regular file".to_owned()));
    }
    let mut text = Vec::new();
    File::open(path).map_err(unreadable)?.take(MAX_BYTES + 1).read_to_end(&mut text).map_err(unreadable)?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_hold_approvals_and_other_things() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &[u8]| std::fs::write(folder.path().join(name), text).unwrap();
        write("b.json", b"{}");
        write("a.json", b"{\"approval\": 1, \"surprise\": 2}");
        write("big.json", &vec![b' '; usize::try_from(MAX_BYTES).unwrap() + 1]);
        write("readme.txt", b"not looked at");
        std::fs::create_dir(folder.path().join("folder.json")).unwrap();
        let found: Vec<String> = load_directory(folder.path())
            .into_iter()
            .map(|document| format!("{} {}", document.file, document.content.unwrap_err()))
            .collect();
        assert_eq!(found.len(), 4);
        assert!(found[0].starts_with("a.json is not an approval"), "{}", found[0]);
        assert!(found[1].starts_with("b.json is not an approval"), "{}", found[1]);
        assert_eq!(found[2], "big.json is larger than 4194304 bytes");
        assert_eq!(found[3], "folder.json cannot be read: not a regular file");
        assert_eq!(load_directory(&folder.path().join("missing")), []);
    }

    #[test]
    fn no_more_files_are_read_than_a_folder_should_hold() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..=MAX_FILES {
            std::fs::write(folder.path().join(format!("{index:05}.json")), b"{}").unwrap();
        }
        let found = load_directory(folder.path());
        assert_eq!(found.last().map(|document| document.content.clone()), Some(Err(DocumentError::TooMany)));
        assert_eq!(found.len(), MAX_FILES + 1);
    }

    #[test]
    fn no_more_is_read_than_there_is_memory_for() {
        let folder = tempfile::tempdir().unwrap();
        for index in 0..20 {
            let file = File::create(folder.path().join(format!("{index:05}.json"))).unwrap();
            file.set_len(MAX_BYTES).unwrap();
        }
        let found = load_directory(folder.path());
        assert_eq!(found.len(), usize::try_from(MAX_TOTAL / MAX_BYTES).unwrap() + 1);
        assert_eq!(found.last().map(|document| document.content.clone()), Some(Err(DocumentError::TooMany)));
    }
}
