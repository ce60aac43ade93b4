//! The private copy of the repository.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use git2::Oid;

use crate::error::SourceError;
use crate::refusal::Refusal;

/// What the copy's `HEAD` and `config` hold: nothing that would change what `git` does.
const HEAD: &str = "ref: refs/heads/none\n";
const CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = true\n";

/// Each fetch that brings something adds a pack. Beyond this many the copy is fetched anew: it is never
/// repacked, since that would leave files here which the check below would have to know.
const MAX_PACKS: usize = 64;

/// The folder with the copy, held by this process alone.
///
/// The copy is made here, file by file, without templates, and checked before every use to hold nothing
/// else: `info/grafts`, `shallow`, `refs/replace`, alternates, hooks and configuration each make some Git
/// tool show other content for the same id, or run a program.
pub(crate) struct Cache {
    repository: PathBuf,
    lock: File,
}

impl Cache {
    /// Opens the folder's lock file, creating the folder if needed.
    pub(crate) fn open_lock(folder: &Path) -> Result<File, SourceError> {
        let fail = |error: &io::Error| SourceError::cache(folder, error);
        if !folder.exists() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|error| fail(&error))?;
        }
        demand_private(folder)?;
        let path = folder.join("lock");
        OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .custom_flags(O_NOFOLLOW)
            .open(&path)
            .map_err(|error| SourceError::cache(&path, &error))
    }

    /// Prepares the copy; `lock` is the held lock file.
    pub(crate) fn prepare(folder: &Path, lock: File) -> Result<Self, SourceError> {
        let cache = Self { repository: folder.join("repository.git"), lock };
        if cache.repository.symlink_metadata().is_ok() {
            cache.remove_leftovers()?;
            cache.check()?;
            if cache.packs()? > MAX_PACKS {
                fs::remove_dir_all(&cache.repository)
                    .map_err(|error| SourceError::cache(&cache.repository, &error))?;
            }
        }
        cache.create()?;
        Ok(cache)
    }

    /// Returns the folder that `git` calls `GIT_DIR`.
    pub(crate) fn repository(&self) -> &Path {
        &self.repository
    }

    /// Returns the folder of the objects.
    pub(crate) fn objects(&self) -> PathBuf {
        self.repository.join("objects")
    }

    /// Returns a handle that keeps the lock for as long as a child process has it.
    pub(crate) fn lock_handle(&self) -> Result<File, SourceError> {
        self.lock.try_clone().map_err(|error| SourceError::cache(&self.repository, &error))
    }

    /// Reads the tip that was fetched last.
    pub(crate) fn tip(&self) -> Result<Oid, SourceError> {
        let path = self.repository.join("refs/windlass/tip");
        let text = fs::read_to_string(&path).map_err(|error| SourceError::cache(&path, &error))?;
        text.strip_suffix('\n')
            .filter(|digits| digits.len() == 40)
            .and_then(|digits| Oid::from_str(digits).ok())
            .ok_or_else(|| hostile(&path, "it does not hold an object id"))
    }

    fn create(&self) -> Result<(), SourceError> {
        let at =
            |path: &Path, result: io::Result<()>| result.map_err(|error| SourceError::cache(path, &error));
        for name in ["", "objects", "objects/pack", "refs", "refs/windlass"] {
            let path = self.repository.join(name);
            at(&path, DirBuilder::new().recursive(true).mode(0o700).create(&path))?;
        }
        for (name, content) in [("HEAD", HEAD), ("config", CONFIG)] {
            let path = self.repository.join(name);
            at(&path, fs::write(&path, content))?;
        }
        Ok(())
    }

    /// Removes what a killed `git` leaves behind; the lock is ours, so nobody is using it.
    fn remove_leftovers(&self) -> Result<(), SourceError> {
        for folder in ["", "refs/windlass", "objects/pack"] {
            for (path, name) in entries(&self.repository.join(folder))? {
                let leftover = extension(&name) == "lock" || name.starts_with("tmp_");
                if leftover && path.symlink_metadata().is_ok_and(|data| data.is_file()) {
                    fs::remove_file(&path).map_err(|error| SourceError::cache(&path, &error))?;
                }
            }
        }
        Ok(())
    }

    /// Refuses a copy that holds anything but what [`Self::create`] and `git fetch` put there.
    ///
    /// Objects need no check: whatever is read is read by its hash.
    pub(crate) fn check(&self) -> Result<(), SourceError> {
        demand_private(&self.repository)?;
        let root = &self.repository;
        for (path, name) in entries(root)? {
            match &*name {
                "HEAD" => demand_content(&path, HEAD)?,
                "config" => demand_content(&path, CONFIG)?,
                "objects" | "refs" => demand_folder(&path)?,
                _ => return Err(hostile(&path, UNEXPECTED)),
            }
        }
        for (path, name) in entries(&root.join("refs"))? {
            if name != "windlass" {
                return Err(hostile(&path, UNEXPECTED));
            }
            demand_folder(&path)?;
        }
        for (path, name) in entries(&root.join("refs/windlass"))? {
            if name != "tip" || !path.symlink_metadata().is_ok_and(|data| data.is_file()) {
                return Err(hostile(&path, UNEXPECTED));
            }
        }
        self.check_objects()
    }

    fn check_objects(&self) -> Result<(), SourceError> {
        let objects = self.objects();
        for (path, name) in entries(&objects)? {
            demand_folder(&path)?;
            let loose = name.len() == 2 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
            if !loose && name != "pack" && name != "info" {
                return Err(hostile(&path, UNEXPECTED));
            }
        }
        if let Some((path, _)) = entries(&objects.join("info"))?.into_iter().next() {
            return Err(hostile(&path, UNEXPECTED));
        }
        for (path, name) in entries(&objects.join("pack"))? {
            let known = matches!(extension(&name), "pack" | "idx" | "rev" | "keep");
            if !known || !name.starts_with("pack-") {
                return Err(hostile(&path, UNEXPECTED));
            }
        }
        Ok(())
    }

    fn packs(&self) -> Result<usize, SourceError> {
        let found = entries(&self.objects().join("pack"))?;
        Ok(found.iter().filter(|(_, name)| extension(name) == "pack").count())
    }
}

const UNEXPECTED: &str = "it does not belong there";

/// `O_NOFOLLOW`, so that a planted link cannot make the lock file another file.
const O_NOFOLLOW: i32 = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();

fn hostile(path: &Path, problem: &str) -> SourceError {
    Refusal::HostileRepository { path: path.display().to_string(), problem: problem.to_owned() }.into()
}

/// Returns a folder's entries; none if the folder is not there.
fn entries(folder: &Path) -> Result<Vec<(PathBuf, String)>, SourceError> {
    let fail = |error: io::Error| SourceError::cache(folder, &error);
    let listing = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(fail)?,
    };
    listing
        .map(|entry| {
            let entry = entry.map_err(fail)?;
            Ok((entry.path(), entry.file_name().to_string_lossy().into_owned()))
        })
        .collect()
}

fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, end)| end)
}

/// Demands a real folder that is ours and that nobody else may write to.
fn demand_private(path: &Path) -> Result<(), SourceError> {
    let data = path.symlink_metadata().map_err(|error| SourceError::cache(path, &error))?;
    if !data.is_dir() {
        return Err(hostile(path, "it is not a folder"));
    }
    let me = rustix::process::geteuid().as_raw();
    if data.uid() != me {
        return Err(hostile(path, &format!("it belongs to user {}, and this is user {me}", data.uid())));
    }
    if data.mode() & 0o022 != 0 {
        return Err(hostile(path, "other users may write to it"));
    }
    Ok(())
}

fn demand_folder(path: &Path) -> Result<(), SourceError> {
    if path.symlink_metadata().is_ok_and(|data| data.is_dir()) {
        Ok(())
    } else {
        Err(hostile(path, "it is not a folder"))
    }
}

fn demand_content(path: &Path, content: &str) -> Result<(), SourceError> {
    let is_file = path.symlink_metadata().is_ok_and(|data| data.is_file());
    if is_file && fs::read(path).is_ok_and(|found| found == content.as_bytes()) {
        Ok(())
    } else {
        Err(hostile(path, "its content was changed"))
    }
}
