//! In which order objects are deleted.

use std::cmp::Reverse;

use windlass_model::{Action, GroupKind, UnitName, apply_rank, is_custom_kind};

/// Returns a kind's place in the order of deleting, ascending.
///
/// Custom resources go first, while the operator that clears up after them still runs, and then whatever has no
/// place of its own; everything else goes against the order of applying, definitions last. The plain reverse
/// would delete an operator before its resources, whose finalizers then hold them for ever.
pub(crate) fn prune_rank(kind: &GroupKind) -> (bool, bool, Reverse<u8>) {
    let rank = apply_rank(kind);
    (!is_custom_kind(kind), rank != unranked(), Reverse(rank))
}

fn unranked() -> u8 {
    apply_rank(&GroupKind::new("windlass.invalid", "Anything"))
}

/// Sorts deletions into groups that are carried out one after the other: by kind, then against the order of
/// the units. A unit that is not rendered any more goes first, since nothing rendered can need it.
pub(crate) fn in_groups<'a>(prunes: Vec<&'a Action>, units: &[&UnitName]) -> Vec<Vec<&'a Action>> {
    let place = |action: &Action| {
        let unit = units.iter().position(|unit| **unit == action.unit).unwrap_or(usize::MAX);
        (prune_rank(&action.object.kind), Reverse(unit), action.unit.clone())
    };
    let mut prunes = prunes;
    prunes.sort_by_cached_key(|action| place(action));
    let mut groups: Vec<Vec<&Action>> = Vec::new();
    for action in prunes {
        match groups.last_mut() {
            Some(group) if place(group[0]) == place(action) => group.push(action),
            _ => groups.push(vec![action]),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn custom_resources_go_before_their_operator_and_that_before_their_definition() {
        let order = [
            "Database.db.example.dev",
            "Ingress.networking.k8s.io",
            "ValidatingWebhookConfiguration.admissionregistration.k8s.io",
            "APIService.apiregistration.k8s.io",
            "Deployment.apps",
            "Service",
            "PersistentVolumeClaim",
            "ConfigMap",
            "ClusterRole.rbac.authorization.k8s.io",
            "ServiceAccount",
            "Namespace",
            "CustomResourceDefinition.apiextensions.k8s.io",
        ];
        let kind = |text: &str| prune_rank(&GroupKind::from(text.to_owned()));
        assert!(order.is_sorted_by(|left, right| kind(left) < kind(right)));
    }
}
