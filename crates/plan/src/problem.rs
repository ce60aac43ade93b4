//! What a server's refusal of one object means for the plan.

use windlass_cluster::{Cause, Denier, Failure, FailureKind};
use windlass_model::{GroupKind, Problem, is_secret_kind};

/// A cause longer than this is the server printing Go values.
const LONGEST: usize = 300;

const WITHHELD: &str = "the server's words are withheld, because they can repeat values of a Secret";

/// Turns a refusal into a problem. About a Secret only field names are passed on, since the server repeats values in its
/// messages: an unquoted number in `stringData` comes back as `got …{Value:12345}`.
pub(crate) fn of_failure(kind: &GroupKind, failure: &Failure) -> Problem {
    let secret = is_secret_kind(kind);
    let words = || if secret { withheld(failure) } else { shorten(&failure.message) };
    match failure.kind() {
        FailureKind::FieldConflict(fields) => Problem::Conflicts { fields },
        FailureKind::Invalid if failure.causes.is_empty() => Problem::Invalid { causes: vec![words()] },
        FailureKind::Invalid => Problem::Invalid { causes: causes(failure.causes.iter(), secret) },
        FailureKind::Schema => Problem::Invalid { causes: schema_causes(&failure.message, secret) },
        FailureKind::Immutable => Problem::Immutable { paths: immutable_fields(failure), recipe: None },
        FailureKind::Denied if secret => Problem::Denied { message: words() },
        FailureKind::Denied => Problem::Denied { message: beginning(&failure.message) },
        FailureKind::Forbidden => Problem::Forbidden { message: words() },
        FailureKind::Modified | FailureKind::Gone | FailureKind::Recreated => {
            other("the object changes while it is being looked at: plan again")
        }
        FailureKind::WebhookFailed => other(dead_webhook(&failure.message, secret).unwrap_or_else(words)),
        FailureKind::Other => other(words()),
        FailureKind::Quota
        | FailureKind::QuotaContended
        | FailureKind::Unauthorized
        | FailureKind::NamespaceMissing
        | FailureKind::NamespaceTerminating
        | FailureKind::KindTerminating
        | FailureKind::NotFound
        | FailureKind::KindNotServed
        | FailureKind::Foreign
        | FailureKind::NoDryRun
        | FailureKind::Throttled
        | FailureKind::TooLarge
        | FailureKind::Unavailable => other(format!("{}; {}", words(), failure.hint())),
    }
}

/// Reads `failed calling webhook "NAME": failed to call webhook: Post "URL?timeout=10s": dial tcp …: connection
/// refused`. Name, address and cause are the server's own there, so they may be told about a Secret too; an answer that
/// the server cannot use is repeated after the name.
fn dead_webhook(message: &str, secret: bool) -> Option<String> {
    let (name, rest) = message.split_once("failed calling webhook \"")?.1.split_once('"')?;
    let rest = rest.trim_start_matches(": ");
    let call = rest.strip_prefix("failed to call webhook: ").unwrap_or(rest);
    let call = call.strip_prefix("Post \"").and_then(|call| call.split_once("\": "));
    let what = match call {
        Some((address, cause)) => {
            let address = address.split('?').next().unwrap_or(address);
            format!("does not answer at {address} ({})", beginning(cause))
        }
        None if rest.is_empty() => "does not answer".to_owned(),
        None if secret => format!("gives no answer that the server can use ({WITHHELD})"),
        None => format!("gives no answer that the server can use ({})", beginning(rest)),
    };
    Some(format!(
        "the admission webhook `{name}` {what}: repair its Service and pods, or remove its configuration if it is a leftover; until then the server refuses every write that it must be asked about"
    ))
}

pub(crate) fn other(message: impl Into<String>) -> Problem {
    Problem::Other { message: message.into() }
}

/// Returns the fields of the causes that a field cannot be changed, each once.
pub(crate) fn immutable_fields(failure: &Failure) -> Vec<String> {
    fields_of(failure.causes.iter().filter(|cause| cause.is_immutable()))
}

/// Returns what is wrong besides immutable fields: it stays wrong when these are left as they are.
pub(crate) fn beside_immutable(kind: &GroupKind, failure: &Failure) -> Vec<String> {
    causes(failure.causes.iter().filter(|cause| !cause.is_immutable()), is_secret_kind(kind))
}

/// Returns the fields that the causes name, each once.
pub(crate) fn fields(failure: &Failure) -> Vec<String> {
    fields_of(failure.causes.iter())
}

fn fields_of<'a>(causes: impl Iterator<Item = &'a Cause>) -> Vec<String> {
    let mut fields: Vec<String> = Vec::new();
    for cause in causes {
        if !cause.field.is_empty() && !fields.contains(&cause.field) {
            fields.push(cause.field.clone());
        }
    }
    fields
}

fn causes<'a>(causes: impl Iterator<Item = &'a Cause>, secret: bool) -> Vec<String> {
    let mut causes: Vec<String> = causes
        .map(|cause| {
            let words = if secret { WITHHELD.to_owned() } else { shorten(&cause.message) };
            format!("{}: {words}", cause.field)
        })
        .collect();
    causes.sort();
    causes.dedup();
    causes
}

/// Reads `failed to create typed patch object (ns/name; apps/v1): .spec.x: field not declared in schema`, or
/// the form with `errors:` and one line each. The server lists them in random order, or only one of them.
fn schema_causes(message: &str, secret: bool) -> Vec<String> {
    let body = message.split_once("): ").map_or(message, |(_, rest)| rest);
    let mut causes: Vec<String> = body
        .lines()
        .map(|line| line.trim().trim_start_matches("errors:").trim())
        .filter(|line| !line.is_empty())
        .map(|line| if secret { field_only(line) } else { shorten(line) })
        .collect();
    causes.sort();
    causes.dedup();
    causes
}

fn field_only(line: &str) -> String {
    let field = line.split_once(": ").map(|(field, _)| field);
    match field.filter(|field| field.starts_with('.') && !field.contains(char::is_whitespace)) {
        Some(field) if line.ends_with("field not declared in schema") => {
            format!(
                "{}: a Secret has no such field (correct its name, or move it below stringData)",
                &field[1..]
            )
        }
        Some(field) => {
            format!("{}: has the wrong type (quote numbers and booleans); {WITHHELD}", &field[1..])
        }
        None => format!("a field has the wrong type; {WITHHELD}"),
    }
}

/// Says who denied a Secret, without the words.
fn withheld(failure: &Failure) -> String {
    let who = match failure.denier() {
        Some(Denier::Policy { name, .. }) => format!("ValidatingAdmissionPolicy `{name}`: "),
        Some(Denier::Webhook(name)) => format!("admission webhook `{name}`: "),
        Some(Denier::PodSecurity) => "PodSecurity: ".to_owned(),
        None => String::new(),
    };
    let fields = fields(failure);
    let named = if fields.is_empty() { String::new() } else { format!("{}: ", fields.join(", ")) };
    format!("{who}{named}{WITHHELD} (HTTP {} {})", failure.code, failure.reason)
}

/// Who denies comes first, and says as much as they like.
fn beginning(text: &str) -> String {
    let kept: String = text.chars().take(LONGEST).collect();
    if kept.len() < text.len() { format!("{kept}…") } else { kept }
}

fn shorten(text: &str) -> String {
    let text = text.trim();
    if text.chars().count() <= LONGEST {
        return text.to_owned();
    }
    // Go dumps come first, the sentence last.
    let tail: String = text.chars().rev().take(LONGEST).collect::<Vec<_>>().into_iter().rev().collect();
    format!("…{tail}")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(kind: &str, code: u16, status: &Value, want: &[&str], without: &[&str]) {
        let mut status = status.clone();
        status["kind"] = "Status".into();
        let failure = Failure::parse(code, status.to_string().as_bytes(), None);
        let got = of_failure(&GroupKind::from(kind.to_owned()), &failure).summary();
        for want in want {
            assert!(got.contains(want), "{got} lacks {want}");
        }
        for without in without {
            assert!(!got.contains(without), "{got} has {without}");
        }
    }

    /// kubectl prints the whole message, value included.
    #[test]
    fn messages_about_secrets_are_not_passed_on() {
        let schema = "failed to create typed patch object (a/b; /v1, Kind=Secret): .stringData.pin: expected string, got &value.valueUnstructured{Value:12345}";
        check("Secret", 500, &json!({"message": schema}), &["stringData.pin", "quote numbers"], &["12345"]);
        let unknown =
            "failed to create typed patch object (a/b; /v1): .stringdata: field not declared in schema";
        check(
            "Secret",
            500,
            &json!({"message": unknown}),
            &["stringdata: a Secret has no such field"],
            &["wrong type"],
        );
        let both = "failed to create typed patch object (a/b; /v1): errors:\n  .data.b: expected string, got 12345\n  .data.a: expected string, got 6789";
        check("Secret", 500, &json!({"message": both}), &["data.a", "data.b"], &["12345", "6789"]);
        let invalid = json!({"message": "Secret \"b\" is invalid: data[x]: Invalid value: \"hunter2\"", "reason": "Invalid",
            "details": {"causes": [{"reason": "FieldValueInvalid", "field": "data[x]", "message": "Invalid value: \"hunter2\": no"}]}});
        check("Secret", 422, &invalid, &["data[x]"], &["hunter2"]);
        let denied = json!({"message": "secrets \"b\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'q' denied request: hunter2 is weak"});
        check("Secret", 422, &denied, &["denied by policy", "`p`"], &["hunter2"]);
        check(
            "Secret",
            500,
            &json!({"message": "boom hunter2", "reason": "InternalError"}),
            &["withheld"],
            &["hunter2"],
        );
        check(
            "Secret",
            500,
            &json!({"message": "duplicate entries for key [name=\"hunter2\"]"}),
            &["withheld"],
            &["hunter2"],
        );
    }

    #[test]
    fn schema_errors_are_sorted_and_stripped() {
        let message = "failed to create typed patch object (a/b; apps/v1, Kind=StatefulSet): errors:\n  .spec.replcas: field not declared in schema\n  .spec.foo: field not declared in schema";
        check(
            "StatefulSet.apps",
            500,
            &json!({"message": message}),
            &["invalid: .spec.foo: field not declared in schema; .spec.replcas"],
            &["failed to create"],
        );
    }

    #[test]
    fn what_others_say_is_kept() {
        let denied = "admission webhook \"v.example\" denied the request: [no-latest] image tag";
        check("Pod", 403, &json!({"message": denied}), &["denied by policy", "no-latest"], &[]);
        let webhook = json!({"message": "Internal error occurred: failed calling webhook \"v.dev\": failed to call webhook: Post \"https://v.policy.svc:443/check?timeout=10s\": dial tcp 10.0.0.1:443: connect: connection refused", "reason": "InternalError"});
        let told = [
            "`v.dev` does not answer at https://v.policy.svc:443/check (dial tcp",
            "connection refused",
            "repair",
        ];
        for kind in ["Pod", "Secret"] {
            check(kind, 500, &webhook, &told, &["withheld", "timeout"]);
        }
        let broken = json!({"message": "Internal error occurred: failed calling webhook \"v.dev\": failed to call webhook: an error on the server (\"hunter2\") has prevented the request from succeeding"});
        check("Pod", 500, &broken, &["`v.dev` gives no answer that the server can use", "hunter2"], &[]);
        check("Secret", 500, &broken, &["`v.dev` gives no answer that the server can use"], &["hunter2"]);
        let endless = format!("admission webhook \"v.dev\" denied the request: {}", "x".repeat(5000));
        check("Pod", 403, &json!({"message": endless}), &["webhook \"v.dev\"", "x…"], &[&"x".repeat(301)]);
        let dump = format!("{} field is immutable", "x".repeat(2000));
        let long = json!({"message": dump, "details": {"causes": [{"field": "spec.a", "message": dump}]}});
        check("Job.batch", 422, &long, &["field is immutable", "spec.a: …"], &[&"x".repeat(301)]);
    }
}
