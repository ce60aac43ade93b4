//! Why a commit may not be delivered.

use windlass_model::{CommitId, ExitCode};
use windlass_trust::SignatureRefusal;

/// Says why a commit may not be delivered. [`Self::code`] is stable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The id names another kind of object.
    #[error("{id} is not a commit but a {kind}")]
    NotACommit {
        /// The id.
        id: CommitId,
        /// What it is.
        kind: String,
    },
    /// The commit's bytes do not have the one strict form.
    #[error("commit {id} is malformed: {problem}")]
    MalformedCommit {
        /// The commit.
        id: CommitId,
        /// What is wrong.
        problem: &'static str,
    },
    /// The commit has no signature.
    #[error("commit {id} is not signed (committer: {committer})")]
    Unsigned {
        /// The commit.
        id: CommitId,
        /// The committer, unproven.
        committer: String,
    },
    /// The signature does not count.
    #[error("commit {id}: {refusal}")]
    Signature {
        /// The commit.
        id: CommitId,
        /// Why.
        refusal: SignatureRefusal,
    },
    /// A key that has expired signs the newest commit of the branch.
    #[error("commit {id} is the branch's newest, but key `{name}`, which signed it, has expired")]
    ExpiredKeyAtTip {
        /// The commit.
        id: CommitId,
        /// The pin's name.
        name: String,
    },
    /// The committer is not the one that the pin demands.
    #[error("commit {id} was committed by {found}; key `{name}` counts only for {expected}")]
    CommitterMismatch {
        /// The commit.
        id: CommitId,
        /// The pin's name.
        name: String,
        /// The committer that the pin demands.
        expected: String,
        /// The committer that the commit names.
        found: String,
    },
    /// The signature was not made when the commit was.
    #[error("commit {id} was signed {seconds} s away from its commit time; key `{name}` signs at once")]
    TimeMismatch {
        /// The commit.
        id: CommitId,
        /// The pin's name.
        name: String,
        /// The distance.
        seconds: u64,
    },
    /// The branch does not hold the commit.
    #[error("commit {id} is not on branch {branch} (tip {tip})")]
    NotOnBranch {
        /// The commit.
        id: CommitId,
        /// The branch.
        branch: String,
        /// Its tip.
        tip: CommitId,
    },
    /// The branch holds the commit, but it never was the branch's tip.
    #[error("commit {id} came to branch {branch} through a merge and never was its tip")]
    NotFirstParent {
        /// The commit.
        id: CommitId,
        /// The branch.
        branch: String,
    },
    /// The commit is older than what runs.
    #[error("commit {id} is {commits} commits older than {running}, which runs")]
    Rollback {
        /// The commit.
        id: CommitId,
        /// What runs.
        running: CommitId,
        /// How far it is behind on the first-parent chain.
        commits: usize,
    },
    /// The commit is older than the tip at which the branch was rewritten.
    #[error("commit {id} is {commits} commits older than {tip}, from which the rewritten branch goes on")]
    BeforeRewrite {
        /// The commit.
        id: CommitId,
        /// The tip whose rewriting was accepted.
        tip: CommitId,
        /// How far it is behind on the first-parent chain.
        commits: usize,
    },
    /// What runs is not on the branch any more.
    #[error("commit {running}, which runs, is not on branch {branch} (tip {tip})")]
    Diverged {
        /// What runs.
        running: CommitId,
        /// The branch.
        branch: String,
        /// Its tip.
        tip: CommitId,
    },
    /// The branch's tip is older than, or unrelated to, a tip that was seen before.
    #[error("branch {branch} is at {tip}, which does not contain {seen}, its tip in an earlier run")]
    TipWentBackwards {
        /// The branch.
        branch: String,
        /// The tip now.
        tip: CommitId,
        /// The tip then.
        seen: CommitId,
    },
    /// The private copy of the repository holds something that Windlass did not put there.
    #[error("the repository copy in `{path}` cannot be trusted: {problem}")]
    HostileRepository {
        /// The file or folder.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// The tree holds something that cannot be delivered faithfully.
    #[error("`{path}`: {problem}")]
    UnsafeTree {
        /// The path in the tree, escaped; empty for the root.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// An object is missing or does not have the content that its id names.
    #[error("object {id} is corrupt: {problem}")]
    ObjectCorrupt {
        /// The object's id.
        id: String,
        /// What is wrong.
        problem: String,
    },
    /// The server sent objects that `git fsck` refuses.
    #[error("the repository holds objects that git refuses: {problem}")]
    BadObjects {
        /// What `git` says.
        problem: String,
    },
    /// The repository does not use SHA-1 ids.
    #[error("the repository uses SHA-256 object ids, which are not supported")]
    ObjectFormat,
}

impl Refusal {
    /// Returns the stable code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotACommit { .. } => "not-a-commit",
            Self::MalformedCommit { .. } => "malformed-commit",
            Self::Unsigned { .. } => "unsigned",
            Self::Signature { refusal, .. } => refusal.code(),
            Self::ExpiredKeyAtTip { .. } => "key-expired",
            Self::CommitterMismatch { .. } => "committer-mismatch",
            Self::TimeMismatch { .. } => "time-mismatch",
            Self::NotOnBranch { .. } => "not-on-branch",
            Self::NotFirstParent { .. } => "not-first-parent",
            Self::Rollback { .. } => "rollback",
            Self::BeforeRewrite { .. } => "before-rewrite",
            Self::Diverged { .. } => "diverged",
            Self::TipWentBackwards { .. } => "tip-went-backwards",
            Self::HostileRepository { .. } => "hostile-repository",
            Self::UnsafeTree { .. } => "unsafe-tree",
            Self::ObjectCorrupt { .. } | Self::BadObjects { .. } => "object-corrupt",
            Self::ObjectFormat => "unsupported-format",
        }
    }

    /// Says what to do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotACommit { .. } => "give the id of a commit: `git rev-parse 'NAME^{commit}'`",
            Self::MalformedCommit { .. } => "no usual tool writes such a commit: find out who made it",
            Self::Unsigned { .. } => {
                "was it a rebase merge or a direct push? The forge signs merge and squash merges only: disable rebase \
                 merging for the branch and merge again"
            }
            Self::Signature { refusal, .. } => refusal.hint(),
            Self::ExpiredKeyAtTip { .. } => {
                "deliver a commit signed by a current key; an expired key counts for older ones only"
            }
            Self::CommitterMismatch { .. } => {
                "correct `committer` of the pin, or find out how the key came to sign this commit"
            }
            Self::TimeMismatch { .. } => {
                "find out how the key came to sign this commit, or remove `committer` from the pin"
            }
            Self::NotOnBranch { .. } => {
                "merge it first. A signature alone proves no review: forges sign test merges of open pull requests too"
            }
            Self::NotFirstParent { .. } => {
                "give the merge commit that brought it to the branch: `git log --first-parent`"
            }
            Self::Rollback { .. } => {
                "if that is meant, use `windlass rollback`; otherwise deliver the branch's tip"
            }
            Self::BeforeRewrite { .. } => "deliver that tip or a newer commit",
            Self::Diverged { .. } | Self::TipWentBackwards { .. } => {
                "was the branch rewritten, or is the server a stale mirror? Put the branch back on top of that commit, \
                 for instance by a merge through the forge. If it was rewritten on purpose: windlass accept-rewrite \
                 --env FILE --tip SHA --reason TEXT"
            }
            Self::HostileRepository { .. } => {
                "find out who changed it, then delete the folder; the next run fetches it again"
            }
            Self::UnsafeTree { .. } => {
                "remove or rename it in the repository; only plain files are delivered"
            }
            Self::ObjectCorrupt { .. } => {
                "delete the repository copy; the next run fetches it again. Then check the disk"
            }
            Self::BadObjects { .. } => {
                "run `git fsck --full` in the repository and rewrite what it reports as errors"
            }
            Self::ObjectFormat => "use a repository with SHA-1 object ids",
        }
    }

    /// Returns the exit code: a wrong id or a tree that cannot be delivered is bad input, all else is a refusal.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::NotACommit { .. } | Self::UnsafeTree { .. } => ExitCode::BadInput,
            _ => ExitCode::Refused,
        }
    }
}
