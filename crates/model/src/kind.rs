//! What a kind is: built in or somebody's own.

use crate::{GroupKind, Object};

/// Groups of Kubernetes' own projects whose objects hold data, although the group's name ends in `.k8s.io`.
const DATA_GROUPS: [&str; 2] = ["snapshot.storage.k8s.io", "groupsnapshot.storage.k8s.io"];

/// Says whether a kind is a custom resource: what its deletion takes along, only its operator knows, and only
/// while that operator runs may its objects be able to go.
pub fn is_custom_kind(kind: &GroupKind) -> bool {
    let group = kind.group.as_str();
    group.contains('.') && (!group.ends_with(".k8s.io") || DATA_GROUPS.contains(&group))
}

/// Returns the kind that an object defines, if it is a CustomResourceDefinition.
pub fn defined_kind(object: &Object) -> Option<GroupKind> {
    if !object.reference().kind.is("apiextensions.k8s.io", "CustomResourceDefinition") {
        return None;
    }
    let text = |pointer: &str| object.body().pointer(pointer)?.as_str();
    Some(GroupKind::new(text("/spec/group")?, text("/spec/names/kind")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn custom_kinds_are_told_by_their_group() {
        for (kind, want) in [
            ("Postgresql.acid.zalan.do", true),
            ("Cluster.cluster.x-k8s.io", true),
            ("VolumeSnapshot.snapshot.storage.k8s.io", true),
            ("Ingress.networking.k8s.io", false),
            ("Lease.coordination.k8s.io", false),
            ("HTTPRoute.gateway.networking.k8s.io", false),
            ("HorizontalPodAutoscaler.autoscaling", false),
            ("Endpoints", false),
        ] {
            assert_eq!(is_custom_kind(&GroupKind::from(kind.to_owned())), want, "{kind}");
        }
    }

    #[test]
    fn a_definition_says_what_it_defines() {
        let object = |api_version: &str, kind: &str| {
            let body = json!({
                "apiVersion": api_version, "kind": kind, "metadata": {"name": "as.x.dev"},
                "spec": {"group": "x.dev", "names": {"kind": "A"}},
            });
            Object::new(body, None).unwrap()
        };
        let definition = object("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        assert_eq!(defined_kind(&definition), Some(GroupKind::new("x.dev", "A")));
        assert_eq!(defined_kind(&object("x.dev/v1", "CustomResourceDefinition")), None);
    }
}
