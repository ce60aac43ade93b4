//! Compares what we read with what `kubectl` reads, case by case; see `corpus/README.md`.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests")]

mod corpus_format;

use std::path::Path;
use std::process::Command;

use corpus_format::{Case, File};
use serde_json::Value;

fn files() -> Vec<File> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    ["scalars.table", "keys.table", "documents.cases", "bytes.cases", "json.cases"]
        .map(|name| File::read(&folder.join(name)))
        .into()
}

/// Returns what we read, `None` when we refuse. What has no kind is refused later, by the renderer.
fn ours(case: &Case) -> Option<Value> {
    let documents = windlass_yaml::parse(&case.bytes()).ok()?;
    let values: Vec<Value> = documents.into_iter().map(|document| document.value).collect();
    if values.iter().all(|value| value.get("kind").is_some_and(Value::is_string)) {
        Some(case.answer_of(values))
    } else {
        None
    }
}

/// Returns what `kubectl` reads, `None` when it refuses.
fn theirs(case: &Case, kubectl: &str, folder: &Path) -> Option<Value> {
    let file = folder.join("case.yaml");
    std::fs::write(&file, case.bytes()).unwrap();
    let arguments = ["label", "--local", "-o", "json", "k=v", "-f"];
    let output = Command::new(kubectl).args(arguments).arg(&file).output().unwrap();
    if String::from_utf8_lossy(&output.stderr).contains("no objects passed") {
        return Some(case.answer_of(Vec::new()));
    }
    if !output.status.success() {
        return None;
    }
    let values: Result<Vec<Value>, _> =
        serde_json::Deserializer::from_slice(&output.stdout).into_iter().collect();
    Some(case.answer_of(values.unwrap()))
}

/// Numbers in one form: JSON has many ways to write the same number.
fn normal(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(normal).collect(),
        Value::Object(map) => map.iter().map(|(key, value)| (key.clone(), normal(value))).collect(),
        Value::Number(number) => match number.as_i64() {
            Some(_) => value.clone(),
            None if number.as_f64() == Some(0.0) => Value::from(0),
            None => Value::from(number.as_f64().unwrap()),
        },
        _ => value.clone(),
    }
}

#[test]
fn frozen_answers() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for case in files().iter().flat_map(|file| &file.cases) {
        count += 1;
        let got = ours(case).as_ref().map(normal);
        let want = case.answer.as_ref().map(normal);
        let fits = if case.differs.is_some() { got.is_some() != want.is_some() } else { got == want };
        if !fits {
            let error = windlass_yaml::parse(&case.bytes()).err();
            wrong.push(format!("{}\n  ours: {got:?} {error:?}\n  kubectl: {want:?}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} differ:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 400, "only {count} cases were found");
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the kubectl to ask is named by the environment")]
fn kubectl_still_answers_like_that() {
    let Ok(kubectl) = std::env::var("WINDLASS_TEST_KUBECTL") else { return };
    let write = std::env::var("WINDLASS_WRITE_CORPUS").is_ok();
    let folder = tempfile::tempdir().unwrap();
    let mut moved = Vec::new();
    for mut file in files() {
        for case in &mut file.cases {
            let answer = theirs(case, &kubectl, folder.path());
            if answer.as_ref().map(normal) != case.answer.as_ref().map(normal) {
                moved.push(format!("{}: now {answer:?}, frozen {:?}", case.name, case.answer));
                case.answer = answer;
            }
        }
        if write {
            file.write();
        }
    }
    assert!(write || moved.is_empty(), "{} answers differ:\n{}", moved.len(), moved.join("\n"));
}
