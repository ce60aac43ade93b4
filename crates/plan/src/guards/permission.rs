//! Dated permissions to delete one protected thing.

use jiff::Timestamp;
use windlass_settings::{DeletionPermission, PermissionSource};

use crate::evidence::Rendered;
use crate::{Inputs, ObjectKey};

/// What may be deleted although it is protected, and who has to say so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Permissions<'a> {
    /// Those of the environment file.
    environment: &'a [DeletionPermission],
    /// Those of the commit.
    commit: &'a [DeletionPermission],
    source: PermissionSource,
    now: Timestamp,
}

/// What the permissions say about one deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Permission<'a> {
    /// It is allowed, by these words.
    Given(&'a DeletionPermission),
    /// It is not; the text goes on after the sentence that says what would be deleted.
    Lacking(String),
}

/// One side's word.
enum Word<'a> {
    None,
    Expired(&'a DeletionPermission),
    Given(&'a DeletionPermission),
}

impl<'a> Permissions<'a> {
    /// Takes the permissions of the environment file and of the commit. The commit that a rollback goes back to cannot
    /// mean what came after it, be it under the same name, so then the environment file alone decides.
    pub(crate) fn of(inputs: &Inputs<'a>) -> Self {
        let source = match inputs.guards.deletion_permissions {
            _ if inputs.rollback.is_some() => PermissionSource::Environment,
            source => source,
        };
        Self {
            environment: &inputs.guards.allow_deletions,
            commit: inputs.deletions,
            source,
            now: inputs.now,
        }
    }

    /// Looks for what names exactly this thing and counts today (UTC, the last day included).
    pub(crate) fn find(&self, kind: &str, namespace: Option<&str>, name: &str) -> Permission<'a> {
        let word = |list: &'a [DeletionPermission]| self.word(list, kind, namespace, name);
        let (environment, commit) = (word(self.environment), word(self.commit));
        match (self.source, environment, commit) {
            (PermissionSource::Environment | PermissionSource::Commit, Word::Given(given), _)
            | (PermissionSource::Commit, _, Word::Given(given))
            | (PermissionSource::Both, Word::Given(_), Word::Given(given)) => Permission::Given(given),
            (PermissionSource::Environment, Word::Expired(permission), _)
            | (PermissionSource::Commit, _, Word::Expired(permission)) => {
                Permission::Lacking(ended(permission))
            }
            (PermissionSource::Environment, Word::None, Word::Given(_)) => Permission::Lacking(
                "; the commit means it, which does not count here (`guards.deletionPermissions`)".to_owned(),
            ),
            (PermissionSource::Both, Word::Given(_), commit) => Permission::Lacking(format!(
                "; the environment file allows it, but the commit does not mean it{}",
                commit.ended()
            )),
            (PermissionSource::Both, environment, Word::Given(_)) => Permission::Lacking(format!(
                "; the commit means it, but the environment file does not allow it{}",
                environment.ended()
            )),
            (_, environment, _) => Permission::Lacking(environment.ended()),
        }
    }

    /// Says where a permission has to be written down.
    pub(crate) fn place(&self) -> &'static str {
        match self.source {
            PermissionSource::Environment => "under `guards.allowDeletions` in the environment file",
            PermissionSource::Commit => {
                "under `deletions` in the windlass.yaml of the commit that removes it, or under `guards.allowDeletions` in the environment file"
            }
            PermissionSource::Both => {
                "under `deletions` in the windlass.yaml of the commit that removes it, and under `guards.allowDeletions` in the environment file"
            }
        }
    }

    fn word(
        &self,
        list: &'a [DeletionPermission],
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Word<'a> {
        let mut found = Word::None;
        for permission in list {
            let named = permission.kind == kind
                && permission.namespace.as_deref() == namespace
                && permission.name == name;
            if named && permission.counts_at(self.now) {
                return Word::Given(permission);
            }
            if named {
                found = Word::Expired(permission);
            }
        }
        found
    }

    /// Returns a warning for each entry of the commit that is to be taken out again: it has ended, or the commit still
    /// delivers what it names.
    pub(crate) fn warnings(&self, rendered: &Rendered) -> Vec<String> {
        if self.source == PermissionSource::Environment {
            return Vec::new();
        }
        let warning = |permission: &DeletionPermission| {
            let why = if !permission.counts_at(self.now) {
                format!("ended on {}", permission.until)
            } else if rendered.keys().any(|key| is_named(permission, key)) {
                "names what this commit delivers".to_owned()
            } else {
                return None;
            };
            let namespace = permission.namespace.as_ref().map(|name| format!("{name}/")).unwrap_or_default();
            let DeletionPermission { kind, name, .. } = permission;
            Some(format!(
                "`deletions` in windlass.yaml: the entry for {kind} {namespace}{name} {why}; remove it"
            ))
        };
        self.commit.iter().filter_map(warning).collect()
    }
}

impl Word<'_> {
    fn ended(&self) -> String {
        match self {
            Self::Expired(permission) => ended(permission),
            Self::None | Self::Given(_) => String::new(),
        }
    }
}

fn ended(permission: &DeletionPermission) -> String {
    format!("; the permission ended on {}", permission.until)
}

fn is_named(permission: &DeletionPermission, key: &ObjectKey) -> bool {
    permission.kind == key.kind.to_string()
        && permission.namespace == key.namespace
        && permission.name == key.name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permission(until: &str) -> DeletionPermission {
        DeletionPermission {
            kind: "StatefulSet.apps".into(),
            namespace: Some("shop".into()),
            name: "db".into(),
            until: until.into(),
            reason: "moved".into(),
        }
    }

    fn told(permission: &Permission<'_>) -> String {
        match permission {
            Permission::Given(permission) => format!("given until {}", permission.until),
            Permission::Lacking(why) => format!("lacking{why}"),
        }
    }

    #[test]
    fn a_permission_names_one_thing_until_one_day() {
        let check = |kind: &str, namespace, name: &str, now: &str, want: &str| {
            let permissions = Permissions {
                environment: &[permission("2026-06-30")],
                commit: &[],
                source: PermissionSource::Environment,
                now: now.parse().unwrap(),
            };
            let got = told(&permissions.find(kind, namespace, name));
            assert_eq!(got, want, "{kind} {namespace:?} {name} {now}");
        };
        let given = "given until 2026-06-30";
        check("StatefulSet.apps", Some("shop"), "db", "2026-06-01T00:00:00Z", given);
        check("StatefulSet.apps", Some("shop"), "db", "2026-06-30T23:59:59Z", given);
        let ended = "lacking; the permission ended on 2026-06-30";
        check("StatefulSet.apps", Some("shop"), "db", "2026-07-01T00:00:00Z", ended);
        check("StatefulSet.apps", Some("shop"), "db2", "2026-06-01T00:00:00Z", "lacking");
        check("StatefulSet.apps", Some("other"), "db", "2026-06-01T00:00:00Z", "lacking");
        check("StatefulSet.apps", None, "db", "2026-06-01T00:00:00Z", "lacking");
        check("StatefulSet", Some("shop"), "db", "2026-06-01T00:00:00Z", "lacking");
    }

    /// What the commit says loosens nothing unless the environment file lets it.
    #[test]
    fn the_environment_file_says_whose_word_counts() {
        use PermissionSource::{Both, Commit, Environment};
        let check = |source, environment: &[&str], commit: &[&str], want: &str| {
            let list = |days: &[&str]| days.iter().map(|day| permission(day)).collect::<Vec<_>>();
            let (environment, commit) = (list(environment), list(commit));
            let now = "2026-06-15T00:00:00Z".parse().unwrap();
            let permissions = Permissions { environment: &environment, commit: &commit, source, now };
            let got = told(&permissions.find("StatefulSet.apps", Some("shop"), "db"));
            assert_eq!(got, want, "{source:?} {environment:?} {commit:?}");
        };
        let (past, file, git): ([&str; 1], [&str; 1], [&str; 1]) =
            (["2026-06-14"], ["2026-06-20"], ["2026-06-25"]);
        let ended = "; the permission ended on 2026-06-14";
        check(Environment, &[], &[], "lacking");
        check(Environment, &file, &git, "given until 2026-06-20");
        check(
            Environment,
            &[],
            &git,
            "lacking; the commit means it, which does not count here (`guards.deletionPermissions`)",
        );
        check(Commit, &[], &git, "given until 2026-06-25");
        check(Commit, &file, &[], "given until 2026-06-20");
        check(Commit, &file, &past, "given until 2026-06-20");
        check(Commit, &[], &past, &format!("lacking{ended}"));
        check(Commit, &past, &[], &format!("lacking{ended}"));
        check(Both, &file, &git, "given until 2026-06-25");
        let alone = "lacking; the environment file allows it, but the commit does not mean it";
        check(Both, &file, &[], alone);
        check(Both, &file, &past, &format!("{alone}{ended}"));
        let meant = "lacking; the commit means it, but the environment file does not allow it";
        check(Both, &[], &git, meant);
        check(Both, &past, &git, &format!("{meant}{ended}"));
        check(Both, &[], &[], "lacking");
    }
}
