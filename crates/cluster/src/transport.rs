//! Sending requests: deadline, bounded concurrency, and what may be repeated.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde_json::Value;
use tokio::sync::Semaphore;

use crate::connect::innermost;
use crate::{ClusterError, Failure, FailureKind};

/// Sends requests to one API server.
#[derive(Clone)]
pub(crate) struct Transport {
    client: kube::Client,
    server: Arc<str>,
    timeout: Duration,
    slots: Arc<Semaphore>,
}

/// Which failures of a request are followed by another attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Whatever may be temporary: the request changes nothing.
    Safe,
    /// Only where the server says that it did not look at the request (429).
    Throttled,
}

/// A request in the form in which it can be sent several times.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) content_type: &'static str,
    pub(crate) accept: &'static str,
    pub(crate) body: Vec<u8>,
    pub(crate) repeat: Repeat,
}

/// What came back.
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Vec<u8>,
    pub(crate) warnings: Vec<String>,
}

const JSON: &str = "application/json";
const ATTEMPTS: u32 = 6;
/// A server may ask to wait for hours; a run would rather fail and say so.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);

impl Call {
    pub(crate) fn get(url: String) -> Self {
        Self {
            method: Method::GET,
            url,
            content_type: JSON,
            accept: JSON,
            body: Vec::new(),
            repeat: Repeat::Safe,
        }
    }

    pub(crate) fn send(
        method: Method,
        url: String,
        content_type: &'static str,
        body: &Value,
        repeat: Repeat,
    ) -> Self {
        Self { method, url, content_type, accept: JSON, body: body.to_string().into_bytes(), repeat }
    }

    /// Returns verb and path, for messages.
    pub(crate) fn what(&self) -> String {
        format!("{} {}", self.method, self.url.split('?').next().unwrap_or_default())
    }

    fn request(&self) -> Result<Request<Body>, http::Error> {
        Request::builder()
            .method(self.method.clone())
            .uri(&self.url)
            .header(header::CONTENT_TYPE, self.content_type)
            .header(header::ACCEPT, self.accept)
            .body(Body::from(self.body.clone()))
    }
}

impl Reply {
    /// Reads the body as JSON.
    pub(crate) fn json(&self, what: &str) -> Result<Value, ClusterError> {
        serde_json::from_slice(&self.body).map_err(|error| ClusterError::Answer {
            what: what.to_owned(),
            reason: format!("not JSON: {error}"),
        })
    }
}

impl Transport {
    pub(crate) fn new(client: kube::Client, server: String, timeout: Duration, concurrency: usize) -> Self {
        Self { client, server: server.into(), timeout, slots: Arc::new(Semaphore::new(concurrency.max(1))) }
    }

    /// Returns the server's address.
    pub(crate) fn server(&self) -> &str {
        &self.server
    }

    /// Returns the client, for watches, which have no deadline.
    pub(crate) fn client(&self) -> &kube::Client {
        &self.client
    }

    /// Sends a request and returns the answer if it is a success.
    pub(crate) async fn call(&self, call: &Call) -> Result<Reply, ClusterError> {
        // The slot is held over pauses too: a server that throttles must not get more callers.
        let _slot = self.slots.acquire().await;
        let mut attempt = 1;
        loop {
            let error = match self.attempt(call).await {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match pause_before_next(&error, call.repeat, attempt) {
                Some(pause) => {
                    tracing::debug!(what = call.what(), attempt, ?pause, %error, "trying again");
                    tokio::time::sleep(pause).await;
                }
                None => return Err(error),
            }
            attempt += 1;
        }
    }

    async fn attempt(&self, call: &Call) -> Result<Reply, ClusterError> {
        let what = call.what();
        let request = call
            .request()
            .map_err(|error| ClusterError::Answer { what: what.clone(), reason: error.to_string() })?;
        let exchange = async {
            let response = self.client.send(request).await.map_err(|error| self.unreachable(&error))?;
            let (head, body) = response.into_parts();
            let body = body.collect().await.map_err(|error| self.unreachable(&error))?.to_bytes();
            Ok::<_, ClusterError>((head, body))
        };
        let (head, body) = tokio::time::timeout(self.timeout, exchange)
            .await
            .map_err(|_| ClusterError::Timeout { what: what.clone(), seconds: self.timeout.as_secs() })??;
        if !head.status.is_success() {
            let retry_after =
                head.headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
            let failure = Box::new(Failure::parse(head.status.as_u16(), &body, retry_after));
            return Err(ClusterError::Api { what, failure });
        }
        let warnings = head
            .headers
            .get_all(header::WARNING)
            .iter()
            .filter_map(|value| warning_text(value.to_str().ok()?))
            .collect();
        Ok(Reply { status: head.status, body: body.to_vec(), warnings })
    }

    pub(crate) fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> ClusterError {
        ClusterError::Unreachable { server: self.server.to_string(), reason: innermost(error) }
    }
}

/// Returns how long to wait before the next attempt, or `None` if there is none.
fn pause_before_next(error: &ClusterError, repeat: Repeat, attempt: u32) -> Option<Duration> {
    if attempt >= ATTEMPTS {
        return None;
    }
    let back_off = Duration::from_millis(100 << attempt);
    match error {
        ClusterError::Api { failure, .. } if failure.code == 429 => {
            let asked = failure.retry_after.map_or(back_off, Duration::from_secs);
            (asked <= LONGEST_PAUSE).then_some(asked.max(back_off))
        }
        // A dead webhook stays dead for longer than a dry-run may wait, and it answers for every object.
        ClusterError::Api { failure, .. } if failure.kind() == FailureKind::WebhookFailed => {
            (repeat == Repeat::Safe && attempt == 1).then_some(back_off)
        }
        ClusterError::Api { failure, .. } if repeat == Repeat::Safe && failure.is_transient() => {
            Some(back_off)
        }
        // A refused connection answers at once; a server that restarts is back within seconds.
        ClusterError::Unreachable { .. } if repeat == Repeat::Safe && attempt < 3 => Some(back_off),
        _ => None,
    }
}

/// Reads the text out of `299 - "text"` (RFC 7234), the only form that the API server sends.
fn warning_text(header: &str) -> Option<String> {
    let text = header.splitn(3, ' ').nth(2)?.trim();
    let text = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    Some(text.replace("\\\"", "\"").replace("\\\\", "\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api(code: u16, retry_after: Option<u64>) -> ClusterError {
        ClusterError::Api { what: String::new(), failure: Box::new(Failure::parse(code, b"", retry_after)) }
    }

    #[test]
    fn only_what_is_harmless_is_repeated() {
        let check = |error: &ClusterError, repeat, attempt, want: bool| {
            assert_eq!(
                pause_before_next(error, repeat, attempt).is_some(),
                want,
                "{error} {repeat:?} {attempt}"
            );
        };
        check(&api(429, Some(1)), Repeat::Throttled, 1, true);
        check(&api(429, Some(1)), Repeat::Throttled, ATTEMPTS, false);
        check(&api(429, Some(3600)), Repeat::Safe, 1, false);
        check(&api(503, None), Repeat::Safe, 1, true);
        check(&api(503, None), Repeat::Throttled, 1, false);
        check(&api(500, None), Repeat::Safe, 1, false);
        check(&api(409, None), Repeat::Safe, 1, false);
        let timeout = ClusterError::Timeout { what: String::new(), seconds: 1 };
        check(&timeout, Repeat::Safe, 1, false);
    }

    #[test]
    fn warnings_are_read() {
        let check = |header, want: Option<&str>| assert_eq!(warning_text(header).as_deref(), want);
        check(r#"299 - "unknown field \"spec.replcas\"""#, Some(r#"unknown field "spec.replcas""#));
        check("299", None);
    }
}
