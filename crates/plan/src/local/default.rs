//! Defaults inside values that are owned as a whole: the live value holds them, the declared one need not.

use serde_json::{Value, json};

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
