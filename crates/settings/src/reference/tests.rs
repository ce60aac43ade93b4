//! The pages under `docs/reference` are what the code generates. `UPDATE_REFERENCE=1` writes them anew.

use std::path::Path;

use super::{environment_example, environment_reference, repository_example, repository_reference};
use crate::{Environment, Repository, environment_schema, repository_schema};
use windlass_model::ExitCode;

fn check(name: &str, generated: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    #[expect(clippy::disallowed_methods, reason = "a test is told by its caller whether to write the pages")]
    let update = std::env::var_os("UPDATE_REFERENCE").is_some();
    if update {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, generated).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == generated,
        "docs/reference/{name} is out of date: run `UPDATE_REFERENCE=1 cargo test -p windlass-settings`"
    );
}

fn exit_codes() -> String {
    let row = |code: ExitCode| {
        format!("| {} | {} | {} | {} |", code.code(), code.name(), code.meaning(), code.safe_again())
    };
    let rows: Vec<String> = ExitCode::ALL.into_iter().map(row).collect();
    let intro = "The number says how a command ended; scripts may rely on it. JSON output and run records use the name.";
    let head = "| code | name | meaning | safe to run again |\n|---|---|---|---|";
    format!("# Exit codes\n\n{intro}\n\n{head}\n{}\n", rows.join("\n"))
}

fn pretty(schema: &serde_json::Value) -> String {
    serde_json::to_string_pretty(schema).unwrap() + "\n"
}

#[test]
fn pages_are_current() {
    check("environment.md", &environment_reference());
    check("environment.schema.json", &pretty(&environment_schema()));
    check("windlass-yaml.md", &repository_reference());
    check("windlass.schema.json", &pretty(&repository_schema()));
    check("exit-codes.md", &exit_codes());
}

#[test]
fn examples_are_accepted() {
    Environment::parse(environment_example(), "environment.yaml").unwrap();
    Repository::parse(repository_example(), "windlass.yaml").unwrap();
}

/// Every key of the schema occurs in the example, so that a new key is shown to readers.
#[test]
fn examples_are_complete() {
    let complete = |schema: serde_json::Value, example: &str| {
        let definitions = schema["$defs"].as_object().unwrap().values().chain([&schema]);
        for name in
            definitions.filter_map(|d| d["properties"].as_object()).flat_map(|properties| properties.keys())
        {
            assert!(example.contains(&format!("{name}:")), "the example lacks `{name}`");
        }
    };
    // `unsigned` contradicts the keys, `greeting` and `body` are alternatives: each is explained in the table.
    complete(environment_schema(), &(environment_example().to_owned() + "unsigned:"));
    complete(repository_schema(), &(repository_example().to_owned() + "greeting: body:"));
}
