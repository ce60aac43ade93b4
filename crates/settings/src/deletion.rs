//! Who may say that a protected object may be deleted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Repository;

/// Where the permissions to delete protected objects come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PermissionSource {
    /// From `guards.allowDeletions` of this file alone; what a commit says about deletions changes nothing.
    #[default]
    Environment,
    /// From `deletions` in the `windlass.yaml` of the delivered commit, or from `guards.allowDeletions`.
    Commit,
    /// From both: each must name the object. A rollback needs that of this file only, since the commit that it goes
    /// back to cannot name what came after it.
    Both,
}

/// Allows one protected object to be deleted until a date.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeletionPermission {
    /// The kind as `Kind.group`, or `Kind` for the core group.
    pub kind: String,
    /// The namespace, if the object has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// The last day (`2026-12-31`, UTC) on which the permission counts.
    pub until: String,
    /// Why the object may go.
    pub reason: String,
}

/// Says, next to the removal of a protected object, that it is meant to be deleted. It counts where
/// `guards.deletionPermissions` of the environment file says so, and never replaces an approval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct IntendedDeletion {
    /// The kind as `Kind.group`, or `Kind` for the core group; `Unit` for a unit that is removed as a whole.
    pub kind: String,
    /// The namespace, if the object has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
    /// The last day (`2026-12-31`, UTC) on which it counts.
    pub until: String,
    /// Why the object may go.
    pub reason: String,
    /// Environments in which it counts; empty means all.
    #[serde(default)]
    pub environments: Vec<String>,
}

impl Repository {
    /// Returns the deletions that are meant in an environment.
    pub fn deletions_in(&self, environment: &str) -> Vec<DeletionPermission> {
        self.deletions
            .iter()
            .filter(|meant| {
                meant.environments.is_empty() || meant.environments.iter().any(|name| name == environment)
            })
            .map(|meant| DeletionPermission {
                kind: meant.kind.clone(),
                namespace: meant.namespace.clone(),
                name: meant.name.clone(),
                until: meant.until.clone(),
                reason: meant.reason.clone(),
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository_example;

    #[test]
    fn a_deletion_is_meant_in_its_environments() {
        let repository = Repository::parse(repository_example(), "windlass.yaml").unwrap();
        let names = |environment: &str| repository.deletions_in(environment).len();
        assert_eq!((names("acc"), names("prd")), (1, 0));
    }
}
