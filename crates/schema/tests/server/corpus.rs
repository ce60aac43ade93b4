//! Definitions and examples that others publish, read from Go modules at test time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_bed::{documents, module};
use windlass_model::Object;
use windlass_schema::{Definition, Validator};

use crate::bed::{Server, Tally};

/// A module with definitions and examples of their objects.
struct Corpus {
    module: &'static str,
    definitions: &'static str,
    examples: &'static [&'static str],
}

/// Reads the objects of all files; what is no object is left out.
fn objects(folder: &Path) -> Vec<(String, Object)> {
    let object =
        |(file, body): (PathBuf, Value)| Some((file.display().to_string(), Object::new(body, None).ok()?));
    documents(folder).into_iter().filter_map(object).collect()
}

impl Corpus {
    /// Compares what the server and the schema say about every example.
    async fn check(&self) -> Tally {
        let folder = module(self.module);
        let server = Server::connect().await;
        let defined = objects(&folder.join(self.definitions));
        let defined: Vec<&Object> = defined
            .iter()
            .map(|(_, object)| object)
            .filter(|object| Definition::read(object).is_some())
            .collect();
        let mut schemas: BTreeMap<String, (Validator, bool)> = BTreeMap::new();
        for object in &defined {
            let definition = Definition::read(object).unwrap();
            let (kind, namespaced) = (definition.kind(), definition.scope() == "Namespaced");
            for version in definition.versions().filter(|version| version.is_served()) {
                let name = format!("{}/{} {}", kind.group, version.name(), kind.kind);
                schemas.insert(name, (Validator::of(version), namespaced));
            }
            let version = definition.versions().find(|version| version.is_served()).unwrap();
            let mut probe = json!({"apiVersion": format!("{}/{}", kind.group, version.name()), "kind": kind.kind,
                "metadata": {"name": "probe"}});
            if namespaced {
                probe["metadata"]["namespace"] = json!("default");
            }
            server.define(object, &Object::new(probe, None).unwrap()).await;
        }
        let mut tally = Tally::default();
        for example in self.examples {
            for (file, object) in objects(&folder.join(example)) {
                let reference = object.reference();
                let name = format!("{} {}", reference.api_version(), reference.kind.kind);
                let Some((validator, namespaced)) = schemas.get(&name) else { continue };
                let mut body = object.into_body();
                if *namespaced {
                    body["metadata"]["namespace"] = json!("default");
                }
                let object = Object::new(body, None).unwrap();
                let difference = server.difference(validator, &file, &object, None, &mut tally).await;
                assert_eq!(difference, None);
            }
        }
        for object in defined {
            server.remove(object).await;
        }
        tally
    }
}

#[tokio::test]
async fn gateway_api() {
    let corpus = Corpus {
        module: "sigs.k8s.io/gateway-api@v1.6.3",
        definitions: "config/crd/experimental",
        examples: &["examples", "hack/invalid-examples"],
    };
    let tally = corpus.check().await;
    assert!(tally.accepted > 60 && tally.refused > 20 && tally.undecided == 0, "{tally:?}");
}

#[tokio::test]
async fn cloudnative_pg() {
    let corpus = Corpus {
        module: "github.com/cloudnative-pg/cloudnative-pg@v1.28.0",
        definitions: "config/crd/bases",
        examples: &["docs/src/samples"],
    };
    let tally = corpus.check().await;
    assert!(tally.accepted > 60 && tally.undecided == 0, "{tally:?}");
}
