//! The only crate that talks to the API server.
//!
//! Everything that other crates may ask of a cluster is a method of [`Cluster`]; nobody else names a field
//! manager, a patch type or `kube::Client`. Requests are built by hand and sent through kube's client as
//! raw HTTP, because the typed layer hides what Windlass lives on: 201 or 200, `Warning` headers, the
//! difference between a `Status` and a proxy's plain text, and which failures may be repeated.

mod access;
mod backend;
mod connect;
mod denial;
mod descent;
mod discovery;
mod effect;
mod error;
mod expecting;
mod failure;
mod kind;
mod page;
mod path;
mod read;
mod residents;
mod retry;
mod transport;
mod watch;
mod window;
mod write;

use std::sync::Arc;

pub use access::Review;
pub use backend::Silence;
pub use connect::Target;
pub use denial::Denier;
pub use descent::{Home, Lineage};
pub use discovery::Resource;
pub use error::ClusterError;
pub use failure::{Cause, Failure, FailureKind};
pub use read::{Listing, LogOptions, Selector};
pub use watch::WatchItem;
pub use write::{Answer, ApplyRequest, Deleted, Expect, Propagation, spelled};

use discovery::Learned;
use tokio_util::sync::CancellationToken;
use transport::Transport;

/// The field manager under which Windlass owns what it applies. Constant for ever: a manager per commit
/// would leave the fields of every earlier commit owned and alive.
pub const FIELD_MANAGER: &str = "windlass";

/// How many requests a connection [apart](Cluster::apart) has in flight at most.
const APART: usize = 4;

/// A connection to one API server.
#[derive(Clone)]
pub struct Cluster {
    transport: Transport,
    discovery: Arc<tokio::sync::RwLock<Learned>>,
}

impl Cluster {
    /// Returns a connection that sends nothing but GETs: no write, no dry-run, no review. Everything else fails with
    /// [`ClusterError::NotSent`].
    #[must_use]
    pub fn read_only(&self) -> Self {
        let mut reading = self.clone();
        reading.transport.read_only = true;
        reading
    }

    /// Returns a connection whose requests never wait behind those of this one: for what must not be late, such as the
    /// renewal of a lock.
    #[must_use]
    pub fn apart(&self) -> Self {
        Self { transport: self.transport.apart(APART), discovery: Arc::clone(&self.discovery) }
    }

    /// Returns a connection that sends no write any more once `stop` is cancelled, not even one that waits for its turn.
    /// What was sent before is awaited.
    #[must_use]
    pub fn until(&self, stop: CancellationToken) -> Self {
        let mut stopping = self.clone();
        stopping.transport.stop = Some(stop);
        stopping
    }

    /// Says whether nothing but GETs is sent.
    pub fn is_read_only(&self) -> bool {
        self.transport.read_only
    }
}

impl std::fmt::Debug for Cluster {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Cluster({})", self.transport.server())
    }
}
