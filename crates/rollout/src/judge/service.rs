//! Services of type LoadBalancer.

use windlass_model::Object;

use crate::Verdict;
use crate::fields::{list, text};

/// Such a Service is ready when it has an address. Whether something answers there is a smoke probe's
/// question.
pub(super) fn judge(object: &Object) -> Verdict {
    let body = object.body();
    let has_address = |ingress: &serde_json::Value| {
        !text(ingress, "/ip").is_empty() || !text(ingress, "/hostname").is_empty()
    };
    if body["spec"]["type"] != "LoadBalancer"
        || list(body, "/status/loadBalancer/ingress").iter().any(has_address)
    {
        Verdict::ready()
    } else {
        Verdict::waiting("the load balancer has given it no address yet")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::Observed;
    use super::super::testing::{check, object, target};

    #[test]
    fn an_address_is_needed() {
        let with = |ingress: Value, want: &str| {
            let body =
                json!({"spec": {"type": "LoadBalancer"}, "status": {"loadBalancer": {"ingress": ingress}}});
            let live = object("v1", "Service", body);
            check(&target(&live), &Observed { object: Some(&live), ..Observed::default() }, want);
        };
        with(json!([{"ip": "10.0.0.1"}]), "ready");
        with(json!([{"hostname": "lb.example"}]), "ready");
        with(json!([{}]), "waiting: the load balancer has given it no address yet");
        with(Value::Null, "waiting: the load balancer has given it no address yet");
    }
}
