//! Reads raw objects by id.

use std::path::Path;

use git2::{ObjectType, Odb, Oid};
use sha1::{Digest, Sha1};
use windlass_model::CommitId;

use crate::commit::raw_parents;
use crate::error::SourceError;
use crate::refusal::Refusal;

/// The largest commit that is read; GitHub's largest are a few KiB.
pub(crate) const MAX_COMMIT: usize = 1024 * 1024;

/// The object database of the private copy.
///
/// Opened on the objects folder alone, not as a repository: libgit2 then reads no configuration, no grafts,
/// no shallow file, no replace refs and no index, so none of them can change what an id means. (Switching
/// its configuration search off instead needs `unsafe`.) libgit2 checks the hash of what it reads, with
/// detection of SHA-1 collisions; the hash is computed again here, so that neither check stands alone.
pub(crate) struct Objects {
    database: Odb<'static>,
}

impl Objects {
    pub(crate) fn open(folder: &Path) -> Result<Self, SourceError> {
        let fail = |error: &git2::Error| SourceError::Cache {
            path: folder.display().to_string(),
            problem: error.message().to_owned(),
        };
        let path = folder.to_str().ok_or_else(|| SourceError::Cache {
            path: folder.display().to_string(),
            problem: "the path is not UTF-8".to_owned(),
        })?;
        let database = Odb::new().map_err(|error| fail(&error))?;
        database.add_disk_alternate(path).map_err(|error| fail(&error))?;
        Ok(Self { database })
    }

    /// Returns what kind of object an id names, or nothing if it is not there.
    pub(crate) fn kind(&self, id: Oid) -> Result<Option<ObjectType>, SourceError> {
        match self.database.read_header(id) {
            Ok((_, kind)) => Ok(Some(kind)),
            Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(None),
            Err(error) => Err(corrupt(id, error.message()).into()),
        }
    }

    /// Reads an object of the given kind, at most `limit` bytes of it, and checks its hash.
    ///
    /// The outer error is corruption, the inner one says that the object is larger than the limit.
    pub(crate) fn read(
        &self,
        id: Oid,
        kind: ObjectType,
        limit: usize,
    ) -> Result<Result<Vec<u8>, TooLarge>, Refusal> {
        let (size, found) = self.database.read_header(id).map_err(|error| corrupt(id, error.message()))?;
        if found != kind {
            return Err(corrupt(id, &format!("it is a {}, not a {}", found.str(), kind.str())));
        }
        if size > limit {
            return Ok(Err(TooLarge { size }));
        }
        let object = self.database.read(id).map_err(|error| corrupt(id, error.message()))?;
        if object.kind() != kind || hash(kind, object.data()) != id.as_bytes() {
            return Err(corrupt(id, "its content has another hash"));
        }
        Ok(Ok(object.data().to_vec()))
    }

    /// Reads a commit's bytes.
    pub(crate) fn commit(&self, id: Oid) -> Result<Vec<u8>, SourceError> {
        self.read(id, ObjectType::Commit, MAX_COMMIT)?.map_err(|_| {
            Refusal::MalformedCommit { id: commit_id(id), problem: "it is larger than 1 MiB" }.into()
        })
    }

    /// Returns the parents as the commit's own bytes name them.
    pub(crate) fn parents(&self, id: Oid) -> Result<Vec<Oid>, SourceError> {
        raw_parents(&self.commit(id)?).ok_or_else(|| {
            Refusal::MalformedCommit { id: commit_id(id), problem: "its first lines are malformed" }.into()
        })
    }
}

/// Says that an object is larger than what may be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooLarge {
    pub(crate) size: usize,
}

fn corrupt(id: Oid, problem: &str) -> Refusal {
    Refusal::ObjectCorrupt { id: id.to_string(), problem: problem.to_owned() }
}

/// Computes an object's id as Git does: SHA-1 over kind, length, a zero byte and the content.
pub(crate) fn hash(kind: ObjectType, content: &[u8]) -> [u8; 20] {
    let mut sha = Sha1::new();
    sha.update(format!("{} {}\0", kind.str(), content.len()));
    sha.update(content);
    sha.finalize().into()
}

/// Converts an id.
#[expect(clippy::unreachable, reason = "an object id prints as 40 lower-case hex digits")]
pub(crate) fn commit_id(id: Oid) -> CommitId {
    id.to_string().parse().unwrap_or_else(|_| unreachable!())
}
