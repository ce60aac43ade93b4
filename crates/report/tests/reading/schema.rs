//! The published schema: generated from the types, and true of real plans.

use std::path::Path;

use serde_json::Value;
use windlass_model::plan_schema;
use windlass_report::json_text;

use crate::samples;

#[test]
fn the_plan_schema_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/plan.schema.json");
    let text = json_text(&plan_schema());
    #[expect(clippy::disallowed_methods, reason = "`make reference` asks for the file by the environment")]
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, &text).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == text,
        "docs/reference/plan.schema.json is not what the types say: run `make reference`"
    );
}

#[test]
fn plans_are_valid() {
    let schema = jsonschema::validator_for(&plan_schema()).unwrap();
    for plan in [samples::rich(), samples::plan(Vec::new())] {
        let document = plan.to_json();
        let errors: Vec<String> = schema
            .iter_errors(&document)
            .map(|error| format!("{}: {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, [""; 0]);
    }
}

#[test]
fn the_schema_finds_what_is_wrong() {
    let schema = jsonschema::validator_for(&plan_schema()).unwrap();
    let check = |pointer: &str, value: Value| {
        let mut document = samples::rich().to_json();
        *document.pointer_mut(pointer).unwrap() = value;
        assert!(!schema.is_valid(&document), "{pointer}");
    };
    check("/changeDigest", "sha256:12".into());
    check("/actions/0/operation", "destroy".into());
    check("/actions/0/delta/0/path", Value::Null);
    check("/actions", Value::Null);
    check("/source/provenance", "trusted".into());
}
