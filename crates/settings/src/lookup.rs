//! What settings mean at a place and at a time.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::check::day;
use crate::{DeletionPermission, Environment, PinnedKey, TakeoverPermission};

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
        let takeovers = self.guards.allow_takeovers.iter().enumerate();
        let takeovers = takeovers.filter(|(_, permission)| !permission.counts_at(now)).map(|(index, permission)| {
            let TakeoverPermission { name, until, .. } = permission;
            format!("guards.allowTakeovers[{index}]: the permission to take over what `{name}` delivers ended on {until}; remove it")
        });
        let keys = self.source.keys.iter().enumerate().filter_map(|(index, key)| {
            let last = day(key.not_after.as_deref()?)?;
            (last < today).then(|| {
                let PinnedKey { name, .. } = key;
                format!("source.keys[{index}]: signatures of `{name}` made after {last} do not count; pin a new key")
            })
        });
        permissions.chain(takeovers).chain(keys).collect()
    }
}

impl DeletionPermission {
    /// Says whether the permission counts at this time: its last day ends at midnight UTC.
    pub fn counts_at(&self, now: Timestamp) -> bool {
        day(&self.until).is_some_and(|last| today(now) <= last)
    }
}

impl TakeoverPermission {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment_example;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn permissions_count_on_their_last_day() {
        let environment = Environment::parse(environment_example(), "x.yaml").unwrap();
        let check = |now: &str, want: &[&str]| assert_eq!(environment.warnings(at(now)), want, "{now}");
        check("2026-12-31T23:59:59Z", &[]);
        check(
            "2027-01-01T00:00:00Z",
            &[
                "guards.allowDeletions[0]: the permission to delete PersistentVolumeClaim shop/data-db-2 ended on 2026-12-31; remove it",
                "guards.allowTakeovers[0]: the permission to take over what `shop` delivers ended on 2026-12-31; remove it",
            ],
        );
        assert_eq!(environment.warnings(at("2028-01-01T00:00:00Z")).len(), 3);
    }

    #[test]
    fn signatures_count_on_both_days_of_the_period() {
        let environment = Environment::parse(environment_example(), "x.yaml").unwrap();
        let key = &environment.source.keys[1];
        let times =
            ["2025-12-31T23:59:59Z", "2026-01-01T00:00:00Z", "2027-12-31T23:59:59Z", "2028-01-01T00:00:00Z"];
        assert_eq!(times.map(|time| key.counts_for(at(time))), [false, true, true, false]);
        assert!(environment.source.keys[0].counts_for(at(times[3])));
    }

    #[test]
    fn relative_paths_start_at_the_folder_of_the_file() {
        let mut environment = Environment::parse(environment_example(), "x.yaml").unwrap();
        environment.resolve_paths(Path::new("/etc/windlass"));
        assert_eq!(environment.cluster.kubeconfig, Path::new("/etc/windlass/prd.kubeconfig"));
        assert_eq!(environment.source.keys[0].file, Path::new("/etc/windlass/keys/web-flow.asc"));
        assert_eq!(environment.approval.directory.as_deref(), Some(Path::new("/etc/windlass/approvals")));
        assert_eq!(environment.record.reports, Path::new("/etc/windlass/reports"));
    }
}
