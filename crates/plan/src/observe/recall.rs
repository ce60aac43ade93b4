//! Asking the memory before the server.

use std::collections::BTreeMap;

use jiff::Timestamp;
use windlass_cluster::{ApplyRequest, ClusterError, Expect, Resource, spelled};
use windlass_model::{ClusterId, Object, is_secret_kind};

use super::Reader;
use super::catalog::Catalog;
use super::places::Places;
use super::scope::Scope;
use crate::memory::{Memory, Question, without_values};
use crate::{Ask, Asked, ObjectKey, Reply};

/// What is needed to make use of earlier answers.
#[derive(Debug, Clone, Copy)]
pub struct Remembering<'a> {
    /// The earlier answers.
    pub memory: &'a Memory,
    /// The cluster, as it was met at the beginning of this run.
    pub cluster: &'a ClusterId,
    /// The current time.
    pub now: Timestamp,
}

/// What became of the memory.
#[derive(Debug, Clone, Default)]
pub struct Recollection {
    /// The memory to use next time; `None` if there was none, or it could not be used.
    pub memory: Option<Memory>,
    /// How many answers were taken from it.
    pub reused: usize,
    /// Whether new answers were kept: not just after the configuration changed.
    pub settled: bool,
    /// Why it could not be used, if it could not.
    pub unusable: Option<String>,
}

/// The memory in use. Without one, every question goes to the server.
#[derive(Default)]
pub(super) struct Recall<'a>(Option<Usable<'a>>);

struct Usable<'a> {
    earlier: &'a Memory,
    now: Timestamp,
    scope: Scope,
    /// The memory for next time.
    later: Memory,
    /// Whether new answers may be kept.
    settled: bool,
}

/// The answers of one run: what was asked, and what came of it.
pub(super) struct Answers {
    pub(super) asked: BTreeMap<ObjectKey, Asked>,
    pub(super) recollection: Recollection,
}

/// One answer, with the question if it may be kept.
pub(super) struct Given {
    pub(super) key: ObjectKey,
    pub(super) asked: Asked,
    pub(super) recalled: bool,
    pub(super) question: Option<Question>,
}

impl<'a> Recall<'a> {
    /// Reads what the cluster's configuration is, if there is a memory at all. Returns why it cannot be used otherwise.
    pub(super) async fn prepare(
        reader: &Reader<'_>,
        remembering: Option<Remembering<'a>>,
        catalog: &Catalog,
        places: &Places,
    ) -> Result<(Self, Option<String>), ClusterError> {
        let Some(Remembering { memory, cluster, now }) = remembering else { return Ok((Self(None), None)) };
        let scope = match Scope::read(reader, cluster, catalog, places).await? {
            Ok(scope) => scope,
            Err(reason) => return Ok((Self(None), Some(reason))),
        };
        let mut later = memory.clone();
        later.forget_old(now);
        let met = later.meet(later.fingerprint(&[scope.digest.hex().as_bytes()]), now);
        let settled = met && scope.settled;
        Ok((Self(Some(Usable { earlier: memory, now, scope, later, settled })), None))
    }

    /// Puts everything that the answer to an update depends on into one question, if all of it can be known.
    pub(super) fn question(
        &self,
        key: &ObjectKey,
        resource: &Resource,
        desired: &Object,
        live: Option<&Object>,
    ) -> Option<Question> {
        let Usable { earlier, scope, .. } = self.0.as_ref()?;
        let live = live?;
        let (uid, version) = (live.uid()?, live.resource_version()?);
        let around = scope.of_object(key, resource, desired, live)?;
        let object = without_values(desired, live)?;
        let request = ApplyRequest { object: &object, expect: Expect::Uid(uid), force: false, dry_run: true };
        let sent = spelled(resource, request);
        let (configuration, name) = (scope.digest.hex(), key.to_string());
        let whole = [configuration.as_bytes(), around.as_bytes(), uid.as_bytes(), version.as_bytes(), &sent];
        Some(Question {
            slot: earlier.fingerprint(&[scope.user.as_bytes(), name.as_bytes()]),
            whole: earlier.fingerprint(&whole),
        })
    }

    /// Returns the answer to a question that was asked before.
    pub(super) fn answer(&self, question: &Question, live: &Object) -> Option<Ask> {
        let usable = self.0.as_ref()?;
        let warnings = usable.earlier.unchanged(question, usable.now)?.to_vec();
        Some(Ask::Answered(Reply { object: live.clone(), warnings }))
    }

    /// Keeps what may be kept of the answers.
    pub(super) fn conclude(self, given: Vec<Given>, unusable: Option<String>) -> Answers {
        let reused = given.iter().filter(|given| given.recalled).count();
        let mut recollection = Recollection { reused, unusable, ..Recollection::default() };
        if let Some(Usable { mut later, now, settled, .. }) = self.0 {
            let fresh = given.iter().filter(|given| settled && !given.recalled);
            for Given { asked, question, .. } in fresh {
                if let (Some(question), Some(warnings)) = (question, unchanged(asked)) {
                    later.keep(question.clone(), warnings, now);
                }
            }
            recollection.settled = settled;
            recollection.memory = Some(later);
        }
        let asked = given.into_iter().map(|given| (given.key, given.asked)).collect();
        Answers { asked, recollection }
    }
}

/// Returns the warnings of an answer that is exactly the live object. A warning about a Secret may repeat it.
fn unchanged(asked: &Asked) -> Option<Vec<String>> {
    let (Some(live), Ask::Answered(reply)) = (&asked.live, &asked.answer) else { return None };
    let same = asked.conflicts.is_empty() && reply.object.holds_the_same(live);
    let secret = is_secret_kind(&live.reference().kind) && !reply.warnings.is_empty();
    (same && !secret).then(|| reply.warnings.clone())
}
