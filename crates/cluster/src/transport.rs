//! Sending requests: deadline and bounded concurrency.

use std::sync::Arc;
use std::time::Duration;

use http::{Method, Request, StatusCode, header};
use http_body_util::BodyExt as _;
use kube::client::Body;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use windlass_model::{Content, Object};

use crate::connect::innermost;
use crate::effect::{self, Effect};
use crate::retry::pause_before_next;
use crate::window::{Gate, Slot};
use crate::{ClusterError, Failure};

/// Sends requests to one API server.
#[derive(Clone)]
pub(crate) struct Transport {
    client: kube::Client,
    server: Arc<str>,
    timeout: Duration,
    gate: Arc<Gate>,
    pub(crate) read_only: bool,
    /// Says that no write may be sent any more.
    pub(crate) stop: Option<CancellationToken>,
}

/// A request in the form in which it can be sent several times.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) url: String,
    pub(crate) content_type: &'static str,
    pub(crate) accept: &'static str,
    /// The tag of an answer that is known: the server says 304 where it would answer the same.
    pub(crate) known: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) effect: Effect,
}

/// What came back.
pub(crate) struct Reply {
    /// A success, or 304 where a known answer was named.
    pub(crate) status: StatusCode,
    /// By which the server knows this answer again.
    pub(crate) tag: Option<String>,
    pub(crate) body: Vec<u8>,
    pub(crate) warnings: Vec<String>,
}

const JSON: &str = "application/json";

impl Call {
    pub(crate) fn get(url: String) -> Self {
        Self {
            method: Method::GET,
            url,
            content_type: JSON,
            accept: JSON,
            known: None,
            body: Vec::new(),
            effect: Effect::Read,
        }
    }

    pub(crate) fn send(
        method: Method,
        url: String,
        content_type: &'static str,
        body: &impl Serialize,
        effect: Effect,
    ) -> Self {
        // What is sent are texts, numbers, lists and maps with texts as keys: writing them never fails.
        let body = serde_json::to_vec(body).unwrap_or_default();
        Self { method, url, content_type, accept: JSON, known: None, body, effect }
    }

    /// Returns verb and path, for messages.
    pub(crate) fn what(&self) -> String {
        format!("{} {}", self.method, self.url.split('?').next().unwrap_or_default())
    }

    fn request(&self) -> Result<Request<Body>, http::Error> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(&self.url)
            .header(header::CONTENT_TYPE, self.content_type)
            .header(header::ACCEPT, self.accept);
        if let Some(tag) = &self.known {
            request = request.header(header::IF_NONE_MATCH, tag);
        }
        request.body(Body::from(self.body.clone()))
    }
}

impl Reply {
    /// Reads the body as JSON.
    pub(crate) fn json(&self, what: &str) -> Result<Value, ClusterError> {
        self.read(what)
    }

    /// Reads the body as JSON of some form.
    pub(crate) fn read<T: DeserializeOwned>(&self, what: &str) -> Result<T, ClusterError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| ClusterError::Answer { what: what.to_owned(), reason: error.to_string() })
    }

    /// Reads the body as an object.
    pub(crate) fn object(&self, what: &str) -> Result<Object, ClusterError> {
        named(self.read(what)?, what)
    }
}

impl Transport {
    pub(crate) fn new(client: kube::Client, server: String, timeout: Duration, concurrency: usize) -> Self {
        Self {
            client,
            server: server.into(),
            timeout,
            gate: Arc::new(Gate::new(concurrency)),
            read_only: false,
            stop: None,
        }
    }

    /// Returns the same connection with a window of its own, of this many requests.
    pub(crate) fn apart(&self, concurrency: usize) -> Self {
        Self { gate: Arc::new(Gate::new(concurrency)), ..self.clone() }
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
        effect::check(call, self.read_only)?;
        let slot = self.gate.enter().await;
        let mut attempt = 1;
        loop {
            // A request may have waited for its turn, or for the server, longer than the run may write.
            if call.effect == Effect::Write && self.stop.as_ref().is_some_and(CancellationToken::is_cancelled)
            {
                return Err(ClusterError::Stopped { what: call.what() });
            }
            let sent = Instant::now();
            let result = self.attempt(call).await;
            report(&slot, sent, result.as_ref().err());
            let error = match result {
                Ok(reply) => return Ok(reply),
                Err(error) => error,
            };
            match pause_before_next(&error, call.effect, attempt) {
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
        let unchanged = head.status == StatusCode::NOT_MODIFIED && call.known.is_some();
        if !head.status.is_success() && !unchanged {
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
        let tag = head.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(str::to_owned);
        Ok(Reply { status: head.status, tag, body: body.into(), warnings })
    }

    pub(crate) fn unreachable(&self, error: &(dyn std::error::Error + 'static)) -> ClusterError {
        ClusterError::Unreachable { server: self.server.to_string(), reason: innermost(error) }
    }
}

/// Takes an object out of an answer.
pub(crate) fn named(content: Content, what: &str) -> Result<Object, ClusterError> {
    Object::of(content, None)
        .map_err(|error| ClusterError::Answer { what: what.to_owned(), reason: error.to_string() })
}

/// Tells the gate how the server copes. An answer that is a failure of the object is an answer like any other.
fn report(slot: &Slot<'_>, sent: Instant, error: Option<&ClusterError>) {
    match error {
        Some(ClusterError::Api { failure, .. })
            if matches!(failure.code, 429 | 502..=504) && failure.denier().is_none() =>
        {
            slot.refused();
        }
        None | Some(ClusterError::Api { .. }) => slot.answered(sent.elapsed()),
        Some(ClusterError::Timeout { .. }) => slot.refused(),
        Some(_) => {}
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

    #[test]
    fn warnings_are_read() {
        let check = |header, want: Option<&str>| assert_eq!(warning_text(header).as_deref(), want);
        check(r#"299 - "unknown field \"spec.replcas\"""#, Some(r#"unknown field "spec.replcas""#));
        check("299", None);
    }
}
