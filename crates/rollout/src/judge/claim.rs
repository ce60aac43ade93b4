//! PersistentVolumeClaims.

use windlass_model::Object;

use super::Observed;
use crate::Verdict;
use crate::fields::text;

/// A claim is ready when it is bound, or when its class binds with the first consumer and there is none:
/// to wait for it before its pod is applied would be to wait for ever.
pub(super) fn judge(object: &Object, observed: &Observed<'_>) -> Verdict {
    let class = match text(object.body(), "/spec/storageClassName") {
        "" => "without a storage class".to_owned(),
        class => format!("of class {class}"),
    };
    match text(object.body(), "/status/phase") {
        "Bound" => Verdict::ready(),
        "Lost" => Verdict::failed("it has lost its volume"),
        _ if observed.binding_mode == Some("WaitForFirstConsumer") && observed.pods.is_empty() => {
            Verdict::noted("is not bound: its class waits for the first pod that uses it")
        }
        _ => Verdict::waiting(format!("no volume {class} is bound to it yet")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{check, object, pod, target};
    use super::*;

    #[test]
    fn bound_or_without_consumer() {
        let user = pod("a", "", false, json!({}));
        let with = |phase: &str, binding_mode, pods: &[&Object], want: &str| {
            let body = json!({"spec": {"storageClassName": "fast"}, "status": {"phase": phase}});
            let live = object("v1", "PersistentVolumeClaim", body);
            let observed =
                Observed { object: Some(&live), binding_mode, pods: pods.to_vec(), ..Observed::default() };
            check(&target(&live), &observed, want);
        };
        let waits = "waiting: no volume of class fast is bound to it yet";
        let late = Some("WaitForFirstConsumer");
        with("Bound", None, &[], "ready");
        with("Lost", None, &[], "failed: it has lost its volume");
        with("Pending", None, &[], waits);
        with("Pending", Some("Immediate"), &[], waits);
        with("Pending", late, &[&user], waits);
        with("Pending", late, &[], "ready: is not bound: its class waits for the first pod that uses it");
    }
}
