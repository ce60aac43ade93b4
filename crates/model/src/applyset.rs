//! ApplySets (KEP-3659): which objects belong together, kept in the cluster where any tool can read it.

use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::{EnvironmentName, GroupKind, Object, ObjectRef, UnitName};

/// The label by which an object says which ApplySet it belongs to.
pub const PART_OF: &str = "applyset.kubernetes.io/part-of";

const ID: &str = "applyset.kubernetes.io/id";
const TOOLING: &str = "applyset.kubernetes.io/tooling";
const KINDS: &str = "applyset.kubernetes.io/contains-group-kinds";
const NAMESPACES: &str = "applyset.kubernetes.io/additional-namespaces";
const ENVIRONMENT: &str = "windlass.dev/environment";
const UNIT: &str = "windlass.dev/unit";
const MEMBERS: &str = "members";

/// The set of one unit in one environment. Its parent is a ConfigMap in the record namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApplySet {
    /// The environment.
    pub environment: EnvironmentName,
    /// The unit.
    pub unit: UnitName,
    /// The namespace of the parent.
    pub namespace: String,
    /// Kinds that members may have: the scope of a search for members.
    pub kinds: BTreeSet<GroupKind>,
    /// Namespaces, beside the parent's, in which members may be.
    pub namespaces: BTreeSet<String>,
    /// The members that the last runs applied, as inventory entries, see [`ObjectRef::inventory_entry`]. A
    /// label alone is no evidence: operators copy labels to objects of their own.
    pub members: BTreeSet<String>,
}

/// Says why a ConfigMap is not the parent of a set that Windlass may change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApplySetError {
    /// Another tool manages the set.
    #[error("the ApplySet of `{parent}` is managed by `{tooling}`")]
    Tooling {
        /// The parent.
        parent: String,
        /// The tool.
        tooling: String,
    },
    /// The id does not belong to this parent: it was copied, or edited by hand.
    #[error("the ApplySet id of `{parent}` is not the id of this parent")]
    Id {
        /// The parent.
        parent: String,
    },
    /// A label or annotation is missing or unusable.
    #[error("`{parent}` has no usable `{key}`")]
    Missing {
        /// The parent.
        parent: String,
        /// The label or annotation.
        key: &'static str,
    },
}

impl ApplySetError {
    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Tooling { .. } => {
                "give the unit another name, or hand the set over by removing the other tool's parent"
            }
            Self::Id { .. } | Self::Missing { .. } => {
                "someone edited the parent by hand: restore its labels and annotations, or delete it to start an empty set (members are then adopted again, none is deleted)"
            }
        }
    }
}

impl ApplySet {
    /// Returns the empty set of a unit.
    pub fn empty(environment: EnvironmentName, unit: UnitName, namespace: &str) -> Self {
        Self {
            environment,
            unit,
            namespace: namespace.to_owned(),
            kinds: BTreeSet::new(),
            namespaces: BTreeSet::new(),
            members: BTreeSet::new(),
        }
    }

    /// Returns the set that holds exactly these objects.
    #[must_use]
    pub fn of<'a>(&self, objects: impl IntoIterator<Item = &'a ObjectRef>) -> Self {
        let mut set = Self::empty(self.environment.clone(), self.unit.clone(), &self.namespace);
        for object in objects {
            set.kinds.insert(object.kind.clone());
            set.members.insert(object.inventory_entry());
            set.namespaces.extend(object.namespace.clone().filter(|namespace| *namespace != self.namespace));
        }
        set
    }

    /// Returns the set that holds what either holds: what a parent says while members come and go.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut set = self.clone();
        set.kinds.extend(other.kinds.iter().cloned());
        set.namespaces.extend(other.namespaces.iter().cloned());
        set.members.extend(other.members.iter().cloned());
        set
    }

    /// Returns the kinds among which members are to be looked for: those that the parent names, and those of the
    /// recorded members. The parent's annotation can be narrowed by hand, and then hides members from whoever
    /// believes in it (kubectl leaves them behind without a word).
    pub fn scope(&self) -> BTreeSet<GroupKind> {
        let recorded = self.members.iter().filter_map(|entry| ObjectRef::key_of_entry(entry));
        self.kinds.iter().cloned().chain(recorded.map(|(kind, ..)| kind)).collect()
    }

    /// Returns the name of the parent: `windlass.ENVIRONMENT.UNIT`. A dot is legal in neither part, so that two
    /// sets never share a parent; with a dash, unit `b-c` of `a` and unit `c` of `a-b` did.
    pub fn parent(&self) -> ObjectRef {
        ObjectRef {
            kind: GroupKind::new("", "ConfigMap"),
            version: "v1".to_owned(),
            namespace: Some(self.namespace.clone()),
            name: format!("windlass.{}.{}", self.environment, self.unit),
        }
    }

    /// Returns the set's id, which its members carry as a label.
    pub fn id(&self) -> String {
        id_of(&self.parent())
    }

    /// Returns a label selector for the parents of all sets of an environment.
    pub fn parents_of(environment: &EnvironmentName) -> String {
        format!("{ID},{ENVIRONMENT}={environment}")
    }

    /// Returns the parent as an object to apply.
    pub fn to_object(&self, version: &str) -> Object {
        let join = |items: Vec<String>| items.join(",");
        // Annotations are sorted bytewise and hold no space, or kubectl cannot read them.
        let mut kinds: Vec<String> = self.kinds.iter().map(ToString::to_string).collect();
        kinds.sort_unstable();
        let parent = self.parent();
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": parent.name,
                "namespace": self.namespace,
                "labels": {ID: self.id(), ENVIRONMENT: self.environment.as_str(), UNIT: self.unit.as_str()},
                "annotations": {
                    TOOLING: format!("windlass/{version}"),
                    KINDS: join(kinds),
                    NAMESPACES: join(self.namespaces.iter().cloned().collect()),
                },
            },
            "data": {MEMBERS: self.members.iter().cloned().collect::<Vec<_>>().join("\n")},
        });
        Object::new(body, None).unwrap_or_else(|_| unreachable!("the body names its object"))
    }

    /// Reads a parent.
    ///
    /// # Errors
    /// The parent belongs to another tool, or its labels and annotations do not fit together.
    pub fn read(parent: &Object) -> Result<Self, ApplySetError> {
        let reference = parent.reference();
        let name = reference.to_string();
        let missing = |key| ApplySetError::Missing { parent: name.clone(), key };
        let tooling = parent.annotation(TOOLING).ok_or_else(|| missing(TOOLING))?;
        if tooling.rsplit_once('/').map_or(tooling, |(tool, _)| tool) != "windlass" {
            return Err(ApplySetError::Tooling { parent: name, tooling: tooling.to_owned() });
        }
        if parent.label(ID) != Some(id_of(reference).as_str()) {
            return Err(ApplySetError::Id { parent: name });
        }
        let environment =
            parent.label(ENVIRONMENT).and_then(EnvironmentName::new).ok_or_else(|| missing(ENVIRONMENT))?;
        let unit = parent.label(UNIT).and_then(UnitName::new).ok_or_else(|| missing(UNIT))?;
        let kinds = parent.annotation(KINDS).ok_or_else(|| missing(KINDS))?;
        let list = |text: &str, separator| -> Vec<String> {
            text.split(separator).map(str::trim).filter(|item| !item.is_empty()).map(str::to_owned).collect()
        };
        if reference.name != Self::empty(environment.clone(), unit.clone(), "").parent().name {
            return Err(ApplySetError::Id { parent: name });
        }
        let members = parent
            .body()
            .pointer(&format!("/data/{MEMBERS}"))
            .and_then(|text| text.as_str())
            .unwrap_or_default();
        Ok(Self {
            environment,
            unit,
            namespace: reference.namespace.clone().unwrap_or_default(),
            kinds: list(kinds, ',').into_iter().map(GroupKind::from).collect(),
            namespaces: list(parent.annotation(NAMESPACES).unwrap_or_default(), ',').into_iter().collect(),
            members: list(members, '\n').into_iter().collect(),
        })
    }
}

/// Computes the id that belongs to a parent (KEP-3659): it cannot be copied to another parent unnoticed.
fn id_of(parent: &ObjectRef) -> String {
    let namespace = parent.namespace.as_deref().unwrap_or_default();
    let hash =
        Sha256::digest(format!("{}.{namespace}.{}.{}", parent.name, parent.kind.kind, parent.kind.group));
    format!("applyset-{}-v1", URL_SAFE_NO_PAD.encode(hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set() -> ApplySet {
        let environment = EnvironmentName::new("prd").unwrap();
        ApplySet::empty(environment, UnitName::new("shop").unwrap(), "windlass-system")
    }

    fn reference(kind: &str, namespace: Option<&str>, name: &str) -> ObjectRef {
        let kind = GroupKind::from(kind.to_owned());
        ObjectRef { kind, version: "v1".into(), namespace: namespace.map(str::to_owned), name: name.into() }
    }

    #[test]
    fn ids_are_those_that_kubectl_computes() {
        let check =
            |kind, namespace, name, want: &str| assert_eq!(id_of(&reference(kind, namespace, name)), want);
        check("Secret", Some("test"), "my-set", "applyset-0eFHV8ySqp7XoShsGvyWFQD3s96yqwHmzc4e0HR1dsY-v1");
        check(
            "ConfigMap",
            Some("default"),
            "my-set",
            "applyset-DaObTxGT41gT7jz9wyulA3kuIrhUKfuOcjAfLI6wcmQ-v1",
        );
        check("ConfigMap", Some("v08"), "set", "applyset-k8N4yensPogUQVXV6ATDOnMDX9rOIpRunX_zVPXnmBI-v1");
        check(
            "ApplySet.delivery.example.com",
            None,
            "prod",
            "applyset-4eMIe3wx_33G4p6UpZvAdg55mgOwiVYcpfQanN096MM-v1",
        );
    }

    #[test]
    fn a_parent_reads_what_it_writes() {
        let members =
            [reference("StatefulSet.apps", Some("shop"), "db"), reference("Namespace", None, "shop")];
        let set = set().of(&members);
        assert_eq!(ApplySet::read(&set.to_object("0.1.0")), Ok(set.clone()));
        assert_eq!(set.members.iter().next().map(String::as_str), Some("Namespace./shop."));
        let empty = set.of([]);
        assert_eq!(ApplySet::read(&empty.to_object("0.1.0")), Ok(empty.clone()));
        assert_eq!(empty.union(&set), set);
    }

    #[test]
    fn a_member_is_looked_for_although_the_parent_does_not_name_its_kind() {
        let members = [reference("Secret", Some("shop"), "s"), reference("Namespace", None, "shop")];
        let mut set = set().of(&members);
        set.kinds = [GroupKind::new("apps", "StatefulSet")].into();
        let scope: Vec<String> = set.scope().iter().map(ToString::to_string).collect();
        assert_eq!(scope.len(), 3, "{scope:?}");
        assert!(
            ["Secret", "Namespace", "StatefulSet.apps"]
                .iter()
                .all(|kind| scope.contains(&(*kind).to_owned()))
        );
    }

    /// One environment's run deleted the objects of the other.
    #[test]
    fn sets_of_different_environments_never_share_a_parent() {
        let parent = |environment: &str, unit: &str| {
            let environment = EnvironmentName::new(environment).unwrap();
            ApplySet::empty(environment, UnitName::new(unit).unwrap(), "windlass-system").parent()
        };
        assert_ne!(parent("a", "b-c"), parent("a-b", "c"));
        let mut body = set().to_object("0.1.0").into_body();
        body["metadata"]["labels"][ENVIRONMENT] = "acc".into();
        let error = ApplySet::read(&Object::new(body, None).unwrap()).unwrap_err();
        assert!(matches!(error, ApplySetError::Id { .. }), "a parent must name its own environment: {error}");
    }

    #[test]
    fn kinds_are_sorted_bytewise_for_kubectl() {
        let members = [
            reference("Service", Some("a"), "x"),
            reference("Ingress.networking.k8s.io", Some("a"), "x"),
            reference("ConfigMap", Some("a"), "x"),
        ];
        let object = set().of(&members).to_object("0.1.0");
        assert_eq!(object.annotation(KINDS), Some("ConfigMap,Ingress.networking.k8s.io,Service"));
    }

    #[test]
    fn foreign_and_tampered_parents_are_refused() {
        let check = |change: &dyn Fn(&mut serde_json::Value), want: fn(&ApplySetError) -> bool| {
            let mut body = set().to_object("0.1.0").into_body();
            change(&mut body);
            let error = ApplySet::read(&Object::new(body, None).unwrap()).unwrap_err();
            assert!(want(&error), "{error}");
        };
        check(&|body| body["metadata"]["annotations"][TOOLING] = "kubectl/v1.36.3".into(), |e| {
            matches!(e, ApplySetError::Tooling { .. })
        });
        check(&|body| body["metadata"]["labels"][ID] = "applyset-x-v1".into(), |e| {
            matches!(e, ApplySetError::Id { .. })
        });
        check(&|body| body["metadata"]["name"] = "other".into(), |e| matches!(e, ApplySetError::Id { .. }));
        check(&|body| body["metadata"]["annotations"] = serde_json::json!({}), |e| {
            matches!(e, ApplySetError::Missing { .. })
        });
    }
}
