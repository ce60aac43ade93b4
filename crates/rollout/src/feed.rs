//! Keeps collections in view: reads each once, then watches it for as long as it is wanted.

use std::time::Duration;

use futures::StreamExt as _;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use windlass_cluster::{Cluster, ClusterError, Resource, WatchItem};
use windlass_model::{Object, ObjectRef};

use crate::collection::Collection;

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
    /// Not all its namespaces may be read at once. Nothing more is told of it.
    TooWide,
}

/// The server sends a bookmark about every minute; silence for longer means that the connection is dead.
const SILENCE: Duration = Duration::from_secs(150);

/// The feeds of one wait. Dropping them ends them.
pub(crate) struct Feeds {
    cluster: Cluster,
    sender: mpsc::Sender<(Collection, News)>,
    news: mpsc::Receiver<(Collection, News)>,
    watching: watch::Sender<bool>,
    tasks: JoinSet<()>,
}

impl Feeds {
    pub(crate) fn new(cluster: Cluster) -> Self {
        let (sender, news) = mpsc::channel(256);
        Self { cluster, sender, news, watching: watch::Sender::new(false), tasks: JoinSet::new() }
    }

    /// Reads a collection now, and watches it once [`Feeds::watch`] was called.
    ///
    /// A server that restarts must not end a wait, so every error is reported and followed by another attempt.
    pub(crate) fn follow(&mut self, collection: Collection) {
        let mut feed = Feed {
            cluster: self.cluster.clone(),
            collection,
            news: self.sender.clone(),
            watching: self.watching.subscribe(),
            pause: Pause::default(),
        };
        self.tasks.spawn(async move { while feed.list_and_watch().await.is_ok() {} });
    }

    /// Lets the feeds watch. Where the first look shows that everything is ready, no watch is worth opening.
    pub(crate) fn watch(&self) {
        self.watching.send_replace(true);
    }

    /// Waits for the next news.
    pub(crate) async fn next(&mut self) -> Option<(Collection, News)> {
        self.news.recv().await
    }

    /// Returns news that have come already.
    pub(crate) fn waiting(&mut self) -> Option<(Collection, News)> {
        self.news.try_recv().ok()
    }
}

struct Feed {
    cluster: Cluster,
    collection: Collection,
    news: mpsc::Sender<(Collection, News)>,
    watching: watch::Receiver<bool>,
    pause: Pause,
}

/// Nothing more is to be told.
struct Over;

impl Feed {
    /// Lists once and watches until the list must be read again.
    async fn list_and_watch(&mut self) -> Result<(), Over> {
        let listed = async {
            let resource = self.cluster.preferred(&self.collection.kind).await?;
            let ours = |object: &ObjectRef| self.collection.holds(object);
            let listing = self.cluster.list_only(&resource, self.collection.selector(), ours).await?;
            Ok((resource, listing))
        };
        let (resource, listing) = match listed.await {
            Ok(listed) => listed,
            Err(error) if self.collection.is_wide() && is_forbidden(&error) => {
                self.tell(News::TooWide).await?;
                return Err(Over);
            }
            Err(error) => return self.stumble(error).await,
        };
        self.tell(News::Listed(listing.objects)).await?;
        self.watching.wait_for(|watching| *watching).await.map_err(|_| Over)?;
        let mut version = listing.resource_version;
        while self.watch(&resource, &mut version).await? {}
        Ok(())
    }

    /// Watches from a version on; returns whether the watch may go on from the version then reached.
    async fn watch(&mut self, resource: &Resource, version: &mut String) -> Result<bool, Over> {
        let opened = self.cluster.watch(resource, self.collection.selector(), version);
        let Ok(opened) = tokio::time::timeout(SILENCE, opened).await else {
            return Ok(true);
        };
        let mut events = match opened {
            Ok(events) => events,
            Err(error) if error.is_expired() => return Ok(false),
            // Whoever may list all namespaces may still watch in some only.
            Err(error) if self.collection.is_wide() && is_forbidden(&error) => {
                self.tell(News::TooWide).await?;
                return Err(Over);
            }
            Err(error) => return self.go_on_after(error).await,
        };
        loop {
            match tokio::time::timeout(SILENCE, events.next()).await {
                Ok(Some(Ok(WatchItem::Expired))) => return Ok(false),
                Ok(Some(Ok(item))) => self.pass_on(item, version).await?,
                Ok(Some(Err(error))) if error.is_expired() => return Ok(false),
                Ok(Some(Err(error))) => return self.go_on_after(error).await,
                // Closed by the server, as it does every few minutes, or silent.
                Ok(None) | Err(_) => {
                    tokio::time::sleep(self.pause.next()).await;
                    return Ok(true);
                }
            }
        }
    }

    /// A version that is not served any more is never watched again, however often one asks: the kind is looked up anew.
    async fn go_on_after(&mut self, error: ClusterError) -> Result<bool, Over> {
        let is_gone = error.failure().is_some_and(|failure| failure.code == 404);
        self.stumble(error).await?;
        if is_gone {
            self.cluster.forget_discovery().await;
        }
        Ok(!is_gone)
    }

    async fn pass_on(&mut self, item: WatchItem, version: &mut String) -> Result<(), Over> {
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
            if !self.collection.holds(object.reference()) {
                return Ok(());
            }
        }
        self.tell(news).await
    }

    async fn stumble(&mut self, error: ClusterError) -> Result<(), Over> {
        self.tell(News::Blind(error)).await?;
        tokio::time::sleep(self.pause.next()).await;
        Ok(())
    }

    async fn tell(&self, news: News) -> Result<(), Over> {
        self.news.send((self.collection.clone(), news)).await.map_err(|_| Over)
    }
}

fn is_forbidden(error: &ClusterError) -> bool {
    error.failure().is_some_and(|failure| failure.code == 403)
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
