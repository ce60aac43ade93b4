//! The kinds that take part: one object of each, and what can change about it.

use serde_json::Value;

use super::edit::Edit;

/// A kind of objects.
#[expect(clippy::struct_field_names, reason = "it is the field `kind` of an object")]
pub(crate) struct Kind {
    pub(crate) api: String,
    pub(crate) kind: String,
    plural: String,
    pub(crate) namespaced: bool,
    /// How an object is named, if that is not free.
    pub(crate) name: Option<String>,
    /// Whether each object costs the server much.
    pub(crate) few: bool,
    /// An object without name and labels.
    pub(crate) body: Value,
    pub(crate) changes: Vec<Edit>,
}

const FILES: [&str; 5] = [
    include_str!("kinds/core.json"),
    include_str!("kinds/apps.json"),
    include_str!("kinds/policies.json"),
    include_str!("kinds/others.json"),
    include_str!("kinds/customs.json"),
];

/// What can change about every object.
const ANY: &str = r#"[
    ["/metadata/labels/tier", "back"], ["/metadata/labels/tier", "$remove"], ["/metadata/labels/team", "b"],
    ["/metadata/annotations/note", "changed"], ["/metadata/annotations/note", "$remove"],
    ["/metadata/annotations/example.com~1more", "x"], ["/metadata/labels/bad", "not a label!"], ["/unknown", 1]
]"#;

const TEMPLATE: &str = r#"{"metadata": {"labels": {"app": "x"}}, "spec": {"nodeSelector": {"none": "x"}, "containers": [
    {"name": "web", "image": "registry.example/web:1", "args": ["-a", "-b"],
        "ports": [{"name": "http", "containerPort": 80}, {"name": "admin", "containerPort": 81}],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}},
    {"name": "side", "image": "registry.example/side:1"}],
    "volumes": [{"name": "tmp", "emptyDir": {}}]}}"#;

/// Returns all kinds; custom ones are in `group`.
pub(crate) fn all(group: &str) -> Vec<Kind> {
    let job = TEMPLATE.replacen("\"nodeSelector\"", "\"restartPolicy\": \"Never\", \"nodeSelector\"", 1);
    let read = |file: &&str| {
        let text = file
            .replace("$GROUP", group)
            .replace("\"$TEMPLATE\"", TEMPLATE)
            .replace("\"$JOBTEMPLATE\"", &job);
        let Value::Array(rows) = serde_json::from_str(&text).unwrap() else { panic!("a table is a list") };
        rows.iter().map(Kind::read).collect::<Vec<_>>()
    };
    FILES.iter().flat_map(read).collect()
}

/// Returns the definitions of the custom kinds in `group`.
pub(crate) fn definitions(group: &str, suffix: &str) -> Vec<Value> {
    let text = include_str!("kinds/definitions.json").replace("$GROUP", group).replace("$SUFFIX", suffix);
    serde_json::from_str(&text).unwrap()
}

impl Kind {
    fn read(row: &Value) -> Self {
        let text = |key: &str| row[key].as_str().map(str::to_owned);
        let mut changes = Edit::read_all(&row["changes"], "");
        changes.extend(Edit::read_all(&serde_json::from_str(ANY).unwrap(), ""));
        if let Some(place) = row["template"].as_str() {
            let common = serde_json::from_str(include_str!("kinds/template.json")).unwrap();
            changes.extend(Edit::read_all(&common, place));
        }
        Self {
            api: text("api").unwrap(),
            kind: text("kind").unwrap(),
            plural: text("plural").unwrap(),
            namespaced: row["namespaced"] == true,
            name: text("name"),
            few: row["few"] == true,
            body: row["body"].clone(),
            changes,
        }
    }

    /// Returns the path of an object.
    pub(crate) fn path(&self, object: &Value) -> String {
        let text = |key: &str| object["metadata"][key].as_str().unwrap_or_default();
        let root = if self.api.contains('/') { "apis" } else { "api" };
        let place =
            if self.namespaced { format!("namespaces/{}/", text("namespace")) } else { String::new() };
        format!("/{root}/{}/{place}{}/{}", self.api, self.plural, text("name"))
    }

    /// Returns the fields of the object's root that are set or can change, but for `metadata`.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &str> {
        let set = self.body.as_object().into_iter().flatten().map(|(key, _)| key.as_str());
        set.chain(self.changes.iter().flat_map(Edit::roots)).filter(|root| *root != "metadata")
    }

    /// Returns the resource as kubectl names it.
    pub(crate) fn resource(&self) -> String {
        let group = self.api.split_once('/').map_or("", |(group, _)| group);
        format!("{}.{group}", self.plural).trim_end_matches('.').to_owned()
    }
}
