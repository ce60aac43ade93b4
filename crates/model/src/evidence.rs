//! The evidence that a live object is a member of a set, without which nothing is ever deleted.

use std::fmt;

use crate::{ApplySet, ManagedEntry, Object, PART_OF, UnitName, other_owner};

/// A piece of evidence that is lacking for deleting an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doubt {
    /// The object does not carry the label of the set.
    Unlabelled,
    /// No earlier run recorded the object as a member.
    Unrecorded {
        /// The unit of the set.
        unit: UnitName,
    },
    /// Windlass has applied none of the object's fields.
    NotApplied,
    /// The object has an owner, which made it or takes it along.
    Owned {
        /// Kind and name of the first owner.
        owner: String,
    },
    /// Another delivery tool marks the object as its own.
    Delivered {
        /// The tool and its delivery.
        owner: String,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unlabelled => write!(f, "it does not carry the label {PART_OF} of its set"),
            Self::Unrecorded { unit } => write!(
                f,
                "the inventory of unit `{unit}` does not list it; its label was copied or set by hand"
            ),
            Self::NotApplied => f.write_str("Windlass owns no field of it by server-side apply"),
            Self::Owned { owner } => write!(f, "{owner} owns it (metadata.ownerReferences)"),
            Self::Delivered { owner } => write!(
                f,
                "{owner} delivers it too, as its labels and annotations say: remove them if that is over"
            ),
        }
    }
}

/// Returns what speaks against the object being a member of the set, or `None` if all evidence is there.
///
/// A label alone proves nothing, since operators copy labels to what they create. `manager` is the field manager
/// by which members are applied.
pub fn membership_doubt(live: &Object, set: &ApplySet, manager: &str) -> Option<Doubt> {
    if live.label(PART_OF) != Some(set.id().as_str()) {
        return Some(Doubt::Unlabelled);
    }
    if !set.members.contains(&live.reference().inventory_entry()) {
        return Some(Doubt::Unrecorded { unit: set.unit.clone() });
    }
    if apply_entry(live, manager).is_none() {
        return Some(Doubt::NotApplied);
    }
    if let Some(owner) = first_owner(live) {
        return Some(Doubt::Owned { owner });
    }
    other_owner(live, manager).map(|owner| Doubt::Delivered { owner: owner.to_string() })
}

fn first_owner(live: &Object) -> Option<String> {
    let owner = live.body().pointer("/metadata/ownerReferences")?.as_array()?.first()?;
    let text = |field: &str| owner[field].as_str().unwrap_or("?");
    Some(format!("{} {}", text("kind"), text("name")))
}

/// Returns the entry of `metadata.managedFields` by which a manager owns fields through server-side apply;
/// entries of subresources do not count.
pub fn apply_entry<'a>(object: &'a Object, manager: &str) -> Option<ManagedEntry<'a>> {
    ManagedEntry::all(object).find(|entry| entry.is_apply_of(manager))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::EnvironmentName;

    fn set() -> ApplySet {
        let environment = EnvironmentName::new("prd").unwrap();
        ApplySet::empty(environment, UnitName::new("shop").unwrap(), "windlass-system")
    }

    fn check(change: impl Fn(&mut Value), want: Option<&Doubt>) {
        let mut body = json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "a", "namespace": "shop", "labels": {PART_OF: set().id()},
                "managedFields": [{"manager": "windlass", "operation": "Apply"}],
            },
        });
        let members = set().of([Object::new(body.clone(), None).unwrap().reference()]);
        change(&mut body);
        assert_eq!(membership_doubt(&Object::new(body, None).unwrap(), &members, "windlass").as_ref(), want);
    }

    #[test]
    fn each_piece_of_evidence_is_needed() {
        let metadata = |field: &'static str, value: Value| {
            move |body: &mut Value| body["metadata"][field] = value.clone()
        };
        check(|_| (), None);
        check(metadata("labels", json!({})), Some(&Doubt::Unlabelled));
        check(metadata("labels", json!({PART_OF: "applyset-x-v1"})), Some(&Doubt::Unlabelled));
        check(metadata("name", "copied".into()), Some(&Doubt::Unrecorded { unit: set().unit }));
        let entries = [
            json!([]),
            json!([{"manager": "windlass", "operation": "Update"}]),
            json!([{"manager": "windlass-applyset", "operation": "Apply"}]),
            json!([{"manager": "windlass", "operation": "Apply", "subresource": "status"}]),
        ];
        for entries in entries {
            check(metadata("managedFields", entries), Some(&Doubt::NotApplied));
        }
        check(metadata("ownerReferences", json!([])), None);
        check(
            metadata("ownerReferences", json!([{"kind": "Job", "name": "j"}])),
            Some(&Doubt::Owned { owner: "Job j".into() }),
        );
        let mut labels = json!({PART_OF: set().id()});
        labels["kustomize.toolkit.fluxcd.io/name"] = "apps".into();
        let owner = "the Flux Kustomization `apps`".to_owned();
        check(metadata("labels", labels), Some(&Doubt::Delivered { owner }));
    }
}
