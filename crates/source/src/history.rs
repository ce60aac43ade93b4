//! Where a commit lies on its branch.

use std::collections::HashSet;

use git2::Oid;
use windlass_model::CommitId;

use crate::error::SourceError;
use crate::objects::{Objects, commit_id};
use crate::refusal::Refusal;
use crate::request::{Request, Wanted};

/// How far back the first-parent chain is followed. One merge an hour reaches it after five years.
const MAX_CHAIN: usize = 50_000;
/// How many commits are visited to tell apart two refusals.
const MAX_EXPLAIN: usize = 200_000;

/// Where a commit lies relative to the commit that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Position {
    /// Nothing was delivered before.
    First,
    /// It is the commit that runs.
    Same,
    /// It is newer.
    Forward {
        /// By so many commits of the first-parent chain.
        commits: usize,
    },
    /// It is older, and the request allows that.
    Rollback {
        /// By so many commits of the first-parent chain.
        commits: usize,
    },
}

/// A commit's place on the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) commit: Oid,
    pub(crate) tip: CommitId,
    pub(crate) is_tip: bool,
    pub(crate) position: Position,
}

/// What is asked about a commit's place: the part of a request that outlives the call.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    pub(crate) branch: String,
    pub(crate) wanted: Wanted,
    pub(crate) running: Option<CommitId>,
    pub(crate) highest_tip: Option<CommitId>,
    pub(crate) rewritten_to: Option<CommitId>,
    pub(crate) rollback: bool,
}

impl Question {
    pub(crate) fn of(request: &Request<'_>) -> Self {
        Self {
            branch: request.branch.to_owned(),
            wanted: request.wanted.clone(),
            running: request.running.cloned(),
            highest_tip: request.highest_tip.cloned(),
            rewritten_to: request.rewritten_to.cloned(),
            rollback: request.rollback,
        }
    }
}

/// Finds the wanted commit on the first-parent chain of the tip and compares it with what runs.
///
/// "Descends from what runs" would not be enough: the test merge of an unreviewed pull request does too.
pub(crate) fn locate(objects: &Objects, question: &Question, tip: Oid) -> Result<Place, SourceError> {
    let commit = match &question.wanted {
        Wanted::Tip => tip,
        Wanted::Commit(id) => demand_commit(objects, id)?.unwrap_or(Oid::ZERO_SHA1),
    };
    let running = question.running.as_ref().map(oid);
    let seen = question.highest_tip.as_ref().map(oid);
    let start = question.rewritten_to.as_ref().map(oid);
    let mut targets: Vec<Oid> = [Some(commit), running, seen, start].into_iter().flatten().collect();
    targets.sort_unstable();
    targets.dedup();
    let chain = Chain::walk(objects, tip, targets)?;
    let tip_id = commit_id(tip);
    let branch = || question.branch.clone();
    let mut known = question.highest_tip.iter().chain(&question.rewritten_to);
    if let Some(id) = known.find(|id| chain.depth(oid(id)).is_none()) {
        return Err(Refusal::TipWentBackwards { branch: branch(), tip: tip_id, seen: id.clone() }.into());
    }
    let Some(depth) = chain.depth(commit) else {
        return Err(off_the_chain(objects, question, tip, commit));
    };
    if let Some(start) = &question.rewritten_to
        && let Some(base) = chain.depth(oid(start)).filter(|base| depth > *base && !question.rollback)
    {
        let (id, tip) = (commit_id(commit), start.clone());
        return Err(Refusal::BeforeRewrite { id, tip, commits: depth - base }.into());
    }
    let position = match question.running.as_ref().zip(running) {
        None => Position::First,
        Some((id, running)) => {
            let base = chain.depth(running).ok_or_else(|| Refusal::Diverged {
                running: id.clone(),
                branch: branch(),
                tip: tip_id.clone(),
            })?;
            compare(question, commit_id(commit), id, depth, base)?
        }
    };
    Ok(Place { commit, tip: tip_id, is_tip: commit == tip, position })
}

fn compare(
    question: &Question,
    id: CommitId,
    running: &CommitId,
    depth: usize,
    base: usize,
) -> Result<Position, Refusal> {
    use std::cmp::Ordering::{Equal, Greater, Less};
    match depth.cmp(&base) {
        Equal => Ok(Position::Same),
        Less => Ok(Position::Forward { commits: base - depth }),
        Greater if question.rollback => Ok(Position::Rollback { commits: depth - base }),
        Greater => Err(Refusal::Rollback { id, running: running.clone(), commits: depth - base }),
    }
}

/// Returns the id of a commit that the copy holds; nothing if the copy does not hold the object at all.
fn demand_commit(objects: &Objects, id: &CommitId) -> Result<Option<Oid>, SourceError> {
    match objects.kind(oid(id))? {
        None => Ok(None),
        Some(git2::ObjectType::Commit) => Ok(Some(oid(id))),
        Some(other) => Err(Refusal::NotACommit { id: id.clone(), kind: other.str().to_owned() }.into()),
    }
}

/// Converts an id; every [`CommitId`] is 40 hex digits, so the zero id is never seen.
fn oid(id: &CommitId) -> Oid {
    Oid::from_str(id.as_str()).unwrap_or(Oid::ZERO_SHA1)
}

/// Tells a commit that came through a merge from one that the branch does not hold.
fn off_the_chain(objects: &Objects, question: &Question, tip: Oid, commit: Oid) -> SourceError {
    let id = match &question.wanted {
        Wanted::Commit(id) => id.clone(),
        Wanted::Tip => commit_id(tip),
    };
    let branch = question.branch.clone();
    match reachable(objects, tip, commit) {
        Ok(true) => Refusal::NotFirstParent { id, branch }.into(),
        Ok(false) => Refusal::NotOnBranch { id, branch, tip: commit_id(tip) }.into(),
        Err(error) => error,
    }
}

fn reachable(objects: &Objects, tip: Oid, commit: Oid) -> Result<bool, SourceError> {
    if commit == Oid::ZERO_SHA1 {
        return Ok(false);
    }
    let (mut seen, mut next) = (HashSet::from([tip]), vec![tip]);
    while let Some(id) = next.pop() {
        if id == commit {
            return Ok(true);
        }
        if seen.len() > MAX_EXPLAIN {
            break;
        }
        next.extend(objects.parents(id)?.into_iter().filter(|parent| seen.insert(*parent)));
    }
    Ok(false)
}

/// The part of the first-parent chain that was needed, from the tip on.
struct Chain {
    found: Vec<(Oid, usize)>,
}

impl Chain {
    /// Follows first parents from the tip until every target is found or the chain ends.
    fn walk(objects: &Objects, tip: Oid, mut targets: Vec<Oid>) -> Result<Self, SourceError> {
        let mut found = Vec::new();
        let mut next = Some(tip);
        for depth in 0..MAX_CHAIN {
            let Some(id) = next else { break };
            if let Some(index) = targets.iter().position(|target| *target == id) {
                targets.swap_remove(index);
                found.push((id, depth));
            }
            if targets.is_empty() {
                break;
            }
            next = objects.parents(id)?.first().copied();
        }
        Ok(Self { found })
    }

    /// Returns how many commits lie before this one, counted from the tip.
    fn depth(&self, id: Oid) -> Option<usize> {
        self.found.iter().find(|(found, _)| *found == id).map(|(_, depth)| *depth)
    }
}
