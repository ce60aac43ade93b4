//! A failure that the API server reports, told apart by meaning.
//!
//! The map follows what was measured on Kubernetes 1.36: three kinds of 409, user errors that arrive as
//! 500 because they are plain Go errors, policies that answer 422, and immutable fields that only their
//! wording tells from other invalid ones.

use std::fmt;

use serde_json::Value;
use windlass_model::Conflict;

/// A failure as the API server reports it.
#[derive(Clone, PartialEq, Eq)]
pub struct Failure {
    /// The HTTP status.
    pub code: u16,
    /// The machine-readable reason; empty when there is none.
    pub reason: String,
    /// The server's words. May echo content of the object: never shown for Secrets.
    pub message: String,
    /// The kind that the details name, such as `namespaces`.
    pub subject: String,
    /// The causes, field by field.
    pub causes: Vec<Cause>,
    /// How long the server asks to wait before trying again, in seconds.
    pub retry_after: Option<u64>,
    /// Whether the body is no `Status`: something between Windlass and the API server may have answered.
    pub plain: bool,
}

/// One cause of a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cause {
    /// The machine-readable reason, such as `FieldValueInvalid`.
    pub reason: String,
    /// The field's path.
    pub field: String,
    /// The server's words.
    pub message: String,
}

impl Cause {
    /// Says whether the field is refused because it cannot be changed on a live object.
    pub fn is_immutable(&self) -> bool {
        matches!(self.reason.as_str(), "FieldValueForbidden" | "FieldValueInvalid")
            && IMMUTABLE.iter().any(|wording| self.message.contains(wording))
    }
}

/// What a failure means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// Other managers own fields with other values.
    FieldConflict(Vec<Conflict>),
    /// The object has another resource version than was sent, or is there although it should not be.
    Modified,
    /// The object that the request names by uid is gone.
    Gone,
    /// Another object has taken the name.
    Recreated,
    /// Fields cannot be changed on a live object.
    Immutable,
    /// A policy or a validating webhook denies the object.
    Denied,
    /// The object is wrong.
    Invalid,
    /// The object does not fit its schema (a 500, but the sender's fault).
    Schema,
    /// The identity lacks a right.
    Forbidden,
    /// A quota is used up.
    Quota,
    /// Another request was counted against the same quota at the same moment; nothing was written (kubernetes issue
    /// 67761).
    QuotaContended,
    /// The identity is not known.
    Unauthorized,
    /// The namespace does not exist.
    NamespaceMissing,
    /// The namespace is being deleted.
    NamespaceTerminating,
    /// The definition of the kind is being deleted.
    KindTerminating,
    /// The object does not exist.
    NotFound,
    /// The server does not serve the kind, or not yet.
    KindNotServed,
    /// A webhook that must be asked does not answer.
    WebhookFailed,
    /// A webhook does not support dry-runs.
    NoDryRun,
    /// The server asks to slow down.
    Throttled,
    /// The object is too large to store.
    TooLarge,
    /// The server is not able to answer now.
    Unavailable,
    /// Something else than an API server says that there is nothing: a load balancer, a proxy, a wrong address.
    Foreign,
    /// Anything else.
    Other,
}

/// What the API server says, as plain text, of a path that it does not serve.
const NO_SUCH_PATH: &str = "404 page not found";

/// How many characters are kept at either end of a long text.
const KEPT: usize = 4000;

/// Wordings of immutable fields, each seen on a real server with reason 422.
const IMMUTABLE: [&str; 7] = [
    "immutable",
    "may not change",
    "may not be changed",
    "cannot change",
    "updates to statefulset spec",
    "pod updates may not change",
    "can not be less than",
];

impl Failure {
    /// Reads a `Status` object, or takes a body that is none as the message.
    pub fn parse(code: u16, body: &[u8], retry_after: Option<u64>) -> Self {
        let status: Value = serde_json::from_slice(body).unwrap_or_default();
        // When its own time is over, the server leaves out the kind (measured on 1.36 with a store that hangs).
        if status["kind"] != "Status" && status["status"] != "Failure" {
            let text: String = String::from_utf8_lossy(body).trim().chars().take(300).collect();
            return Self {
                code,
                reason: String::new(),
                message: text,
                subject: String::new(),
                causes: Vec::new(),
                retry_after,
                plain: true,
            };
        }
        let text = |value: &Value| shorten(value.as_str().unwrap_or_default());
        let details = &status["details"];
        let causes = details["causes"].as_array().map(Vec::as_slice).unwrap_or_default();
        Self {
            code,
            reason: text(&status["reason"]),
            message: text(&status["message"]),
            subject: text(&details["kind"]),
            causes: causes
                .iter()
                .map(|cause| Cause {
                    reason: text(&cause["reason"]),
                    field: text(&cause["field"]),
                    message: text(&cause["message"]),
                })
                .collect(),
            retry_after: retry_after.or_else(|| details["retryAfterSeconds"].as_u64()),
            plain: false,
        }
    }

    /// Tells what the failure means.
    pub fn kind(&self) -> FailureKind {
        let says = |text: &str| self.message.contains(text);
        // Whoever denies chooses the code: 413 and 409 are among them.
        if self.denier().is_some() {
            return FailureKind::Denied;
        }
        match self.code {
            400 if says("does not support dry run") => FailureKind::NoDryRun,
            401 => FailureKind::Unauthorized,
            403 => self.forbidden(),
            404 if says("could not find the requested resource") => FailureKind::KindNotServed,
            404 if self.reason.is_empty() && self.message == NO_SUCH_PATH => FailureKind::KindNotServed,
            404 if self.reason.is_empty() => FailureKind::Foreign,
            404 if self.subject == "namespaces" => FailureKind::NamespaceMissing,
            404 => FailureKind::NotFound,
            409 => self.conflict(),
            413 => FailureKind::TooLarge,
            400 | 422 => self.invalid(),
            429 => FailureKind::Throttled,
            500 if says("failed calling webhook") || says("conversion webhook for") => {
                FailureKind::WebhookFailed
            }
            500 if says("request is too large") || says("ResourceExhausted") => FailureKind::TooLarge,
            500 if self.reason.is_empty() && is_store_error(&self.message) => FailureKind::Unavailable,
            // A proxy that lost the answer of the server says 502, 520 or whatever it likes.
            500.. if self.plain => FailureKind::Unavailable,
            500 if self.reason.is_empty() && is_schema_error(&self.message) => FailureKind::Schema,
            502..=504 => FailureKind::Unavailable,
            _ => FailureKind::Other,
        }
    }

    fn forbidden(&self) -> FailureKind {
        let caused_by = |reason: &str| self.causes.iter().any(|cause| cause.reason == reason);
        if caused_by("NamespaceTerminating") {
            FailureKind::NamespaceTerminating
        } else if self.message.contains("exceeded quota") {
            FailureKind::Quota
        } else if self.message.contains("custom resource definition is terminating") {
            FailureKind::KindTerminating
        } else {
            FailureKind::Forbidden
        }
    }

    fn conflict(&self) -> FailureKind {
        let conflicts: Vec<Conflict> =
            self.causes.iter().filter(|cause| cause.reason == "FieldManagerConflict").map(conflict).collect();
        if !conflicts.is_empty() {
            FailureKind::FieldConflict(conflicts)
        } else if matches!(self.subject.as_str(), "resourcequotas" | "clusterresourcequotas") {
            FailureKind::QuotaContended
        } else if self.message.contains("uid mismatch") {
            FailureKind::Gone
        } else {
            FailureKind::Modified
        }
    }

    fn invalid(&self) -> FailureKind {
        if self
            .causes
            .iter()
            .any(|cause| cause.field == "metadata.uid" && cause.message.contains("immutable"))
        {
            return FailureKind::Recreated;
        }
        if self.causes.iter().any(Cause::is_immutable) {
            FailureKind::Immutable
        } else {
            FailureKind::Invalid
        }
    }

    /// Says whether the same request can succeed if it is sent again after a while.
    pub fn is_transient(&self) -> bool {
        let told = matches!(
            self.kind(),
            FailureKind::Throttled
                | FailureKind::Unavailable
                | FailureKind::WebhookFailed
                | FailureKind::QuotaContended
        );
        // Who denies chooses code and reason.
        told || self.denier().is_none()
            && self.code == 500
            && matches!(self.reason.as_str(), "Timeout" | "ServerTimeout")
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> &'static str {
        match self.kind() {
            FailureKind::FieldConflict(_) => {
                "give the field up in the other manager, or remove it from the manifest"
            }
            FailureKind::Modified | FailureKind::Gone | FailureKind::Recreated => {
                "the cluster changed meanwhile: plan again"
            }
            FailureKind::Immutable => "undo the change, or make it by hand as a plan tells",
            FailureKind::Denied => "change the object so that the policy accepts it",
            FailureKind::Invalid | FailureKind::Schema => "correct the manifest",
            FailureKind::Forbidden => {
                "grant the right to the identity that runs Windlass: pipeline/rbac lists what it needs"
            }
            FailureKind::QuotaContended => "run the same command again: others used the same quota",
            FailureKind::Quota => "raise the namespace's quota, or ask for less",
            FailureKind::Unauthorized => "the credentials in the kubeconfig are not accepted: renew them",
            FailureKind::NamespaceMissing => "create the namespace, or deliver it in an earlier unit",
            FailureKind::NamespaceTerminating => {
                "wait until the namespace is gone, or find what keeps it from going"
            }
            FailureKind::KindTerminating => {
                "wait until the definition is gone, or find what keeps it from going; then deliver it again"
            }
            FailureKind::NotFound => "the object is gone: plan again",
            FailureKind::KindNotServed => {
                "install the CustomResourceDefinition first, or correct apiVersion and kind"
            }
            FailureKind::WebhookFailed => {
                "the webhook's backend does not answer: repair it before delivering"
            }
            FailureKind::NoDryRun => "the webhook must declare `sideEffects: None` or `NoneOnDryRun`",
            FailureKind::Throttled | FailureKind::Unavailable => {
                "the server is overloaded or restarting: run the same command again"
            }
            FailureKind::TooLarge => "split the object: the server stores at most about 1.5 MiB",
            FailureKind::Foreign => {
                "this is no answer of an API server: check the server's address and the proxies before it"
            }
            FailureKind::Other => "see the message",
        }
    }
}

/// The server's words may echo content of the object, so they are left out.
impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let causes: Vec<(&str, &str)> =
            self.causes.iter().map(|cause| (cause.reason.as_str(), cause.field.as_str())).collect();
        write!(f, "Failure({} {} {causes:?})", self.code, self.reason)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            write!(f, "HTTP {}", self.code)
        } else {
            write!(f, "{} (HTTP {})", self.message, self.code)
        }
    }
}

/// Leaves out the middle of what is longer than anybody reads: a webhook may say megabytes, and every word of it would go
/// into reports and records.
fn shorten(text: &str) -> String {
    let Some((cut, _)) = text.char_indices().nth(2 * KEPT) else { return text.to_owned() };
    let head: String = text.chars().take(KEPT).collect();
    let tail_starts = text.char_indices().rev().nth(KEPT - 1).map_or(cut, |(at, _)| at);
    format!("{head} … {}", text.get(tail_starts..).unwrap_or_default())
}

/// Says whether the server passes on that its store gave no answer: while etcd chooses a leader, for a second or two. Whether
/// a write was stored is not known then.
fn is_store_error(message: &str) -> bool {
    let of_etcd = message.starts_with("etcdserver: ");
    let of_the_connection = ["rpc error: code = Unavailable", "rpc error: code = DeadlineExceeded"];
    of_etcd
        || message.starts_with("context deadline exceeded")
        || of_the_connection.iter().any(|wording| message.starts_with(wording))
}

fn is_schema_error(message: &str) -> bool {
    [
        "failed to create typed",
        "failed to convert",
        "field not declared in schema",
        "duplicate entries for key",
        "failed to prune fields",
        ": expected ",
    ]
    .iter()
    .any(|wording| message.contains(wording))
}

/// Reads `conflict with "mgr" with subresource "scale" using apps/v1 at 2026-01-01T00:00:00Z`.
fn conflict(cause: &Cause) -> Conflict {
    let manager = cause.message.split('"').nth(1).unwrap_or("an unnamed manager").to_owned();
    let last_write = cause.message.rsplit_once(" at ").map(|(_, time)| time.to_owned());
    let subresource =
        cause.message.split_once("with subresource \"").and_then(|(_, rest)| rest.split('"').next());
    Conflict {
        field: cause.field.trim_start_matches('.').to_owned(),
        manager,
        operation: None,
        subresource: subresource.map(str::to_owned),
        last_write,
        last_write_age: None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(code: u16, reason: &str, message: &str, causes: &Value, want: &FailureKind) {
        let body =
            json!({"kind": "Status", "reason": reason, "message": message, "details": {"causes": causes}});
        assert_eq!(Failure::parse(code, body.to_string().as_bytes(), None).kind(), *want, "{message}");
    }

    #[test]
    fn the_three_meanings_of_409() {
        let causes = json!([{"reason": "FieldManagerConflict", "field": ".spec.replicas",
            "message": "conflict with \"hpa\" with subresource \"scale\" using apps/v1 at 2026-01-01T00:00:00Z"}]);
        let conflict = Conflict {
            field: "spec.replicas".into(),
            manager: "hpa".into(),
            operation: None,
            subresource: Some("scale".into()),
            last_write: Some("2026-01-01T00:00:00Z".into()),
            last_write_age: None,
        };
        check(
            409,
            "Conflict",
            "Apply failed with 1 conflict",
            &causes,
            &FailureKind::FieldConflict(vec![conflict]),
        );
        check(409, "Conflict", "the object has been modified", &json!([]), &FailureKind::Modified);
        check(
            409,
            "Conflict",
            "uid mismatch: the provided object specified uid a",
            &json!([]),
            &FailureKind::Gone,
        );
    }

    #[test]
    fn a_taken_name_is_not_an_immutable_field() {
        let causes = json!([{"reason": "FieldValueInvalid", "field": "metadata.uid", "message": "field is immutable"}]);
        check(422, "Invalid", "x is invalid", &causes, &FailureKind::Recreated);
    }

    #[test]
    fn immutable_denied_and_plainly_invalid_are_told_apart() {
        let cause =
            |reason: &str, message: &str| json!([{"reason": reason, "field": "spec", "message": message}]);
        let statefulset =
            "Forbidden: updates to statefulset spec for fields other than 'replicas' are forbidden";
        check(422, "Invalid", "x", &cause("FieldValueForbidden", statefulset), &FailureKind::Immutable);
        check(
            422,
            "Invalid",
            "x",
            &cause("FieldValueInvalid", "must be 'RollingUpdate' or 'OnDelete'"),
            &FailureKind::Invalid,
        );
        let policy = "statefulsets.apps \"q\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
        check(422, "Invalid", policy, &cause("", policy), &FailureKind::Denied);
        check(403, "Forbidden", policy, &json!([]), &FailureKind::Denied);
        check(413, "RequestEntityTooLarge", policy, &json!([]), &FailureKind::Denied);
        let webhook = "admission webhook \"v.example\" denied the request: there is one already";
        check(409, "Conflict", webhook, &json!([]), &FailureKind::Denied);
        let going = "foos.x.io \"a\" is forbidden: create not allowed while custom resource definition is terminating";
        check(403, "Forbidden", going, &json!([]), &FailureKind::KindTerminating);
        check(
            403,
            "Forbidden",
            "User \"x\" cannot patch resource \"configmaps\"",
            &json!([]),
            &FailureKind::Forbidden,
        );
    }

    #[test]
    fn user_errors_that_arrive_as_500() {
        check(
            500,
            "",
            "failed to create typed patch object (a/b; v1): .data.k: expected string, got &value.valueUnstructured{Value:1}",
            &json!([]),
            &FailureKind::Schema,
        );
        check(
            500,
            "InternalError",
            "failed calling webhook \"x\": connection refused",
            &json!([]),
            &FailureKind::WebhookFailed,
        );
        check(500, "", "etcdserver: request is too large", &json!([]), &FailureKind::TooLarge);
    }

    /// Taken for final, a change of etcd's leader ended a run, and a write that was stored counted as not carried out.
    #[test]
    fn a_store_or_a_proxy_that_gives_no_answer_is_waited_for() {
        for message in [
            "etcdserver: request timed out",
            "etcdserver: leader changed",
            "etcdserver: no leader",
            "rpc error: code = Unavailable desc = connection error",
            "context deadline exceeded",
        ] {
            check(500, "", message, &json!([]), &FailureKind::Unavailable);
        }
        for code in [500, 502, 503, 504, 520] {
            let failure = Failure::parse(code, b"<html>Bad Gateway</html>", None);
            assert_eq!(failure.kind(), FailureKind::Unavailable, "{code}");
            let error = crate::ClusterError::Api { what: String::new(), failure: Box::new(failure) };
            assert!(error.may_have_landed() && error.pause_before_repeat(1).is_some(), "{code}");
        }
        let late = json!({"metadata": {}, "status": "Failure", "message": "Timeout: late", "reason": "Timeout", "code": 504});
        let late = Failure::parse(504, late.to_string().as_bytes(), None);
        assert_eq!(
            (late.message.as_str(), late.reason.as_str(), late.plain),
            ("Timeout: late", "Timeout", false)
        );
        assert_eq!(late.kind(), FailureKind::Unavailable);
        let status = json!({"kind": "Status", "reason": "InternalError", "message": "odd"}).to_string();
        assert_eq!(Failure::parse(500, status.as_bytes(), None).kind(), FailureKind::Other);
    }

    /// It read like an object that somebody else had made meanwhile.
    #[test]
    fn a_quota_that_another_request_uses_at_the_same_moment_is_tried_again() {
        let body = json!({"kind": "Status", "reason": "Conflict", "details": {"kind": "resourcequotas", "name": "q"},
            "message": "Operation cannot be fulfilled on resourcequotas \"q\": the object has been modified"});
        let failure = Failure::parse(409, body.to_string().as_bytes(), None);
        assert_eq!(failure.kind(), FailureKind::QuotaContended);
        assert!(failure.is_transient());
        let error = crate::ClusterError::Api { what: String::new(), failure: Box::new(failure) };
        assert!(!error.may_have_landed() && error.pause_before_repeat(1).is_some());
    }

    #[test]
    fn a_message_without_end_is_cut_in_the_middle() {
        let long =
            format!("admission webhook \"v.dev\" denied the request: {}the end", "ü".repeat(1_000_000));
        let body = json!({"kind": "Status", "message": long});
        let failure = Failure::parse(403, body.to_string().as_bytes(), None);
        assert_eq!(failure.message.chars().count(), 2 * KEPT + 3);
        assert!(failure.message.ends_with("üthe end"), "the end is lost");
        assert_eq!(failure.denier(), Some(crate::Denier::Webhook("v.dev")));
    }

    #[test]
    fn plain_text_bodies() {
        let failure = Failure::parse(404, b"404 page not found\n", None);
        assert_eq!(failure.kind(), FailureKind::KindNotServed);
        assert_eq!(failure.to_string(), "404 page not found (HTTP 404)");
        // A load balancer that says so must not be believed: what is absent is forgotten by a prune.
        for page in ["<html>404 Not Found</html>", "default backend - 404", "{\"error\": \"not found\"}", ""]
        {
            assert_eq!(Failure::parse(404, page.as_bytes(), None).kind(), FailureKind::Foreign, "{page}");
        }
        assert_eq!(Failure::parse(503, b"service unavailable", None).kind(), FailureKind::Unavailable);
        assert_eq!(Failure::parse(418, b"", None).to_string(), "HTTP 418");
    }
}
