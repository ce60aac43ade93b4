//! Signals: the first one stops at the next safe point, the second one at once.

use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use windlass_model::ExitCode;

/// Returns a token that is cancelled by SIGINT, SIGTERM or SIGHUP. CI agents send them in this order and kill
/// seconds later, so correctness never depends on this.
pub(crate) fn stop_on_signal() -> CancellationToken {
    let token = CancellationToken::new();
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let streams: Vec<_> = kinds.into_iter().filter_map(|kind| signal(kind).ok()).collect();
    for mut stream in streams {
        let token = token.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                if token.is_cancelled() {
                    #[expect(
                        clippy::exit,
                        clippy::disallowed_methods,
                        reason = "the second signal means: now"
                    )]
                    std::process::exit(i32::from(ExitCode::Interrupted.code()));
                }
                token.cancel();
            }
        });
    }
    token
}
