//! The environment file: where to deliver and what may be delivered.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{DeletionPermission, Duration, Freeze, Ownership, PermissionSource, PlanRule};

/// An environment file. Relative paths in it are relative to the folder that holds it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Environment {
    /// The environment's name, a DNS label such as `prd`. It names the Lease, the run records and the
    /// ApplySets, and replaces `{env}` in paths of `windlass.yaml`.
    pub environment: String,
    /// How to reach the cluster.
    pub cluster: ClusterAccess,
    /// What is delivered and whose signature counts.
    pub source: Source,
    /// Which policies must be enforced before anything is applied.
    pub policies: PolicyRules,
    /// When a human must approve, and who may.
    #[serde(default)]
    pub approval: ApprovalRules,
    /// What a plan may not do.
    #[serde(default)]
    pub guards: Guards,
    /// Who wins where another manager owns a field, and whose ownership is migrated.
    #[serde(default)]
    pub ownership: Ownership,
    /// Where run records, the lock and the ApplySet parents live.
    #[serde(default)]
    pub record: RecordRules,
    /// What may be done for a rollout that is stuck.
    #[serde(default)]
    pub rollout: RolloutRules,
    /// How long things may take.
    #[serde(default)]
    pub timeouts: Timeouts,
}

/// The kubeconfig and the context to use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClusterAccess {
    /// The kubeconfig file.
    pub kubeconfig: PathBuf,
    /// The context inside it. Always named: the kubeconfig's current context is never used.
    pub context: String,
    /// The uid of the cluster's `kube-system` namespace. When given, another cluster is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
}

/// What is delivered and whose signature counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// The repository: a `file://`, `ssh://` or `https://` address without credentials.
    pub repository: String,
    /// The protected branch. A commit must be, or have been, its tip.
    pub branch: String,
    /// The keys whose signature counts. Empty only together with `unsigned: allowed`.
    #[serde(default)]
    pub keys: Vec<PinnedKey>,
    /// Whether a directory or an unsigned commit may be applied.
    #[serde(default)]
    pub unsigned: UnsignedRule,
}

/// A key whose signature counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PinnedKey {
    /// The primary key's fingerprint: 40 hex digits, with or without spaces.
    pub fingerprint: String,
    /// Whose key it is, for reports.
    pub name: String,
    /// The armored public key. The file must hold exactly this key.
    pub file: PathBuf,
    /// Signatures made before this day (`2026-01-31`, UTC) do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_before: Option<String>,
    /// Signatures made after this day (UTC) do not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_after: Option<String>,
    /// Whether what the key signed before it expired, and up to `notAfter`, still counts. For rolling back to
    /// a commit from before a change of keys; the branch's newest commit is never accepted this way.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_expired: bool,
    /// The committer that commits signed by this key must name, such as `GitHub <noreply@github.com>`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committer: Option<String>,
}

/// Whether a directory or an unsigned commit may be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnsignedRule {
    /// Only verified commits are applied.
    #[default]
    Refused,
    /// Unsigned commits and directories may be applied too. For throw-away clusters.
    Allowed,
}

/// Which policies must be enforced before anything is applied.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PolicyRules {
    /// ValidatingAdmissionPolicies with their bindings.
    #[serde(default)]
    pub validating_admission_policies: Vec<AdmissionPolicy>,
    /// Gatekeeper and its constraints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gatekeeper: Option<Gatekeeper>,
    /// Why no policy is expected here. Needed when both lists are empty, so that an empty gate is a
    /// decision and not an oversight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub none: Option<String>,
}

/// A ValidatingAdmissionPolicy that must be enforced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AdmissionPolicy {
    /// The policy's name.
    pub name: String,
    /// The binding's name. Its `validationActions` must hold `Deny`.
    pub binding: String,
    /// An object that the policy must refuse: sent as a dry-run, it proves enforcement.
    pub refuses: Value,
}

/// The Gatekeeper installation and the constraints that must be enforced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gatekeeper {
    /// The namespace of the webhook pods.
    #[serde(default = "gatekeeper_namespace")]
    pub namespace: String,
    /// The constraints.
    pub constraints: Vec<Constraint>,
}

/// A Gatekeeper constraint that must be enforced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Constraint {
    /// The constraint's kind, which the template defines.
    pub kind: String,
    /// The constraint's name.
    pub name: String,
    /// An object that the constraint must refuse: sent as a dry-run, it proves enforcement.
    pub refuses: Value,
}

fn gatekeeper_namespace() -> String {
    "gatekeeper-system".to_owned()
}

/// When a human must approve, and who may.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ApprovalRules {
    /// When an approval is needed.
    #[serde(default)]
    pub required: ApprovalMode,
    /// Who may approve.
    #[serde(default)]
    pub approvers: Vec<Approver>,
    /// How many different people must approve.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub count: usize,
    /// The folder that is searched for approval files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<PathBuf>,
    /// How long an approval counts.
    #[serde(default = "four_hours")]
    pub valid_for: Duration,
    /// Whether typing the digest at a terminal counts as an approval, where one approval is enough.
    #[serde(default = "yes")]
    pub terminal: bool,
}

fn one() -> usize {
    1
}

fn yes() -> bool {
    true
}

fn four_hours() -> Duration {
    Duration::from_secs(4 * 3600)
}

impl Default for ApprovalRules {
    fn default() -> Self {
        Self {
            required: ApprovalMode::default(),
            approvers: Vec::new(),
            count: one(),
            directory: None,
            valid_for: four_hours(),
            terminal: true,
        }
    }
}

/// When an approval is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ApprovalMode {
    /// Whenever anything changes: production.
    #[default]
    Always,
    /// When operators, CRDs, RBAC, webhooks or storage classes are touched, or anything is deleted: acceptance.
    Risky,
    /// Never: development.
    Never,
}

/// Someone who may approve.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approver {
    /// The approver's name. Entries with the same name are one person with several keys.
    pub name: String,
    /// The approver's SSH public key in the usual one-line form.
    pub key: String,
    /// The approver's commit address. A commit's author cannot approve it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<String>,
}

/// What a plan may not do.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Guards {
    /// How many objects one run may delete.
    #[serde(default)]
    pub prune_budget: PruneBudget,
    /// Kinds that are protected beside the built-in ones, such as `Postgresql.acid.zalan.do`.
    #[serde(default)]
    pub protected_kinds: Vec<String>,
    /// Keep the volumes of claims that a deletion takes along: their reclaim policy is set to `Retain` first, and the
    /// report says how to bind them again. Needs `pipeline/rbac/optional/retain-volumes.yaml`.
    #[serde(default)]
    pub retain_volumes: bool,
    /// Deletions of protected objects that are allowed for a time.
    #[serde(default)]
    pub allow_deletions: Vec<DeletionPermission>,
    /// Who has to allow the deletion of a protected object.
    #[serde(default)]
    pub deletion_permissions: PermissionSource,
    /// Times in which nothing is delivered. Plans and drift are not affected.
    #[serde(default)]
    pub freezes: Vec<Freeze>,
    /// Rules over a whole plan, beside the built-in guards.
    #[serde(default)]
    pub rules: Vec<PlanRule>,
    /// Other tools whose objects may be taken over for a time.
    #[serde(default)]
    pub allow_takeovers: Vec<TakeoverPermission>,
    /// What happens when a policy would deny the pods of a changed workload.
    #[serde(default)]
    pub pod_policy: PodPolicyRule,
    /// An existing namespace in which objects are tried out (by dry-runs) whose own namespace comes with the same commit;
    /// `record.namespace` if not given. The more it is like a new namespace, in its labels and limits, the better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in_namespace: Option<String>,
}

/// Allows what another tool delivers to be taken over until a date. Without it, an object that another tool marks as
/// its own is refused, because the two would overwrite each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TakeoverPermission {
    /// The tool.
    pub tool: DeliveryTool,
    /// The tool's own name of what delivers the objects: a release, a Kustomization, an application, or an ApplySet's
    /// parent as `namespace/name`.
    pub name: String,
    /// The last day (`2026-12-31`, UTC) on which the permission counts.
    pub until: String,
    /// Why the objects change hands.
    pub reason: String,
}

/// A delivery tool whose objects can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum DeliveryTool {
    /// Helm: the annotation `meta.helm.sh/release-name`.
    Helm,
    /// Flux: its Kustomizations and HelmReleases.
    Flux,
    /// Argo CD: its applications.
    ArgoCd,
    /// kapp: its applications.
    Kapp,
    /// Config Sync: one object each.
    ConfigSync,
    /// Any tool that keeps ApplySets, such as `kubectl apply --applyset`.
    ApplySet,
}

/// What happens when a policy would deny the pods of a changed workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PodPolicyRule {
    /// The plan is refused.
    #[default]
    Refuse,
    /// The plan warns. For clusters whose webhooks judge Windlass differently from the controllers that make the
    /// real pods.
    Warn,
}

/// How many objects one run may delete. The run is refused when either limit is passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PruneBudget {
    /// At most this many.
    #[serde(default = "ten")]
    pub count: usize,
    /// At most this share of all objects that Windlass manages in the environment, in percent; it counts from
    /// ten objects on. A generated object whose next version is delivered is replaced and does not count.
    #[serde(default = "twenty")]
    #[schemars(range(max = 100))]
    pub percent: u8,
}

fn ten() -> usize {
    10
}

fn twenty() -> u8 {
    20
}

impl Default for PruneBudget {
    fn default() -> Self {
        Self { count: ten(), percent: twenty() }
    }
}

/// Where run records, the lock and the ApplySet parents live.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RecordRules {
    /// The namespace in the cluster. It must exist: `pipeline/rbac` creates it.
    #[serde(default = "record_namespace")]
    pub namespace: String,
    /// The folder on the agent for reports and journals: a folder a run. Environments that share it share what `keep`
    /// counts.
    #[serde(default = "report_directory")]
    pub reports: PathBuf,
    /// How many runs are kept, at least the last one: their records in the cluster, and their folders below `reports`,
    /// where those of the last 14 days stay whatever their number.
    #[serde(default = "fifty")]
    #[schemars(range(min = 1))]
    pub keep: usize,
}

fn record_namespace() -> String {
    "windlass-system".to_owned()
}

fn report_directory() -> PathBuf {
    PathBuf::from("reports")
}

fn fifty() -> usize {
    50
}

impl Default for RecordRules {
    fn default() -> Self {
        Self { namespace: record_namespace(), reports: report_directory(), keep: fifty() }
    }
}

/// What may be done for a rollout that is stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolloutRules {
    /// Delete a StatefulSet's pod that is not ready, belongs to an earlier revision and so keeps the delivered
    /// revision from being rolled out. Without it, going back to the previous commit does not help a stuck
    /// StatefulSet: a person has to delete the pod that the report names. A ready pod is never deleted.
    #[serde(default)]
    pub rescue_stuck_pods: bool,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct Timeouts {
    /// One request to the API server.
    pub request: Duration,
    /// Fetching from the repository.
    pub fetch: Duration,
    /// Rendering one unit.
    pub render: Duration,
    /// All rollouts of a run together.
    pub rollout: Duration,
    /// All smoke probes together.
    pub smoke: Duration,
    /// Waiting for another run's lock; `0s` does not wait.
    pub lock: Duration,
    /// How long the lock outlives a run that died.
    pub lease: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            request: Duration::from_secs(30),
            fetch: Duration::from_secs(120),
            render: Duration::from_secs(60),
            rollout: Duration::from_secs(15 * 60),
            smoke: Duration::from_secs(120),
            lock: Duration::from_secs(0),
            lease: Duration::from_secs(60),
        }
    }
}
