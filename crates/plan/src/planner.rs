//! From observation to plan.

use jiff::Timestamp;
use windlass_model::{
    ClusterId, Digest, EnvironmentName, ExitCode, Plan, Provenance, Rendering, Requirement,
};
use windlass_settings::Guards;

use crate::Observation;

/// What a plan is made from, beside the observation.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The environment; `None` when a bare directory is planned: then there are no sets and nothing is pruned.
    pub environment: Option<EnvironmentName>,
    /// The cluster.
    pub cluster_id: ClusterId,
    /// Where the desired state comes from.
    pub source: Provenance,
    /// The desired state.
    pub rendering: &'a Rendering,
    /// The digest of the policies that the gate found enforced.
    pub policies: Option<Digest>,
    /// Why this is a rollback, if it is one.
    pub rollback: Option<String>,
    /// The rules on deletions.
    pub guards: &'a Guards,
    /// The namespace of the sets' parents.
    pub record_namespace: &'a str,
    /// The tool and its version, such as `windlass 0.1.0`.
    pub tool: &'a str,
    /// The current time.
    pub now: Timestamp,
}

/// Computes what would change, and whether it may.
pub fn plan(inputs: Inputs<'_>, _observation: &Observation) -> Plan {
    Plan {
        schema: 1,
        tool: inputs.tool.to_owned(),
        environment: inputs.environment,
        cluster: inputs.cluster_id,
        source: inputs.source,
        renderer: inputs.rendering.renderer.clone(),
        rendering: inputs.rendering.digest,
        policies: inputs.policies,
        rollback: inputs.rollback,
        actions: Vec::new(),
        refusals: Vec::new(),
        requirement: Requirement::default(),
        warnings: inputs.rendering.warnings.clone(),
        created_at: inputs.now,
    }
}

/// Returns the exit code of a plan that may not be carried out, or `None` if nothing forbids it.
pub fn exit_code(plan: &Plan) -> Option<ExitCode> {
    (!plan.is_executable()).then_some(ExitCode::Refused)
}
