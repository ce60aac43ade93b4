//! What server-side apply removes when a manager stops declaring fields (structured-merge-diff, `merge/update.go`).

use serde_json::{Map, Value};

use super::FieldSet;
use super::step::Step;
use crate::FieldPath;

/// What is left of a map that stays declared and has lost its last entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Emptied {
    /// Nothing, as in kinds whose types Go knows.
    Absent,
    /// A null, which the schema of a custom resource is asked about (measured on 1.36).
    Null,
}

/// Removes what a manager owned and nobody owns any more, and returns the paths of what was there. A list that loses its
/// last item goes itself, and so does a map, unless `emptied` says otherwise.
///
/// A named field above an owned one counts as owned with it: when nothing below it is owned any more it goes as a
/// whole, defaults included. A list item goes as a whole when its membership was owned and is not any more.
pub fn prune_fields(
    object: &mut Value,
    owned_before: &FieldSet,
    owned_after: &FieldSet,
    emptied: Emptied,
) -> Vec<FieldPath> {
    let going = owned_before.with_parents().difference(&owned_after.with_parents());
    let mut pruning = Pruning { emptied, removed: Vec::new() };
    pruning.remove(object, &going.to_fields(), &FieldPath::root());
    pruning.removed
}

struct Pruning {
    emptied: Emptied,
    removed: Vec<FieldPath>,
}

impl Pruning {
    fn remove(&mut self, value: &mut Value, node: &Value, path: &FieldPath) {
        for (key, below) in node.as_object().into_iter().flatten() {
            let Some(step) = Step::parse(key) else { continue };
            let place = step.below(path);
            let whole = below.as_object().is_none_or(|map| map.is_empty() || map.contains_key("."));
            match (&step, &mut *value) {
                (Step::Field(name), Value::Object(map)) if whole => {
                    self.removed.extend(map.remove(name).map(|_| place));
                }
                (Step::Field(name), Value::Object(map)) => {
                    let Some(child) = map.get_mut(name) else { continue };
                    let before = self.removed.len();
                    self.remove(child, below, &place);
                    if self.removed.len() > before {
                        self.clear(map, name);
                    }
                }
                (Step::Field(_), _) => {}
                (_, Value::Array(list)) => {
                    let Some(position) = step.position(list) else { continue };
                    if whole {
                        list.remove(position);
                        self.removed.push(place);
                    } else if let Some(item) = list.get_mut(position) {
                        self.remove(item, below, &place);
                    }
                }
                _ => {}
            }
        }
    }

    /// Takes out a field that has lost all that was in it.
    fn clear(&self, map: &mut Map<String, Value>, name: &str) {
        match map.get_mut(name) {
            Some(Value::Array(items)) if items.is_empty() => drop(map.remove(name)),
            Some(Value::Object(fields)) if fields.is_empty() && self.emptied == Emptied::Absent => {
                map.remove(name);
            }
            Some(value @ Value::Object(_)) if value.as_object().is_some_and(Map::is_empty) => {
                *value = Value::Null;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(object: Value, before: &Value, after: &Value, want: &Value, paths: &[&str]) {
        let mut object = object;
        let removed = prune_fields(&mut object, &FieldSet::of(before), &FieldSet::of(after), Emptied::Absent);
        assert_eq!(&object, want);
        assert_eq!(removed.iter().map(ToString::to_string).collect::<Vec<_>>(), paths);
    }

    #[test]
    fn what_nobody_owns_any_more_goes() {
        let before = json!({"f:data": {".": {}, "f:a": {}, "f:b": {}}});
        check(
            json!({"data": {"a": "1", "b": "2", "c": "3"}}),
            &before,
            &json!({"f:data": {"f:a": {}}}),
            &json!({"data": {"a": "1", "c": "3"}}),
            &["data.b"],
        );
        check(
            json!({"data": {"a": "1", "b": "2"}, "x": 1}),
            &before,
            &json!({}),
            &json!({"x": 1}),
            &["data"],
        );
    }

    #[test]
    fn what_stays_declared_and_loses_all_goes_or_becomes_null() {
        let before = json!({"f:spec": {"f:limits": {".": {}, "f:a": {}}, "f:set": {".": {}, "v:1": {}}}});
        let after = json!({"f:spec": {"f:limits": {}, "f:set": {}}});
        for (emptied, want) in [
            (Emptied::Absent, json!({"spec": {"x": 1}})),
            (Emptied::Null, json!({"spec": {"x": 1, "limits": null}})),
        ] {
            let mut object = json!({"spec": {"x": 1, "limits": {"a": "1"}, "set": [1]}});
            prune_fields(&mut object, &FieldSet::of(&before), &FieldSet::of(&after), emptied);
            assert_eq!(object, want);
        }
        // What another manager keeps in it stays.
        check(
            json!({"spec": {"limits": {"a": "1", "b": "2"}}}),
            &before,
            &json!({"f:spec": {"f:limits": {".": {}, "f:b": {}}}}),
            &json!({"spec": {"limits": {"b": "2"}}}),
            &["spec.limits.a"],
        );
    }

    #[test]
    fn a_struct_of_which_nothing_is_owned_goes_with_its_defaults() {
        check(
            json!({"spec": {"strategy": {"type": "Recreate", "defaulted": 1}, "replicas": 1}}),
            &json!({"f:spec": {"f:strategy": {"f:type": {}}, "f:replicas": {}}}),
            &json!({"f:spec": {"f:replicas": {}}}),
            &json!({"spec": {"replicas": 1}}),
            &["spec.strategy"],
        );
    }

    #[test]
    fn a_list_item_goes_as_a_whole() {
        let web = "k:{\"name\":\"web\"}";
        check(
            json!({"c": [{"name": "web", "image": "i", "defaulted": 1}, {"name": "db"}]}),
            &json!({"f:c": {web: {".": {}, "f:image": {}, "f:name": {}}, "k:{\"name\":\"db\"}": {".": {}, "f:name": {}}}}),
            &json!({"f:c": {"k:{\"name\":\"db\"}": {".": {}, "f:name": {}}}}),
            &json!({"c": [{"name": "db"}]}),
            &["c[name=web]"],
        );
    }
}
