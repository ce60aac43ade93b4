//! The two files a user writes.
//!
//! The *environment file* lives on the agent and holds everything that loosens or directs: cluster, keys,
//! expected policies, approvers, guards. *`windlass.yaml`* lives in the delivered repository and says how
//! the repository is cut into units and how to tell that it works. What a commit could use to let itself
//! through is never read from the commit.

mod check;
mod deletion;
mod duration;
mod environment;
mod error;
mod freeze;
mod ignore;
mod load;
mod lookup;
mod ownership;
mod plan_rule;
mod reference;
mod repository;
mod schema;
mod shape;
mod tree;

pub use deletion::{DeletionPermission, IntendedDeletion, PermissionSource};
pub use duration::{Duration, DurationError};
pub use environment::{
    AdmissionPolicy, ApprovalMode, ApprovalRules, Approver, ClusterAccess, Constraint, DeliveryTool,
    Environment, Gatekeeper, Guards, PinnedKey, PodPolicyRule, PolicyRules, PruneBudget, RecordRules,
    RolloutRules, Source, TakeoverPermission, Timeouts, UnsignedRule,
};
pub use error::{Mistake, SettingsError, SettingsErrors};
pub use freeze::{Freeze, WeeklyFreeze};
pub use ignore::IgnoreRule;
pub use ownership::{ConflictRule, Ownership, Winner};
pub use plan_rule::PlanRule;
pub use reference::{environment_example, environment_reference, repository_example, repository_reference};
pub use repository::{HttpProbe, Probe, Repository, TcpProbe, UnitSpec};
pub use schema::{environment_schema, repository_schema};
