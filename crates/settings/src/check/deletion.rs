//! Rules of permissions to delete.

use super::Findings;
use crate::{DeletionPermission, IntendedDeletion};

/// Checks the permissions of the environment file.
pub(super) fn allowed(permissions: &[DeletionPermission], found: &mut Findings<'_>) {
    for (index, permission) in permissions.iter().enumerate() {
        let DeletionPermission { kind, namespace, name, until, reason } = permission;
        one(
            &format!("guards.allowDeletions[{index}]"),
            kind,
            namespace.as_deref(),
            [name, until, reason],
            found,
        );
    }
}

/// Checks what a commit means to delete.
pub(super) fn meant(deletions: &[IntendedDeletion], found: &mut Findings<'_>) {
    for (index, deletion) in deletions.iter().enumerate() {
        let IntendedDeletion { kind, namespace, name, until, reason, environments } = deletion;
        let path = format!("deletions[{index}]");
        one(&path, kind, namespace.as_deref(), [name, until, reason], found);
        found.want_environments(&format!("{path}.environments"), environments);
    }
}

fn one(
    path: &str,
    kind: &str,
    namespace: Option<&str>,
    [name, until, reason]: [&str; 3],
    found: &mut Findings<'_>,
) {
    found.want_kind(&format!("{path}.kind"), kind);
    if let Some(namespace) = namespace {
        found.want_label(&format!("{path}.namespace"), namespace);
    }
    found.want_text(&format!("{path}.name"), name);
    found.want_day(&format!("{path}.until"), until);
    found.want_text(&format!("{path}.reason"), reason);
}
