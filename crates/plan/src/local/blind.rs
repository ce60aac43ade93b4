//! What cannot be seen without asking the server.

use std::fmt;

/// Something that a comparison without dry-runs cannot see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlindSpot {
    /// Its name, as the documentation and tests use it.
    pub name: &'static str,
    /// What is not seen, or seen differently.
    pub what: &'static str,
}

/// Everything that a comparison without dry-runs cannot see. A test compares the verdicts with those of the server: each
/// difference must be one of these.
pub const BLIND_SPOTS: [BlindSpot; 9] = [
    BlindSpot { name: "admission", what: "what webhooks, policies and quotas would change or refuse" },
    BlindSpot {
        name: "validation",
        what: "what the server would refuse: invalid values, immutable fields, fields it does not know, missing rights",
    },
    BlindSpot {
        name: "defaults",
        what: "values that the server fills in or counts up: a field that is not declared any more is shown as removed, and may fall back to a default",
    },
    BlindSpot {
        name: "spelling",
        what: "values that the server stores in other words than they are declared: only numbers, quantities and base64 are known to be the same, and everything else is shown as a change",
    },
    BlindSpot {
        name: "whole-values",
        what: "what a commit takes out of a list or map that is owned as a whole, and that nobody else has written: it looks like a default; an empty text or list that it puts in may look like one that is not stored",
    },
    BlindSpot {
        name: "owners",
        what: "how lists are merged that no manager owns, and objects without managed fields",
    },
    BlindSpot { name: "versions", what: "ownership that is recorded in another API version" },
    BlindSpot {
        name: "deletions",
        what: "whether the server would refuse to delete what nothing renders any more",
    },
    BlindSpot {
        name: "enforcement",
        what: "whether policies are enforced: they are read, and no object is sent that they must refuse; nor are pods of changed workloads tried out",
    },
];

impl fmt::Display for BlindSpot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not seen, for nothing is asked ({}): {}", self.name, self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_lists_every_blind_spot_and_no_other() {
        let documentation = include_str!("../../../../docs/concepts/drift.md");
        let (_, table) = documentation.split_once("| name | what is not seen").unwrap();
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let names: Vec<&str> = rows.filter_map(|row| row.split('|').nth(1)).map(str::trim).collect();
        assert_eq!(names, BLIND_SPOTS.map(|spot| spot.name));
    }
}
