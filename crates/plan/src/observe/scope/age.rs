//! When an object was last changed, as its metadata tells.

use jiff::Timestamp;
use serde_json::Value;
use windlass_model::{ManagedEntry, Object};

/// Returns the time of an object's creation or last recorded write, whichever is later.
pub(super) fn latest_change(object: &Object) -> Option<Timestamp> {
    let created = object.body().pointer("/metadata/creationTimestamp").and_then(Value::as_str);
    ManagedEntry::all(object).filter_map(ManagedEntry::time).chain(created).filter_map(timestamp).max()
}

/// Returns the same of metadata as the server sends it.
pub(super) fn latest_in(metadata: &Value) -> Option<Timestamp> {
    let writes = metadata["managedFields"].as_array().into_iter().flatten();
    let times = writes.map(|entry| &entry["time"]).chain([&metadata["creationTimestamp"]]);
    times.filter_map(|time| timestamp(time.as_str()?)).max()
}

/// Reads a time as the server writes it.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    text.parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_last_write_counts() {
        let metadata = json!({"creationTimestamp": "2026-06-15T12:00:00Z", "managedFields": [
            {"time": "2026-06-15T12:00:07Z"}, {"time": "2026-06-15T12:00:03Z"}, {"manager": "a"}]});
        let last = timestamp("2026-06-15T12:00:07Z");
        assert_eq!(latest_in(&metadata), last);
        let mut body = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata});
        body["metadata"]["name"] = "a".into();
        assert_eq!(latest_change(&Object::new(body, None).unwrap()), last);
        assert_eq!(latest_in(&json!({})), None);
    }
}
