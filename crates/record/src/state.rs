//! Where an environment stands.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use windlass_model::{CommitId, Digest, RunId};

/// Completed deliveries that are remembered beside the last one.
const PREVIOUS: usize = 20;
/// Used approvals that are remembered. An approval counts for seven days at most, and nobody gives 1000 in that time.
const CONSUMED: usize = 1000;

/// A delivery that went through all stages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivered {
    /// The run.
    pub run: RunId,
    /// The commit; `None` for a directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<CommitId>,
    /// The id of the commit's tree, or the digest of the directory.
    pub tree: String,
    /// The digest of the rendered objects.
    pub rendering: Digest,
    /// The change digest of the plan that was carried out.
    pub change_digest: Digest,
    /// When the run ended.
    pub at: Timestamp,
}

/// What is known of an environment from one run to the next.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EnvironmentState {
    /// The last run that went through all stages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_completed: Option<Delivered>,
    /// What was completed before it, newest first, each commit once, at most 20: what a rollback can go back
    /// to. A commit that was rolled back is not among them.
    pub previous: Vec<Delivered>,
    /// A run that began to write and has not completed; it may have died.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current: Option<RunId>,
    /// The newest tip of the protected branch that was ever seen: the branch never goes back behind it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub highest_tip: Option<CommitId>,
    /// Where the branch goes on since somebody accepted that it was rewritten, if what was delivered last is not on it:
    /// the oldest commit that may be delivered. Forgotten with the next completed delivery.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewritten_to: Option<CommitId>,
    /// The nonces of approvals that were used, oldest first, at most 1000.
    pub consumed: Vec<String>,
    /// The nonces of approvals on which a run began to write since the last completed delivery. They still count, so that
    /// the run can be finished, until any delivery completes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub begun: Vec<String>,
}

impl EnvironmentState {
    /// Takes down that a run begins to write, on the approvals with these nonces.
    pub fn begin(&mut self, run: RunId, nonces: &[String]) {
        self.current = Some(run);
        self.begun.retain(|nonce| !nonces.contains(nonce));
        self.begun.extend_from_slice(nonces);
        let surplus = self.begun.len().saturating_sub(CONSUMED);
        self.begun.drain(..surplus);
    }

    /// Takes down a delivery that went through all stages; no run is current afterwards, and all approvals on which a run
    /// began are used up: what is delivered after it has to be looked at again.
    ///
    /// A delivery of a commit that was completed before is a rollback: what lies between is forgotten, so that
    /// the next rollback goes further back instead of forth again.
    pub fn complete(&mut self, delivered: Delivered) {
        self.current = None;
        self.rewritten_to = None;
        for nonce in std::mem::take(&mut self.begun) {
            // Used before means: by an interrupted run of the same plan, which this one finished.
            let _first_use = self.consume(&nonce);
        }
        let again = |other: &Delivered| other.commit.is_some() && other.commit == delivered.commit;
        let last = self.last_completed.take();
        if let Some(position) = self.previous.iter().position(again) {
            self.previous.drain(..=position);
        } else if let Some(last) = last.filter(|last| !again(last)) {
            self.previous.insert(0, last);
        }
        self.previous.truncate(PREVIOUS);
        self.last_completed = Some(delivered);
    }

    /// Takes down that the branch was rewritten on purpose and has this tip now; `holds_delivered` says whether the commit
    /// that was delivered last is still on it.
    pub fn accept_rewrite(&mut self, tip: CommitId, holds_delivered: bool) {
        self.rewritten_to = (!holds_delivered).then(|| tip.clone());
        self.highest_tip = Some(tip);
    }

    /// Returns the commit that was delivered last, unless the branch was rewritten since and does not hold it.
    pub fn running(&self) -> Option<&CommitId> {
        self.last_completed.as_ref().filter(|_| self.rewritten_to.is_none())?.commit.as_ref()
    }

    /// Returns what a rollback without a named commit goes back to: the newest other completed commit.
    pub fn rollback_target(&self) -> Option<&Delivered> {
        let now = self.last_completed.as_ref().and_then(|last| last.commit.as_ref());
        self.previous.iter().find(|delivered| delivered.commit.is_some() && delivered.commit.as_ref() != now)
    }

    /// Uses an approval up; says `false` if it was used before.
    #[must_use]
    pub fn consume(&mut self, nonce: &str) -> bool {
        if self.consumed.iter().any(|used| used == nonce) {
            return false;
        }
        self.consumed.push(nonce.to_owned());
        let surplus = self.consumed.len().saturating_sub(CONSUMED);
        self.consumed.drain(..surplus);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delivered(letter: char) -> Delivered {
        Delivered {
            run: RunId::parse(&format!("run-{letter}")).unwrap(),
            commit: Some(letter.to_string().repeat(40).parse().unwrap()),
            tree: String::new(),
            rendering: Digest::of_bytes(b""),
            change_digest: Digest::of_bytes(b""),
            at: Timestamp::UNIX_EPOCH,
        }
    }

    #[test]
    fn completed_commits_form_a_history_without_repeats() {
        let check = |commits: &str, last: char, previous: &str| {
            let mut state = EnvironmentState::default();
            commits.chars().for_each(|letter| state.complete(delivered(letter)));
            let want: Vec<Delivered> = previous.chars().map(delivered).collect();
            assert_eq!(state.last_completed, Some(delivered(last)), "{commits}");
            assert_eq!(state.previous, want, "{commits}");
            assert_eq!(state.rollback_target(), want.first(), "{commits}");
        };
        check("a", 'a', "");
        check("abc", 'c', "ba");
        check("aaabb", 'b', "a");
        // Back from c to b, and once more: never forth to c again.
        check("abcb", 'b', "a");
        check("abcba", 'a', "");
        check("abcbd", 'd', "ba");
    }

    /// An approval of what failed and was rolled back could be used once more.
    #[test]
    fn an_approval_lasts_until_any_delivery_completes() {
        let nonces = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let run = || RunId::parse("run-a").unwrap();
        let mut state = EnvironmentState::default();
        state.begin(run(), &nonces(&["failed"]));
        state.begin(run(), &nonces(&["failed", "second"]));
        assert_eq!((state.consumed.len(), &state.begun), (0, &nonces(&["failed", "second"])));
        state.begin(run(), &nonces(&["rollback"]));
        state.complete(delivered('a'));
        assert_eq!(
            (&state.begun, &state.consumed),
            (&nonces(&[]), &nonces(&["failed", "second", "rollback"]))
        );
    }

    #[test]
    fn the_history_and_the_used_approvals_are_bounded() {
        let mut state = EnvironmentState::default();
        for number in 0..1100 {
            let commit = format!("{number:040x}").parse().ok();
            state.complete(Delivered { commit, ..delivered('a') });
            assert!(state.consume(&number.to_string()));
        }
        assert!(!state.consume("1099"));
        assert_eq!((state.previous.len(), state.consumed.len()), (PREVIOUS, CONSUMED));
    }

    #[test]
    fn an_accepted_rewrite_counts_until_the_next_delivery() {
        let tip = |letter| delivered(letter).commit.unwrap();
        let mut state = EnvironmentState::default();
        state.complete(delivered('a'));
        state.accept_rewrite(tip('b'), true);
        assert_eq!((state.running(), &state.highest_tip), (Some(&tip('a')), &Some(tip('b'))));
        state.accept_rewrite(tip('c'), false);
        assert_eq!((state.running(), &state.rewritten_to), (None, &Some(tip('c'))));
        assert_eq!(state.last_completed, Some(delivered('a')), "what runs is not forgotten");
        state.complete(delivered('d'));
        assert_eq!((state.running(), &state.rewritten_to), (Some(&tip('d')), &None));
    }

    #[test]
    fn a_directory_is_never_a_rollback_target() {
        let mut state = EnvironmentState::default();
        state.complete(delivered('a'));
        state.complete(Delivered { commit: None, ..delivered('b') });
        state.complete(delivered('c'));
        assert_eq!(state.rollback_target(), Some(&delivered('a')));
    }
}
