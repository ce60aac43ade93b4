//! Remembered dry-runs: what the server was asked before and answered with "this changes nothing".
//!
//! Only that answer is kept, and never a body: whoever holds the live object holds the answer. It counts again for
//! exactly the same question only: the same request to the same version of the same object, under the same
//! configuration of the cluster. A wrong memory could therefore hide a change; it could never invent one.

mod fingerprint;
mod matcher;
mod withheld;

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub(crate) use fingerprint::Fingerprint;
pub(crate) use matcher::{Matcher, Subject};
pub(crate) use withheld::without_values;

/// How long an answer is believed. It bounds what can be hidden by an influence that the question does not name.
const BELIEVED: SignedDuration = SignedDuration::from_hours(7 * 24);
/// How long the parts of an API server may take to act on a new configuration (0.8 s measured on 1.36). What is
/// answered before is not kept.
pub(crate) const SETTLING: SignedDuration = SignedDuration::from_secs(5);
/// The version of the file's form and of what a question holds.
const FORMAT: u32 = 1;

/// What was answered so far. Holds fingerprints and the server's warnings; no values of Secrets, in no form.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Memory {
    format: u32,
    /// Makes the fingerprints of two memories incomparable, and those of guessed content useless.
    salt: String,
    scope: Option<Seen>,
    answers: BTreeMap<Fingerprint, Unchanged>,
}

/// The configuration of the cluster that was met last.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Seen {
    scope: Fingerprint,
    /// Since when; absent if there was none before.
    since: Option<Timestamp>,
}

/// An object that a request did not change.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Unchanged {
    question: Fingerprint,
    asked: Timestamp,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
}

/// One question: about which object, and what exactly.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question {
    /// The object and who asks. There is one answer for each.
    pub(crate) slot: Fingerprint,
    /// Everything that the answer depends on.
    pub(crate) whole: Fingerprint,
}

/// Says why a memory cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum MemoryError {
    /// The bytes are not what was written.
    #[error("it is damaged: {0}")]
    Damaged(#[from] serde_json::Error),
    /// Another version of Windlass wrote it.
    #[error("it has the form {0}, and this version reads form {FORMAT}")]
    Form(u32),
}

impl Memory {
    /// Makes an empty memory. The salt is 16 bytes that nobody else knows.
    pub fn empty(salt: [u8; 16]) -> Self {
        Self { format: FORMAT, salt: hex::encode(salt), scope: None, answers: BTreeMap::new() }
    }

    /// Reads what [`Memory::to_bytes`] wrote.
    ///
    /// # Errors
    /// [`MemoryError`]; an empty memory does as well.
    pub fn parse(bytes: &[u8]) -> Result<Self, MemoryError> {
        let memory: Self = serde_json::from_slice(bytes)?;
        if memory.format == FORMAT { Ok(memory) } else { Err(MemoryError::Form(memory.format)) }
    }

    /// Writes the memory as JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Returns how many answers are kept.
    pub fn len(&self) -> usize {
        self.answers.len()
    }

    /// Says whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.answers.is_empty()
    }

    pub(crate) fn fingerprint(&self, parts: &[&[u8]]) -> Fingerprint {
        Fingerprint::of(&self.salt, parts)
    }

    /// Returns the warnings that came with the answer "unchanged" to this question, if that was the answer.
    pub(crate) fn unchanged(&self, question: &Question, now: Timestamp) -> Option<&[String]> {
        let known = self.answers.get(&question.slot)?;
        (known.question == question.whole && is_believed(known, now)).then_some(known.warnings.as_slice())
    }

    /// Takes down which configuration the cluster has, and says whether it is old enough for answers to be kept.
    ///
    /// A policy that was deleted a moment ago leaves no trace, and may still act. So a configuration that is another
    /// than last time counts as changed now.
    pub(crate) fn meet(&mut self, scope: Fingerprint, now: Timestamp) -> bool {
        let since = match &self.scope {
            Some(seen) if seen.scope == scope => seen.since,
            Some(_) => Some(now),
            None => None,
        };
        self.scope = Some(Seen { scope, since });
        since.is_none_or(|since| now.duration_since(since) >= SETTLING)
    }

    /// Keeps an answer.
    pub(crate) fn keep(&mut self, question: Question, warnings: Vec<String>, now: Timestamp) {
        self.answers.insert(question.slot, Unchanged { question: question.whole, asked: now, warnings });
    }

    /// Drops what is not believed any more.
    pub(crate) fn forget_old(&mut self, now: Timestamp) {
        self.answers.retain(|_, known| is_believed(known, now));
    }
}

/// An answer from the future is not believed either: the clock was wrong then or is now.
fn is_believed(known: &Unchanged, now: Timestamp) -> bool {
    let age = now.duration_since(known.asked);
    (SignedDuration::ZERO..BELIEVED).contains(&age)
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Memory({} answers)", self.answers.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + second).unwrap()
    }

    fn question(memory: &Memory, whole: &str) -> Question {
        Question { slot: memory.fingerprint(&[b"object"]), whole: memory.fingerprint(&[whole.as_bytes()]) }
    }

    #[test]
    fn only_the_same_question_is_answered_and_only_for_a_week() {
        let mut memory = Memory::empty([7; 16]);
        let asked = question(&memory, "as it is");
        memory.keep(asked.clone(), vec!["deprecated".into()], at(0));
        let memory = Memory::parse(&memory.to_bytes()).unwrap();
        assert_eq!(memory.unchanged(&asked, at(10)), Some(["deprecated".to_owned()].as_slice()));
        assert_eq!(memory.unchanged(&question(&memory, "other"), at(10)), None);
        assert_eq!(memory.unchanged(&asked, at(7 * 24 * 3600)), None);
        assert_eq!(memory.unchanged(&asked, at(-1)), None);
    }

    #[test]
    fn nothing_is_kept_just_after_the_configuration_changed() {
        let mut memory = Memory::empty([7; 16]);
        let [first, second] = [b"1", b"2"].map(|scope| memory.fingerprint(&[scope]));
        assert!(memory.meet(first.clone(), at(0)), "there is nothing to compare the first with");
        assert!(memory.meet(first.clone(), at(1)));
        assert!(!memory.meet(second.clone(), at(2)));
        assert!(!memory.meet(second.clone(), at(6)));
        assert!(memory.meet(second, at(7)));
        assert!(!memory.meet(first, at(8)), "what comes back is new again");
    }

    #[test]
    fn a_damaged_memory_is_an_error() {
        for bytes in [&b""[..], b"{}", b"[]", b"{\"format\":1"] {
            assert!(matches!(Memory::parse(bytes), Err(MemoryError::Damaged(_))));
        }
        let newer = String::from_utf8(Memory::empty([7; 16]).to_bytes()).unwrap().replace(":1,", ":2,");
        assert!(matches!(Memory::parse(newer.as_bytes()), Err(MemoryError::Form(2))));
    }

    #[test]
    fn what_is_old_is_dropped() {
        let mut memory = Memory::empty([7; 16]);
        memory.keep(question(&memory, "a"), Vec::new(), at(0));
        memory.forget_old(at(3600));
        assert_eq!(memory.len(), 1);
        memory.forget_old(at(8 * 24 * 3600));
        assert!(memory.is_empty());
    }
}
