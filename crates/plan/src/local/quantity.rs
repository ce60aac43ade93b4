//! Which fields hold quantities of a resource, and whether two mean the same.

use serde_json::Value;
use windlass_model::{FieldPath, GroupKind, Quantity, Segment};

/// Maps from resource names to quantities.
const MAPS: [&str; 12] = [
    "limits",
    "requests",
    "hard",
    "capacity",
    "default",
    "defaultRequest",
    "max",
    "min",
    "maxLimitRequestRatio",
    "podFixed",
    "allocatable",
    "used",
];
/// Fields that hold a quantity.
const FIELDS: [&str; 2] = ["sizeLimit", "divisor"];
/// Fields of autoscalers that hold a quantity.
const METRICS: [&str; 2] = ["averageValue", "value"];
/// Fields whose keys people choose.
const CHOSEN: [&str; 5] = ["labels", "annotations", "matchLabels", "nodeSelector", "data"];

/// Says whether a field of a built-in kind holds a quantity.
pub(super) fn is_quantity(kind: &GroupKind, path: &FieldPath) -> bool {
    let keys: Vec<&str> = path
        .segments()
        .iter()
        .filter_map(|segment| match segment {
            Segment::Key(key) => Some(key.as_str()),
            Segment::Index(_) | Segment::Item(_) => None,
        })
        .collect();
    let [above @ .., field] = keys.as_slice() else { return false };
    if above.iter().any(|key| CHOSEN.contains(key)) {
        return false;
    }
    FIELDS.contains(field)
        || above.last().is_some_and(|map| MAPS.contains(map))
        || kind.group == "autoscaling" && METRICS.contains(field)
}

/// Says whether two values are the same quantity.
pub(super) fn same(one: &Value, other: &Value) -> bool {
    read(one).zip(read(other)).is_some_and(|(one, other)| one == other)
}

fn read(value: &Value) -> Option<Quantity> {
    match value {
        Value::String(text) => Quantity::read(text).ok(),
        Value::Number(number) => Quantity::read(&number.to_string()).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_quantity() {
        for (one, other, want) in [
            (Value::from("1000m"), Value::from("1"), true),
            (Value::from(1), Value::from("1"), true),
            (Value::from("0.5"), Value::from("500m"), true),
            (Value::from(0.5), Value::from("500m"), true),
            (Value::from("1024Mi"), Value::from("1Gi"), true),
            (Value::from("1.5Gi"), Value::from("1536Mi"), true),
            (Value::from("1e3"), Value::from("1k"), true),
            (Value::from("1E3"), Value::from("1k"), true),
            (Value::from("0.1n"), Value::from("1n"), true),
            (Value::from("1G"), Value::from("1Gi"), false),
            (Value::from("-1"), Value::from("1"), false),
            (Value::from("1e2147483647"), Value::from("1"), false),
            (Value::from("170141183460469231731687303715884105727.0000000001"), Value::from("1"), false),
            (Value::from("x"), Value::from("x"), false),
            (Value::from(""), Value::from("0"), false),
            (Value::from("99999999999999999999999999999999999E"), Value::from("1"), false),
        ] {
            assert_eq!(same(&one, &other), want, "{one} {other}");
        }
    }

    #[test]
    fn only_fields_that_hold_quantities_are_read_as_such() {
        let check = |kind: &str, keys: &[&str], want: bool| {
            let path = keys.iter().fold(FieldPath::root(), |path, key| path.key(key));
            assert_eq!(is_quantity(&GroupKind::from(kind.to_owned()), &path), want, "{path}");
        };
        check("Pod", &["spec", "containers", "resources", "limits", "cpu"], true);
        check("ResourceQuota", &["spec", "hard", "pods"], true);
        check("Pod", &["spec", "volumes", "emptyDir", "sizeLimit"], true);
        check("HorizontalPodAutoscaler.autoscaling", &["spec", "metrics", "averageValue"], true);
        check("Pod", &["spec", "env", "value"], false);
        check("ConfigMap", &["data", "sizeLimit"], false);
        check("ConfigMap", &["metadata", "labels", "limits", "a"], false);
        check("Pod", &["sizeLimits"], false);
    }
}
