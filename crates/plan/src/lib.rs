//! Stage 3: what would change, object by object, deletions included; what would be lost or restarted?
//!
//! Two halves. [`observe()`] does all input and output: it reads the sets and the live objects, and asks the
//! server about every object by a dry-run. [`plan`] is a pure function of what was observed, the rendering
//! and the rules, so that it can be tested without a server.

mod definitions;
mod evidence;
mod fields;
mod forecast;
mod growth;
mod guards;
mod hashed;
mod immutable;
mod key;
mod kinds;
mod local;
mod lost;
mod memory;
mod observation;
mod observe;
mod overlay;
mod ownership;
mod planner;
mod pods;
mod problem;
mod prune;
mod recipe;
mod refusal;
mod replacement;
mod restraint;
mod retain;
mod risk;
mod sameness;
mod scene;
mod stored;
mod template;
mod trial;
mod verdict;

pub use fields::FieldRules;
pub use key::ObjectKey;
pub use local::{BLIND_SPOTS, BlindSpot};
pub use memory::{Memory, MemoryError};
pub use observation::{
    Ask, Asked, Candidate, Definition, Inventories, Moving, Observation, Removal, Reply, UnreadableParent,
};
pub use observe::{ObserveOptions, Recollection, Remembering, Trials, observe};
pub use planner::{Inputs, exit_code, plan};
pub use pods::PodAnswer;
pub use restraint::{freezes, rules};
pub use trial::{Outcome, Trial};
