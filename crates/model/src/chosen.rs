//! Values that the server made up for a dry-run, and will choose anew when it is asked to store the object.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::Object;

/// What a plan shows in the place of such a value.
pub const CHOSEN: &str = "(chosen by the server)";

/// The labels by which a Job finds its pods, if the manifest chooses none.
const JOB_UIDS: [&str; 2] = ["batch.kubernetes.io/controller-uid", "controller-uid"];

/// The volume that admission adds to every pod, with a random end.
const TOKEN_VOLUME: &str = "kube-api-access-";

/// Returns the answer to a dry-run without the values that hold for this dry-run only: addresses and node ports of
/// Services, labels of Jobs, names of the volumes for tokens. What is declared or live already is kept.
///
/// A dry-run takes the first address and the first port of the range, whoever has them (measured on 1.36).
pub fn without_chosen(desired: &Object, live: Option<&Object>, answer: &Object) -> Object {
    let kind = &answer.reference().kind;
    let hide: fn(&mut Value, &Known) = if kind.is("", "Service") {
        service
    } else if kind.is("batch", "Job") {
        job
    } else if kind.is("", "Pod") {
        pod
    } else {
        return answer.clone();
    };
    let mut body = answer.body().clone();
    hide(&mut body, &Known::of(desired, live));
    if body == *answer.body() { answer.clone() } else { answer.with_body(body) }
}

/// The scalar values that somebody chose before: whoever declares an address means it.
struct Known(BTreeSet<String>);

impl Known {
    fn of(desired: &Object, live: Option<&Object>) -> Self {
        let mut known = Self(BTreeSet::new());
        for object in [Some(desired), live].into_iter().flatten() {
            known.add(&object.body()["spec"]);
        }
        known
    }

    fn add(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => fields.values().for_each(|value| self.add(value)),
            Value::Array(items) => items.iter().for_each(|value| self.add(value)),
            scalar => {
                self.0.insert(scalar.to_string());
            }
        }
    }

    /// Puts the placeholder where a value is that nobody chose.
    fn hide(&self, value: Option<&mut Value>) {
        if let Some(value) = value.filter(|value| !value.is_null() && !self.0.contains(&value.to_string())) {
            *value = CHOSEN.into();
        }
    }
}

fn service(body: &mut Value, known: &Known) {
    let spec = &mut body["spec"];
    for field in ["clusterIP", "healthCheckNodePort"] {
        known.hide(spec.get_mut(field));
    }
    let ips = spec.get_mut("clusterIPs").and_then(Value::as_array_mut);
    ips.into_iter().flatten().for_each(|ip| known.hide(Some(ip)));
    let ports = spec.get_mut("ports").and_then(Value::as_array_mut);
    ports.into_iter().flatten().for_each(|port| known.hide(port.get_mut("nodePort")));
}

fn job(body: &mut Value, known: &Known) {
    for labels in ["/metadata/labels", "/spec/selector/matchLabels", "/spec/template/metadata/labels"] {
        let Some(labels) = body.pointer_mut(labels) else { continue };
        for label in JOB_UIDS {
            known.hide(labels.get_mut(label));
        }
    }
}

fn pod(body: &mut Value, known: &Known) {
    let hide = |items: Option<&mut Value>| {
        for item in items.and_then(Value::as_array_mut).into_iter().flatten() {
            let name = item.get_mut("name").filter(|name| is_token_volume(name));
            known.hide(name);
        }
    };
    hide(body.pointer_mut("/spec/volumes"));
    for containers in ["/spec/initContainers", "/spec/containers"] {
        let containers = body.pointer_mut(containers).and_then(Value::as_array_mut);
        containers.into_iter().flatten().for_each(|container| hide(container.get_mut("volumeMounts")));
    }
}

fn is_token_volume(name: &Value) -> bool {
    name.as_str().is_some_and(|name| name.starts_with(TOKEN_VOLUME))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &str, desired: &Value, live: Option<&Value>, answer: &Value, want: &Value) {
        let api_version = if kind == "Job" { "batch/v1" } else { "v1" };
        let object = |spec: &Value| {
            let body =
                json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec});
            Object::new(body, None).unwrap()
        };
        let got = without_chosen(&object(desired), live.map(object).as_ref(), &object(answer));
        assert_eq!(got.body()["spec"], *want);
    }

    /// The YAML of a new Service named an address that it would never get.
    #[test]
    fn addresses_and_ports_of_a_dry_run_are_no_facts() {
        let ports = json!([{"port": 80, "nodePort": 32769}]);
        let answer = json!({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": ports});
        let hidden =
            json!({"clusterIP": CHOSEN, "clusterIPs": [CHOSEN], "ports": [{"port": 80, "nodePort": CHOSEN}]});
        check("Service", &json!({"ports": [{"port": 80}]}), None, &answer, &hidden);
        let declared = json!({"clusterIP": "10.0.0.1", "ports": ports});
        check("Service", &declared, None, &answer, &answer);
        check("Service", &json!({}), Some(&answer), &answer, &answer);
        let opened = json!({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80, "nodePort": CHOSEN}]});
        let closed = json!({"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"], "ports": [{"port": 80}]});
        check("Service", &json!({"type": "NodePort"}), Some(&closed), &answer, &opened);
        let headless = json!({"clusterIP": "None", "clusterIPs": ["None"]});
        check("Service", &json!({"clusterIP": "None"}), None, &headless, &headless);
    }

    #[test]
    fn the_uid_of_a_job_that_does_not_exist_is_no_fact() {
        let label =
            |uid: &str| json!({"selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}});
        check("Job", &json!({}), None, &label("u1"), &label(CHOSEN));
        check("Job", &json!({}), Some(&label("u1")), &label("u1"), &label("u1"));
    }

    #[test]
    fn the_random_name_of_a_volume_is_no_fact() {
        let named = |name: &str| json!({"volumes": [{"name": name}, {"name": "data"}], "containers": [{"name": "a", "volumeMounts": [{"name": name}]}]});
        check("Pod", &json!({}), None, &named("kube-api-access-x7k2p"), &named(CHOSEN));
    }
}
