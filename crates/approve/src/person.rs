//! Who is who: names and addresses of the same person.

use windlass_settings::Approver;

/// How a person is known: by name, address, or both; upper and lower case do not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Person {
    name: String,
    email: Option<String>,
}

impl Person {
    /// Returns the person that an approver's entry is about.
    pub(crate) fn of(approver: &Approver) -> Self {
        Self { name: normal(&approver.name), email: approver.email.as_deref().map(normal) }
    }

    /// Reads `Name <address>`, a bare address, or a bare name.
    pub(crate) fn parse(text: &str) -> Self {
        match text.rsplit_once('<') {
            Some((name, rest)) => {
                Self { name: normal(name), email: Some(normal(rest.split('>').next().unwrap_or(rest))) }
            }
            None if text.contains('@') => Self { name: String::new(), email: Some(normal(text)) },
            None => Self { name: normal(text), email: None },
        }
    }

    /// Says whether both are the same person. One equal trait is enough: a person who goes by two
    /// addresses is still one person, and refusing too often only costs asking somebody else.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (!self.name.is_empty() && self.name == other.name)
            || matches!((&self.email, &other.email), (Some(a), Some(b)) if a == b && !a.is_empty())
    }
}

/// Says whether a text such as an author line names the approver.
pub(crate) fn is_person(text: &str, approver: &Approver) -> bool {
    Person::parse(text).is(&Person::of(approver))
}

fn normal(text: &str) -> String {
    text.trim().to_lowercase()
}
