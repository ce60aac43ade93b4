//! The stage itself.

use std::path::Path;

use git2::Oid;
use jiff::Timestamp;
use windlass_model::{CommitId, SourceTree, VerifiedCommit};
use windlass_trust::{Keyring, Signed};

use crate::address::{self, Address};
use crate::cache::Cache;
use crate::commit::{self, Commit, Problem};
use crate::error::{FetchProblem, SourceError};
use crate::git;
use crate::history::{self, Place, Position, Question};
use crate::objects::{Objects, commit_id};
use crate::refusal::Refusal;
use crate::request::Request;
use crate::tree::{self, LIMITS};

/// How far apart commit and signature may be where the pin names the committer, in seconds. GitHub's are
/// 0 or 1 s apart in every one of thousands of commits measured.
const SIGNING_DELAY: u64 = 5;

/// A commit that may be delivered, and its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Verified {
    /// The proof.
    pub commit: VerifiedCommit,
    /// All files of the commit.
    pub tree: SourceTree,
    /// Where it lies relative to what runs.
    pub position: Position,
}

/// A commit of the branch whose signature nobody checked, and its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Unsigned {
    /// The commit.
    pub commit: CommitId,
    /// The branch's tip.
    pub tip: CommitId,
    /// All files of the commit.
    pub tree: SourceTree,
    /// Where it lies relative to what runs.
    pub position: Position,
    /// The first line of the message: untrusted text.
    pub subject: String,
    /// The author line's name and address: untrusted text.
    pub author: String,
}

/// Fetches the branch and verifies the wanted commit: it is, or was, the branch's tip, is not older than
/// what runs unless that is asked for, is signed by a pinned key, and its tree can be delivered faithfully.
///
/// `now` is compared with the signature's date. Errors say what to do ([`SourceError::hint`]) and how the
/// process should end ([`SourceError::exit_code`]).
pub async fn fetch_and_verify(
    request: &Request<'_>,
    keyring: &Keyring,
    now: Timestamp,
) -> Result<Verified, SourceError> {
    let fetched = fetch(request).await?;
    let id = commit_id(fetched.place.commit);
    let signed = check_signature(&id, &fetched.commit, keyring.clone(), now).await?;
    check_pin(&id, &fetched, &signed)?;
    let tree = read_tree(&fetched).await?;
    #[expect(clippy::disallowed_methods, reason = "this is the stage that proves a commit")]
    let commit = VerifiedCommit::attest(
        fetched.repository,
        request.branch.to_owned(),
        id,
        fetched.commit.tree.to_string(),
        fetched.place.tip,
        signed.signer,
        fetched.commit.author.who,
        fetched.commit.subject,
    );
    Ok(Verified { commit, tree, position: fetched.place.position })
}

/// Fetches the branch and reads the wanted commit under the same rules, without looking at its signature.
///
/// Only for environments whose file says `unsigned: allowed`.
pub async fn fetch_unsigned(request: &Request<'_>) -> Result<Unsigned, SourceError> {
    let fetched = fetch(request).await?;
    let tree = read_tree(&fetched).await?;
    Ok(Unsigned {
        commit: commit_id(fetched.place.commit),
        tip: fetched.place.tip,
        tree,
        position: fetched.place.position,
        subject: fetched.commit.subject,
        author: fetched.commit.author.who,
    })
}

/// A commit of the branch, read strictly. Holds the lock of the private copy.
struct Fetched {
    cache: Cache,
    repository: String,
    place: Place,
    commit: Commit,
}

async fn fetch(request: &Request<'_>) -> Result<Fetched, SourceError> {
    let address = Address::parse(request.repository).map_err(|problem| SourceError::Address { problem })?;
    address::check_branch(request.branch).map_err(|problem| SourceError::Branch {
        branch: request.branch.escape_debug().to_string(),
        problem,
    })?;
    let cache = lock_cache(request, &address).await?;
    git::fetch(request, &address, &cache).await?;
    cache.check()?;
    let (folder, tip, question) = (cache.objects(), cache.tip()?, Question::of(request));
    let (place, commit) = blocking(move || find(&folder, &question, tip)).await??;
    Ok(Fetched { cache, repository: address.to_string(), place, commit })
}

/// Finds the wanted commit on the branch and reads it.
fn find(folder: &Path, question: &Question, tip: Oid) -> Result<(Place, Commit), SourceError> {
    let objects = Objects::open(folder)?;
    let place = history::locate(&objects, question, tip)?;
    let raw = objects.commit(place.commit)?;
    let commit = commit::parse(&raw).map_err(|problem| refuse(commit_id(place.commit), problem))?;
    Ok((place, commit))
}

async fn lock_cache(request: &Request<'_>, address: &Address) -> Result<Cache, SourceError> {
    let lock = Cache::open_lock(request.cache)?;
    let held = git::wait_for_lock(&lock, request.fetch_timeout).await;
    if held.map_err(|error| SourceError::cache(request.cache, &error))? {
        return Cache::prepare(request.cache, lock);
    }
    let problem = FetchProblem::Busy { seconds: request.fetch_timeout.as_secs() };
    Err(SourceError::Fetch { repository: address.to_string(), problem })
}

fn refuse(id: CommitId, problem: Problem) -> Refusal {
    use windlass_trust::SignatureRefusal as Signature;
    let signature = |id, refusal| Refusal::Signature { id, refusal };
    match problem {
        Problem::Malformed(problem) => Refusal::MalformedCommit { id, problem },
        Problem::MultipleSignatures => signature(id, Signature::Multiple),
        Problem::Sha256Signature => {
            signature(id, Signature::UnsupportedFormat { what: "one for SHA-256 object ids".to_owned() })
        }
    }
}

/// Checks the signature on a thread of its own, since `gpg` blocks.
async fn check_signature(
    id: &CommitId,
    commit: &Commit,
    keyring: Keyring,
    now: Timestamp,
) -> Result<Signed, SourceError> {
    let signature = commit
        .signature
        .clone()
        .ok_or_else(|| Refusal::Unsigned { id: id.clone(), committer: commit.committer.who.clone() })?;
    blocking(move || keyring.verify_commit_signature(&signature.armored, &signature.payload, now))
        .await?
        .map_err(|error| SourceError::signature(id, error))
}

/// Checks what the pin demands of the commit.
fn check_pin(id: &CommitId, fetched: &Fetched, signed: &Signed) -> Result<(), Refusal> {
    let name = || signed.signer.name.clone();
    // An expired key counts for what was delivered before, never for something new at the branch's end.
    if signed.key_expired && fetched.place.is_tip && fetched.place.position != Position::Same {
        return Err(Refusal::ExpiredKeyAtTip { id: id.clone(), name: name() });
    }
    let Some(expected) = &signed.pin_committer else { return Ok(()) };
    let committer = &fetched.commit.committer;
    if committer.who != *expected {
        let (expected, found) = (expected.clone(), committer.who.clone());
        return Err(Refusal::CommitterMismatch { id: id.clone(), name: name(), expected, found });
    }
    match committer.time.abs_diff(signed.signer.signed_at.as_second()) {
        ..=SIGNING_DELAY => Ok(()),
        seconds => Err(Refusal::TimeMismatch { id: id.clone(), name: name(), seconds }),
    }
}

async fn read_tree(fetched: &Fetched) -> Result<SourceTree, SourceError> {
    let (folder, id) = (fetched.cache.objects(), fetched.commit.tree);
    blocking(move || Ok(tree::read(&Objects::open(&folder)?, id, LIMITS)?)).await?
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, SourceError> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(|error| SourceError::Engine { problem: error.to_string() })
}
