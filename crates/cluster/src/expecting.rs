//! An object as it is sent, with what the server shall check before it writes.

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::Value;

use crate::Expect;

const UID: &str = "uid";
const VERSION: &str = "resourceVersion";

/// A body together with a condition, written without a copy of the body.
pub(crate) struct Expecting<'a> {
    pub(crate) body: &'a Value,
    pub(crate) expect: Expect<'a>,
}

impl Serialize for Expecting<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.body.as_object().into_iter().flatten();
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in fields {
            if key == "metadata" {
                map.serialize_entry(key, &Metadata { metadata: value, expect: self.expect })?;
            } else {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

struct Metadata<'a> {
    metadata: &'a Value,
    expect: Expect<'a>,
}

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (uid, version) = match self.expect {
            // No object has it, so that an existing one is a conflict.
            Expect::Absent => (None, Some("1")),
            Expect::Uid(uid) => (Some(uid), None),
            Expect::Version(uid, version) => (Some(uid), Some(version)),
            Expect::Anything => (None, None),
        };
        let own = self.metadata.as_object().into_iter().flatten();
        let replaced = |key: &str| (uid.is_some() && key == UID) || (version.is_some() && key == VERSION);
        let own = own.filter(|(key, _)| !replaced(key));
        let mut map = serializer.serialize_map(None)?;
        for (key, value) in own {
            map.serialize_entry(key, value)?;
        }
        for (key, value) in [(UID, uid), (VERSION, version)] {
            if let Some(value) = value {
                map.serialize_entry(key, value)?;
            }
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_stand_in_the_metadata() {
        let body = json!({"kind": "X", "metadata": {"name": "a", "uid": "old"}, "spec": {"uid": 1}});
        let check = |expect: Expect<'_>, uid: Value, version: Value| {
            let sent = serde_json::to_value(Expecting { body: &body, expect }).unwrap();
            let mut want = body.clone();
            want["metadata"]["uid"] = uid;
            want["metadata"]["resourceVersion"] = version;
            if want["metadata"]["resourceVersion"].is_null() {
                want["metadata"].as_object_mut().unwrap().remove("resourceVersion");
            }
            assert_eq!(sent, want);
        };
        check(Expect::Anything, json!("old"), Value::Null);
        check(Expect::Absent, json!("old"), json!("1"));
        check(Expect::Uid("u"), json!("u"), Value::Null);
        check(Expect::Version("u", "7"), json!("u"), json!("7"));
    }
}
