//! What is wrong with a file that a user wrote, and where.

use std::fmt;

/// One mistake: where it is, which key it is about, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The file, as it was named to the parser.
    pub file: String,
    /// The line, from 1.
    pub line: u64,
    /// The column in characters, from 1.
    pub column: u64,
    /// The key path, such as `source.keys[0].fingerprint`; empty for the whole file.
    pub path: String,
    /// The mistake.
    pub mistake: Mistake,
}

/// What is wrong at one place of a file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Mistake {
    /// The text is not YAML, or uses YAML in a way that hides what is meant, such as a key given twice.
    #[error("not readable: {what}")]
    Syntax {
        /// What the YAML reader says.
        what: String,
    },
    /// A key that means nothing here.
    #[error("unknown key `{key}`{}", near.as_deref().map(|near| format!(": did you mean `{near}`?")).unwrap_or_default())]
    UnknownKey {
        /// The key.
        key: String,
        /// The known key that looks most like it.
        near: Option<String>,
        /// All keys that are known at this place.
        known: Vec<String>,
    },
    /// A key that must be given.
    #[error("missing key `{key}`")]
    MissingKey {
        /// The key.
        key: String,
        /// What the key is for.
        meaning: String,
    },
    /// A value of the wrong type or outside its range.
    #[error("expected {expected}, found {found}")]
    Value {
        /// What is expected.
        expected: String,
        /// What was found.
        found: String,
        /// What to do.
        hint: String,
    },
    /// A rule about what values mean is broken.
    #[error("{what}")]
    Rule {
        /// What is wrong.
        what: String,
        /// What to do.
        hint: String,
    },
    /// The file holds something secret; the line is never shown.
    #[error("{what}")]
    Secret {
        /// What is wrong, without the secret.
        what: String,
        /// What to do.
        hint: String,
    },
}

/// Every mistake that was found in one file, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsErrors(Vec<SettingsError>);

impl SettingsErrors {
    /// Collects mistakes; `None` when there are none.
    pub(crate) fn new(mut errors: Vec<SettingsError>) -> Option<Self> {
        errors.sort_by_key(|error| (error.line, error.column));
        errors.dedup();
        (!errors.is_empty()).then_some(Self(errors))
    }

    /// Holds a single mistake.
    pub(crate) fn only(error: SettingsError) -> Self {
        Self(vec![error])
    }

    /// Returns the mistakes in the order of the file; there is at least one.
    pub fn all(&self) -> &[SettingsError] {
        &self.0
    }

    /// Returns every mistake with its line of `source`, see [`SettingsError::render`].
    pub fn render(&self, source: &str) -> String {
        self.0.iter().map(|error| error.render(source)).collect::<Vec<_>>().join("\n")
    }
}

impl fmt::Display for SettingsErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            [] => Ok(()),
            [only] => only.fmt(f),
            [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
        }
    }
}

impl std::error::Error for SettingsErrors {}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        if !self.path.is_empty() {
            write!(f, "{}: ", self.path)?;
        }
        self.mistake.fmt(f)
    }
}

impl std::error::Error for SettingsError {}

impl SettingsError {
    /// Returns what to do about the mistake.
    pub fn hint(&self) -> String {
        self.mistake.hint()
    }

    /// Returns the mistake as several lines: the message, the line of `source` with a caret below the
    /// place, and what to do. The line is left out where it holds something secret.
    pub fn render(&self, source: &str) -> String {
        let mut lines = vec![self.to_string()];
        let shown = usize::try_from(self.line).ok().and_then(|line| source.lines().nth(line.checked_sub(1)?));
        if let (Some(text), false) = (shown, matches!(self.mistake, Mistake::Secret { .. })) {
            let number = self.line.to_string();
            let gutter = " ".repeat(number.len());
            let before: String =
                text.chars().zip(1..self.column).map(|(c, _)| if c == '\t' { '\t' } else { ' ' }).collect();
            lines.push(format!(" {gutter} |\n {number} | {text}\n {gutter} | {before}^"));
        }
        let hint = self.hint();
        if !hint.is_empty() {
            lines.push(format!(" help: {hint}"));
        }
        lines.push(String::new());
        lines.join("\n")
    }
}

impl Mistake {
    /// Returns what to do about the mistake.
    pub fn hint(&self) -> String {
        match self {
            Self::Syntax { .. } => {
                "correct the YAML at this place; the file is one document, with every key once".to_owned()
            }
            Self::UnknownKey { known, .. } => format!("known keys here: {}", known.join(", ")),
            Self::MissingKey { meaning, .. } => format!("add it: {}", meaning.trim_end_matches('.')),
            Self::Value { hint, .. } | Self::Rule { hint, .. } | Self::Secret { hint, .. } => hint.clone(),
        }
    }
}
