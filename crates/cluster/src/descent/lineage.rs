//! The members of a home by whom they descend from.

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{Object, is_claim, is_custom_kind, is_namespace, is_stateful_set};

/// What lives in a [home](super::Home), by whom it descends from.
#[derive(Debug, Clone, Default)]
pub struct Lineage {
    members: Vec<Object>,
    /// By uid.
    members_of: BTreeMap<String, BTreeSet<usize>>,
    /// Those that can take data along and may descend from somebody else, with the reason.
    doubtful: BTreeMap<usize, String>,
}

impl Lineage {
    /// Adds a member with the uids of all whom it descends from; `unread` says why that may not be all.
    pub(super) fn add(&mut self, member: Object, line: BTreeSet<String>, unread: Option<&str>) {
        let index = self.members.len();
        if let Some(reason) = unread.filter(|_| takes_data(&member)) {
            let reason = format!("whose {} is could not be read: {reason}", member.reference());
            self.doubtful.insert(index, reason);
        }
        for uid in line {
            self.members_of.entry(uid).or_default().insert(index);
        }
        self.members.push(member);
    }

    /// Returns all pods, claims, StatefulSets and ReplicaSets that live there.
    pub fn members(&self) -> &[Object] {
        &self.members
    }

    /// Returns the members that are known to descend from an object: all of them, if it is their namespace.
    pub fn descendants(&self, owner: &Object) -> impl Iterator<Item = &Object> {
        let reference = owner.reference();
        let whole = is_namespace(&reference.kind).then_some(reference.name.as_str());
        let inside = move |member: &&Object| {
            whole.is_some_and(|namespace| member.reference().namespace.as_deref() == Some(namespace))
        };
        let all = whole.is_some().then_some(&self.members).into_iter().flatten().filter(inside);
        let own = whole.is_none().then(|| self.indexes(owner)).into_iter().flatten();
        all.chain(own.filter_map(|index| self.members.get(index)))
    }

    /// Returns why more may descend from an object than is known.
    pub fn doubt(&self, owner: &Object) -> Option<&str> {
        // Between a built-in workload and data is hardly ever a kind that cannot be read.
        if !is_custom_kind(&owner.reference().kind) {
            return None;
        }
        let own: BTreeSet<usize> = self.indexes(owner).collect();
        self.doubtful.iter().find(|(index, _)| !own.contains(index)).map(|(_, reason)| reason.as_str())
    }

    fn indexes(&self, owner: &Object) -> impl Iterator<Item = usize> {
        owner.uid().and_then(|uid| self.members_of.get(uid)).into_iter().flatten().copied()
    }
}

/// Says whether deleting an object can delete data: claims, what deletes its claims, and whatever a namespace holds.
fn takes_data(object: &Object) -> bool {
    let kind = &object.reference().kind;
    is_claim(kind) || is_stateful_set(kind) || is_namespace(kind)
}
