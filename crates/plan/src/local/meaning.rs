//! Values that mean the same, as far as that can be known without the server.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};
use windlass_model::{FieldPath, GroupKind, Place, is_built_in, is_secret_kind};

use super::{default, quantity};

/// Returns what becomes of a value that is owned as a whole: the live one where both mean the same.
///
/// Whoever else writes a value takes it from us. So what we still own is what we sent, with the server's defaults; of a
/// value that somebody else owns, only known defaults are left out of account.
pub(super) fn settle(kind: &GroupKind, place: &Place<'_>, live: &Value, declared: &Value) -> Value {
    let reading = Reading { kind, built_in: is_built_in(kind), owned: place.is_owned() };
    reading.value(place.path(), live, declared)
}

/// How values of an object are read.
struct Reading<'a> {
    kind: &'a GroupKind,
    built_in: bool,
    /// Whether the value that is owned as a whole is ours.
    owned: bool,
}

impl Reading<'_> {
    fn value(&self, path: &FieldPath, live: &Value, declared: &Value) -> Value {
        match (live, declared) {
            (Value::Object(live), Value::Object(declared)) => self.map(path, live, declared),
            (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
                let items = before.iter().zip(after).enumerate();
                items
                    .map(|(index, (live, declared))| self.value(&path.index(index), live, declared))
                    .collect()
            }
            _ if self.is_same(path, live, declared) => live.clone(),
            _ => declared.clone(),
        }
    }

    fn map(&self, path: &FieldPath, live: &Map<String, Value>, declared: &Map<String, Value>) -> Value {
        let mut after = Map::new();
        for (name, value) in live {
            match declared.get(name) {
                Some(declared) => {
                    after.insert(name.clone(), self.value(&path.key(name), value, declared));
                }
                None if self.owned || self.built_in && default::is_default(name, value) => {
                    after.insert(name.clone(), value.clone());
                }
                None => {}
            }
        }
        for (name, value) in declared.iter().filter(|(name, _)| !live.contains_key(*name)) {
            if !(self.built_in && self.owned && default::is_left_out(path, name, value)) {
                after.insert(name.clone(), value.clone());
            }
        }
        Value::Object(after)
    }

    fn is_same(&self, path: &FieldPath, live: &Value, declared: &Value) -> bool {
        if live == declared || same_numbers(live, declared) {
            return true;
        }
        self.built_in
            && (declared.is_null()
                || quantity::is_quantity(self.kind, path) && quantity::same(live, declared)
                || is_secret_kind(self.kind) && path.starts_with(&["data"]) && same_bytes(live, declared))
    }
}

fn same_numbers(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        _ => false,
    }
}

/// Go reads base64 with line breaks in it, and writes it without.
fn same_bytes(one: &Value, other: &Value) -> bool {
    let bytes = |value: &Value| {
        let text: String = value.as_str()?.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
        STANDARD.decode(text).ok()
    };
    bytes(one).is_some_and(|one| bytes(other) == Some(one))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a table reads better without references")]
    fn check(kind: &str, owned: bool, live: Value, declared: Value, same: bool) {
        let kind = GroupKind::from(kind.to_owned());
        let reading = Reading { kind: &kind, built_in: is_built_in(&kind), owned };
        let path = FieldPath::root().key(if is_secret_kind(&kind) { "data" } else { "spec" });
        let after = reading.value(&path, &live, &declared);
        assert_eq!(after == live, same, "{live} {declared} {after}");
    }

    #[test]
    fn a_quantity_has_several_spellings_in_built_in_kinds_only() {
        let limits = |cpu: Value| json!({"limits": {"cpu": cpu}});
        check("LimitRange", false, limits(json!("1")), limits(json!("1000m")), true);
        check("LimitRange", false, limits(json!("1")), limits(json!(1)), true);
        check("LimitRange", false, limits(json!("1")), limits(json!("2")), false);
        check("Database.db.example.dev", true, limits(json!("1")), limits(json!("1000m")), false);
    }

    #[test]
    fn what_we_own_has_the_defaults_of_the_server() {
        let port = json!([{"port": 80, "protocol": "TCP"}]);
        check("NetworkPolicy.networking.k8s.io", false, port.clone(), json!([{"port": 80}]), true);
        let odd = json!([{"port": 80, "protocol": "UDP"}]);
        check("NetworkPolicy.networking.k8s.io", false, odd.clone(), json!([{"port": 80}]), false);
        check("NetworkPolicy.networking.k8s.io", true, odd, json!([{"port": 80}]), true);
        check("Database.db.example.dev", false, port.clone(), json!([{"port": 80}]), false);
        check("Database.db.example.dev", true, port.clone(), json!([{"port": 80}]), true);
        check("Database.db.example.dev", true, port, json!([{"port": 81}]), false);
    }

    #[test]
    fn lists_of_another_length_or_order_differ() {
        check("ClusterRole.rbac.authorization.k8s.io", true, json!(["a", "b"]), json!(["b", "a"]), false);
        check("ClusterRole.rbac.authorization.k8s.io", true, json!(["a", "b"]), json!(["a"]), false);
    }

    #[test]
    fn base64_has_line_breaks_or_not() {
        check("Secret", true, json!("aHVudGVyMg=="), json!("aHVud\nGVyMg==\n"), true);
        check("Secret", true, json!("aHVudGVyMg=="), json!("aHVudGVyMw=="), false);
    }
}
