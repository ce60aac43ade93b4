//! The file `plan.json`: a plan for tools and approvers.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::Value;

use crate::{Counts, Digest, Plan, RestartStep, Reversal, Verdict};

/// A plan of Windlass as it is written to `plan.json`, and to standard output with `--output json`.
///
/// New keys may be added within a version of the form; keys that exist keep their meaning.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlanDocument<'a> {
    /// The plan itself.
    #[serde(flatten)]
    plan: &'a Plan,
    /// What an approval names: the digest of `subject` and `effects`.
    change_digest: Digest,
    /// The digest of each effect on the cluster, sorted.
    effects: Vec<Digest>,
    /// What the plan is about beside its effects: environment, cluster, commit, rendering, rollback or not.
    #[schemars(with = "serde_json::Map<String, Value>")]
    subject: Value,
    /// What becomes of the plan.
    verdict: Verdict,
    /// How many objects each operation touches.
    counts: Counts,
    /// Which objects' pods restart, in the order in which it begins.
    restarts: Vec<RestartStep<'a>>,
    /// How the command ended, by the name of its exit code. Only on standard output.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<String>,
    /// Whether the cluster differs from what was delivered. Only on standard output of `drift`.
    #[serde(skip_serializing_if = "Option::is_none")]
    drift: Option<bool>,
}

impl<'a> PlanDocument<'a> {
    /// Adds digests and counts to a plan.
    pub fn of(plan: &'a Plan) -> Self {
        Self {
            plan,
            change_digest: plan.change_digest(),
            effects: plan.effects(),
            subject: plan.subject(),
            verdict: plan.verdict(),
            counts: plan.counts(),
            restarts: plan.restarts(),
            outcome: None,
            drift: None,
        }
    }
}

/// Returns the JSON Schema (draft 2020-12) of `plan.json`.
pub fn plan_schema() -> Value {
    // What is left out where it is empty is not required.
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let reversal = generator.subschema_for::<Reversal>().to_value();
    let mut schema = generator.into_root_schema_for::<PlanDocument<'_>>().to_value();
    schema["$defs"]["Action"]["properties"]["reversal"] = reversal;
    schema["title"] = "Windlass plan".into();
    schema
}
