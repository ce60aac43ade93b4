//! Everything that a run leaves behind in the cluster, without what differs between two equal runs.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_e2e::{World, until};

/// Objects by kind and name.
pub(super) type State = BTreeMap<String, Value>;

/// Returns the state once the controllers have nothing left to do.
pub(super) fn settled(world: &World) -> State {
    let mut before = None;
    until(60, "the cluster comes to rest", || {
        let now = state(world)?;
        (before.replace(now.clone()) == Some(now.clone())).then_some(now)
    })
}

/// Returns every object of every kind that is in the world's namespaces or is the world's otherwise, and what is
/// recorded about its runs; `None` while a kind that comes or goes cannot be listed.
pub(super) fn state(world: &World) -> Option<State> {
    let everything = kubectl(world, &["get", "-A", "-o", "json", "--show-managed-fields", &kinds(world)?])?;
    let list: Value = serde_json::from_str(&everything).ok()?;
    let ours = |object: &&Value| object.to_string().contains(&world.suffix);
    Some(list["items"].as_array()?.iter().filter(ours).filter_map(entry).collect())
}

/// Returns the kinds that can be listed, without those of other tests.
fn kinds(world: &World) -> Option<String> {
    let names = kubectl(world, &["api-resources", "--verbs=list,get", "-o", "name"])?;
    let of_interest = |name: &&str| {
        let group = name.split_once('.').map_or("", |(_, group)| group);
        let known = !group.contains('.') || group.ends_with("k8s.io") || group.contains(&world.suffix);
        known && *name != "componentstatuses" && !name.starts_with("events")
    };
    Some(names.lines().filter(of_interest).collect::<Vec<_>>().join(","))
}

fn kubectl(world: &World, arguments: &[&str]) -> Option<String> {
    let output = world.kubectl.attempt(arguments, "");
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns what counts of an object under the name by which its like is found after another run.
fn entry(object: &Value) -> Option<(String, Value)> {
    let kind = object["kind"].as_str()?.to_owned();
    let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
    let name = object["metadata"]["name"].as_str()?.to_owned();
    let object = match kind.as_str() {
        "Endpoints" => json!({}),
        "EndpointSlice" => {
            let service = object["metadata"]["labels"]["kubernetes.io/service-name"].clone();
            let ready = object["endpoints"].as_array().into_iter().flatten();
            let ready = ready.filter(|endpoint| endpoint["conditions"]["ready"] == true).count();
            return Some((format!("EndpointSlice {namespace}/{service}"), json!(ready)));
        }
        "Pod" => pod(object),
        "PersistentVolume" => {
            let claim = object["spec"]["claimRef"]["name"].as_str().unwrap_or_default().to_owned();
            return Some((format!("PersistentVolume of {claim}"), scrubbed(object, false)));
        }
        // How often a lock was handed on is of no interest.
        "Lease" => json!({"holder": object["spec"]["holderIdentity"]}),
        _ => match object["metadata"]["labels"]["windlass.dev/record"].as_str() {
            Some("run") => return None,
            Some("state") => json!({"current": current(object)}),
            _ => scrubbed(object, lasts(&namespace) && lasts(&name)),
        },
    };
    Some((format!("{kind} {namespace}/{name}"), object))
}

/// Says whether a name is of what both versions hold: it must not be made anew between them.
fn lasts(name: &str) -> bool {
    !name.split(['-', '.']).any(|part| super::versions::NAMES.contains(&part))
}

/// Returns the run that began to write and has not completed, as the record of the environment says.
fn current(record: &Value) -> Value {
    let state: Value = serde_json::from_str(record["data"]["state"].as_str().unwrap()).unwrap();
    state["current"].clone()
}

fn pod(object: &Value) -> Value {
    let statuses = object["status"]["containerStatuses"].as_array().into_iter().flatten();
    let ready: Vec<&Value> = statuses.map(|status| &status["ready"]).collect();
    json!({
        "app": object["metadata"]["labels"]["app"], "revision": object["metadata"]["labels"]["controller-revision-hash"],
        "annotations": object["metadata"]["annotations"],
        "image": object["spec"]["containers"][0]["image"], "phase": object["status"]["phase"], "ready": ready,
        "going": !object["metadata"]["deletionTimestamp"].is_null(),
    })
}

/// Takes out of an object what tells two equal ones apart. The uid of what lasts is kept.
fn scrubbed(object: &Value, lasts: bool) -> Value {
    let uid = object["metadata"]["uid"].clone();
    let mut object: Value = serde_json::from_str(&without_uids_and_times(&object.to_string())).unwrap();
    for pointer in [
        "/metadata/resourceVersion",
        "/metadata/generation",
        "/status/observedGeneration",
        "/spec/claimRef/resourceVersion",
        // The number of a revision, not of a version.
        "/revision",
    ] {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        if let Some(Value::Object(map)) = object.pointer_mut(parent) {
            map.remove(field);
        }
    }
    for list in ["/metadata/managedFields", "/status/conditions"] {
        if let Some(Value::Array(entries)) = object.pointer_mut(list) {
            entries.sort_by_key(ToString::to_string);
        }
    }
    if lasts {
        object["metadata"]["uid"] = uid;
    }
    object
}

fn without_uids_and_times(text: &str) -> String {
    const FORMS: [(&str, &str); 2] =
        [("xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "UID"), ("0000-00-00T00:00:00Z", "TIME")];
    let mut out = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let form = FORMS.iter().find(|(form, _)| has_form(rest, form));
        let taken = form.map_or(first.len_utf8(), |(form, _)| form.len());
        match form {
            Some((_, name)) => out.push_str(name),
            None => out.push(first),
        }
        rest = rest.get(taken..).unwrap_or_default();
    }
    out
}

/// Says whether a text begins in a form, where `x` stands for a hexadecimal and `0` for a decimal digit.
fn has_form(text: &str, form: &str) -> bool {
    let fits = |(want, got): (u8, u8)| match want {
        b'x' => got.is_ascii_hexdigit(),
        b'0' => got.is_ascii_digit(),
        _ => want == got,
    };
    text.len() >= form.len() && form.bytes().zip(text.bytes()).all(fits)
}
