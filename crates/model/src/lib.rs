//! The shared nouns of Windlass. Pure data, no I/O.
//!
//! What one stage hands to the next is a type of this crate, so that a stage never depends on another
//! stage. Types that prove something ([`VerifiedCommit`], [`GatePassed`], [`ApprovedPlan`]) have private
//! fields and one constructor each, which `clippy.toml` allows in one place only.

mod action;
mod age;
mod applyset;
mod approval;
mod before;
mod bytes;
mod change;
mod chosen;
mod claims;
mod clock;
mod commit;
mod condition;
mod conflict;
mod content;
mod delta;
mod diagnosis;
mod digest;
mod document;
mod event;
mod evidence;
mod exit;
mod glob;
mod head;
mod identity;
mod ignored;
mod inventory;
mod kind;
mod managed;
mod migration;
mod object;
mod owner;
mod pattern;
mod plan;
mod pod;
mod pointer;
mod quantity;
mod rank;
mod recipe;
mod replacement;
mod requirement;
mod restarts;
mod reversal;
mod revision;
mod secret;
mod shown;
mod stage;
mod toll;
mod tree;
mod unit;
mod value;
mod volume;
mod webhook;

pub use action::{Action, Forecast, LiveId, Loss, Operation, Preview, Problem, Risk};
pub use age::age;
pub use applyset::{ApplySet, ApplySetError, PART_OF};
pub use approval::{Approval, ApprovedPlan, Evidence};
pub use before::{Before, CompletedRun, UnfinishedRun};
pub use bytes::{quantity_bytes, readable_bytes};
pub use change::changes;
pub use chosen::{CHOSEN, without_chosen};
pub use claims::{Claims, claim_templates, claims_going, deletes_claims};
pub use clock::Clock;
pub use commit::{CommitId, CommitIdError, Provenance, Signer, VerifiedCommit};
pub use condition::{condition, condition_is};
pub use conflict::{Conflict, is_same_field};
pub use content::Content;
pub use delta::{ChangeKind, FieldChange, delta};
pub use diagnosis::{ContainerState, Diagnosis, LogTail, Occurrence, PodState};
pub use digest::{Digest, DigestError, Hasher, canonical_json};
pub use document::{PlanDocument, plan_schema};
pub use event::{Event, Level, Mutation, MutationResult, Sink};
pub use evidence::{Doubt, apply_entry, membership_doubt};
pub use exit::ExitCode;
pub use glob::fits;
pub use identity::{ClusterId, EnvironmentName, RunId};
pub use ignored::Ignored;
pub use inventory::{Delivered, inventory_kinds, inventory_of};
pub use kind::{
    defined_kind, holds_data, is_built_in, is_claim, is_custom_kind, is_namespace, is_stateful_set,
};
pub use managed::{
    Emptied, FieldSet, Foretold, ManagedEntry, Place, Settle, carry, foretell, is_zero, prune_fields, strip,
};
pub use migration::{BEFORE_FIRST_APPLY, Migrated, MigratedManager, Migration};
pub use object::{GroupKind, Object, ObjectError, ObjectRef, Origin};
pub use owner::{Owner, Tool, other_owner};
pub use pattern::{FieldPattern, FieldPatternError};
pub use plan::{Counts, GatePassed, Plan, Refusal, Verdict};
pub use pod::{PodUse, is_used_by_pods, pod_uses, uses_of};
pub use pointer::{FieldPath, Segment};
pub use quantity::{Quantity, Unread};
pub use rank::apply_rank;
pub use recipe::{Recipe, RecipeStep};
pub use replacement::Replacement;
pub use requirement::{Approvals, Requirement};
pub use restarts::RestartStep;
pub use reversal::Reversal;
pub use revision::{revision_kinds, revisions_that_use};
pub use secret::{MASK, is_secret_kind, mask_object};
pub use shown::{Bodies, Shown};
pub use stage::{Stage, StageOutcome};
pub use toll::Toll;
pub use tree::{SourceTree, TreeError, TreeFile};
pub use unit::{Rendering, Unit, UnitName};
pub use value::type_name;
pub use volume::{DestroyedVolume, RetainedVolume};
pub use webhook::{needed_services, webhook_backends};
