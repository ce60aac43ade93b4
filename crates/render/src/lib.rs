//! Stage 1: turns a tree into objects.
//!
//! A unit with a kustomization is rendered by a `kubectl` or `kustomize` binary inside a jail; any other unit
//! is read file by file. Both go through [`windlass_yaml`], so an object means here what it means to `kubectl
//! apply`. Everything that is wrong is collected and returned together.

mod bundles;
mod closure;
mod directory;
mod error;
mod jail;
mod kustomize;
mod limits;
mod normal;
mod objects;
mod plain;
mod render;
mod scope;
mod units;

pub use directory::read_directory;
pub use error::{ObjectProblem, RenderError, RenderErrors};
pub use jail::{Jail, Tools};
pub use limits::Limits;
pub use render::render;
pub use units::{ResolvedUnit, units};
