//! Pods that are refused: the controller only tells by an event.

use windlass_model::Object;

use super::Observed;
use crate::fields::text;
use crate::{Ailment, Cause};

/// Returns the refusal of the pods that are missing, if the latest thing that happened was a refusal.
///
/// A Deployment has a condition for it, other kinds have only the event `FailedCreate`, which outlives its
/// cause by an hour. It counts while no pod is younger than it.
pub(super) fn refusal(observed: &Observed<'_>) -> Option<Ailment> {
    let last = observed.refusals.iter().max_by_key(|event| last_seen(event))?;
    let youngest = observed.pods.iter().map(|pod| text(pod.body(), "/metadata/creationTimestamp")).max();
    if youngest.is_some_and(|created| created >= last_seen(last)) {
        return None;
    }
    let reason = format!("pods are refused: {}", text(last.body(), "/message"));
    Some(Ailment { cause: Cause::Refused, reason, pod: None })
}

/// Times of the same form compare as texts; `eventTime` has a fraction, which is cut off.
fn last_seen(event: &Object) -> &str {
    let body = event.body();
    let stamps =
        [text(body, "/series/lastObservedTime"), text(body, "/lastTimestamp"), text(body, "/eventTime")];
    let stamp = stamps.into_iter().find(|stamp| !stamp.is_empty()).unwrap_or_default();
    stamp.get(..19).unwrap_or(stamp)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::testing::{object, pod};
    use super::*;

    #[test]
    fn a_refusal_counts_until_a_pod_is_younger() {
        let event = object(
            "v1",
            "Event",
            json!({"message": "exceeded quota", "lastTimestamp": "2026-01-01T00:00:10Z"}),
        );
        let check = |created: &str, want: bool| {
            let pod = pod("x-0", "r1", true, json!({"metadata": {"creationTimestamp": created}}));
            let observed = Observed { pods: vec![&pod], refusals: vec![&event], ..Observed::default() };
            assert_eq!(refusal(&observed).is_some(), want, "{created}");
        };
        check("2026-01-01T00:00:09Z", true);
        check("2026-01-01T00:00:10Z", false);
        check("2026-01-01T00:00:11Z", false);
    }
}
