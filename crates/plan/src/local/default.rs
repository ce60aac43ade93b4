//! Defaults inside values that are owned as a whole: the live value holds them, the declared one need not.

use serde_json::{Value, json};
use windlass_model::{FieldPath, Segment};

/// Maps whose keys people choose: an entry is stored whatever its value, and a map without entries is not.
const MAPS: [&str; 11] = [
    "annotations",
    "data",
    "labels",
    "limits",
    "matchLabels",
    "nodeSelector",
    "parameters",
    "patternProperties",
    "properties",
    "requests",
    "volumeAttributes",
];
/// Fields that are no pointers in Go, so that `false` and zero are not stored.
const FLAGS: [&str; 10] = [
    "deprecated",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "hostPort",
    "nullable",
    "priority",
    "readOnly",
    "uniqueItems",
    "x-kubernetes-embedded-resource",
    "x-kubernetes-int-or-string",
];
/// Fields that hold texts, lists and maps even if these are empty.
const POINTERS: [&str; 4] = ["default", "example", "storageClassName", "volumeAttributesClassName"];
/// Structures that are part of what holds them: an empty one says nothing.
const PARTS: [&str; 3] = ["metadata", "resources", "status"];

/// Says whether the server stores nothing for a field below `map` of a built-in kind: an empty value of a field that Go
/// marks with `omitempty` and that is no pointer (`types.go` of `k8s.io/api` and `k8s.io/apiextensions-apiserver`).
pub(super) fn is_left_out(map: &FieldPath, field: &str, value: &Value) -> bool {
    if matches!(map.segments().last(), Some(Segment::Key(name)) if is_chosen(name, map)) {
        return false;
    }
    match value {
        Value::Null => true,
        Value::Bool(true) => false,
        Value::Bool(false) => FLAGS.contains(&field),
        Value::Number(number) => number.as_f64() == Some(0.0) && FLAGS.contains(&field),
        Value::String(text) => text.is_empty() && !POINTERS.contains(&field),
        Value::Array(items) => items.is_empty() && !POINTERS.contains(&field),
        // A pointer to a structure is stored even if that is empty: `namespaceSelector: {}` means every namespace.
        Value::Object(entries) => {
            entries.values().all(Value::is_null) && (MAPS.contains(&field) || PARTS.contains(&field))
        }
    }
}

/// A schema may have a property that is called like one of the maps.
fn is_chosen(name: &str, map: &FieldPath) -> bool {
    let [above @ .., _] = map.segments() else { return false };
    let in_schema = matches!(above.last(), Some(Segment::Key(above)) if above == "properties");
    // The selector of a Service is a map; those of other kinds are structures of two fields.
    (MAPS.contains(&name) || name == "selector" && above.len() == 1) && !in_schema
}

/// Says whether a field of a built-in kind has its default (`zz_generated.defaults.go` of `k8s.io/kubernetes/pkg/apis`).
pub(super) fn is_default(field: &str, value: &Value) -> bool {
    match field {
        "apiVersion" => value == "v1",
        "kind" => value == "PersistentVolumeClaim",
        "apiGroup" => value == "" || value == "rbac.authorization.k8s.io",
        "protocol" => value == "TCP",
        "volumeMode" => value == "Filesystem",
        "scope" => value == "*",
        "divisor" => value == "0",
        "matchPolicy" => value == "Equivalent",
        "expirationSeconds" => value == 3600,
        "namespaceSelector" | "objectSelector" => *value == json!({}),
        "creationTimestamp" => value.is_null(),
        "status" => *value == json!({"phase": "Pending"}),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn check(map: &[&str], field: &str, value: Value, left_out: bool) {
        let path = map.iter().fold(FieldPath::root(), |path, key| path.key(key));
        assert_eq!(is_left_out(&path, field, &value), left_out, "{path} {field} {value}");
    }

    #[test]
    fn an_empty_value_is_left_out_unless_it_means_something() {
        check(&["tolerations"], "value", json!(""), true);
        check(&["rules"], "resourceNames", json!([]), true);
        check(&["podSelector"], "matchLabels", json!({}), true);
        check(&["volumeClaimTemplates"], "metadata", json!({"creationTimestamp": null}), true);
        check(&["tolerations"], "tolerationSeconds", json!(0), false);
        check(&["configMapKeyRef"], "optional", json!(false), false);
        check(&["from"], "namespaceSelector", json!({}), false);
        check(&["spec", "nodeSelector"], "node-role.kubernetes.io/worker", json!(""), false);
        check(&["spec", "selector"], "app", json!(""), false);
        check(&["spec"], "storageClassName", json!(""), false);
    }

    #[test]
    fn schemas_have_flags_and_limits() {
        check(&["properties", "size"], "nullable", json!(false), true);
        check(&["properties", "size"], "minimum", json!(0), false);
        check(&["properties", "size"], "default", json!(""), false);
        check(&["properties"], "size", json!({}), false);
        check(&["properties", "labels"], "description", json!(""), true);
        check(&["additionalPrinterColumns"], "priority", json!(0), true);
    }
}
