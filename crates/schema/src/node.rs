//! A structural schema, read once and used for many objects.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::format::Format;
use crate::limits::Limits;
use crate::logic::Logic;
use crate::pattern::Pattern;
use crate::rule::{Language, Rule};

/// One node of a structural schema (KEP 1979): what it says about a value and what is below it.
#[derive(Debug, Default)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) nullable: bool,
    /// Fields that are not declared stay (`x-kubernetes-preserve-unknown-fields`).
    pub(crate) preserves: bool,
    /// The value is an object of Kubernetes (`x-kubernetes-embedded-resource`).
    pub(crate) embedded: bool,
    pub(crate) properties: BTreeMap<String, Self>,
    pub(crate) additional: Additional,
    pub(crate) items: Option<Box<Self>>,
    pub(crate) required: Vec<String>,
    pub(crate) default: Option<Value>,
    pub(crate) list: List,
    pub(crate) limits: Limits,
    pub(crate) choices: Option<Vec<Value>>,
    pub(crate) pattern: Option<Pattern>,
    pub(crate) format: Option<Format>,
    pub(crate) logic: Logic,
    pub(crate) rules: Vec<Rule>,
}

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    #[default]
    Any,
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
    IntOrString,
}

/// What an object may hold besides its properties.
#[derive(Debug, Default)]
pub(crate) enum Additional {
    #[default]
    Nothing,
    Anything,
    Of(Box<Node>),
}

/// What makes the items of a list the same (`x-kubernetes-list-type`).
#[derive(Debug, Default)]
pub(crate) enum List {
    #[default]
    Atomic,
    Set,
    Map(Vec<String>),
}

impl Node {
    /// Reads a schema. What it does not understand it ignores, as the server does with what it stored.
    pub(crate) fn read(schema: &Value, language: &Language) -> Self {
        let flag = |key: &str| schema[key] == true;
        let below = |schema: &Value| Box::new(Self::read(schema, language));
        let properties = schema["properties"].as_object().into_iter().flatten();
        Self {
            kind: Kind::of(schema),
            nullable: flag("nullable"),
            preserves: flag("x-kubernetes-preserve-unknown-fields"),
            embedded: flag("x-kubernetes-embedded-resource"),
            properties: properties
                .map(|(name, schema)| (name.clone(), Self::read(schema, language)))
                .collect(),
            additional: match &schema["additionalProperties"] {
                schema @ Value::Object(_) => Additional::Of(below(schema)),
                Value::Bool(true) => Additional::Anything,
                _ => Additional::Nothing,
            },
            items: schema.get("items").filter(|items| items.is_object()).map(below),
            required: texts(&schema["required"]),
            default: schema.get("default").filter(|default| !default.is_null()).cloned(),
            list: match schema["x-kubernetes-list-type"].as_str() {
                Some("set") => List::Set,
                Some("map") => List::Map(texts(&schema["x-kubernetes-list-map-keys"])),
                _ => List::Atomic,
            },
            limits: Limits::read(schema),
            choices: schema["enum"].as_array().cloned(),
            pattern: schema["pattern"].as_str().map(Pattern::read),
            format: schema["format"].as_str().and_then(Format::read),
            logic: Logic::read(schema, language),
            rules: Rule::read_all(&schema["x-kubernetes-validations"], language),
        }
    }

    /// Returns what describes a field.
    pub(crate) fn field(&self, name: &str) -> Option<&Self> {
        self.properties.get(name).or(match &self.additional {
            Additional::Of(node) => Some(node),
            Additional::Nothing | Additional::Anything => None,
        })
    }

    /// Says whether keys are data rather than names of fields.
    pub(crate) fn is_map(&self) -> bool {
        !matches!(self.additional, Additional::Nothing)
    }

    /// Says whether the order of a list in it means nothing.
    pub(crate) fn holds_unordered(&self) -> bool {
        let additional = match &self.additional {
            Additional::Of(node) => node.holds_unordered(),
            Additional::Nothing | Additional::Anything => false,
        };
        !matches!(self.list, List::Atomic)
            || additional
            || self.items.as_deref().is_some_and(Self::holds_unordered)
            || self.properties.values().any(Self::holds_unordered)
    }
}

impl Kind {
    fn of(schema: &Value) -> Self {
        if schema["x-kubernetes-int-or-string"] == true {
            return Self::IntOrString;
        }
        match schema["type"].as_str() {
            Some("object") => Self::Object,
            Some("array") => Self::Array,
            Some("string") => Self::String,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            _ => Self::Any,
        }
    }
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
