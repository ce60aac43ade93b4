//! A definition of a test's own in the shared testbed, and the comparison.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_cluster::{Answer, ApplyRequest, Cluster, ClusterError, Expect, Failure, Propagation};
use windlass_model::Object;
use windlass_schema::{Findings, Validator};

/// A connection to the shared testbed.
pub(crate) struct Server(pub(crate) Cluster);

/// A kind that exists for one test.
pub(crate) struct Bed {
    server: Server,
    group: String,
    definition: Object,
    validator: Validator,
}

/// What comparisons came to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) accepted: usize,
    pub(crate) refused: usize,
    pub(crate) undecided: usize,
}

impl Server {
    pub(crate) async fn connect() -> Self {
        let kubeconfig = windlass_bed::kubeconfig();
        Self(windlass_bed::connect(&kubeconfig, "windlass-schema-test", Duration::from_mins(2)).await)
    }

    pub(crate) async fn apply(&self, object: &Object, dry_run: bool) -> Result<Answer, Failure> {
        let request = ApplyRequest { object, expect: Expect::Anything, force: true, dry_run };
        self.0.apply(request).await.map_err(|error| match error {
            ClusterError::Api { failure, .. } => *failure,
            error => panic!("{error}"),
        })
    }

    /// Applies a definition and waits until its objects are judged.
    pub(crate) async fn define(&self, definition: &Object, probe: &Object) {
        self.apply(definition, false).await.unwrap();
        for attempt in 0.. {
            self.0.forget_discovery().await;
            let known = self.0.resource_of(probe.reference()).await;
            let is_served = |answer: Result<Answer, Failure>| answer.map_or_else(|e| e.code != 404, |_| true);
            if known.is_ok() && is_served(self.apply(probe, true).await) {
                return;
            }
            assert!(attempt < 200, "{definition:?} is never served");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    pub(crate) async fn remove(&self, definition: &Object) {
        let definition = definition.reference();
        let resource = self.0.resource_of(definition).await.unwrap();
        while let Some(live) = self.0.get(definition).await.unwrap() {
            // Its controller may write the status between the look and the deletion: then once more.
            if !live.is_terminating()
                && let Err(error) = self.0.delete(&resource, &live, Propagation::Background, false).await
            {
                assert_eq!(error.failure().map(|failure| failure.code), Some(409), "{error}");
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Asks both about an object, and returns in what the answers and the fields that they name differ; `old` is what is
    /// stored.
    pub(crate) async fn difference(
        &self,
        validator: &Validator,
        name: &str,
        object: &Object,
        old: Option<&Object>,
        tally: &mut Tally,
    ) -> Option<String> {
        let server = self.apply(object, true).await;
        let merged = server.as_ref().map_or_else(|_| object.body(), |answer| answer.object.body());
        let mut local = validator.check(merged, old.map(Object::body));
        local.flaws.extend(validator.unknown(object.body()));
        let shown = format!("{name}: {}\nserver: {}\nlocal: {}", object.body(), words(&server), said(&local));
        if local.flaws.is_empty() && !local.unchecked.is_empty() {
            tally.undecided += 1;
            return None;
        }
        if server.is_ok() != local.flaws.is_empty() {
            return Some(shown);
        }
        let Err(failure) = server else {
            tally.accepted += 1;
            return None;
        };
        tally.refused += 1;
        let local: Vec<String> = local.flaws.iter().map(|flaw| steps(&flaw.path.to_string())).collect();
        let meets =
            |field: &String| local.iter().any(|path| path.starts_with(field) || field.starts_with(path));
        let silent = fields_of(&failure).into_iter().find(|field| !meets(field));
        silent.map(|field| format!("nothing is said about {field}\n{shown}"))
    }
}

impl Bed {
    /// Defines the kind `Sample` with this schema of `spec`, and these rules at the root.
    pub(crate) async fn new(spec: &Value, rules: &Value) -> Self {
        let group = format!("g{:08x}.example.com", rand::random::<u32>());
        let schema =
            json!({"type": "object", "properties": {"spec": spec}, "x-kubernetes-validations": rules});
        let body = json!({
            "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("samples.{group}")},
            "spec": {"group": group, "scope": "Cluster", "names": {"kind": "Sample", "plural": "samples"},
                "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema}}]},
        });
        let bed = Self {
            validator: Validator::new(&schema),
            definition: Object::new(body, None).unwrap(),
            server: Server::connect().await,
            group,
        };
        bed.server.define(&bed.definition, &bed.object(&json!({}))).await;
        bed
    }

    fn object(&self, fields: &Value) -> Object {
        let mut body = json!({"apiVersion": format!("{}/v1", self.group), "kind": "Sample",
            "metadata": {"name": "one"}});
        for (name, value) in fields.as_object().unwrap() {
            body[name] = value.clone();
        }
        Object::new(body, None).unwrap()
    }

    /// Stores an object with these top-level fields.
    pub(crate) async fn store(&self, fields: &Value) -> Object {
        self.server.apply(&self.object(fields), false).await.unwrap().object
    }

    /// Compares what is said about an object with these top-level fields.
    pub(crate) async fn compare(&self, name: &str, fields: &Value, old: Option<&Object>, tally: &mut Tally) {
        let object = self.object(fields);
        let difference = self.server.difference(&self.validator, name, &object, old, tally).await;
        assert_eq!(difference, None);
    }

    /// Returns in what the answers about an object with these top-level fields differ.
    pub(crate) async fn difference(&self, name: &str, fields: &Value, tally: &mut Tally) -> Option<String> {
        self.server.difference(&self.validator, name, &self.object(fields), None, tally).await
    }

    pub(crate) async fn end(self) {
        self.server.remove(&self.definition).await;
    }
}

/// Returns the fields that the server names, in causes or, where the object does not fit the schema, in its words.
fn fields_of(failure: &Failure) -> Vec<String> {
    let words =
        failure.message.split([' ', '\n']).filter(|word| word.starts_with('.') && word.ends_with(':'));
    let named =
        failure.causes.iter().map(|cause| cause.field.as_str()).filter(|field| !field.starts_with('<'));
    let fields: Vec<&str> = if failure.causes.is_empty() { words.collect() } else { named.collect() };
    fields.into_iter().map(steps).collect()
}

/// Writes a path as names with dots, without the places of list items: one side counts them, the other names them.
fn steps(path: &str) -> String {
    let mut steps = String::new();
    for part in path.trim_end_matches(':').split('[') {
        let (inside, after) = part.split_once(']').unwrap_or(("", part));
        let is_place = inside.contains('=') || inside.chars().all(|c| c.is_ascii_digit());
        let key = if is_place { "" } else { inside.trim_matches('"') };
        for step in key.split('.').chain(after.split('.')).filter(|step| !step.is_empty()) {
            steps.push_str(step);
            steps.push('.');
        }
    }
    steps
}

fn words(answer: &Result<Answer, Failure>) -> String {
    match answer {
        Ok(_) => "accepts".to_owned(),
        Err(failure) => format!("{} {}", failure.code, failure.message),
    }
}

fn said(findings: &Findings) -> String {
    let flaws = findings.flaws.iter().map(ToString::to_string);
    let unchecked = findings.unchecked.iter().map(|unchecked| format!("? {unchecked}"));
    flaws.chain(unchecked).collect::<Vec<_>>().join("; ")
}
