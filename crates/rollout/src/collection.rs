//! Which objects are kept in view.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::Selector;
use windlass_model::{GroupKind, ObjectRef};

use crate::Target;

/// From how many namespaces on one request over all of them costs less than one each.
const WIDE_FROM: usize = 4;

/// Objects of one kind that are read and watched together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Collection {
    /// The kind.
    pub(crate) kind: GroupKind,
    /// Where they are.
    pub(crate) place: Place,
    /// A field selector, where one narrows it down.
    pub(crate) fields: Option<String>,
}

/// Where the objects of a collection are.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Place {
    /// In no namespace.
    Cluster,
    /// In this namespace.
    Namespace(String),
    /// In these namespaces, of all that one request reads.
    Namespaces(BTreeSet<String>),
}

impl Collection {
    /// Returns the collections that show the targets themselves, each once.
    pub(crate) fn of_targets(targets: &[Target]) -> BTreeSet<Self> {
        let mut needs = Needs::default();
        for target in targets {
            let namespace = target.object.namespace.as_deref();
            needs.entry(&target.object.kind, None, namespace).names.insert(&target.object.name);
        }
        needs.into_collections()
    }

    /// Returns the collections that show what the targets control, and what is said of it, each once.
    pub(crate) fn around(targets: &[Target]) -> BTreeSet<Self> {
        let mut needs = Needs::default();
        for target in targets {
            for (kind, fields) in company(&target.object.kind.kind) {
                needs.entry(&kind, fields, target.object.namespace.as_deref());
            }
        }
        needs.into_collections()
    }

    /// Returns what to ask the server for.
    pub(crate) fn selector(&self) -> Selector<'_> {
        let namespace = match &self.place {
            Place::Namespace(name) => Some(name.as_str()),
            Place::Cluster | Place::Namespaces(_) => None,
        };
        Selector { namespace, labels: None, fields: self.fields.as_deref() }
    }

    /// Says whether an object that the server answers is one of the collection.
    pub(crate) fn holds(&self, object: &ObjectRef) -> bool {
        self.covers(object.namespace.as_deref())
    }

    /// Says whether an object would be seen in this collection.
    pub(crate) fn shows(&self, kind: &GroupKind, namespace: Option<&str>, name: &str) -> bool {
        self.kind == *kind
            && self.covers(namespace)
            && self.fields.as_ref().is_none_or(|fields| *fields == by_name(name))
    }

    fn covers(&self, namespace: Option<&str>) -> bool {
        match &self.place {
            Place::Cluster => namespace.is_none(),
            Place::Namespace(name) => namespace == Some(name),
            Place::Namespaces(names) => namespace.is_some_and(|namespace| names.contains(namespace)),
        }
    }

    /// Returns whether one request reads more namespaces than are of interest.
    pub(crate) fn is_wide(&self) -> bool {
        matches!(self.place, Place::Namespaces(_))
    }

    /// Returns the same objects namespace by namespace.
    pub(crate) fn split(&self) -> Vec<Self> {
        let Place::Namespaces(names) = &self.place else { return vec![self.clone()] };
        let narrow = |name: &String| Self { place: Place::Namespace(name.clone()), ..self.clone() };
        names.iter().map(narrow).collect()
    }
}

/// Returns what tells about the state of a workload of some kind, with a field selector.
fn company(kind: &str) -> Vec<(GroupKind, Option<&'static str>)> {
    let mut found = Vec::new();
    if matches!(kind, "Deployment" | "StatefulSet" | "DaemonSet" | "Job" | "PersistentVolumeClaim") {
        found.push((GroupKind::new("", "Pod"), None));
    }
    if kind == "Deployment" {
        found.push((GroupKind::new("apps", "ReplicaSet"), None));
    }
    if matches!(kind, "StatefulSet" | "DaemonSet" | "Job") {
        found.push((GroupKind::new("", "Event"), Some("reason=FailedCreate")));
    }
    found
}

/// What is wanted of a kind in a namespace: these, or all if none is named.
#[derive(Default)]
struct Need<'a> {
    names: BTreeSet<&'a str>,
}

/// What is wanted, by kind and field selector, then by namespace.
#[derive(Default)]
struct Needs<'a>(BTreeMap<(GroupKind, Option<&'static str>), Spread<'a>>);

/// By namespace.
type Spread<'a> = BTreeMap<Option<&'a str>, Need<'a>>;

impl<'a> Needs<'a> {
    fn entry(
        &mut self,
        kind: &GroupKind,
        fields: Option<&'static str>,
        namespace: Option<&'a str>,
    ) -> &mut Need<'a> {
        self.0.entry((kind.clone(), fields)).or_default().entry(namespace).or_default()
    }

    fn into_collections(self) -> BTreeSet<Collection> {
        let mut found = BTreeSet::new();
        for ((kind, fields), spread) in self.0 {
            if spread.len() >= WIDE_FROM {
                let names = spread.keys().flatten().map(|&name| name.to_owned()).collect();
                let fields = fields.map(str::to_owned);
                found.insert(Collection { kind, place: Place::Namespaces(names), fields });
                continue;
            }
            for (namespace, need) in spread {
                let place = namespace.map_or(Place::Cluster, |name| Place::Namespace(name.to_owned()));
                // Definitions are large: one is not worth reading all.
                let alone = need.names.first().filter(|_| need.names.len() == 1);
                let fields = fields.map(str::to_owned).or_else(|| alone.map(|name| by_name(name)));
                found.insert(Collection { kind: kind.clone(), place, fields });
            }
        }
        found
    }
}

fn by_name(name: &str) -> String {
    format!("metadata.name={name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(group: &str, kind: &str, namespace: Option<&str>, name: &str) -> Target {
        let object = ObjectRef {
            kind: GroupKind::new(group, kind),
            version: "v1".to_owned(),
            namespace: namespace.map(str::to_owned),
            name: name.to_owned(),
        };
        Target { object, uid: None, generation: None, changed: true }
    }

    fn check(collections: BTreeSet<Collection>, want: &[&str]) {
        let line = |collection: Collection| {
            let place = match collection.place {
                Place::Cluster => "-".to_owned(),
                Place::Namespace(name) => name,
                Place::Namespaces(names) => Vec::from_iter(names).join("+"),
            };
            format!("{} {place} {}", collection.kind, collection.fields.unwrap_or_default())
        };
        let got: Vec<String> = collections.into_iter().map(line).collect();
        assert_eq!(got.iter().map(|line| line.trim_end()).collect::<Vec<_>>(), want);
    }

    #[test]
    fn each_collection_is_read_once() {
        let targets = [
            target("apps", "StatefulSet", Some("shop"), "db"),
            target("apps", "StatefulSet", Some("shop"), "mq"),
            target("apps", "Deployment", Some("shop"), "web"),
            target("", "Pod", Some("shop"), "bare"),
            target("", "Namespace", None, "shop"),
        ];
        let own = [
            "Namespace - metadata.name=shop",
            "Pod shop metadata.name=bare",
            "Deployment.apps shop metadata.name=web",
            "StatefulSet.apps shop",
        ];
        check(Collection::of_targets(&targets), &own);
        let around = ["Event shop reason=FailedCreate", "Pod shop", "ReplicaSet.apps shop"];
        check(Collection::around(&targets), &around);
    }

    /// The number of requests must not grow with the number of namespaces.
    #[test]
    fn many_namespaces_are_read_at_once() {
        let places = ["a", "b", "c", "d"];
        let sets = |places: &[&str]| {
            let set = |place: &&str| target("apps", "DaemonSet", Some(place), "log");
            places.iter().map(set).collect::<Vec<Target>>()
        };
        let one_each = ["a", "b", "c"].map(|place| format!("DaemonSet.apps {place} metadata.name=log"));
        check(Collection::of_targets(&sets(&places[..3])), &one_each.each_ref().map(String::as_str));
        check(Collection::of_targets(&sets(&places)), &["DaemonSet.apps a+b+c+d"]);
        check(Collection::around(&sets(&places)), &["Event a+b+c+d reason=FailedCreate", "Pod a+b+c+d"]);
    }

    #[test]
    fn a_wide_collection_shows_its_namespaces_only() {
        let pods = Collection {
            kind: GroupKind::new("", "Pod"),
            place: Place::Namespaces(["a", "b"].map(str::to_owned).into()),
            fields: None,
        };
        for (namespace, want) in [(Some("a"), true), (Some("b"), true), (Some("c"), false), (None, false)] {
            assert_eq!(pods.shows(&pods.kind, namespace, "x"), want, "{namespace:?}");
        }
        let narrow: Vec<Place> = pods.split().into_iter().map(|collection| collection.place).collect();
        assert_eq!(narrow, ["a", "b"].map(|name| Place::Namespace(name.to_owned())));
    }
}
