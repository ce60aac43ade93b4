//! CustomResourceDefinitions: a schema of ten thousand lines is told by the fields that come, go and change.

use std::collections::BTreeMap;

use serde_json::Value;
use windlass_model::{ChangeKind, FieldChange, Segment};

use super::change::{Change, cut, inline};
use super::line::{Line, Tone};
use crate::actions::plural;

/// At most this many fields of a version are named.
const FIELDS: usize = 60;

/// Describes what changes in a CustomResourceDefinition.
pub(crate) fn changes(delta: &[FieldChange]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut versions: BTreeMap<&str, Schema> = BTreeMap::new();
    for change in delta {
        match place(change.path.segments()) {
            Place::Version(name) => changes.push(version(name, change)),
            Place::Schema(name, below) => versions.entry(name).or_default().note(below, change),
            Place::Elsewhere => changes.push(Change::of(change)),
        }
    }
    changes.extend(versions.into_iter().map(|(name, schema)| schema.describe(name)));
    changes
}

/// Where in a definition a field is.
enum Place<'a> {
    /// A whole version, by its name.
    Version(&'a str),
    /// Inside the schema of a version.
    Schema(&'a str, &'a [Segment]),
    Elsewhere,
}

fn place(path: &[Segment]) -> Place<'_> {
    let [Segment::Key(spec), Segment::Key(versions), Segment::Item(item), below @ ..] = path else {
        return Place::Elsewhere;
    };
    let Some(name) = item.strip_prefix("name=").filter(|_| spec == "spec" && versions == "versions") else {
        return Place::Elsewhere;
    };
    match below {
        [] => Place::Version(name),
        [Segment::Key(schema), Segment::Key(open_api), below @ ..]
            if schema == "schema" && open_api == "openAPIV3Schema" =>
        {
            Place::Schema(name, below)
        }
        _ => Place::Elsewhere,
    }
}

fn version(name: &str, change: &FieldChange) -> Change {
    let (tone, value) = match change.kind {
        ChangeKind::Removed => (Tone::Removed, &change.before),
        _ => (Tone::Added, &change.after),
    };
    let of = |key: &str| value.as_ref().is_some_and(|version| version[key] == true);
    let mut words = vec![if of("served") { "served" } else { "not served" }.to_owned()];
    words.extend(of("storage").then(|| "stored".to_owned()));
    let schema = value.as_ref().map(|version| &version["schema"]["openAPIV3Schema"]);
    let fields = schema.map(count).unwrap_or_default();
    words.push(format!("{fields} field{}", plural(fields)));
    Change::line(tone, format!("version {name}: {}", words.join(", ")))
}

/// Counts the fields that a schema declares.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(map) => {
            let own = map.get("properties").and_then(Value::as_object).map_or(0, serde_json::Map::len);
            own + map.values().map(count).sum::<usize>()
        }
        Value::Array(items) => items.iter().map(count).sum(),
        _ => 0,
    }
}

/// What changes in the schema of one version.
#[derive(Default)]
struct Schema {
    added: Vec<Line>,
    removed: Vec<Line>,
    changed: Vec<Line>,
    descriptions: usize,
}

impl Schema {
    fn note(&mut self, below: &[Segment], change: &FieldChange) {
        let (field, rest) = field(below);
        match rest {
            [] => self.whole(&field, change),
            // A schema gets its first fields, or loses its last ones.
            [Segment::Key(key)] if key == "properties" => {
                for (tone, side) in [(Tone::Removed, &change.before), (Tone::Added, &change.after)] {
                    for name in
                        side.as_ref().and_then(Value::as_object).into_iter().flat_map(|map| map.keys())
                    {
                        self.line(tone, format!("{field}.{name}"));
                    }
                }
            }
            [.., Segment::Key(key)] if key == "description" => self.descriptions += 1,
            rest => {
                let mut path = windlass_model::FieldPath::root();
                for segment in rest {
                    path = match segment {
                        Segment::Key(key) => path.key(key),
                        Segment::Index(index) => path.index(*index),
                        Segment::Item(item) => path.item(item),
                    };
                }
                let show = |side: &Option<Value>| side.as_ref().map_or_else(|| "nothing".to_owned(), inline);
                let text = format!("{field}: {path} {} → {}", show(&change.before), show(&change.after));
                self.line(Tone::Changed, text);
            }
        }
    }

    fn whole(&mut self, field: &str, change: &FieldChange) {
        let of_type = |side: &Option<Value>| match side.as_ref().and_then(|schema| schema["type"].as_str()) {
            Some(name) => format!("{field} ({name})"),
            None => field.to_owned(),
        };
        match change.kind {
            ChangeKind::Added => self.line(Tone::Added, of_type(&change.after)),
            ChangeKind::Removed => self.line(Tone::Removed, of_type(&change.before)),
            ChangeKind::Changed | ChangeKind::Reordered => self.line(Tone::Changed, field),
        }
    }

    fn line(&mut self, tone: Tone, text: impl AsRef<str>) {
        let lines = match tone {
            Tone::Added => &mut self.added,
            Tone::Removed => &mut self.removed,
            _ => &mut self.changed,
        };
        lines.push(Line::new(tone, format!("    {}", text.as_ref())));
    }

    /// What goes comes first: it can take data along.
    fn describe(self, name: &str) -> Change {
        let counted = [
            (self.removed.len(), "field", "removed"),
            (self.added.len(), "field", "added"),
            (self.changed.len(), "rule", "changed"),
            (self.descriptions, "description", "reworded"),
        ];
        let words: Vec<String> = counted
            .iter()
            .filter(|(count, ..)| *count > 0)
            .map(|(count, what, how)| format!("{count} {what}{} {how}", plural(*count)))
            .collect();
        let body = [self.removed, self.changed, self.added].concat();
        Change {
            head: Line::new(Tone::Changed, format!("schema of {name}: {}", words.join(", "))),
            body: cut(body, FIELDS),
        }
    }
}

/// Reads a path through a schema as the path of the field that it describes, and what is left of it.
fn field(mut path: &[Segment]) -> (String, &[Segment]) {
    let mut field = String::new();
    loop {
        path = match path {
            [Segment::Key(keyword), Segment::Key(name), below @ ..] if keyword == "properties" => {
                field.push('.');
                field.push_str(name);
                below
            }
            [Segment::Key(keyword), below @ ..] if keyword == "items" => {
                field.push_str("[]");
                below
            }
            [Segment::Key(keyword), below @ ..] if keyword == "additionalProperties" => {
                field.push_str(".*");
                below
            }
            _ => break,
        };
    }
    let name = field.trim_start_matches('.');
    (if name.is_empty() { "the object".to_owned() } else { name.to_owned() }, path)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::{GroupKind, delta};

    use super::*;

    fn definition(versions: &Value) -> Value {
        json!({"spec": {"group": "x.dev", "versions": versions}})
    }

    fn version_of(name: &str, properties: &Value) -> Value {
        let schema =
            json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
        json!({"name": name, "served": true, "storage": name == "v1", "schema": {"openAPIV3Schema": schema}})
    }

    fn check(before: &Value, after: &Value, want: &[&str]) {
        let kind = GroupKind::new("apiextensions.k8s.io", "CustomResourceDefinition");
        let delta = delta(&kind, &definition(before), &definition(after));
        let lines: Vec<String> = changes(&delta)
            .into_iter()
            .flat_map(|change| std::iter::once(change.head).chain(change.body))
            .map(|line| line.signed())
            .collect();
        assert_eq!(lines, want);
    }

    #[test]
    fn a_schema_is_told_by_its_fields() {
        let before = json!({
            "size": {"type": "integer", "maximum": 5, "description": "old"},
            "legacy": {"type": "string"},
            "list": {"type": "array", "items": {"type": "object"}},
        });
        let after = json!({
            "size": {"type": "integer", "maximum": 10, "description": "new"},
            "backup": {"type": "object", "properties": {"schedule": {"type": "string"}}},
            "list": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        });
        check(
            &json!([version_of("v1", &before)]),
            &json!([version_of("v1", &after)]),
            &[
                "~ schema of v1: 1 field removed, 2 fields added, 1 rule changed, 1 description reworded",
                "-     spec.legacy (string)",
                "~     spec.size: maximum 5 → 10",
                "+     spec.backup (object)",
                "+     spec.list[].a",
            ],
        );
    }

    #[test]
    fn versions_that_come_and_go_are_told_in_a_line() {
        let fields = json!({"a": {"type": "string"}});
        check(
            &json!([version_of("v1beta1", &fields), version_of("v1", &fields)]),
            &json!([version_of("v1", &fields), version_of("v2", &fields)]),
            &["- version v1beta1: served, 2 fields", "+ version v2: served, 2 fields"],
        );
    }
}
