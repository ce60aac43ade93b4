//! What a request does to the cluster, said once and checked before it leaves.

use http::Method;
use serde_json::{Value, json};

use crate::ClusterError;
use crate::transport::Call;

/// What a request does to the cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing: it reads, or asks for a review that the server does not store.
    Read,
    /// Nothing: it is a dry-run.
    DryRun,
    /// It writes.
    Write,
}

impl Effect {
    /// Returns the effect of a write that may be meant as a dry-run.
    pub(crate) fn of_write(dry_run: bool) -> Self {
        if dry_run { Self::DryRun } else { Self::Write }
    }
}

/// Checks that the server will take a request for what it is meant as. Every request passes here.
///
/// # Errors
/// [`ClusterError::NotSent`]: a dry-run that does not say so where the server looks for it, and would write, or a write
/// that says it is one. The server ignores the query of a DELETE with a body (measured on 1.36). Anything but a GET, if
/// the connection only reads: reviews store nothing, but are creations to whoever reads the audit log.
pub(crate) fn check(call: &Call, read_only: bool) -> Result<(), ClusterError> {
    if read_only && call.method != Method::GET {
        let reason = "this connection only reads".to_owned();
        return Err(ClusterError::NotSent { what: call.what(), reason });
    }
    if call.method != Method::GET && call.body.is_empty() {
        // A DELETE without its options has no preconditions: it would take whatever has the name now.
        let reason = "it would be sent without its content".to_owned();
        return Err(ClusterError::NotSent { what: call.what(), reason });
    }
    let in_query = call.url.split_once('?').is_some_and(|(_, query)| {
        query.split('&').any(|parameter| parameter.eq_ignore_ascii_case("dryRun=All"))
    });
    let in_body = || {
        let body: Value = serde_json::from_slice(&call.body).unwrap_or_default();
        body["dryRun"] == json!(["All"])
    };
    let has_options = call.method == Method::DELETE;
    let fits = match call.effect {
        Effect::Read => call.method == Method::GET || is_review(call),
        Effect::DryRun => in_query && (!has_options || in_body()),
        Effect::Write => !(in_query || has_options && in_body()),
    };
    if fits {
        return Ok(());
    }
    let reason = format!("it is meant as {:?} and would not be taken as one", call.effect);
    Err(ClusterError::NotSent { what: call.what(), reason })
}

/// Says whether a request asks who somebody is or what they may do; the server stores none of these objects.
fn is_review(call: &Call) -> bool {
    call.method == Method::POST
        && ["/selfsubjectaccessreviews", "/selfsubjectrulesreviews", "/selfsubjectreviews"]
            .iter()
            .any(|end| call.url.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(method: Method, url: &str, body: &Value, effect: Effect, want: bool) {
        let call = Call::send(method, url.to_owned(), "application/json", body, effect);
        assert_eq!(super::check(&call, false).is_ok(), want, "{} {effect:?} {body}", call.what());
    }

    #[test]
    fn a_dry_run_says_so_where_the_server_looks_for_it() {
        let (none, all) = (json!({}), json!({"dryRun": ["All"]}));
        check(Method::PATCH, "/x?fieldManager=a&dryRun=All", &none, Effect::DryRun, true);
        check(Method::PATCH, "/x?fieldManager=a", &none, Effect::DryRun, false);
        check(Method::PATCH, "/x?fieldManager=dryRun%3DAll", &none, Effect::DryRun, false);
        check(Method::DELETE, "/x?dryRun=All", &all, Effect::DryRun, true);
        // The preview of a deletion really deleted.
        check(Method::DELETE, "/x?dryRun=All", &none, Effect::DryRun, false);
        check(Method::DELETE, "/x", &all, Effect::DryRun, false);
    }

    #[test]
    fn a_write_is_no_dry_run_and_nothing_else_writes() {
        let (none, all) = (json!({}), json!({"dryRun": ["All"]}));
        check(Method::PUT, "/x", &none, Effect::Write, true);
        check(Method::PUT, "/x?dryRun=All", &none, Effect::Write, false);
        check(Method::DELETE, "/x", &none, Effect::Write, true);
        check(Method::DELETE, "/x", &all, Effect::Write, false);
        // An object may have such a field.
        check(Method::PATCH, "/x", &all, Effect::Write, true);
        check(Method::GET, "/x", &none, Effect::Read, true);
        check(Method::POST, "/apis/authentication.k8s.io/v1/selfsubjectreviews", &none, Effect::Read, true);
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            check(method, "/api/v1/namespaces/a/configmaps", &none, Effect::Read, false);
        }
    }

    /// A DELETE without its preconditions would take whatever has the name.
    #[test]
    fn a_write_without_its_content_is_not_sent() {
        for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            let whole = Call::send(method, "/x".to_owned(), "application/json", &json!({}), Effect::Write);
            let empty = Call { body: Vec::new(), ..whole };
            assert!(super::check(&empty, false).is_err(), "{}", empty.what());
        }
    }

    #[test]
    fn a_connection_that_only_reads_sends_nothing_but_gets() {
        let sends = |call: &Call| super::check(call, true).is_ok();
        assert!(sends(&Call::get("/api/v1/pods".to_owned())));
        let review = "/apis/authentication.k8s.io/v1/selfsubjectreviews".to_owned();
        let json = "application/json";
        assert!(!sends(&Call::send(Method::POST, review, json, &json!({}), Effect::Read)));
        let dry = "/x?dryRun=All".to_owned();
        assert!(!sends(&Call::send(Method::PATCH, dry, json, &json!({}), Effect::DryRun)));
    }
}
