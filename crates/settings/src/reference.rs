//! Reference pages, made from the schemas so that they cannot lag behind.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use serde_json::Value;

use crate::schema::{Property, Schema, Shape};
use crate::{environment_schema, repository_schema};

/// Returns a complete, annotated environment file.
pub fn environment_example() -> &'static str {
    include_str!("reference/environment.yaml")
}

/// Returns a complete, annotated `windlass.yaml`.
pub fn repository_example() -> &'static str {
    include_str!("reference/windlass.yaml")
}

/// Returns the reference page of the environment file, as Markdown.
pub fn environment_reference() -> String {
    page("Environment file", environment_example(), "environment.schema.json", &environment_schema())
}

/// Returns the reference page of `windlass.yaml`, as Markdown.
pub fn repository_reference() -> String {
    page("windlass.yaml", repository_example(), "windlass.schema.json", &repository_schema())
}

fn page(title: &str, example: &str, schema_file: &str, schema: &Value) -> String {
    let root = Schema::new(schema);
    let mut page = Page { out: String::new(), seen: BTreeSet::new() };
    page.line(&format!("# {title}\n\n{}\n", prose(root.description())));
    page.line(&format!(
        "Unknown keys, wrong types and values that cannot be meant are errors that name line and column. Only\n\
         `true` and `false` are booleans. Durations are written as `90s`, `10m` or `1h30m`. Editors can check the\n\
         file with the [JSON Schema]({schema_file}).\n"
    ));
    page.line(&format!("## Example\n\n```yaml\n{example}```\n"));
    page.section("", root);
    page.out
}

struct Page {
    out: String,
    seen: BTreeSet<String>,
}

impl Page {
    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    /// Writes the table of one mapping, then those of the mappings inside it.
    fn section(&mut self, path: &str, schema: Schema<'_>) {
        let Shape::Map(mut properties) = schema.shape() else { return };
        properties.sort_by_key(|property| !property.required);
        if path.is_empty() {
            self.line("## Keys\n");
        } else {
            self.line(&format!("## `{path}`\n\n{}\n", prose(schema.resolved().description())));
        }
        self.line("| key | type | default | meaning |\n|---|---|---|---|");
        for property in &properties {
            self.line(&row(path, property));
        }
        self.line("");
        for property in &properties {
            let (schema, suffix) = inner(property.schema);
            let name = schema.definition().unwrap_or_default().to_owned();
            if matches!(schema.shape(), Shape::Map(_)) && self.seen.insert(format!("{path}.{name}")) {
                self.section(&format!("{}{suffix}", join(path, property.name)), schema);
            }
        }
    }
}

/// Looks through a list at what its items are.
fn inner(schema: Schema<'_>) -> (Schema<'_>, &'static str) {
    match schema.shape() {
        Shape::List(items) => (items, "[]"),
        _ => (schema, ""),
    }
}

fn row(path: &str, property: &Property<'_>) -> String {
    let default = match property.default {
        _ if property.required => "**required**".to_owned(),
        None | Some(Value::Null) => "–".to_owned(),
        Some(Value::Object(_)) => "see below".to_owned(),
        Some(Value::Array(items)) if items.is_empty() => "none".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "–".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
    };
    let mut meaning = prose(property.schema.description());
    if let Shape::Choice(choices) = property.schema.shape() {
        for (word, what) in choices {
            meaning = format!("{meaning}<br>`{word}`: {}", prose(what));
        }
    }
    let target = join(path, property.name);
    let name = match inner(property.schema) {
        (schema, suffix) if matches!(schema.shape(), Shape::Map(_)) => {
            format!("[`{}`](#{})", property.name, anchor(&format!("{target}{suffix}")))
        }
        _ => format!("`{}`", property.name),
    };
    format!("| {name} | {} | {default} | {meaning} |", type_name(property.schema))
}

fn type_name(schema: Schema<'_>) -> String {
    match schema.shape() {
        Shape::Map(_) => "mapping".to_owned(),
        Shape::List(items) => format!("list of {}", plural(&type_name(items))),
        Shape::Choice(_) => "word".to_owned(),
        Shape::Duration => "duration".to_owned(),
        Shape::Text => "text".to_owned(),
        Shape::Integer { min, max: Some(max) } => format!("number from {min} to {max}"),
        Shape::Integer { min, max: None } => format!("number from {min}"),
        Shape::Bool => "`true` or `false`".to_owned(),
        Shape::Any => "any object".to_owned(),
    }
}

fn plural(noun: &str) -> String {
    format!("{noun}s")
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Makes the anchor that Markdown viewers give to a heading: lower case, punctuation dropped.
fn anchor(heading: &str) -> String {
    heading.chars().filter(|c| c.is_alphanumeric() || *c == '-').collect::<String>().to_lowercase()
}

/// Makes one line of a description that may be broken into several, safe inside a table.
fn prose(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}
