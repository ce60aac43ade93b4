//! What server-side apply removes when a manager stops declaring fields (structured-merge-diff, `merge/update.go`).

use serde_json::Value;

use super::FieldSet;
use super::step::Step;
use crate::FieldPath;

/// Removes what a manager owned and nobody owns any more, and returns the paths of what was there.
///
/// A named field above an owned one counts as owned with it: when nothing below it is owned any more it goes as a
/// whole, defaults included. A list item goes as a whole when its membership was owned and is not any more.
pub fn prune_fields(object: &mut Value, owned_before: &FieldSet, owned_after: &FieldSet) -> Vec<FieldPath> {
    let going = owned_before.with_parents().difference(&owned_after.with_parents());
    let mut removed = Vec::new();
    remove(object, &going.to_fields(), &FieldPath::root(), &mut removed);
    removed
}

fn remove(value: &mut Value, node: &Value, path: &FieldPath, removed: &mut Vec<FieldPath>) {
    for (key, below) in node.as_object().into_iter().flatten() {
        let Some(step) = Step::parse(key) else { continue };
        let place = step.below(path);
        let whole = below.as_object().is_none_or(|map| map.is_empty() || map.contains_key("."));
        match (&step, &mut *value) {
            (Step::Field(name), Value::Object(map)) if whole => {
                removed.extend(map.remove(name).map(|_| place));
            }
            (Step::Field(name), Value::Object(map)) => {
                if let Some(child) = map.get_mut(name) {
                    remove(child, below, &place, removed);
                }
            }
            (Step::Field(_), _) => {}
            (_, Value::Array(list)) => {
                let Some(position) = step.position(list) else { continue };
                if whole {
                    list.remove(position);
                    removed.push(place);
                } else if let Some(item) = list.get_mut(position) {
                    remove(item, below, &place, removed);
                }
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
        let removed = prune_fields(&mut object, &FieldSet::of(before), &FieldSet::of(after));
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
