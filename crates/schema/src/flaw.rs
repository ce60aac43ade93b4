//! What is wrong with an object, and what could not be decided.

use std::fmt;

use windlass_model::FieldPath;

/// One thing that the server would refuse the object for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flaw {
    /// Where.
    pub path: FieldPath,
    /// What kind of flaw it is.
    pub kind: FlawKind,
    /// What is wrong, without the value: it may be confidential.
    pub message: String,
}

/// The kinds of flaws, as far as they make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlawKind {
    /// The schema does not declare the field: an apply fails, and what is stored already is dropped.
    Unknown,
    /// The value has another shape than the schema demands: no apply of anybody works while it is stored.
    Shape,
    /// A field is missing, a value is not among those allowed, or too large: the server does not evaluate rules then.
    Missing,
    /// The value breaks another constraint.
    Value,
    /// A CEL rule says no.
    Rule,
}

/// Something that the server decides and this crate cannot.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unchecked {
    /// Where.
    pub path: FieldPath,
    /// What was not checked, and why.
    pub message: String,
}

/// Everything that was found about one object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// What is wrong.
    pub flaws: Vec<Flaw>,
    /// What could not be decided.
    pub unchecked: Vec<Unchecked>,
}

impl Findings {
    pub(crate) fn flaw(&mut self, path: &FieldPath, kind: FlawKind, message: impl Into<String>) {
        self.flaws.push(Flaw { path: path.clone(), kind, message: message.into() });
    }

    pub(crate) fn unchecked(&mut self, path: &FieldPath, message: impl Into<String>) {
        self.unchecked.push(Unchecked { path: path.clone(), message: message.into() });
    }

    /// Says whether the server stops before it evaluates rules.
    pub(crate) fn stops_rules(&self) -> bool {
        self.flaws.iter().any(|flaw| flaw.kind != FlawKind::Value)
    }
}

impl fmt::Display for Flaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, &self.path, &self.message)
    }
}

impl fmt::Display for Unchecked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_at(f, &self.path, &self.message)
    }
}

fn write_at(f: &mut fmt::Formatter<'_>, path: &FieldPath, message: &str) -> fmt::Result {
    if *path == FieldPath::root() { f.write_str(message) } else { write!(f, "{path}: {message}") }
}
