//! Pairs of a live and a desired object, at random.

use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};

use super::edit::Edit;
use super::kinds::Kind;

/// How many pairs of a kind are made; of an expensive kind.
const OF_A_KIND: usize = 12;
const OF_A_FEW: usize = 4;

/// A live object as it comes to be, and what is wanted of it.
pub(crate) struct Pair<'a> {
    pub(crate) kind: &'a Kind,
    pub(crate) origin: Origin,
    /// What the live object was made from.
    pub(crate) base: Value,
    /// What somebody else did to it then.
    pub(crate) hand: Option<(Hand, Edit)>,
    pub(crate) desired: Value,
    told: String,
}

/// Who made the live object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Nobody: there is none.
    Absent,
    /// Windlass.
    Delivered,
    /// A manager whose fields are a conflict, by server-side apply.
    Rival,
    /// A manager whose fields a rule takes, by server-side apply.
    Keeper,
    /// A person, by client-side apply.
    ClientSide,
}

/// Who changed it since.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hand {
    /// A controller by replacing it; its fields are a conflict.
    Rival,
    /// The same by server-side apply.
    RivalApplies,
    /// A manager by replacing it whose fields a rule takes.
    Keeper,
    /// A person with an editor, whose fields are migrated.
    Editor,
}

impl Hand {
    pub(crate) fn manager(self) -> &'static str {
        match self {
            Self::Rival | Self::RivalApplies => "rival",
            Self::Keeper => "keeper",
            Self::Editor => "kubectl-edit",
        }
    }
}

impl Pair<'_> {
    /// Says whether ownership moves to Windlass before the object is applied.
    pub(crate) fn migrates(&self) -> bool {
        self.origin == Origin::ClientSide || matches!(self.hand, Some((Hand::Editor, _)))
    }

    pub(crate) fn path(&self) -> String {
        self.kind.path(&self.base)
    }
}

impl std::fmt::Display for Pair<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.told)
    }
}

/// Makes pairs of all kinds; `place` is the namespace, and the prefix of what is in none.
pub(crate) fn pairs<'a>(kinds: &'a [Kind], seed: u64, place: &str, suffix: &str) -> Vec<Pair<'a>> {
    let mut random = StdRng::seed_from_u64(seed);
    let mut pairs = Vec::new();
    for kind in kinds {
        for _ in 0..if kind.few { OF_A_FEW } else { OF_A_KIND } {
            let number = pairs.len();
            pairs.push(pair(kind, &mut random, number, place, suffix));
        }
    }
    pairs
}

fn pair<'a>(kind: &'a Kind, random: &mut StdRng, number: usize, place: &str, suffix: &str) -> Pair<'a> {
    let base = base(kind, number, place, suffix);
    let origin = match random.random_range(0..100) {
        0..12 => Origin::Absent,
        12..70 => Origin::Delivered,
        70..78 => Origin::Rival,
        78..88 => Origin::Keeper,
        _ => Origin::ClientSide,
    };
    let pick = |random: &mut StdRng| kind.changes[random.random_range(0..kind.changes.len())].clone();
    let hand = (origin != Origin::Absent && random.random_range(0..100) < 45).then(|| {
        let hand = match random.random_range(0..4) {
            0 => Hand::Rival,
            1 => Hand::RivalApplies,
            2 if origin == Origin::Delivered => Hand::Editor,
            _ => Hand::Keeper,
        };
        (hand, pick(random))
    });
    let count = match random.random_range(0..100) {
        0..15 => 0,
        15..75 => 1,
        _ => 2,
    };
    let edits: Vec<Edit> = (0..count).map(|_| pick(random)).collect();
    let mut desired = base.clone();
    for edit in &edits {
        edit.apply(&mut desired);
    }
    // Windlass sends no empty maps in metadata; kubectl would.
    let metadata = desired["metadata"].as_object_mut().unwrap();
    metadata.retain(|_, value| value.as_object().is_none_or(|map| !map.is_empty()));
    let wanted: Vec<String> = edits.iter().map(Edit::to_string).collect();
    let by = hand.as_ref().map(|(hand, edit)| format!(", then {hand:?}: {edit}")).unwrap_or_default();
    let told = format!(
        "#{number} {} {}: {origin:?}{by}; wanted: [{}]",
        kind.kind,
        base["metadata"]["name"],
        wanted.join("; ")
    );
    Pair { kind, origin, base, hand, desired, told }
}

fn base(kind: &Kind, number: usize, place: &str, suffix: &str) -> Value {
    let in_all = format!("{place}-n{number}");
    let text = kind.body.to_string().replace("$NAME", &in_all);
    let mut base: Value = serde_json::from_str(&text).unwrap();
    base["apiVersion"] = json!(kind.api);
    base["kind"] = json!(kind.kind);
    base["metadata"] = json!({
        "labels": {"pairs": suffix, "tier": "front", "team": "a"}, "annotations": {"note": "one"},
    });
    base["metadata"]["name"] = match &kind.name {
        Some(name) => json!(name.replace("$NAME", &in_all)),
        None if kind.namespaced => json!(format!("n{number}")),
        None => json!(in_all),
    };
    if kind.namespaced {
        base["metadata"]["namespace"] = json!(place);
    }
    base
}
