//! Keeps one collection in view: reads it, then watches it, for as long as it is wanted.

use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::mpsc::Sender;
use windlass_cluster::{Cluster, ClusterError, Resource, Selector, WatchItem};
use windlass_model::{GroupKind, Object};

/// Which objects are kept in view.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Collection {
    /// The kind.
    pub(crate) kind: GroupKind,
    /// The namespace; `None` for kinds without.
    pub(crate) namespace: Option<String>,
    /// A field selector, where one narrows it down.
    pub(crate) fields: Option<String>,
}

/// What happened to a collection.
#[derive(Debug)]
pub(crate) enum News {
    /// These are all its objects.
    Listed(Vec<Object>),
    /// An object appeared or changed.
    Changed(Object),
    /// An object went.
    Deleted(Object),
    /// The collection cannot be seen at the moment.
    Blind(ClusterError),
}

/// The server sends a bookmark about every minute; silence for longer means that the connection is dead.
const SILENCE: Duration = Duration::from_secs(150);

/// Sends what happens to the collection, until nobody listens any more.
///
/// A server that restarts must not end a wait, so every error is reported and followed by another attempt.
pub(crate) async fn follow(cluster: Cluster, collection: Collection, news: Sender<(Collection, News)>) {
    let mut feed = Feed { cluster, collection, news, pause: Pause::default() };
    while feed.list_and_watch().await.is_ok() {}
}

struct Feed {
    cluster: Cluster,
    collection: Collection,
    news: Sender<(Collection, News)>,
    pause: Pause,
}

/// Nobody listens any more.
struct Unheard;

impl Feed {
    /// Lists once and watches until the list must be read again.
    async fn list_and_watch(&mut self) -> Result<(), Unheard> {
        let listed = async {
            let resource = self.cluster.preferred(&self.collection.kind).await?;
            let listing = self.cluster.list(&resource, self.selector()).await?;
            Ok((resource, listing))
        };
        let (resource, listing) = match listed.await {
            Ok(listed) => listed,
            Err(error) => return self.stumble(error).await,
        };
        self.tell(News::Listed(listing.objects)).await?;
        let mut version = listing.resource_version;
        while self.watch(&resource, &mut version).await? {}
        Ok(())
    }

    /// Watches from a version on; returns whether the watch may go on from the version then reached.
    async fn watch(&mut self, resource: &Resource, version: &mut String) -> Result<bool, Unheard> {
        let opened = self.cluster.watch(resource, self.selector(), version);
        let Ok(opened) = tokio::time::timeout(SILENCE, opened).await else {
            return Ok(true);
        };
        let mut events = match opened {
            Ok(events) => events,
            Err(error) if is_expired(&error) => return Ok(false),
            Err(error) => return self.stumble(error).await.map(|()| true),
        };
        loop {
            match tokio::time::timeout(SILENCE, events.next()).await {
                Ok(Some(Ok(WatchItem::Expired))) => return Ok(false),
                Ok(Some(Ok(item))) => self.pass_on(item, version).await?,
                Ok(Some(Err(error))) if is_expired(&error) => return Ok(false),
                Ok(Some(Err(error))) => return self.stumble(error).await.map(|()| true),
                // Closed by the server, as it does every few minutes, or silent.
                Ok(None) | Err(_) => {
                    tokio::time::sleep(self.pause.next()).await;
                    return Ok(true);
                }
            }
        }
    }

    async fn pass_on(&mut self, item: WatchItem, version: &mut String) -> Result<(), Unheard> {
        self.pause = Pause::default();
        let news = match item {
            WatchItem::Changed(object) => News::Changed(object),
            WatchItem::Deleted(object) => News::Deleted(object),
            WatchItem::Bookmark(reached) => {
                *version = reached;
                return Ok(());
            }
            WatchItem::Expired => return Ok(()),
        };
        if let News::Changed(object) | News::Deleted(object) = &news
            && let Some(reached) = object.resource_version()
        {
            reached.clone_into(version);
        }
        self.tell(news).await
    }

    async fn stumble(&mut self, error: ClusterError) -> Result<(), Unheard> {
        self.tell(News::Blind(error)).await?;
        tokio::time::sleep(self.pause.next()).await;
        Ok(())
    }

    async fn tell(&self, news: News) -> Result<(), Unheard> {
        self.news.send((self.collection.clone(), news)).await.map_err(|_| Unheard)
    }

    fn selector(&self) -> Selector<'_> {
        Selector {
            namespace: self.collection.namespace.as_deref(),
            labels: None,
            fields: self.collection.fields.as_deref(),
        }
    }
}

fn is_expired(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| failure.code == 410)
}

/// Pauses between attempts, each twice as long as the last.
struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_millis(250))
    }
}

impl Pause {
    fn next(&mut self) -> Duration {
        let now = self.0;
        self.0 = (now * 2).min(Duration::from_secs(5));
        now
    }
}
