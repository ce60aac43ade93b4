//! Numbers in a range, and sizes of texts, lists and objects.

use serde_json::Value;
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};

/// Bounds of a value.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    minimum: Option<f64>,
    maximum: Option<f64>,
    exclusive_minimum: bool,
    exclusive_maximum: bool,
    multiple_of: Option<f64>,
    /// The bounds of a fixed-width integer (`int32`, `int64`).
    width: Option<(f64, f64, &'static str)>,
    length: Span,
    items: Span,
    properties: Span,
}

/// A smallest and a largest size.
#[derive(Debug, Default)]
struct Span {
    least: Option<u64>,
    most: Option<u64>,
}

impl Limits {
    pub(crate) fn read(schema: &Value) -> Self {
        let span =
            |least: &str, most: &str| Span { least: schema[least].as_u64(), most: schema[most].as_u64() };
        Self {
            minimum: schema["minimum"].as_f64(),
            maximum: schema["maximum"].as_f64(),
            exclusive_minimum: schema["exclusiveMinimum"] == true,
            exclusive_maximum: schema["exclusiveMaximum"] == true,
            multiple_of: schema["multipleOf"].as_f64(),
            width: match schema["format"].as_str() {
                Some("int32") => Some((f64::from(i32::MIN), f64::from(i32::MAX), "int32")),
                _ => None,
            },
            length: span("minLength", "maxLength"),
            items: span("minItems", "maxItems"),
            properties: span("minProperties", "maxProperties"),
        }
    }

    pub(crate) fn check(&self, value: &Value, path: &FieldPath, findings: &mut Findings) {
        match value {
            Value::Number(number) => {
                let whole = number.is_i64() || number.is_u64();
                if let Some(number) = number.as_f64() {
                    self.number(number, whole, path, findings);
                }
            }
            Value::String(text) => self.length.check(text.chars().count(), "characters", path, findings),
            Value::Array(items) => self.items.check(items.len(), "items", path, findings),
            Value::Object(fields) => self.properties.check(fields.len(), "fields", path, findings),
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// The server judges whole numbers by the whole part of each bound: `minimum: 0.5` lets 0 pass, and
    /// `multipleOf: 0.5` lets no whole number pass (measured on 1.36).
    fn number(&self, number: f64, whole: bool, path: &FieldPath, findings: &mut Findings) {
        let mut wrong = |message: String| findings.flaw(path, FlawKind::Value, message);
        let bound = |bound: f64| if whole { bound.trunc() } else { bound };
        if let Some(least) = self.minimum.map(bound) {
            if self.exclusive_minimum && number <= least {
                wrong(format!("must be greater than {least}"));
            } else if number < least {
                wrong(format!("must be at least {least}"));
            }
        }
        if let Some(most) = self.maximum.map(bound) {
            if self.exclusive_maximum && number >= most {
                wrong(format!("must be less than {most}"));
            } else if number > most {
                wrong(format!("must be at most {most}"));
            }
        }
        if let Some(factor) = self.multiple_of
            && (bound(factor) <= 0.0 || (number / bound(factor)).fract() != 0.0)
        {
            wrong(format!("must be a multiple of {factor}"));
        }
        if let Some((least, most, name)) = self.width
            && !(least..=most).contains(&number)
        {
            wrong(format!("does not fit into {name}"));
        }
    }
}

impl Span {
    fn check(&self, size: usize, what: &str, path: &FieldPath, findings: &mut Findings) {
        let size = u64::try_from(size).unwrap_or(u64::MAX);
        if let Some(least) = self.least.filter(|least| size < *least) {
            findings.flaw(path, FlawKind::Value, format!("must have at least {least} {what}, has {size}"));
        }
        // Too much of anything keeps the server from evaluating rules, too little does not.
        if let Some(most) = self.most.filter(|most| size > *most) {
            findings.flaw(path, FlawKind::Missing, format!("must have at most {most} {what}, has {size}"));
        }
    }
}
