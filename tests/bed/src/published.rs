//! Manifests that others publish in Go modules and jars, read from the caches of their tools when a test runs.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Returns where the Go toolchain keeps a module, `NAME@VERSION`.
pub fn module(name: &str) -> PathBuf {
    let output = Command::new("go")
        .args(["mod", "download", "-json", name])
        .current_dir(std::env::temp_dir())
        .output()
        .expect("the Go toolchain is needed");
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    PathBuf::from(answer["Dir"].as_str().unwrap_or_else(|| panic!("{answer}")))
}

/// Reads the documents of a file, or of all YAML files below a folder, each with its file. Files that are no YAML are
/// left out: some of what is published is meant to be wrong.
pub fn documents(path: &Path) -> Vec<(PathBuf, Value)> {
    let mut found = Vec::new();
    for file in files(path) {
        for document in windlass_yaml::parse(&std::fs::read(&file).unwrap()).unwrap_or_default() {
            found.push((file.clone(), document.value));
        }
    }
    found
}

/// Reads the definitions of custom resources in a file, or in all files below a folder, in the order of their names.
pub fn definitions(path: &Path) -> Vec<Value> {
    let mut found: Vec<Value> = documents(path).into_iter().map(|(_, body)| body).collect();
    found.retain(|body| body["kind"] == "CustomResourceDefinition");
    found.sort_by_key(|body| body["metadata"]["name"].to_string());
    found
}

/// Runs a program in a folder of its own and returns the folder.
fn run(folder: &Path, program: &str, arguments: &[&str]) {
    let output = Command::new(program).args(arguments).current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed: {error}"));
    assert!(output.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
}

/// Generates the definition of Kafka clusters from Strimzi's jars: 1.4 MB of YAML, and stored in an older version than it prefers.
pub fn kafka() -> Value {
    let folder = std::env::temp_dir().join(format!("windlass-kafka-{:08x}", rand::random::<u32>()));
    std::fs::create_dir(&folder).unwrap();
    let (jar, version) = ("org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy", "0.45.0");
    for artifact in ["crd-generator", "api"] {
        let artifact = format!("-Dartifact=io.strimzi:{artifact}:{version}");
        let into = format!("-DoutputDirectory={}", folder.display());
        run(&folder, "mvn", &["-q", "-B", jar, &artifact, &into]);
    }
    let file = folder.join("kafka.yaml");
    let jars = format!("crd-generator-{version}.jar:api-{version}.jar");
    let kind = format!("io.strimzi.api.kafka.model.kafka.Kafka={}", file.display());
    let generator = "io.strimzi.crdgenerator.CrdGenerator";
    let arguments =
        ["-cp", &jars, generator, "--yaml", "--target-kube", "1.25+", "--crd-api-version", "v1", &kind];
    run(&folder, "java", &arguments);
    let mut found = definitions(&file);
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.len(), 1);
    found.swap_remove(0)
}

fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let is_wanted = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|end| end == "yaml");
    entries.into_iter().filter(is_wanted).flat_map(|entry| files(&entry)).collect()
}
