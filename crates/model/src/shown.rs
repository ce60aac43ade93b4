//! Objects as people may see them.

use std::fmt;

use serde_json::Value;

use crate::delta::comparable;
use crate::{Object, mask_object};

/// A whole object as it may be shown: Secret values masked, without `status` and what else the server keeps.
///
/// It is kept as compact text, because a plan can hold ten thousand of them and most are never looked at.
#[derive(Clone, PartialEq, Eq)]
pub struct Shown(Box<str>);

impl Shown {
    /// Masks an object.
    pub fn of(object: &Object) -> Self {
        let body = mask_object(&object.reference().kind, &comparable(object.body()));
        Self(body.to_string().into_boxed_str())
    }

    /// Returns the masked object.
    pub fn body(&self) -> Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

/// The text can be long.
impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Shown({} bytes)", self.0.len())
    }
}

/// An object before and after an action, as far as it exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bodies {
    /// The live object.
    pub before: Option<Shown>,
    /// The object as it will be; `None` where it is deleted.
    pub after: Option<Shown>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_secret_and_nothing_of_the_server_is_shown() {
        let body = json!({
            "apiVersion": "v1", "kind": "Secret", "data": {"k": "aHVudGVyMg=="}, "status": {"a": 1},
            "metadata": {"name": "a", "resourceVersion": "7", "managedFields": [{"manager": "x"}], "annotations": {
                "kubectl.kubernetes.io/last-applied-configuration": "{\"data\":{\"k\":\"aHVudGVyMg==\"}}"}},
        });
        let want =
            json!({"apiVersion": "v1", "kind": "Secret", "data": {"k": "***"}, "metadata": {"name": "a"}});
        let shown = Shown::of(&Object::new(body, None).unwrap());
        assert_eq!(shown.body(), want);
        assert_eq!(format!("{shown:?}"), "Shown(78 bytes)");
    }
}
