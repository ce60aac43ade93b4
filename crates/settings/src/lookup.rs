//! What settings mean at a place and at a time.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::check::day;
use crate::{DeletionPermission, Environment, PinnedKey};

impl Environment {
    /// Makes relative paths absolute: they are relative to `base`, the folder of the environment file.
    pub fn resolve_paths(&mut self, base: &Path) {
        let files = self.source.keys.iter_mut().map(|key| &mut key.file);
        let single = [&mut self.cluster.kubeconfig, &mut self.record.reports];
        for path in files.chain(single).chain(self.approval.directory.as_mut()) {
            let joined: PathBuf = base.join(&*path);
            *path = joined;
        }
    }

    /// Returns what does not stop a run but should be mended: permissions and keys whose time has passed.
    /// Each sentence names the entry and says what to do.
    pub fn warnings(&self, now: Timestamp) -> Vec<String> {
        let today = today(now);
        let permissions = self.guards.allow_deletions.iter().enumerate();
        let permissions = permissions.filter(|(_, permission)| !permission.counts_at(now)).map(|(index, permission)| {
            let DeletionPermission { kind, name, until, .. } = permission;
            let namespace = permission.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
            format!("guards.allowDeletions[{index}]: the permission to delete {kind} {namespace}{name} ended on {until}; remove it")
        });
        let keys = self.source.keys.iter().enumerate().filter_map(|(index, key)| {
            let last = day(key.not_after.as_deref()?)?;
            (last < today).then(|| {
                let PinnedKey { name, .. } = key;
                format!("source.keys[{index}]: signatures of `{name}` made after {last} do not count; pin a new key")
            })
        });
        permissions.chain(keys).collect()
    }
}

impl DeletionPermission {
    /// Says whether the permission counts at this time: its last day ends at midnight UTC.
    pub fn counts_at(&self, now: Timestamp) -> bool {
        day(&self.until).is_some_and(|last| today(now) <= last)
    }
}

impl PinnedKey {
    /// Says whether a signature of this key that was made at `signed_at` counts. Both days belong to the
    /// period, and days are days in UTC.
    pub fn counts_for(&self, signed_at: Timestamp) -> bool {
        let signed = today(signed_at);
        // A day that cannot be read allows nothing; parsing refuses such a file anyway.
        let after_first =
            self.not_before.as_deref().is_none_or(|first| day(first).is_some_and(|first| first <= signed));
        let before_last =
            self.not_after.as_deref().is_none_or(|last| day(last).is_some_and(|last| signed <= last));
        after_first && before_last
    }
}

fn today(now: Timestamp) -> Date {
    now.to_zoned(TimeZone::UTC).date()
}
