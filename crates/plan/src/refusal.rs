//! The guards' names and how a guard says no.

use windlass_model::Refusal;

/// A guard, by its stable name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Guard {
    ProtectedKind,
    PruneBudget,
    EmptyUnit,
    UnitGone,
    NamespaceInUse,
    DefinitionInUse,
    DefinitionConversion,
    DefinitionIdentity,
    DefinitionNarrowing,
    DefinitionUnlisted,
    StoredVersion,
    VersionInUse,
    IncompleteList,
    TwoOwners,
    ForeignSet,
    Freeze,
    Rule,
    PodPolicy,
    WebhookBackend,
}

impl Guard {
    fn name(self) -> &'static str {
        match self {
            Self::ProtectedKind => "protected-kind",
            Self::PruneBudget => "prune-budget",
            Self::EmptyUnit => "empty-unit",
            Self::UnitGone => "unit-gone",
            Self::NamespaceInUse => "namespace-in-use",
            Self::DefinitionInUse => "definition-in-use",
            Self::DefinitionConversion => "definition-conversion",
            Self::DefinitionIdentity => "definition-identity",
            Self::DefinitionNarrowing => "definition-narrowing",
            Self::DefinitionUnlisted => "definition-unlisted",
            Self::StoredVersion => "stored-version",
            Self::VersionInUse => "version-in-use",
            Self::IncompleteList => "incomplete-list",
            Self::TwoOwners => "two-owners",
            Self::ForeignSet => "foreign-set",
            Self::Freeze => "freeze",
            Self::Rule => "rule",
            Self::PodPolicy => "pod-policy",
            Self::WebhookBackend => "webhook-backend",
        }
    }

    /// Says no.
    pub(crate) fn refuses(self, message: impl Into<String>, hint: impl Into<String>) -> Refusal {
        Refusal { guard: self.name().to_owned(), message: message.into(), hint: hint.into() }
    }
}
