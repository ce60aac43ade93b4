//! Dated permissions to delete one protected thing.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use windlass_settings::{DeletionPermission, Guards};

/// What the environment file says about one deletion.
#[derive(Debug, PartialEq)]
pub(super) enum Permission<'a> {
    /// Nothing.
    None,
    /// It was allowed until a day that has passed, or that is no date.
    Expired(&'a DeletionPermission),
    /// It is allowed.
    Given(&'a DeletionPermission),
}

/// Looks for a permission that names exactly this thing and counts today (UTC, the last day included).
pub(super) fn find<'a>(
    guards: &'a Guards,
    kind: &str,
    namespace: Option<&str>,
    name: &str,
    now: Timestamp,
) -> Permission<'a> {
    let today = now.to_zoned(TimeZone::UTC).date();
    let counts =
        |permission: &DeletionPermission| permission.until.parse::<Date>().is_ok_and(|until| today <= until);
    let mut found = Permission::None;
    for permission in &guards.allow_deletions {
        let named = permission.kind == kind
            && permission.namespace.as_deref() == namespace
            && permission.name == name;
        if named && counts(permission) {
            return Permission::Given(permission);
        }
        if named {
            found = Permission::Expired(permission);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_permission_names_one_thing_until_one_day() {
        let check = |kind: &str, namespace, name: &str, now: &str, want: &str| {
            let guards = Guards {
                allow_deletions: vec![DeletionPermission {
                    kind: "StatefulSet.apps".into(),
                    namespace: Some("shop".into()),
                    name: "db".into(),
                    until: "2026-06-30".into(),
                    reason: "moved".into(),
                }],
                ..Guards::default()
            };
            let got = match find(&guards, kind, namespace, name, now.parse().unwrap()) {
                Permission::None => "none",
                Permission::Expired(_) => "expired",
                Permission::Given(_) => "given",
            };
            assert_eq!(got, want, "{kind} {namespace:?} {name} {now}");
        };
        check("StatefulSet.apps", Some("shop"), "db", "2026-06-01T00:00:00Z", "given");
        check("StatefulSet.apps", Some("shop"), "db", "2026-06-30T23:59:59Z", "given");
        check("StatefulSet.apps", Some("shop"), "db", "2026-07-01T00:00:00Z", "expired");
        check("StatefulSet.apps", Some("shop"), "db2", "2026-06-01T00:00:00Z", "none");
        check("StatefulSet.apps", Some("other"), "db", "2026-06-01T00:00:00Z", "none");
        check("StatefulSet.apps", None, "db", "2026-06-01T00:00:00Z", "none");
        check("StatefulSet", Some("shop"), "db", "2026-06-01T00:00:00Z", "none");
    }
}
