//! Rules of the environment file.

use std::time::Duration;

use serde_json::Value;

use super::{Findings, deletion, restraint};
use crate::environment::{
    ApprovalMode, ApprovalRules, Environment, Guards, PinnedKey, PolicyRules, Source, Timeouts, UnsignedRule,
};
use crate::tree::quoted;

const LONGEST_APPROVAL: Duration = Duration::from_hours(7 * 24);

/// Checks everything that the form of an environment file cannot say.
pub(crate) fn environment(environment: &Environment, found: &mut Findings<'_>) {
    found.want_environment("environment", &environment.environment);
    found.want_file("cluster.kubeconfig", &environment.cluster.kubeconfig);
    found.want_text("cluster.context", &environment.cluster.context);
    if let Some(uid) = &environment.cluster.uid {
        found.want_text("cluster.uid", uid);
    }
    source(&environment.source, found);
    policies(&environment.policies, found);
    approval(&environment.approval, found);
    guards(&environment.guards, found);
    super::ownership::ownership(&environment.ownership, found);
    found.want_label("record.namespace", &environment.record.namespace);
    found.want_file("record.reports", &environment.record.reports);
    timeouts(&environment.timeouts, found);
}

fn source(source: &Source, found: &mut Findings<'_>) {
    repository(&source.repository, found);
    found.want_text("source.branch", &source.branch);
    if let Some(short) = source.branch.strip_prefix("refs/heads/") {
        let what = format!("{} is a reference, not the name of a branch", quoted(&source.branch));
        found.rule("source.branch", what, format!("write `{short}`"));
    }
    if source.keys.is_empty() && source.unsigned == UnsignedRule::Refused {
        let hint =
            "list the keys whose signature counts, or write `unsigned: allowed` for a throw-away cluster";
        found.rule("source.keys", "no key is listed, so no commit could ever be delivered", hint);
    }
    for (index, key) in source.keys.iter().enumerate() {
        pinned_key(&format!("source.keys[{index}]"), key, found);
    }
    let fingerprints = source.keys.iter().map(|key| key.fingerprint.as_str());
    found.want_once("fingerprint", fingerprints, |index| format!("source.keys[{index}].fingerprint"));
}

fn repository(address: &str, found: &mut Findings<'_>) {
    const PATH: &str = "source.repository";
    let Some((scheme, rest)) = address.split_once("://") else {
        return match address.split_once(':') {
            Some((host, path)) if !host.contains('/') && !path.is_empty() => {
                let hint = format!("write `ssh://{host}/{}`", path.trim_start_matches('/'));
                found.rule(PATH, format!("{} is not a full address", quoted(address)), hint);
            }
            _ => found.rule(
                PATH,
                format!("{} is not an address", quoted(address)),
                "write `file://`, `ssh://` or `https://`",
            ),
        };
    };
    let user = rest.split('/').next().and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
    if scheme != "file" && user.is_some_and(|user| user.contains(':') || scheme == "https") {
        let hint = "remove user and password, and use an SSH key or a Git credential helper of the agent";
        return found.secret(PATH, "the address holds credentials", hint);
    }
    if !matches!(scheme, "file" | "ssh" | "https") {
        found.rule(
            PATH,
            format!("the scheme {} is not supported", quoted(scheme)),
            "write `file://`, `ssh://` or `https://`",
        );
    } else if rest.is_empty() || (scheme == "file" && !rest.starts_with('/')) {
        let hint = if scheme == "file" { "write `file:///absolute/path`" } else { "add host and path" };
        found.rule(PATH, format!("{} names no repository", quoted(address)), hint);
    }
}

fn pinned_key(path: &str, key: &PinnedKey, found: &mut Findings<'_>) {
    if key.fingerprint.len() != 40 || !key.fingerprint.bytes().all(|b| b.is_ascii_hexdigit()) {
        let what = format!("{} is not a fingerprint: expected 40 hex digits", quoted(&key.fingerprint));
        let hint = "copy it from `gpg --show-keys --with-fingerprint FILE`; short key ids can be forged";
        found.rule(&format!("{path}.fingerprint"), what, hint);
    }
    found.want_text(&format!("{path}.name"), &key.name);
    found.want_file(&format!("{path}.file"), &key.file);
    let not_before =
        key.not_before.as_ref().and_then(|day| found.want_day(&format!("{path}.notBefore"), day));
    let not_after = key.not_after.as_ref().and_then(|day| found.want_day(&format!("{path}.notAfter"), day));
    if matches!((not_before, not_after), (Some(first), Some(last)) if last < first) {
        let hint = "exchange the days, or remove the key";
        found.rule(&format!("{path}.notAfter"), "the last day lies before the first", hint);
    }
    if key.accept_expired && key.not_after.is_none() {
        let hint = "give the last day on which the key's signatures count";
        found.rule(&format!("{path}.acceptExpired"), "needs `notAfter`", hint);
    }
    if let Some(committer) = &key.committer {
        let fits =
            committer.split_once(" <").is_some_and(|(name, rest)| !name.is_empty() && rest.ends_with('>'));
        if !fits {
            let what = format!("{} is not a committer", quoted(committer));
            found.rule(&format!("{path}.committer"), what, "write `Name <address>`");
        }
    }
}

fn policies(policies: &PolicyRules, found: &mut Findings<'_>) {
    let constraints = policies.gatekeeper.as_ref().map_or(&[][..], |gatekeeper| &gatekeeper.constraints);
    let empty = policies.validating_admission_policies.is_empty() && constraints.is_empty();
    match &policies.none {
        None if empty => {
            let hint = "list the policies that must be enforced, or say why there are none: `none: reason`";
            found.rule("policies", "no policy is listed", hint);
        }
        Some(reason) if empty => found.want_text("policies.none", reason),
        Some(_) => found.rule(
            "policies.none",
            "is given although policies are listed",
            "remove `none`, or the policies",
        ),
        None => {}
    }
    for (index, policy) in policies.validating_admission_policies.iter().enumerate() {
        let path = format!("policies.validatingAdmissionPolicies[{index}]");
        found.want_text(&format!("{path}.name"), &policy.name);
        found.want_text(&format!("{path}.binding"), &policy.binding);
        refused_object(&format!("{path}.refuses"), &policy.refuses, found);
    }
    if let Some(gatekeeper) = &policies.gatekeeper {
        found.want_label("policies.gatekeeper.namespace", &gatekeeper.namespace);
    }
    for (index, constraint) in constraints.iter().enumerate() {
        let path = format!("policies.gatekeeper.constraints[{index}]");
        found.want_text(&format!("{path}.kind"), &constraint.kind);
        found.want_text(&format!("{path}.name"), &constraint.name);
        refused_object(&format!("{path}.refuses"), &constraint.refuses, found);
    }
}

fn refused_object(path: &str, object: &Value, found: &mut Findings<'_>) {
    let hint = "give a whole object that the policy must refuse";
    if !object.is_object() {
        return found.rule(path, "is not an object", hint);
    }
    for (pointer, key) in
        [("/apiVersion", "apiVersion"), ("/kind", "kind"), ("/metadata/name", "metadata.name")]
    {
        if object.pointer(pointer).and_then(Value::as_str).is_none_or(str::is_empty) {
            found.rule(&format!("{path}.{key}"), "the object needs this field, as a text", hint);
        }
    }
}

fn approval(rules: &ApprovalRules, found: &mut Findings<'_>) {
    if rules.required != ApprovalMode::Never && rules.approvers.is_empty() && !rules.terminal {
        let hint = "list approvers, write `terminal: true`, or write `required: never`";
        found.rule("approval", "an approval is required, but nobody could give one", hint);
    }
    let mut people: Vec<&str> = rules.approvers.iter().map(|approver| approver.name.as_str()).collect();
    people.sort_unstable();
    people.dedup();
    if rules.count > people.len().max(1) {
        let what = format!("{} people must approve, but {} can", rules.count, people.len());
        found.rule("approval.count", what, "list more approvers, or lower the count");
    }
    for (index, approver) in rules.approvers.iter().enumerate() {
        let path = format!("approval.approvers[{index}]");
        found.want_text(&format!("{path}.name"), &approver.name);
        found.want_text(&format!("{path}.key"), &approver.key);
        if let Some(email) =
            approver.email.as_ref().filter(|email| !email.contains('@') || email.contains(['<', ' ']))
        {
            let what = format!("{} is not a mail address", quoted(email));
            found.rule(
                &format!("{path}.email"),
                what,
                "write the bare address, as in `git config user.email`",
            );
        }
    }
    let keys = rules
        .approvers
        .iter()
        .map(|approver| approver.key.split_whitespace().nth(1).unwrap_or(&approver.key));
    found.want_once("key", keys, |index| format!("approval.approvers[{index}].key"));
    if let Some(directory) = &rules.directory {
        found.want_file("approval.directory", directory);
    }
    found.want_some_time("approval.validFor", rules.valid_for);
    // Used approvals are remembered by number, so that none may count for ever.
    if rules.valid_for.get() > LONGEST_APPROVAL {
        found.rule(
            "approval.validFor",
            "must not be longer than 7 days",
            "give a duration such as `4h` or `3d`",
        );
    }
}

fn guards(guards: &Guards, found: &mut Findings<'_>) {
    for (index, kind) in guards.protected_kinds.iter().enumerate() {
        found.want_kind(&format!("guards.protectedKinds[{index}]"), kind);
    }
    deletion::allowed(&guards.allow_deletions, found);
    if let Some(namespace) = &guards.stand_in_namespace {
        found.want_label("guards.standInNamespace", namespace);
    }
    restraint::freezes(&guards.freezes, found);
    restraint::plan_rules(&guards.rules, found);
    for (index, permission) in guards.allow_takeovers.iter().enumerate() {
        let path = format!("guards.allowTakeovers[{index}]");
        found.want_text(&format!("{path}.name"), &permission.name);
        found.want_day(&format!("{path}.until"), &permission.until);
        found.want_text(&format!("{path}.reason"), &permission.reason);
    }
}

fn timeouts(timeouts: &Timeouts, found: &mut Findings<'_>) {
    // `lock` may be nothing: then a run does not wait for another one.
    for (name, duration) in [
        ("request", timeouts.request),
        ("fetch", timeouts.fetch),
        ("render", timeouts.render),
        ("rollout", timeouts.rollout),
        ("smoke", timeouts.smoke),
        ("lease", timeouts.lease),
    ] {
        found.want_some_time(&format!("timeouts.{name}"), duration);
    }
}
