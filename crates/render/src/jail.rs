//! The jail.
use std::path::PathBuf;

/// What rendering may use of the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tools {
    /// A `kubectl` or `kustomize` binary, as an absolute path. `None`: units with a kustomization are refused.
    pub kustomize: Option<PathBuf>,
    /// How strictly the binary is locked up.
    pub jail: Jail,
}

/// How strictly the renderer is locked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Jail {
    /// Without a jail nothing is rendered.
    #[default]
    Required,
    /// Where no jail can be made, the renderer runs without one, and a warning says so.
    BestEffort,
}
