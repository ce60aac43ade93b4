//! What pods may still be made from: revisions of workloads, and jobs.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::{GroupKind, Object, ObjectRef, condition_is, uses_of};

/// Returns the kinds that must be listed in a namespace to know its revisions and jobs.
pub fn revision_kinds() -> [GroupKind; 5] {
    [
        GroupKind::new("apps", "ReplicaSet"),
        GroupKind::new("apps", "StatefulSet"),
        GroupKind::new("apps", "ControllerRevision"),
        GroupKind::new("batch", "CronJob"),
        GroupKind::new("batch", "Job"),
    ]
}

/// Returns the revisions among these objects of one namespace that name an object and from which pods may still be
/// made: ReplicaSets that are not scaled to nothing, the revisions that a StatefulSet calls current or next, CronJobs that
/// are not suspended, and Jobs that are not finished. A pod that is evicted at this moment is no user any more, and is made
/// again from one of them; what runs at night has no pod by day.
///
/// The rest of the history counts for nothing: going back to it is a delivery, which brings along what it names.
pub fn revisions_that_use(objects: &[Object], wanted: &ObjectRef) -> Vec<String> {
    let current = current_revisions(objects);
    let here = objects.iter().filter(|object| object.reference().namespace == wanted.namespace);
    here.filter(|object| pod_spec(object, &current).is_some_and(|spec| !uses_of(spec, wanted).is_empty()))
        .map(|object| format!("{} {}", object.reference().kind.kind, object.reference().name))
        .collect()
}

/// Returns the pod spec of a revision from which pods may still be made.
fn pod_spec<'a>(object: &'a Object, current: &BTreeSet<&str>) -> Option<&'a Value> {
    let (reference, body) = (object.reference(), object.body());
    let (makes_pods, pointer) = if reference.kind.is("apps", "ReplicaSet") {
        (body.pointer("/spec/replicas").and_then(Value::as_u64) != Some(0), "/spec/template/spec")
    } else if reference.kind.is("batch", "CronJob") {
        (body["spec"]["suspend"] != true, "/spec/jobTemplate/spec/template/spec")
    } else if reference.kind.is("batch", "Job") {
        let is_over = ["Complete", "Failed"].iter().any(|end| condition_is(body, end, "True"));
        (!is_over, "/spec/template/spec")
    } else {
        let is_revision = reference.kind.is("apps", "ControllerRevision");
        (is_revision && current.contains(reference.name.as_str()), "/data/spec/template/spec")
    };
    body.pointer(pointer).filter(|_| makes_pods && !object.is_terminating())
}

fn current_revisions(objects: &[Object]) -> BTreeSet<&str> {
    let sets = objects
        .iter()
        .filter(|object| object.reference().kind.is("apps", "StatefulSet") && !object.is_terminating());
    let names = sets.flat_map(|set| {
        ["/status/currentRevision", "/status/updateRevision"]
            .map(|pointer| set.body().pointer(pointer)?.as_str())
    });
    names.flatten().collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn object(kind: &str, name: &str, fields: Value) -> Object {
        let mut body =
            json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": "shop"}});
        if let (Some(body), Value::Object(fields)) = (body.as_object_mut(), fields) {
            body.extend(fields);
        }
        Object::new(body, None).unwrap()
    }

    /// A pod of an older revision was evicted while its ConfigMap was judged, and never started again.
    #[test]
    fn revisions_that_still_make_pods_use_what_they_name() {
        let template = || json!({"spec": {"volumes": [{"name": "v", "configMap": {"name": "conf"}}]}});
        let replica_set = |replicas: u64| {
            object("ReplicaSet", "web-1", json!({"spec": {"replicas": replicas, "template": template()}}))
        };
        let set = |current: &str| {
            object(
                "StatefulSet",
                "db",
                json!({"status": {"currentRevision": current, "updateRevision": "db-2"}}),
            )
        };
        let revision =
            || object("ControllerRevision", "db-1", json!({"data": {"spec": {"template": template()}}}));
        let wanted = ObjectRef {
            kind: GroupKind::new("", "ConfigMap"),
            version: "v1".into(),
            namespace: Some("shop".into()),
            name: "conf".into(),
        };
        let check =
            |objects: &[Object], want: &[&str]| assert_eq!(revisions_that_use(objects, &wanted), want);
        check(&[replica_set(2)], &["ReplicaSet web-1"]);
        check(&[replica_set(0)], &[]);
        check(&[set("db-1"), revision()], &["ControllerRevision db-1"]);
        check(&[set("db-2"), revision()], &[]);
        check(&[revision()], &[]);
        // A nightly job has no pod by day, and its Secret went.
        let batch = |kind: &str, name: &str, spec: Value, status: Value| {
            let mut body = object(kind, name, json!({"spec": spec, "status": status})).into_body();
            body["apiVersion"] = "batch/v1".into();
            Object::new(body, None).unwrap()
        };
        let nightly = |suspend: bool| {
            let spec = json!({"suspend": suspend, "jobTemplate": {"spec": {"template": template()}}});
            batch("CronJob", "backup", spec, json!({}))
        };
        let job = |conditions: Value| {
            batch("Job", "once", json!({"template": template()}), json!({"conditions": conditions}))
        };
        check(&[nightly(false)], &["CronJob backup"]);
        check(&[nightly(true)], &[]);
        check(&[job(json!([]))], &["Job once"]);
        check(&[job(json!([{"type": "Complete", "status": "True"}]))], &[]);
        let mut going = replica_set(2).into_body();
        going["metadata"]["deletionTimestamp"] = "2026-06-14T00:00:00Z".into();
        check(&[Object::new(going, None).unwrap()], &[]);
        let elsewhere = ObjectRef { namespace: Some("other".into()), ..wanted.clone() };
        assert_eq!(revisions_that_use(&[replica_set(2)], &elsewhere), Vec::<String>::new());
    }
}
