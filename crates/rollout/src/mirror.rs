//! The collections as they were seen last.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;

use tokio::time::Instant;
use windlass_cluster::ClusterError;
use windlass_model::{GroupKind, Object, ObjectRef};

use crate::Target;
use crate::collection::Collection;
use crate::feed::News;
use crate::fields::{controller, list, text};
use crate::judge::Observed;

/// How long the own identity may be refused before that is believed: a server that has just started
/// refuses everybody for a moment, until it has read its roles.
const REFUSED_FOR: Duration = Duration::from_secs(10);

/// What is known of the cluster.
#[derive(Debug, Default)]
pub(crate) struct Mirror {
    shelves: BTreeMap<Collection, Shelf>,
}

/// Namespace and name.
type Key = (Option<String>, String);

fn key(object: &ObjectRef) -> Key {
    (object.namespace.clone(), object.name.clone())
}

#[derive(Debug, Default)]
struct Shelf {
    objects: HashMap<Key, Object>,
    /// Objects that went while they were watched, as they looked last.
    gone: HashMap<Key, Object>,
    listed: bool,
    blind: Option<(Instant, ClusterError)>,
}

impl Mirror {
    /// Makes room for a collection; says whether there was none.
    pub(crate) fn add(&mut self, collection: &Collection) -> bool {
        let is_new = !self.shelves.contains_key(collection);
        if is_new {
            self.shelves.insert(collection.clone(), Shelf::default());
        }
        is_new
    }

    /// Forgets a collection.
    pub(crate) fn remove(&mut self, collection: &Collection) {
        self.shelves.remove(collection);
    }

    pub(crate) fn update(&mut self, collection: &Collection, news: News, now: Instant) {
        let Some(known) = self.shelves.get_mut(collection) else { return };
        match news {
            News::Listed(objects) => {
                let by_key = objects.into_iter().map(|object| (key(object.reference()), object));
                let before = std::mem::replace(&mut known.objects, by_key.collect());
                let gone = before.into_iter().filter(|(key, _)| !known.objects.contains_key(key));
                known.gone.extend(gone);
                (known.listed, known.blind) = (true, None);
            }
            News::Changed(object) => {
                known.objects.insert(key(object.reference()), object);
                known.blind = None;
            }
            News::Deleted(object) => {
                let key = key(object.reference());
                known.objects.remove(&key);
                known.gone.insert(key, object);
                known.blind = None;
            }
            News::Blind(error) => {
                let since = known.blind.take().map_or(now, |(since, _)| since);
                known.blind = Some((since, error));
            }
            News::TooWide => {}
        }
    }

    /// Says whether every collection has been read once.
    pub(crate) fn is_complete(&self) -> bool {
        self.shelves.values().all(|shelf| shelf.listed)
    }

    /// Returns the error of a collection that is not seen at the moment.
    pub(crate) fn blind(&self) -> Option<&ClusterError> {
        self.shelves.values().find_map(|shelf| shelf.blind.as_ref()).map(|(_, error)| error)
    }

    /// Returns an error that no patience will remove: the identity lacks a right, or a kind is not served.
    pub(crate) fn hopeless(&self, now: Instant) -> Option<&ClusterError> {
        let hopeless = |(since, error): &&(Instant, ClusterError)| {
            let refused = error.failure().is_some_and(|failure| matches!(failure.code, 401 | 403));
            let unknown = matches!(error, ClusterError::UnknownKind { stale: false, .. });
            (refused || unknown) && now.duration_since(*since) >= REFUSED_FOR
        };
        self.shelves.values().filter_map(|shelf| shelf.blind.as_ref()).find(hopeless).map(|(_, error)| error)
    }

    /// Returns everything seen, arranged for the judge.
    pub(crate) fn view(&self) -> View<'_> {
        let mut view = View {
            mirror: self,
            controlled: HashMap::new(),
            users: HashMap::new(),
            refusals: HashMap::new(),
        };
        // A pod that is waited for itself may be seen in two collections.
        let mut seen = HashSet::new();
        for (collection, shelf) in &self.shelves {
            for (key, object) in &shelf.objects {
                if !seen.insert((&collection.kind, key)) {
                    continue;
                }
                match collection.kind.kind.as_str() {
                    "Pod" => view.add_pod(object),
                    "ReplicaSet" => view.add_controlled(object),
                    "Event" => view.add_refusal(object),
                    _ => {}
                }
            }
        }
        view
    }
}

/// What was seen, by what it belongs to.
pub(crate) struct View<'a> {
    mirror: &'a Mirror,
    /// Pods and ReplicaSets by the uid of their controller.
    controlled: HashMap<&'a str, Vec<&'a Object>>,
    /// Pods by namespace and claim.
    users: HashMap<(&'a str, &'a str), Vec<&'a Object>>,
    /// Events by the uid of what they are about.
    refusals: HashMap<&'a str, Vec<&'a Object>>,
}

impl<'a> View<'a> {
    fn add_pod(&mut self, pod: &'a Object) {
        self.add_controlled(pod);
        let namespace = pod.reference().namespace.as_deref().unwrap_or_default();
        for volume in list(pod.body(), "/spec/volumes") {
            let claim = text(volume, "/persistentVolumeClaim/claimName");
            if !claim.is_empty() {
                self.users.entry((namespace, claim)).or_default().push(pod);
            }
        }
    }

    fn add_controlled(&mut self, object: &'a Object) {
        if let Some(owner) = controller(object) {
            self.controlled.entry(owner).or_default().push(object);
        }
    }

    fn add_refusal(&mut self, event: &'a Object) {
        self.refusals.entry(text(event.body(), "/involvedObject/uid")).or_default().push(event);
    }

    fn of<'v>(map: &'v HashMap<&'a str, Vec<&'a Object>>, key: &str) -> &'v [&'a Object] {
        map.get(key).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns what the judge needs to know of a target.
    pub(crate) fn observe(&self, target: &Target) -> Observed<'a> {
        let key = key(&target.object);
        let own = self.shelf(&target.object.kind, &key);
        let object = own.and_then(|shelf| shelf.objects.get(&key));
        let last_seen = own.and_then(|shelf| shelf.gone.get(&key));
        let mut observed = Observed { object, last_seen, ..Observed::default() };
        let Some(uid) = object.and_then(Object::uid) else { return observed };
        if target.object.kind.is("", "PersistentVolumeClaim") {
            let namespace = target.object.namespace.as_deref().unwrap_or_default();
            observed.pods =
                self.users.get(&(namespace, target.object.name.as_str())).cloned().unwrap_or_default();
            return observed;
        }
        let mut owners = vec![uid];
        for child in Self::of(&self.controlled, uid) {
            if child.reference().kind.is("apps", "ReplicaSet") {
                observed.replica_sets.push(child);
                owners.extend(child.uid());
            }
        }
        for owner in owners {
            let pods =
                Self::of(&self.controlled, owner).iter().filter(|child| child.reference().kind.is("", "Pod"));
            observed.pods.extend(pods);
            observed.refusals.extend(Self::of(&self.refusals, owner));
        }
        observed
    }

    /// Returns a pod by name.
    pub(crate) fn pod(&self, namespace: Option<&str>, name: &str) -> Option<&'a Object> {
        let key = (namespace.map(str::to_owned), name.to_owned());
        self.shelf(&GroupKind::new("", "Pod"), &key)?.objects.get(&key)
    }

    fn shelf(&self, kind: &GroupKind, (namespace, name): &Key) -> Option<&'a Shelf> {
        let mut shelves = self.mirror.shelves.iter();
        shelves
            .find(|(collection, _)| collection.shows(kind, namespace.as_deref(), name))
            .map(|(_, shelf)| shelf)
    }
}
