//! One line of a report, and what it stands for.

use crate::clean;

/// What a line stands for. A sign says it without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Tone {
    /// Context.
    Plain,
    /// A field or line that is new.
    Added,
    /// A field or line that goes.
    Removed,
    /// A field with another value.
    Changed,
    /// Something that destroys or stops.
    Danger,
    /// Something to look at.
    Warning,
    /// What to do.
    Hint,
    /// Where in a text the next lines are, or how much is not shown.
    Dim,
}

impl Tone {
    /// Returns the sign in front of a line.
    pub(crate) fn sign(self) -> char {
        match self {
            Self::Added => '+',
            Self::Removed => '-',
            Self::Changed => '~',
            Self::Danger | Self::Warning => '!',
            Self::Hint => '>',
            Self::Plain | Self::Dim => ' ',
        }
    }
}

/// One line, already harmless: its text passes [`clean()`] on the way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    tone: Tone,
    text: String,
}

impl Line {
    /// Cleans a text.
    pub(crate) fn new(tone: Tone, text: impl AsRef<str>) -> Self {
        Self { tone, text: clean(text.as_ref()) }
    }

    /// Returns what the line stands for.
    pub(crate) fn tone(&self) -> Tone {
        self.tone
    }

    /// Returns the text, without the sign.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Returns sign and text.
    pub(crate) fn signed(&self) -> String {
        format!("{} {}", self.tone.sign(), self.text)
    }
}
