use serde_json::{Value, json};
use windlass_model::delta;

use super::*;

fn object(kind: &str, version: &str, body: &Value) -> Object {
    let mut body = body.clone();
    body["apiVersion"] = version.into();
    body["kind"] = kind.into();
    body["metadata"]["name"] = "main".into();
    Object::new(body, None).unwrap()
}

fn told(kind: &str, version: &str, before: &Value, after: &Value) -> Vec<String> {
    let (before, after) = (object(kind, version, before), object(kind, version, after));
    let changes = delta(&after.reference().kind, before.body(), after.body());
    let number = |pods: Option<usize>| pods.map_or_else(|| "?".to_owned(), |pods| pods.to_string());
    let tell = |forecast: &Forecast| match forecast {
        Forecast::Restart { why, pods } => format!("{}: {why}", number(*pods)),
        Forecast::Note { text } => format!("note: {text}"),
        other => panic!("{other:?}"),
    };
    of_change(&before, &after, &changes).unwrap().iter().map(tell).collect()
}

/// Every row of the table, by a change of exactly its field.
#[test]
fn each_rule_says_what_it_is_there_for() {
    for operator in &table::OPERATORS {
        for rule in operator.rules {
            let text = rule.field.replace("[*]", ".0");
            let body = |value: &str| {
                let mut body = json!({"spec": {}});
                for pointer in operator.pods {
                    put(&mut body, pointer, json!(3));
                }
                put(&mut body, &format!("/{}", text.replace('.', "/")), json!({"a": value}));
                body
            };
            let version = format!("{}/v1", operator.group);
            let kind = operator.kinds[0];
            let [got] = told(kind, &version, &body("1"), &body("2")).try_into().unwrap();
            let counted = operator.pods.iter().all(|pointer| body("1").pointer(pointer) == Some(&json!(3)));
            let start = match rule.effect {
                Effect::Rolls if operator.pods.is_empty() || !counted => "?: its pods, rolled by ".to_owned(),
                Effect::Rolls => "3: 3 pods, rolled by ".to_owned(),
                Effect::Maybe => format!("?: possibly: {} may roll", operator.name),
                Effect::Quiet => format!("note: {} restarts no pod for", operator.name),
            };
            assert!(got.starts_with(&start) && got.contains(rule.why), "{kind} {}: {got}", rule.field);
        }
    }
}

/// Sets a value in a body of maps and lists of one item.
fn put(body: &mut Value, pointer: &str, value: Value) {
    let mut at = body;
    for key in pointer.split('/').skip(1) {
        at = if key == "0" {
            if !at.is_array() {
                *at = json!([{}]);
            }
            &mut at[0]
        } else {
            &mut at[key]
        };
    }
    *at = value;
}

#[test]
fn what_is_told_of_several_changes() {
    let postgres = |before: Value, after: Value, want: &[&str]| {
        let body = |spec: Value| json!({"spec": spec});
        let got = told("Cluster", "postgresql.cnpg.io/v1", &body(before), &body(after));
        assert_eq!(got, want);
    };
    postgres(
        json!({"instances": 3, "imageName": "a:1", "storage": {"size": "1Gi"}}),
        json!({"instances": 3, "imageName": "a:2", "storage": {"size": "2Gi"}}),
        &[
            "3: 3 pods, rolled by CloudNativePG: one at a time from the highest serial down, the primary last; because of: spec.imageName",
            "note: CloudNativePG restarts no pod for spec.storage.size (volumes only grow; a smaller size is refused)",
        ],
    );
    postgres(
        json!({"instances": 1, "postgresql": {"parameters": {"work_mem": "1MB"}}}),
        json!({"instances": 2, "postgresql": {"parameters": {"work_mem": "2MB"}}}),
        &[
            "?: possibly: CloudNativePG may roll its pods for spec.postgresql.parameters.work_mem (only for parameters that PostgreSQL reads at its start)",
            "note: CloudNativePG restarts no pod for spec.instances (pods come or go, none is replaced)",
        ],
    );
    // A field of a version that the table does not know.
    postgres(
        json!({"instances": 1}),
        json!({"instances": 1, "fresh": true}),
        &["?: possibly: CloudNativePG may roll its pods for spec.fresh (nothing is known about it)"],
    );
    // Nothing runs that could be replaced.
    postgres(json!({"instances": 0, "imageName": "a:1"}), json!({"instances": 0, "imageName": "a:2"}), &[]);
}

#[test]
fn of_an_unknown_operator_nothing_is_told_here() {
    let body = object("Cluster", "example.com/v1", &json!({"spec": {}}));
    assert!(of_change(&body, &body, &[]).is_none());
}
