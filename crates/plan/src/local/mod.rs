//! Judging without asking: what an apply would make of live objects, as far as they tell themselves. For identities that
//! may only read, since the server takes the right to write for a dry-run.

mod blind;
mod default;
mod meaning;
mod quantity;

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{Emptied, Object, Settle, foretell};

use crate::fields::{FieldRules, Foreseen};
use crate::{Ask, Asked, Moving, Reply};

pub use blind::{BLIND_SPOTS, BlindSpot};

/// Why a preview is only a local one.
pub(crate) const READ_ONLY: &str = "read-only: judged by what live objects tell, without asking the server";

/// Foretells what the server would answer to an object as it would be sent.
pub(crate) fn asked(live: Option<Object>, object: &Object, rules: &FieldRules) -> Asked {
    let answered = |object| Ask::Answered(Reply { object, warnings: Vec::new() });
    let Some(live) = live else { return Asked::without_conflicts(None, answered(object.clone())) };
    let kind = live.reference().kind.clone();
    let settle: &Settle<'_> = &|place, live, declared| meaning::settle(&kind, place, live, declared);
    let told = foretell(&live, object, FIELD_MANAGER, settle, Emptied::Absent);
    let foreseen = Foreseen::after_answer(&live, &told.object, rules, Emptied::Absent);
    let moving = foreseen
        .as_ref()
        .map(|foreseen| Moving { migration: foreseen.migration.clone(), merged_here: foreseen.merged_here });
    let object = match &foreseen {
        Some(foreseen) => foreseen.unasked(&told.object),
        None => told.object,
    };
    Asked { live: Some(live), conflicts: told.conflicts, answer: answered(object), moving }
}
