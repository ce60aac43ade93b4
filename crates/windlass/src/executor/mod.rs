//! The order of the stages; the only place that knows it.

pub(crate) mod approval;
pub(crate) mod delivery;
pub(crate) mod desired;
pub(crate) mod execution;
pub(crate) mod local;
pub(crate) mod locking;
pub(crate) mod memory;
pub(crate) mod papers;
pub(crate) mod planning;
pub(crate) mod record;
pub(crate) mod stage;
