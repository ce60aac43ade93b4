//! What the server makes of a manifest: declared fields that it drops, list items that stay besides ours.

use std::collections::BTreeSet;

use serde_json::Value;
use windlass_model::{FieldPath, Object, is_zero};

use crate::overlay::{counterpart, name_of};

/// How the answer deviates from the manifest.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Deviations {
    /// Declared fields that are not stored, such as those behind a feature gate that is off.
    pub(crate) dropped: Vec<String>,
    /// Items that stay in lists that the manifest declares, because somebody else owns them: a renamed
    /// container runs beside its old self (kubernetes issue 112701).
    pub(crate) extra: Vec<String>,
    /// Lists that are declared as empty and go with their last items: only the next apply stores them (measured on
    /// 1.36, for lists with keys and for sets).
    pub(crate) emptied: Vec<String>,
}

/// Compares a manifest with the server's answer to it.
pub(crate) fn deviations(desired: &Object, answer: &Object) -> Deviations {
    let mut found = Deviations::default();
    let fields = desired.body().as_object().into_iter().flatten();
    // `status` is never taken, `stringData` is folded into `data`.
    for (key, value) in fields.filter(|(key, _)| !matches!(key.as_str(), "status" | "stringData")) {
        compare(&FieldPath::root().key(key), value, answer.body().get(key), &mut found);
    }
    found
}

fn compare(path: &FieldPath, desired: &Value, answer: Option<&Value>, found: &mut Deviations) {
    match (desired, answer) {
        // The server omits zero values, so their absence says nothing.
        (Value::Array(desired), None) if desired.is_empty() => found.emptied.push(path.to_string()),
        (desired, None) if !is_zero(desired) => found.dropped.push(path.to_string()),
        (Value::Object(desired), Some(Value::Object(answer))) => {
            for (key, value) in desired {
                compare(&path.key(key), value, answer.get(key), found);
            }
        }
        (Value::Array(desired), Some(Value::Array(answer))) => lists(path, desired, answer, found),
        _ => {}
    }
}

fn lists(path: &FieldPath, desired: &[Value], answer: &[Value], found: &mut Deviations) {
    let Some(wanted) = names(desired) else {
        if desired.len() == answer.len() {
            for (index, (item, answer)) in desired.iter().zip(answer).enumerate() {
                compare(&path.index(index), item, Some(answer), found);
            }
        }
        return;
    };
    for (index, item) in desired.iter().enumerate() {
        let place = path.item(&format!("name={}", name_of(item).unwrap_or_default()));
        compare(&place, item, counterpart(answer, desired, index, item), found);
    }
    for name in answer.iter().filter_map(name_of).filter(|name| !wanted.contains(name)) {
        found.extra.push(path.item(&format!("name={name}")).to_string());
    }
}

/// Returns the names of the items, if all have one and no two share it.
fn names(items: &[Value]) -> Option<BTreeSet<&str>> {
    let names: BTreeSet<&str> = items.iter().map(name_of).collect::<Option<_>>()?;
    (names.len() == items.len() && !items.is_empty()).then_some(names)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(desired: &Value, answer: &Value, dropped: &[&str], extra: &[&str]) {
        let object = |spec: &Value| {
            let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": spec});
            Object::new(body, None).unwrap()
        };
        let got = deviations(&object(desired), &object(answer));
        assert_eq!((got.dropped, got.extra), (owned(dropped), owned(extra)));
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn a_field_behind_a_closed_gate_is_named() {
        check(
            &json!({"u": {"partition": 0, "maxUnavailable": 2}}),
            &json!({"u": {"partition": 0}}),
            &["spec.u.maxUnavailable"],
            &[],
        );
    }

    #[test]
    fn zero_values_and_other_spellings_are_no_loss() {
        check(
            &json!({"a": false, "b": "", "c": {"d": null}, "cpu": "1000m"}),
            &json!({"cpu": "1", "default": 1}),
            &[],
            &[],
        );
    }

    #[test]
    fn a_list_that_goes_with_its_last_item_is_named() {
        let object = |spec: serde_json::Value| {
            let body =
                json!({"apiVersion": "ex.io/v1", "kind": "Foo", "metadata": {"name": "a"}, "spec": spec});
            Object::new(body, None).unwrap()
        };
        let desired = object(json!({"gone": [], "stored": [], "full": ["a"]}));
        let got = deviations(&desired, &object(json!({"stored": [], "full": ["a"]})));
        assert_eq!(got, Deviations { emptied: vec!["spec.gone".to_owned()], ..Deviations::default() });
    }

    #[test]
    fn a_renamed_container_that_stays_is_named() {
        check(
            &json!({"containers": [{"name": "caddy"}]}),
            &json!({"containers": [{"name": "nginx"}, {"name": "caddy"}]}),
            &[],
            &["spec.containers[name=nginx]"],
        );
    }
}
