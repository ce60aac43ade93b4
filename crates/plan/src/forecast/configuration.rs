//! Who notices that a ConfigMap or a Secret changes: pods read environment variables once, files again.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_model::{Action, Forecast, Object, ObjectRef, Operation, PodUse, uses_of};

use super::note;
use crate::scene::Scene;
use crate::{Ask, ObjectKey, risk, template};

/// The annotations by which Stakater Reloader restarts a workload when something changes.
const RELOADER: &str = "reloader.stakater.com/";

/// Adds to each changed ConfigMap and Secret which of the commit's workloads notice it, and when.
pub(crate) fn follow(scene: &Scene<'_>, actions: &mut [Action]) {
    for (position, told) in tell(scene, actions) {
        let Some(action) = actions.get_mut(position) else { continue };
        action.forecasts.extend(told);
        action.risk = risk::of(action.operation, &action.object.kind, &action.forecasts);
    }
}

/// Returns what there is to tell by position of the action. Each workload is looked at once: there may be thousands, and
/// as many changes.
fn tell(scene: &Scene<'_>, actions: &[Action]) -> BTreeMap<usize, Vec<Forecast>> {
    let mut told: BTreeMap<usize, Vec<Forecast>> = BTreeMap::new();
    let mut changed: BTreeMap<(Option<&str>, &str), Vec<usize>> = BTreeMap::new();
    for (position, action) in actions.iter().enumerate().filter(|(_, action)| changes_content(action)) {
        let ObjectRef { namespace, name, .. } = &action.object;
        changed.entry((namespace.as_deref(), name)).or_default().push(position);
    }
    if changed.is_empty() {
        return told;
    }
    for reader in readers(scene, actions) {
        let mut texts = BTreeSet::new();
        if let Some(template) = template::of(&reader.workload) {
            collect(&template["spec"], &mut texts);
        }
        let namespace = reader.workload.reference().namespace.as_deref();
        for position in texts.iter().filter_map(|text| changed.get(&(namespace, *text))).flatten() {
            let forecast = actions.get(*position).and_then(|action| reader.tell(&action.object));
            told.entry(*position).or_default().extend(forecast);
        }
    }
    told
}

/// Collects every text of a pod's specification: names of objects are among them.
fn collect<'a>(value: &'a Value, texts: &mut BTreeSet<&'a str>) {
    match value {
        Value::String(text) => drop(texts.insert(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        _ => {}
    }
}

fn changes_content(action: &Action) -> bool {
    let kind = &action.object.kind;
    let content = ["data", "binaryData", "stringData"];
    (kind.is("", "ConfigMap") || kind.is("", "Secret"))
        && matches!(action.operation, Operation::Update | Operation::Adopt)
        && action.delta.iter().any(|change| content.iter().any(|field| change.path.starts_with(&[field])))
}

/// A workload of the commit, as it would be.
struct Reader {
    workload: Object,
    /// Whether its pods are made anew by this commit anyway.
    restarts: bool,
}

/// Returns the workloads that have pods already, each as text that nobody has looked at.
fn readers(scene: &Scene<'_>, actions: &[Action]) -> impl Iterator<Item = Reader> {
    let live = actions
        .iter()
        .filter(|action| action.operation != Operation::Create && template::is_in(&action.object.kind));
    live.filter_map(|action| {
        let key = ObjectKey::from(&action.object);
        let workload = match &scene.observation.objects.get(&key)?.answer {
            Ask::Answered(reply) => &reply.object,
            _ => scene.desired(&key)?,
        };
        let restarts = action.forecasts.iter().any(|forecast| matches!(forecast, Forecast::Restart { .. }));
        Some(Reader { workload: workload.folded(), restarts })
    })
}

impl Reader {
    /// Says when the workload's pods notice a change of an object, if they use it.
    fn tell(&self, object: &ObjectRef) -> Option<Forecast> {
        let name = self.workload.reference();
        if name.namespace != object.namespace {
            return None;
        }
        let uses = uses_of(&template::of(&self.workload)?["spec"], object);
        if uses.is_empty() {
            return None;
        }
        if self.restarts {
            return Some(note(format!("{name} reads the new values: its pods restart with this commit")));
        }
        if self.is_reloaded(object) {
            let why = format!("possibly: Reloader restarts the pods of {name} for a change of it");
            return Some(Forecast::Restart { why, pods: None });
        }
        if !template::makes_pods(&self.workload) || name.kind.is("batch", "CronJob") {
            return Some(note(format!("{name} reads the new values when it makes its next pods")));
        }
        when_noticed(&uses).map(|when| note(format!("the pods of {name} {when}")))
    }

    fn is_reloaded(&self, object: &ObjectRef) -> bool {
        let kind = object.kind.kind.to_lowercase();
        let listed = |key: &str| {
            let names = self.workload.annotation(key).unwrap_or_default();
            names.split(',').any(|name| name.trim() == object.name)
        };
        self.workload.annotation(&format!("{RELOADER}auto")) == Some("true")
            || self.workload.annotation(&format!("{kind}.{RELOADER}auto")) == Some("true")
            || listed(&format!("{kind}.{RELOADER}reload"))
    }
}

/// Says when running pods notice a change; `None` where nothing in them is read again anyway.
fn when_noticed(uses: &BTreeSet<PodUse>) -> Option<&'static str> {
    let fixed = uses.contains(&PodUse::Environment) || uses.contains(&PodUse::FixedFiles);
    match (fixed, uses.contains(&PodUse::Files)) {
        (true, true) => Some(
            "keep the old values in variables and `subPath` files until they are restarted, which nothing here does, and see the new ones in other files within about a minute",
        ),
        (true, false) => Some(
            "keep the old values until they are restarted (variables and `subPath` files are read once), and nothing in this commit restarts them",
        ),
        (false, true) => Some(
            "see the new files within about a minute, without a restart; whether the program reads them again is its own affair",
        ),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::GroupKind;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better with plain values")]
    fn check(kind: &str, restarts: bool, annotations: Value, spec: Value, want: Option<&str>) {
        let body = json!({"apiVersion": if kind == "CronJob" { "batch/v1" } else { "apps/v1" }, "kind": kind,
            "metadata": {"name": "web", "namespace": "shop", "annotations": annotations}, "spec": spec});
        let workload = Object::new(body, None).unwrap();
        let reader = Reader { workload, restarts };
        let object = ObjectRef {
            kind: GroupKind::new("", "ConfigMap"),
            version: "v1".into(),
            namespace: Some("shop".into()),
            name: "conf".into(),
        };
        let got = reader.tell(&object).map(|forecast| format!("{forecast:?}"));
        assert!(
            match (&got, want) {
                (Some(got), Some(want)) => got.contains(want),
                (None, None) => true,
                _ => false,
            },
            "{got:?}, not {want:?}"
        );
    }

    fn variables() -> Value {
        json!({"template": {"spec": {"containers": [{"envFrom": [{"configMapRef": {"name": "conf"}}]}]}}})
    }

    fn files() -> Value {
        json!({"template": {"spec": {"volumes": [{"name": "v", "configMap": {"name": "conf"}}]}}})
    }

    /// A changed ConfigMap restarts nothing, which hardly anybody expects.
    #[test]
    fn pods_keep_what_they_read_at_their_start() {
        let none = || json!({});
        check("Deployment", false, none(), variables(), Some("keep the old values until they are restarted"));
        check("Deployment", false, none(), files(), Some("see the new files within about a minute"));
        check("Deployment", true, none(), variables(), Some("its pods restart with this commit"));
        check("Deployment", false, none(), json!({"template": {"spec": {}}}), None);
        let mut idle = variables();
        idle["replicas"] = 0.into();
        check("Deployment", false, none(), idle, Some("when it makes its next pods"));
        check(
            "CronJob",
            false,
            none(),
            json!({"jobTemplate": {"spec": variables()}}),
            Some("when it makes its next pods"),
        );
    }

    #[test]
    fn a_reloader_restarts_what_asks_for_it() {
        let restart = Some("Restart");
        check("Deployment", false, json!({"reloader.stakater.com/auto": "true"}), variables(), restart);
        check(
            "Deployment",
            false,
            json!({"configmap.reloader.stakater.com/reload": "a, conf"}),
            files(),
            restart,
        );
        check(
            "Deployment",
            false,
            json!({"secret.reloader.stakater.com/reload": "conf"}),
            files(),
            Some("about a minute"),
        );
    }
}
