//! The JSON Schemas of both files, and a simple view of them.

use schemars::schema_for;
use serde_json::{Map, Value};

use crate::{Environment, Repository};

/// Returns the JSON Schema (draft 2020-12) of an environment file.
pub fn environment_schema() -> Value {
    schema_for!(Environment).to_value()
}

/// Returns the JSON Schema (draft 2020-12) of `windlass.yaml`.
pub fn repository_schema() -> Value {
    schema_for!(Repository).to_value()
}

/// One schema with the definitions it may refer to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Schema<'a> {
    root: &'a Value,
    here: &'a Value,
}

/// What a schema asks for, reduced to what these two files use.
#[derive(Debug)]
pub(crate) enum Shape<'a> {
    Map(Vec<Property<'a>>),
    List(Schema<'a>),
    /// A fixed set of words, each with its meaning.
    Choice(Vec<(&'a str, &'a str)>),
    Duration,
    Text,
    Integer {
        min: u64,
        max: Option<u64>,
    },
    Bool,
    Any,
}

/// One key of a mapping.
#[derive(Debug)]
pub(crate) struct Property<'a> {
    pub(crate) name: &'a str,
    pub(crate) required: bool,
    pub(crate) default: Option<&'a Value>,
    pub(crate) schema: Schema<'a>,
}

impl<'a> Schema<'a> {
    /// Takes a whole schema document.
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, here: root }
    }

    /// Returns the text that explains the value.
    pub(crate) fn description(&self) -> &'a str {
        self.here["description"].as_str().unwrap_or_default()
    }

    /// Returns the name of the definition that the schema refers to, if it refers to one.
    pub(crate) fn definition(&self) -> Option<&'a str> {
        let reference = self.here["$ref"].as_str().or_else(|| self.non_null()?["$ref"].as_str())?;
        reference.strip_prefix("#/$defs/")
    }

    /// Says whether the value may be null, which these files read as absent.
    pub(crate) fn nullable(&self) -> bool {
        let listed =
            self.here["type"].as_array().is_some_and(|types| types.iter().any(|name| name == "null"));
        listed || self.non_null().is_some()
    }

    /// Returns the schema that this one stands for.
    pub(crate) fn resolved(&self) -> Self {
        match self.definition() {
            Some(name) => Self { here: &self.root["$defs"][name], ..*self },
            None => *self,
        }
    }

    /// Returns what the schema asks for.
    pub(crate) fn shape(&self) -> Shape<'a> {
        if self.definition() == Some("Duration") {
            return Shape::Duration;
        }
        let resolved = self.resolved();
        let here = resolved.here;
        if let Some(choices) = here["oneOf"].as_array() {
            let choice = |one: &'a Value| {
                Some((one["const"].as_str()?, one["description"].as_str().unwrap_or_default()))
            };
            return Shape::Choice(choices.iter().filter_map(choice).collect());
        }
        let name = match &here["type"] {
            Value::Array(types) => types.iter().find(|name| *name != "null"),
            other => Some(other),
        };
        match name.and_then(Value::as_str) {
            Some("object") => Shape::Map(resolved.properties()),
            Some("array") => Shape::List(Self { here: &here["items"], ..*self }),
            Some("string") => Shape::Text,
            Some("boolean") => Shape::Bool,
            Some("integer") => Shape::Integer {
                min: here["minimum"].as_u64().unwrap_or_default(),
                max: here["maximum"].as_u64(),
            },
            _ => Shape::Any,
        }
    }

    fn properties(&self) -> Vec<Property<'a>> {
        let required = |name: &str| {
            self.here["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name))
        };
        let property = |(name, here): (&'a String, &'a Value)| Property {
            name,
            required: required(name),
            default: here.get("default"),
            schema: Self { here, ..*self },
        };
        self.here["properties"].as_object().map(Map::iter).into_iter().flatten().map(property).collect()
    }

    /// Returns the other branch of `anyOf: [something, null]`.
    fn non_null(&self) -> Option<&'a Value> {
        self.here["anyOf"].as_array()?.iter().find(|branch| branch["type"] != "null")
    }
}
