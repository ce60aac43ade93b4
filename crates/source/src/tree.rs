//! Reads a tree by object id, in the one form that Git's own checks accept.

use std::collections::HashSet;
use std::sync::Arc;

use git2::{ObjectType, Oid};
use windlass_model::{SourceTree, TreeFile};

use crate::names;
use crate::objects::Objects;
use crate::refusal::Refusal;

/// What a tree may hold at most.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// All files together, in bytes.
    pub(crate) bytes: usize,
    /// Files and folders together.
    pub(crate) entries: usize,
    /// Folders inside each other.
    pub(crate) depth: usize,
}

/// Far beyond any platform repository, far below what hurts an agent.
pub(crate) const LIMITS: Limits = Limits { bytes: 64 * 1024 * 1024, entries: 50_000, depth: 64 };

/// One folder's object: 50,000 entries with usual names are 3 MiB.
const MAX_TREE_OBJECT: usize = 8 * 1024 * 1024;

/// How a Git LFS pointer begins, and how its predecessor did.
const LFS_POINTERS: [&[u8]; 2] =
    [b"version https://git-lfs.github.com/spec/", b"version https://hawser.github.com/spec/"];

/// Reads all files below a tree.
///
/// Symbolic links, submodules and LFS pointers are refused wherever they lie, not only below the delivered
/// folders: which folders are delivered is said by files of this very tree.
pub(crate) fn read(objects: &Objects, root: Oid, limits: Limits) -> Result<SourceTree, Refusal> {
    let mut walk = Walk { objects, limits, tree: SourceTree::new(), bytes: 0, entries: 0 };
    walk.folder(root, "", 0)?;
    Ok(walk.tree)
}

struct Walk<'a> {
    objects: &'a Objects,
    limits: Limits,
    tree: SourceTree,
    bytes: usize,
    entries: usize,
}

impl Walk<'_> {
    fn folder(&mut self, id: Oid, path: &str, depth: usize) -> Result<(), Refusal> {
        if depth > self.limits.depth {
            return Err(refuse(path, format!("folders are more than {} deep", self.limits.depth)));
        }
        let raw = self
            .objects
            .read(id, ObjectType::Tree, MAX_TREE_OBJECT)?
            .map_err(|_| refuse(path, "the folder has too many entries".to_owned()))?;
        for entry in
            entries(&raw).map_err(|(name, problem)| refuse(&join(path, &name), problem.to_owned()))?
        {
            self.entries += 1;
            if self.entries > self.limits.entries {
                return Err(refuse(
                    "",
                    format!("the tree has more than {} files and folders", self.limits.entries),
                ));
            }
            let path = join(path, &entry.name);
            match entry.kind {
                Kind::Folder => self.folder(entry.id, &path, depth + 1)?,
                Kind::File { executable } => self.file(entry.id, &path, executable)?,
            }
        }
        Ok(())
    }

    fn file(&mut self, id: Oid, path: &str, executable: bool) -> Result<(), Refusal> {
        let left = self.limits.bytes - self.bytes;
        let bytes = self.objects.read(id, ObjectType::Blob, left)?.map_err(|large| {
            let limit = self.limits.bytes;
            refuse(path, format!("with its {} bytes the tree is larger than {limit} bytes", large.size))
        })?;
        self.bytes += bytes.len();
        if LFS_POINTERS.iter().any(|start| bytes.starts_with(start)) {
            return Err(refuse(path, "it is a Git LFS pointer, not the file itself".to_owned()));
        }
        let file = TreeFile { bytes: Arc::from(bytes), executable };
        self.tree.insert(path, file).map_err(|error| refuse(path, error.to_string()))
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}/{name}") }
}

fn refuse(path: &str, problem: String) -> Refusal {
    Refusal::UnsafeTree { path: path.escape_debug().to_string(), problem }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    id: Oid,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    File { executable: bool },
}

type EntryProblem = (String, &'static str);

/// Reads the entries of one tree object: `mode name\0` and 20 bytes each, sorted, no name twice.
fn entries(raw: &[u8]) -> Result<Vec<Entry>, EntryProblem> {
    let mut found = Vec::new();
    let mut folded = HashSet::new();
    let mut previous: Option<Vec<u8>> = None;
    let mut rest = raw;
    while !rest.is_empty() {
        let (mode, name, id, behind) =
            split_entry(rest).ok_or((String::new(), "the folder's object is cut off"))?;
        rest = behind;
        let shown = String::from_utf8_lossy(name).into_owned();
        if let Some(problem) = names::problem(name) {
            return Err((shown, problem));
        }
        let kind = kind(mode).map_err(|problem| (shown.clone(), problem))?;
        // Git sorts a folder as if its name ended with a slash.
        let key = [name, if kind == Kind::Folder { b"/" } else { b"" }].concat();
        if previous.is_some_and(|previous| previous >= key) {
            return Err((shown, "the folder's entries are not sorted, or hold a name twice"));
        }
        if !folded.insert(names::folded(&shown)) {
            return Err((shown, "another name beside it differs only in case or form"));
        }
        previous = Some(key);
        found.push(Entry { name: shown, id, kind });
    }
    Ok(found)
}

/// Mode, name, id, and what follows.
type RawEntry<'a> = (&'a [u8], &'a [u8], Oid, &'a [u8]);

fn split_entry(raw: &[u8]) -> Option<RawEntry<'_>> {
    let blank = raw.iter().take(7).position(|byte| *byte == b' ')?;
    let (mode, rest) = (&raw[..blank], &raw[blank + 1..]);
    let end = rest.iter().position(|byte| *byte == 0)?;
    let (name, rest) = (&rest[..end], &rest[end + 1..]);
    let (id, rest) = rest.split_at_checked(20)?;
    Some((mode, name, Oid::from_bytes(id).ok()?, rest))
}

fn kind(mode: &[u8]) -> Result<Kind, &'static str> {
    match mode {
        b"40000" => Ok(Kind::Folder),
        b"100644" => Ok(Kind::File { executable: false }),
        b"100755" => Ok(Kind::File { executable: true }),
        b"120000" => Err("it is a symbolic link"),
        b"160000" => Err("it is a submodule"),
        _ => Err("its mode is irregular"),
    }
}
