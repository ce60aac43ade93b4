//! The rules of a schema: expressions in CEL (`x-kubernetes-validations`, KEP 2876).

mod library;
mod order;
mod outcome;
mod value;
mod walk;

use std::fmt;
use std::sync::Arc;

use cel::{Env, Program};
use serde_json::Value;

pub(crate) use walk::evaluate;

/// The functions that rules can use here: CEL's own, its extensions for texts and lists, and Kubernetes' own for
/// quantities, addresses, URLs and versions. A rule that needs another one is not decided.
pub(crate) struct Language(Arc<Env>);

/// One rule.
pub(crate) struct Rule {
    /// The expression.
    text: String,
    /// The expression, parsed; `None` if it uses what cannot be parsed here.
    program: Option<Program>,
    /// Whether it compares with the old value, so that it says nothing where there is none.
    is_transition: bool,
    /// Whether it is evaluated all the same, with an optional old value.
    optional_old: bool,
    message: Option<String>,
    message_program: Option<Program>,
    /// The field to blame, relative to where the rule stands.
    field: Vec<String>,
}

impl Language {
    pub(crate) fn new() -> Self {
        let mut env = Env::stdlib();
        for extension in [cel::extensions::strings, cel::extensions::lists] {
            // Without the extension its functions are unknown, and rules that use them stay undecided.
            drop(env.add_extension(extension));
        }
        drop(library::add(&mut env));
        Self(Arc::new(env))
    }
}

impl Rule {
    pub(crate) fn read_all(rules: &Value, language: &Language) -> Vec<Self> {
        rules.as_array().into_iter().flatten().map(|rule| Self::read(rule, language)).collect()
    }

    fn read(rule: &Value, Language(env): &Language) -> Self {
        let text = rule["rule"].as_str().unwrap_or_default().trim().to_owned();
        let program = env.compile(&text).ok();
        let old = |program: &Program| program.references().has_variable("oldSelf");
        Self {
            // What cannot be parsed can at least be searched.
            is_transition: program.as_ref().map_or_else(|| text.contains("oldSelf"), old),
            optional_old: rule["optionalOldSelf"] == true,
            message: rule["message"].as_str().map(|message| message.trim().to_owned()),
            message_program: rule["messageExpression"].as_str().and_then(|text| env.compile(text).ok()),
            field: rule["fieldPath"].as_str().map(field).unwrap_or_default(),
            program,
            text,
        }
    }
}

/// Reads a path such as `.spec.test['a.b']`.
fn field(path: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        let (name, after) = if let Some(quoted) = rest.strip_prefix("['") {
            quoted.split_once("']").unwrap_or((quoted, ""))
        } else {
            let plain = rest.strip_prefix('.').unwrap_or(rest);
            plain.split_at(plain.find(['.', '[']).unwrap_or(plain.len()))
        };
        if name.is_empty() {
            return names;
        }
        names.push(name.to_owned());
        rest = after;
    }
    names
}

impl fmt::Debug for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Language")
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Rule({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn fields_to_blame_are_read() {
        for (path, want) in [
            (".spec.test", vec!["spec", "test"]),
            (".spec['a.b'].c", vec!["spec", "a.b", "c"]),
            ("spec", vec!["spec"]),
            ("", vec![]),
        ] {
            assert_eq!(super::field(path), want, "{path}");
        }
    }
}
