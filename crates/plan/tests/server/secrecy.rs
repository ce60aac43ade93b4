//! Values of Secrets that other tools keep where nobody looks for them.

use serde_json::{Value, json};
use windlass_model::Plan;

use crate::bed::Bed;

const VALUE: &str = "aHVudGVyMi1pcy1zZWNyZXQ=";
const OTHER: &str = "b3RoZXItb25lLWlzLXRvbw==";

fn secret(bed: &Bed, value: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": bed.namespace},
        "data": {"password": value}})
}

#[track_caller]
fn hides(plan: &Plan) {
    let bodies: Vec<_> = plan.actions.iter().map(|action| &action.bodies).collect();
    let all = format!("{} {plan:?} {bodies:?}", plan.to_json());
    for value in [VALUE, OTHER, "hunter2-is-secret", "other-one-is-too"] {
        assert!(!all.contains(value), "{all}");
    }
}

/// kubectl issue 1453, kubernetes issues 23564 and 29923: the annotation of client-side apply holds the whole Secret.
#[tokio::test]
async fn what_client_side_apply_notes_down_of_a_secret_is_shown_nowhere() {
    let bed = Bed::new().await;
    bed.kubectl(&["apply", "-f", "-"], &secret(&bed, VALUE).to_string());
    let noted = bed
        .kubectl(&["-n", &bed.namespace, "get", "secret", "s", "-o", "jsonpath={.metadata.annotations}"], "");
    assert!(noted.contains(VALUE), "the annotation is not there: {noted}");
    hides(&bed.check(&[secret(&bed, VALUE)], &[&["adopt Secret/s"]]).await);
    hides(&bed.check(&[secret(&bed, OTHER)], &[&["adopt Secret/s", "Changed data.password"]]).await);
    bed.deliver(&[("shop", &[secret(&bed, OTHER)])]).await;
    hides(&bed.plan(&[("shop", &[secret(&bed, VALUE)])]).await);
}

/// kubectl prints a pruned Secret in clear.
#[tokio::test]
async fn a_secret_that_goes_shows_no_value() {
    let bed = Bed::new().await;
    let stays = bed.config("stays", &json!({}));
    bed.kubectl(&["apply", "-f", "-"], &secret(&bed, VALUE).to_string());
    bed.deliver(&[("shop", &[stays.clone(), secret(&bed, OTHER)])]).await;
    let plan =
        bed.check(&[stays], &[&["no-op"], &["prune Secret/s Server"], &["refused protected-kind"]]).await;
    hides(&plan);
}
