//! Manifests of small fixtures, as a team would write them.

use std::fmt::Write as _;

/// A workload of one container.
#[derive(Debug, Clone, Copy)]
pub struct Workload<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The name; also the label `app` of its pods.
    pub name: &'a str,
    /// The version, which becomes the image's tag.
    pub version: &'a str,
    /// How many pods.
    pub replicas: u32,
    /// What the testbed reads from the pods' annotations, without the prefix.
    pub symptoms: &'a [(&'a str, &'a str)],
}

impl<'a> Workload<'a> {
    /// Returns the workload `db`: one pod of version 1, with the given symptoms.
    pub fn db(namespace: &'a str, symptoms: &'a [(&'a str, &'a str)]) -> Self {
        Self { namespace, name: "db", version: "1", replicas: 1, symptoms }
    }
}

/// Returns `windlass.yaml` for units given as name, path and what they come after.
pub fn units(units: &[(&str, &str, &str)]) -> String {
    let mut out = "units:\n".to_owned();
    for (name, path, after) in units {
        let _ = writeln!(out, "  - name: {name}\n    path: {path}");
        if !after.is_empty() {
            let _ = writeln!(out, "    after: [{after}]");
        }
    }
    out
}

/// Returns a Namespace.
pub fn namespace(name: &str) -> String {
    format!("apiVersion: v1\nkind: Namespace\nmetadata:\n  name: {name}\n")
}

/// Returns a ConfigMap.
pub fn config_map(namespace: &str, name: &str, data: &[(&str, &str)]) -> String {
    keyed("ConfigMap", "data", namespace, name, data)
}

/// Returns a Secret whose values are written as plain text.
pub fn secret(namespace: &str, name: &str, data: &[(&str, &str)]) -> String {
    keyed("Secret", "stringData", namespace, name, data)
}

fn keyed(kind: &str, field: &str, namespace: &str, name: &str, data: &[(&str, &str)]) -> String {
    let mut out = format!(
        "apiVersion: v1\nkind: {kind}\nmetadata:\n  name: {name}\n  namespace: {namespace}\n{field}:\n"
    );
    for (key, value) in data {
        let _ = writeln!(out, "  {key}: \"{value}\"");
    }
    out
}

/// Returns a PersistentVolumeClaim.
pub fn claim(namespace: &str, name: &str) -> String {
    format!(
        "apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {name}
  namespace: {namespace}
spec:
  storageClassName: windlass-e2e
  accessModes: [ReadWriteOnce]
  resources: {{requests: {{storage: 1Gi}}}}
"
    )
}

/// Returns a Deployment.
pub fn deployment(workload: &Workload<'_>) -> String {
    let Workload { namespace, name, replicas, .. } = workload;
    format!(
        "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {name}
  namespace: {namespace}
  labels: {{app.kubernetes.io/part-of: e2e}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
{}",
        template(workload)
    )
}

/// Returns a StatefulSet with one claim a pod, updated pod by pod.
pub fn stateful_set(workload: &Workload<'_>) -> String {
    let Workload { namespace, name, replicas, .. } = workload;
    format!(
        "apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {name}
  namespace: {namespace}
  labels: {{app.kubernetes.io/part-of: e2e}}
spec:
  replicas: {replicas}
  serviceName: {name}
  selector: {{matchLabels: {{app: {name}}}}}
{}  volumeClaimTemplates:
    - metadata: {{name: data}}
      spec:
        storageClassName: windlass-e2e
        accessModes: [ReadWriteOnce]
        resources: {{requests: {{storage: 1Gi}}}}
",
        template(workload)
    )
}

fn template(workload: &Workload<'_>) -> String {
    let Workload { name, version, symptoms, .. } = workload;
    let mut annotations = String::new();
    for (key, value) in *symptoms {
        let _ = writeln!(annotations, "        testbed.windlass.dev/{key}: \"{value}\"");
    }
    format!(
        "  template:
    metadata:
      labels: {{app: {name}}}
      annotations:
        example.com/note: a workload of the tests
{annotations}    spec:
      terminationGracePeriodSeconds: 1
      containers:
        - name: main
          image: registry.example.com/e2e/{name}:{version}
"
    )
}

/// Returns a headless Service for a StatefulSet.
pub fn headless(namespace: &str, name: &str) -> String {
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: {namespace}
spec:
  clusterIP: None
  selector: {{app: {name}}}
  ports: [{{name: main, port: 5432}}]
"
    )
}

/// Returns a Service of type LoadBalancer; `answers` is what the testbed reads, without the prefix.
pub fn load_balancer(namespace: &str, name: &str, app: &str, port: u16, answers: &[(&str, &str)]) -> String {
    let mut annotations = String::new();
    for (key, value) in answers {
        let _ = writeln!(annotations, "    testbed.windlass.dev/{key}: \"{value}\"");
    }
    format!(
        "apiVersion: v1
kind: Service
metadata:
  name: {name}
  namespace: {namespace}
  annotations:
    example.com/note: a Service of the tests
{annotations}spec:
  type: LoadBalancer
  selector: {{app: {app}}}
  ports: [{{name: main, port: {port}}}]
"
    )
}

/// Returns a CRD of kind `Widget` in the given group.
pub fn widgets(group: &str) -> String {
    format!(
        "apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.{group}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: Widget, listKind: WidgetList, plural: widgets, singular: widget}}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties:
                size: {{type: integer, minimum: 1}}
                colour: {{type: string, default: blue}}
"
    )
}

/// Returns a `Widget`.
pub fn widget(group: &str, namespace: &str, name: &str, size: i64) -> String {
    format!(
        "apiVersion: {group}/v1\nkind: Widget\nmetadata:\n  name: {name}\n  namespace: {namespace}\nspec:\n  size: {size}\n"
    )
}

/// Returns a policy, and its binding, that refuses ConfigMaps whose names begin with the policy's name.
pub fn policy(name: &str, actions: &str) -> String {
    format!(
        "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  failurePolicy: Fail
  matchConstraints:
    resourceRules:
      - {{apiGroups: [''], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [configmaps]}}
  validations:
    - expression: \"!object.metadata.name.startsWith('{name}')\"
      message: this name is taken
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec:
  policyName: {name}
  validationActions: [{actions}]
"
    )
}
