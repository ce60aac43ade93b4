//! The recipes of kinds whose objects are deleted and created again, as a table.

use windlass_model::{GroupKind, ObjectRef, Recipe, RecipeStep};

use super::command;

/// How an object of some kinds is replaced.
pub(super) struct Row {
    /// The kinds, `Kind.group`; none where the row is for all others.
    kinds: &'static [&'static str],
    /// What does not work meanwhile.
    down: &'static str,
    /// What becomes of data.
    data: &'static str,
    at_risk: bool,
    /// What is looked at before anything goes: why, and kubectl's verb with its options.
    first: Option<(&'static str, &'static str)>,
    /// What follows once the same commit is run again.
    again: &'static str,
    /// The other way; `{}` stands for another name.
    instead: &'static str,
}

/// Looked at before a deletion of what may not be in Git.
const KEEP: Option<(&str, &str)> = Some(("keep what it holds, if that is nowhere else", "get -o yaml"));
const NO_DATA: &str = "none at risk";

const ROWS: [Row; 13] = [
    Row {
        kinds: &["Job.batch"],
        down: "the pods of this Job, if it still runs",
        data: "none in the cluster is deleted, but the work is done once more from the start, and logs of its pods go",
        at_risk: false,
        first: Some(("see whether it still runs, and let it end", "get")),
        again: "the Job is created and runs",
        instead: "give each version of the Job a name of its own, such as `{}`: it is created beside this one",
    },
    Row {
        kinds: &["Deployment.apps", "ReplicaSet.apps"],
        down: "all its pods, until new ones are ready",
        data: "none at risk: claims stay, only what pods keep in emptyDir volumes goes",
        at_risk: false,
        first: None,
        again: "it is created with new pods",
        instead: "without an outage: deliver it as `{}`; the old one is pruned once the new one is ready, and a Service reaches the pods of both by a label that they share",
    },
    Row {
        kinds: &["DaemonSet.apps"],
        down: "its pod on every node, until the new one is ready",
        data: "none at risk: only what pods keep in emptyDir volumes goes",
        at_risk: false,
        first: None,
        again: "it is created with new pods",
        instead: "deliver it as `{}`, if two of its pods can run on one node at a time",
    },
    Row {
        kinds: &["Pod"],
        down: "the pod",
        data: "what it keeps in emptyDir volumes goes",
        at_risk: true,
        first: None,
        again: "the pod is created again",
        instead: "let a Deployment or StatefulSet make the pod: then its template may change",
    },
    Row {
        kinds: &["RoleBinding.rbac.authorization.k8s.io", "ClusterRoleBinding.rbac.authorization.k8s.io"],
        down: "the rights that it gives, until it is back",
        data: NO_DATA,
        at_risk: false,
        first: None,
        again: "it is created with the new role",
        instead: "with no gap: deliver the new binding as `{}`; the old one is pruned afterwards",
    },
    Row {
        kinds: &["StorageClass.storage.k8s.io", "VolumeAttributesClass.storage.k8s.io"],
        down: "new claims of this class wait, until it is back",
        data: "none at risk: volumes that exist keep what they were made with",
        at_risk: false,
        first: None,
        again: "it is created; only volumes that are made from now on follow it",
        instead: "deliver the new class as `{}`, and keep this one as it was for the claims that name it",
    },
    Row {
        kinds: &["ConfigMap"],
        down: "pods that start before it is back wait for it; running ones keep what they have",
        data: "none at risk where Git holds it all",
        at_risk: false,
        first: None,
        again: "it is created; restart the pods that use it, for a kubelet does not read an immutable one again",
        instead: "give each content a name of its own, such as `{}` (kustomize's generators append a hash): pods roll to it, and going back works",
    },
    Row {
        kinds: &["Secret"],
        down: "pods that start before it is back wait for it; running ones keep what they have",
        data: "values that are not in Git go with it",
        at_risk: true,
        first: KEEP,
        again: "it is created; restart the pods that use it",
        instead: "give each content a name of its own, such as `{}` (kustomize's generators append a hash): pods roll to it, and going back works",
    },
    Row {
        kinds: &["PriorityClass.scheduling.k8s.io", "RuntimeClass.node.k8s.io"],
        down: "new pods that name it are refused, until it is back; running ones go on",
        data: NO_DATA,
        at_risk: false,
        first: None,
        again: "it is created; only pods that are made from now on follow it",
        instead: "deliver it as `{}`, and let templates name that one",
    },
    Row {
        kinds: &["IngressClass.networking.k8s.io"],
        down: "controllers may take the Ingresses of this class out of service, until it is back",
        data: NO_DATA,
        at_risk: false,
        first: None,
        again: "it is created",
        instead: "deliver the new class as `{}`, and move one Ingress after the other",
    },
    Row {
        kinds: &["EndpointSlice.discovery.k8s.io"],
        down: "traffic to its endpoints, until it is back",
        data: NO_DATA,
        at_risk: false,
        first: None,
        again: "it is created",
        instead: "deliver the new slice as `{}` beside this one: a Service reaches the endpoints of all its slices",
    },
    Row {
        kinds: &["Service"],
        down: "connections through it, until it is back under another cluster IP, unless the manifest names one, and clients have asked DNS again",
        data: NO_DATA,
        at_risk: false,
        first: None,
        again: "it is created",
        instead: "deliver the new Service as `{}`, and move one client after the other",
    },
    Row {
        kinds: &[],
        down: "whatever uses it, until it is back",
        data: "what only the live object holds goes with it",
        at_risk: true,
        first: KEEP,
        again: "it is created",
        instead: "deliver it as `{}` beside this one, if that is possible",
    },
];

/// Returns the recipe of an object that is deleted and created again.
pub(super) fn of(object: &ObjectRef) -> Option<Recipe> {
    let row = ROWS.iter().find(|row| row.fits(&object.kind))?;
    let look = row.first.map(|(why, verb)| RecipeStep::run(why, command::kubectl(verb, object)));
    let delete = RecipeStep::run("delete it", command::delete(object));
    let again = RecipeStep::told(format!("run the same commit again: {}", row.again));
    Some(Recipe {
        down: row.down.to_owned(),
        data: row.data.to_owned(),
        data_at_risk: row.at_risk,
        steps: look.into_iter().chain([delete, again]).collect(),
        instead: Some(row.instead.replace("{}", &format!("{}-2", object.name))),
    })
}

impl Row {
    fn fits(&self, kind: &GroupKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind.to_string().as_str())
    }
}
