//! The tools: what each is called with.

mod floor;
mod flux;
mod helm;
mod kapp;
mod kubectl;
mod windlass;

use std::io;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use crate::step::{Place, Step};

/// Who is measured, in this order: where time runs out, the last ones are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Tool {
    /// Nothing but the requests.
    Floor,
    Windlass,
    Kubectl,
    Flux,
    Kapp,
    Helm,
    KubectlApplyset,
}

impl Tool {
    /// Returns the name, as options and results write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Floor => "floor",
            Self::Windlass => "windlass",
            Self::Kubectl => "kubectl",
            Self::Flux => "flux",
            Self::Kapp => "kapp",
            Self::Helm => "helm",
            Self::KubectlApplyset => "kubectl-applyset",
        }
    }

    /// Returns the name of the binary.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Self::KubectlApplyset => Self::Kubectl.name(),
            other => other.name(),
        }
    }

    /// Returns its calls in order. Files that they need are written.
    pub(crate) fn steps(self, place: &Place) -> io::Result<Vec<Step>> {
        match self {
            Self::Floor => Ok(floor::steps(place)),
            Self::Windlass => windlass::steps(place),
            Self::Kubectl => Ok(kubectl::steps(place)),
            Self::Flux => Ok(flux::steps(place)),
            Self::Kapp => Ok(kapp::steps(place)),
            Self::Helm => helm::steps(place),
            Self::KubectlApplyset => kubectl::applyset_steps(place),
        }
    }
}
