//! What came of trying an object out in a namespace that stands in for its own, which does not exist yet.

use windlass_cluster::Failure;

use crate::Reply;

/// Whether an object was tried out in a stand-in namespace, and how that ended.
#[derive(Clone)]
pub enum Trial {
    /// It was not tried out, for this reason.
    Not(String),
    /// Another object of the same kind and shape was tried out in this namespace.
    Alike(String),
    /// It was tried out in a namespace.
    Made {
        /// The namespace that stood in.
        stand_in: String,
        /// What the server said.
        outcome: Outcome,
    },
}

/// What the server said in a stand-in namespace.
#[derive(Clone)]
pub enum Outcome {
    /// It would take the object, which is given as if it were in its own namespace.
    Accepted(Reply),
    /// It refuses the object.
    Refused {
        /// Why.
        failure: Failure,
        /// Whether that holds in every namespace: the object itself is wrong, or a policy refuses it that makes no
        /// difference between namespaces.
        everywhere: bool,
    },
}

impl Trial {
    /// Says how far the prediction goes, as the end of a sentence.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Not(reason) => format!("not tried out: {reason}"),
            Self::Alike(stand_in) => {
                format!(
                    "an object of the same kind and shape was tried out in `{stand_in}`, whose labels and limits may differ"
                )
            }
            Self::Made { stand_in, .. } => {
                format!("tried out in `{stand_in}`, whose labels and limits may differ")
            }
        }
    }

    /// Returns the namespace in which the object was tried out.
    pub(crate) fn made_in(&self) -> Option<&str> {
        match self {
            Self::Made { stand_in, .. } => Some(stand_in),
            Self::Not(_) | Self::Alike(_) => None,
        }
    }

    /// Returns what the server would make of the object.
    pub(crate) fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Made { outcome: Outcome::Accepted(reply), .. } => Some(reply),
            _ => None,
        }
    }

    /// Returns a refusal that holds in every namespace.
    pub(crate) fn refusal(&self) -> Option<&Failure> {
        match self {
            Self::Made { outcome: Outcome::Refused { failure, everywhere: true }, .. } => Some(failure),
            _ => None,
        }
    }
}
