//! Why a tree cannot be rendered.

use windlass_model::Origin;
use windlass_yaml::YamlError;

/// Everything that is wrong with a tree, in the order of units and files.
#[derive(Debug, thiserror::Error)]
#[error("{} problems", .0.len())]
pub struct RenderErrors(pub Vec<RenderError>);

/// One thing that is wrong.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// A file is not YAML as Kubernetes reads it.
    #[error("{path}: {source}")]
    Yaml {
        /// The file.
        path: String,
        /// Where and why.
        source: YamlError,
    },
    /// An object cannot be applied.
    #[error("{origin}: {object}: {problem}")]
    Object {
        /// Where it is written.
        origin: Origin,
        /// The object, as far as it has a name.
        object: String,
        /// What is wrong.
        problem: ObjectProblem,
    },
}

/// Why an object cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObjectProblem {
    /// The object has no name.
    #[error("no name")]
    NoName,
}
