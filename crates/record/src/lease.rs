//! The Lease that is the lock: its form, and what it says.

use std::fmt;
use std::time::Duration;

use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_model::{CommitId, EnvironmentName, GroupKind, Object, ObjectRef, RunId};

use crate::ENVIRONMENT;

const HOLDER: &str = "windlass.dev/holder";

/// Who wants, or holds, the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// The run; also the identity under which the lock is held.
    pub run: RunId,
    /// Who started the run.
    pub actor: String,
    /// The machine it runs on.
    pub host: String,
    /// The process there.
    pub pid: u32,
    /// What it delivers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
}

/// Who holds the lock, as far as the Lease says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LockStatus {
    /// The environment.
    pub environment: EnvironmentName,
    /// The identity of the holder: the id of its run.
    pub id: String,
    /// What the holder says of itself; `None` if something other than Windlass wrote the Lease.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// Since when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The last sign of life, by the holder's clock.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub renewed: Option<Timestamp>,
    /// After how long without a sign of life the lock may be taken over.
    pub duration: Duration,
}

impl fmt::Display for LockStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`", self.id)?;
        if let Some(holder) = &self.holder {
            write!(f, " of {} (process {} on {})", holder.actor, holder.pid, holder.host)?;
        }
        if let Some(commit) = self.holder.as_ref().and_then(|holder| holder.commit.as_ref()) {
            write!(f, " for commit {}", commit.short())?;
        }
        if let Some(since) = self.since {
            write!(f, " since {since:.0}")?;
        }
        if let Some(renewed) = self.renewed {
            write!(f, ", last sign of life {renewed:.0}")?;
        }
        Ok(())
    }
}

/// Names the Lease of an environment.
pub(crate) fn reference(namespace: &str, environment: &EnvironmentName) -> ObjectRef {
    ObjectRef {
        kind: GroupKind::new("coordination.k8s.io", "Lease"),
        version: "v1".to_owned(),
        namespace: Some(namespace.to_owned()),
        name: format!("windlass-{environment}"),
    }
}

/// Builds a Lease that nobody has seen yet.
pub(crate) fn fresh(
    reference: &ObjectRef,
    environment: &EnvironmentName,
    holder: &Holder,
    duration: Duration,
    now: Timestamp,
) -> Object {
    let body = json!({
        "apiVersion": reference.api_version(),
        "kind": reference.kind.kind,
        "metadata": {
            "name": reference.name,
            "namespace": reference.namespace,
            "labels": {ENVIRONMENT: environment.as_str()},
            "annotations": {HOLDER: holder_text(holder)},
        },
        "spec": {
            "holderIdentity": holder.run.as_str(),
            "leaseDurationSeconds": seconds(duration),
            "acquireTime": micro_time(now),
            "renewTime": micro_time(now),
            "leaseTransitions": 0,
        },
    });
    Object::new(body, None).unwrap_or_else(|_| unreachable!("the body names its object"))
}

/// Returns the live Lease as it is when `holder` takes it.
pub(crate) fn taken(live: &Object, holder: &Holder, duration: Duration, now: Timestamp) -> Object {
    let now = after(live, now);
    let mut body = live.body().clone();
    if !body["metadata"]["annotations"].is_object() {
        body["metadata"]["annotations"] = json!({});
    }
    body["metadata"]["annotations"][HOLDER] = holder_text(holder).into();
    let transitions = body["spec"]["leaseTransitions"].as_i64().unwrap_or_default();
    body["spec"] = json!({
        "holderIdentity": holder.run.as_str(),
        "leaseDurationSeconds": seconds(duration),
        "acquireTime": micro_time(now),
        "renewTime": micro_time(now),
        "leaseTransitions": transitions.saturating_add(1),
    });
    live.with_body(body)
}

/// Returns the live Lease with a new sign of life.
pub(crate) fn renewed(live: &Object, now: Timestamp) -> Object {
    let mut body = live.body().clone();
    body["spec"]["renewTime"] = micro_time(after(live, now)).into();
    live.with_body(body)
}

/// Returns the live Lease as it is when nobody holds it. It is kept: a deleted Lease tells nothing of the
/// holders before.
pub(crate) fn free(live: &Object) -> Object {
    let mut body = live.body().clone();
    if let Some(annotations) = body["metadata"]["annotations"].as_object_mut() {
        annotations.remove(HOLDER);
    }
    let transitions = body["spec"]["leaseTransitions"].as_i64().unwrap_or_default();
    body["spec"] = json!({"leaseTransitions": transitions});
    live.with_body(body)
}

/// Returns the identity that holds a Lease, or `None` if nobody does.
pub(crate) fn holder_id(live: &Object) -> Option<&str> {
    spec(live, "holderIdentity")?.as_str().filter(|id| !id.is_empty())
}

/// Returns after how long without a change a Lease may be taken over.
pub(crate) fn duration_of(live: &Object) -> Duration {
    // Without a duration nobody says how long to wait; a minute is what Windlass itself asks for.
    Duration::from_secs(spec(live, "leaseDurationSeconds").and_then(Value::as_u64).unwrap_or(60))
}

/// Says whether a Lease looks as if its holder were dead. A guess by two clocks, good enough to decide whether
/// looking on is worth the time, and never to take the lock.
pub(crate) fn looks_abandoned(live: &Object, now: Timestamp) -> bool {
    let duration = i64::try_from(duration_of(live).as_secs()).unwrap_or(i64::MAX).min(86_400);
    time(live, "renewTime")
        .is_none_or(|renewed| now > renewed.saturating_add(duration.seconds()).unwrap_or(renewed))
}

/// Reads who holds a Lease, or `None` if nobody does.
pub(crate) fn status(live: &Object, environment: &EnvironmentName) -> Option<LockStatus> {
    let id = holder_id(live)?;
    let holder = live.annotation(HOLDER).and_then(|text| serde_json::from_str::<Holder>(text).ok());
    Some(LockStatus {
        environment: environment.clone(),
        id: id.to_owned(),
        // An annotation of another holder than the Lease's says nothing.
        holder: holder.filter(|holder| holder.run.as_str() == id),
        since: time(live, "acquireTime"),
        renewed: time(live, "renewTime"),
        duration: duration_of(live),
    })
}

fn spec<'a>(live: &'a Object, field: &str) -> Option<&'a Value> {
    live.body().get("spec")?.get(field)
}

fn time(live: &Object, field: &str) -> Option<Timestamp> {
    spec(live, field)?.as_str()?.parse().ok()
}

fn holder_text(holder: &Holder) -> String {
    serde_json::to_string(holder).unwrap_or_else(|_| unreachable!("a holder holds only texts"))
}

/// Returns the time, or the instant after the Lease's renewal if that is later: a PUT that changes nothing
/// moves no version, and a holder whose clock stands still would look dead.
fn after(live: &Object, now: Timestamp) -> Timestamp {
    let next = time(live, "renewTime").and_then(|last| last.checked_add(1.microsecond()).ok());
    next.map_or(now, |next| now.max(next))
}

/// Writes a time as the API reads it: with exactly six digits of the second's fraction.
fn micro_time(time: Timestamp) -> String {
    format!("{time:.6}")
}

fn seconds(duration: Duration) -> u64 {
    (duration.as_secs() + u64::from(duration.subsec_nanos() > 0)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn holder(run: &str) -> Holder {
        let commit = "62bc080798ced7f198836a2a33ce522a55ebc7a9".parse().ok();
        Holder { run: RunId::parse(run).unwrap(), actor: "jo".into(), host: "agent-1".into(), pid: 7, commit }
    }

    fn lease(now: &str) -> Object {
        let prd = EnvironmentName::new("prd").unwrap();
        fresh(&reference("records", &prd), &prd, &holder("r1"), Duration::from_millis(1500), at(now))
    }

    fn field<'a>(lease: &'a Object, name: &str) -> &'a Value {
        &lease.body()["spec"][name]
    }

    #[test]
    fn times_have_six_digits() {
        assert_eq!(field(&lease("2026-01-02T03:04:05Z"), "renewTime"), "2026-01-02T03:04:05.000000Z");
        assert_eq!(
            field(&lease("2026-01-02T03:04:05.123456789Z"), "renewTime"),
            "2026-01-02T03:04:05.123456Z"
        );
        assert_eq!(field(&lease("2026-01-02T03:04:05Z"), "leaseDurationSeconds"), 2);
    }

    #[test]
    fn a_renewal_always_changes_the_lease() {
        let check = |now: &str, want: &str| {
            let renewed = renewed(&lease("2026-01-02T03:04:05Z"), at(now));
            assert_eq!(field(&renewed, "renewTime"), want);
        };
        check("2026-01-02T03:04:06Z", "2026-01-02T03:04:06.000000Z");
        // A clock that stands still, and one that was set back.
        check("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000001Z");
        check("2026-01-01T00:00:00Z", "2026-01-02T03:04:05.000001Z");
    }

    #[test]
    fn a_lease_says_who_holds_it() {
        let prd = EnvironmentName::new("prd").unwrap();
        let lease = lease("2026-01-02T03:04:05Z");
        let got = status(&lease, &prd).unwrap();
        assert_eq!(
            got.to_string(),
            "`r1` of jo (process 7 on agent-1) for commit 62bc080798ce since 2026-01-02T03:04:05Z, last sign of life 2026-01-02T03:04:05Z"
        );
        let other = taken(&lease, &holder("r2"), Duration::from_mins(1), at("2026-01-02T04:00:00Z"));
        assert_eq!(status(&other, &prd).map(|status| status.id), Some("r2".to_owned()));
        assert_eq!(field(&other, "leaseTransitions"), 1);
        assert_eq!(status(&free(&other), &prd), None);
    }

    #[test]
    fn a_foreign_holder_is_shown_without_our_details() {
        let prd = EnvironmentName::new("prd").unwrap();
        let lease = lease("2026-01-02T03:04:05Z");
        let mut body = lease.body().clone();
        body["spec"]["holderIdentity"] = "someone".into();
        let status = status(&lease.with_body(body), &prd).unwrap();
        assert_eq!((status.id.as_str(), status.holder), ("someone", None));
    }

    #[test]
    fn abandonment_is_guessed_from_the_holders_own_duration() {
        let lease = lease("2026-01-02T03:04:05Z");
        let check = |now: &str, want| assert_eq!(looks_abandoned(&lease, at(now)), want, "{now}");
        check("2026-01-02T03:04:00Z", false);
        check("2026-01-02T03:04:06Z", false);
        check("2026-01-02T03:04:08Z", true);
    }
}
