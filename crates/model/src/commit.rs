//! A commit and the proof that it may be delivered.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The id of a Git commit: exactly 40 lower-case hex digits, never a name or a short form.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String", extend("pattern" = "^[0-9a-f]{40}$"))]
pub struct CommitId(String);

/// Says that a text is not a full commit id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a commit id: expected 40 lower-case hex digits, no branch, tag or short form")]
pub struct CommitIdError(String);

impl CommitId {
    /// Returns the 40 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the first 12 digits, for people.
    pub fn short(&self) -> &str {
        &self.0[..12]
    }
}

impl FromStr for CommitId {
    type Err = CommitIdError;

    fn from_str(text: &str) -> Result<Self, CommitIdError> {
        let legal =
            text.len() == 40 && text.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
        if legal { Ok(Self(text.to_owned())) } else { Err(CommitIdError(text.chars().take(80).collect())) }
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for CommitId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for CommitId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Who signed a commit, as far as the signature proves it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// The pinned primary key: 40 hex digits, upper case.
    pub fingerprint: String,
    /// The name that the environment file gives the key.
    pub name: String,
    /// When the signature says it was made.
    #[schemars(with = "String", extend("format" = "date-time"))]
    pub signed_at: Timestamp,
}

/// A commit that the protected branch holds on its first-parent chain, signed by a pinned key.
///
/// Only stage 1 makes one: [`VerifiedCommit::attest`] is banned elsewhere by `clippy.toml`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifiedCommit {
    repository: String,
    branch: String,
    id: CommitId,
    tree: String,
    tip: CommitId,
    signer: Signer,
    author: String,
    subject: String,
}

impl VerifiedCommit {
    /// States that every check of stage 1 passed for this commit.
    #[expect(clippy::too_many_arguments, reason = "a proof names everything that it proves")]
    pub fn attest(
        repository: String,
        branch: String,
        id: CommitId,
        tree: String,
        tip: CommitId,
        signer: Signer,
        author: String,
        subject: String,
    ) -> Self {
        Self { repository, branch, id, tree, tip, signer, author, subject }
    }

    /// Returns the repository's address without credentials.
    pub fn repository(&self) -> &str {
        &self.repository
    }

    /// Returns the protected branch.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Returns the commit's id.
    pub fn id(&self) -> &CommitId {
        &self.id
    }

    /// Returns the id of the commit's tree.
    pub fn tree(&self) -> &str {
        &self.tree
    }

    /// Returns the branch's tip when the commit was verified.
    pub fn tip(&self) -> &CommitId {
        &self.tip
    }

    /// Returns who signed.
    pub fn signer(&self) -> &Signer {
        &self.signer
    }

    /// Returns the author line's name and address.
    pub fn author(&self) -> &str {
        &self.author
    }

    /// Returns the first line of the message: untrusted text.
    pub fn subject(&self) -> &str {
        &self.subject
    }
}

/// Where the desired state comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "provenance")]
pub enum Provenance {
    /// A commit that stage 1 verified.
    Verified(VerifiedCommit),
    /// A directory or an unsigned commit; it can be planned anywhere, and applied only where the
    /// environment file says `unsigned: allowed`.
    Unsigned {
        /// The directory, or the repository and commit.
        what: String,
        /// The commit's id, if it is one.
        #[serde(skip_serializing_if = "Option::is_none")]
        commit: Option<CommitId>,
        /// The commit's author line, if it is one: nobody approves a commit of their own, signed or not.
        #[serde(skip_serializing_if = "Option::is_none")]
        author: Option<String>,
    },
}

impl Provenance {
    /// Returns the commit's id, if the source is a commit.
    pub fn commit(&self) -> Option<&CommitId> {
        match self {
            Self::Verified(commit) => Some(commit.id()),
            Self::Unsigned { commit, .. } => commit.as_ref(),
        }
    }

    /// Returns the author of the commit, if the source is a commit.
    pub fn author(&self) -> Option<&str> {
        match self {
            Self::Verified(commit) => Some(commit.author()),
            Self::Unsigned { author, .. } => author.as_deref(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_full_ids_are_taken() {
        let full = "62bc080798ced7f198836a2a33ce522a55ebc7a9";
        assert_eq!(full.parse::<CommitId>().map(|id| id.short().to_owned()), Ok("62bc080798ce".to_owned()));
        for bad in [
            "",
            "62bc0807",
            "HEAD~1",
            "refs/heads/main",
            &full.to_uppercase(),
            &format!("{full}0"),
            &full.replace('6', "g"),
        ] {
            assert!(bad.parse::<CommitId>().is_err(), "{bad}");
        }
    }
}
