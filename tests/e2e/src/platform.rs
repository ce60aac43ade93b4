//! The example repository `examples/platform`, delivered under names of its own.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Bed, Files, World, until};

/// The example repository, renamed so that several deliveries fit on one cluster.
///
/// Every cluster-scoped name and every namespace gets the world's suffix, and nothing else changes. The rights
/// are the ones of `pipeline/rbac` with the two lists edited, as its README asks for.
#[derive(Debug)]
pub struct Platform {
    /// The renamed files.
    pub files: Files,
    /// The overlay: `dev`, `acc` or `prd`.
    pub overlay: &'static str,
    /// The namespace of the shop.
    pub shop: String,
    /// The namespace of the operator.
    pub operators: String,
}

impl Platform {
    /// Renames the example and grants the rights that the new names need.
    pub fn new(world: &World, overlay: &'static str) -> Self {
        let platform = Self::renamed(world, overlay, &world.suffix);
        let suffix = &world.suffix;
        world.kubectl.apply(&rights(suffix));
        for kind in ["clusterrole", "clusterrolebinding"] {
            world.owns(&format!("{kind}/e2e-{suffix}"));
        }
        platform
    }

    /// Renames the example with a suffix of choice, which need not be the world's.
    pub fn renamed(world: &World, overlay: &'static str, suffix: &str) -> Self {
        for object in owned(suffix) {
            world.owns(&object);
        }
        for namespace in ["shop", "operators"] {
            world.owns(&format!("namespace/{namespace}-{suffix}"));
        }
        let files = Files::load(&examples().join("platform")).map(|text| rename(text, suffix));
        Self { files, overlay, shop: format!("shop-{suffix}"), operators: format!("operators-{suffix}") }
    }

    /// Returns the settings of the example's environment file, completed and renamed.
    pub fn settings(&self, world: &World) -> Files {
        let file = format!("{}.yaml", self.overlay);
        let text = std::fs::read_to_string(examples().join("environments").join(&file)).unwrap();
        let release = &world.keys.release;
        let text = text
            .replace("@KUBECONFIG@", Bed::get().identity("windlass-run").to_str().unwrap())
            .replace("@REPOSITORY@", &world.repository.url())
            .replace("@FINGERPRINT@", &release.fingerprint)
            .replace("@KEY_FILE@", release.file.to_str().unwrap())
            .replace("@APPROVER_KEY@", &world.keys.alice.public)
            .replace("@REPORTS@", world.path("reports").to_str().unwrap())
            .replace(
                &format!("environment: {}", self.overlay),
                &format!("environment: {}", world.environment),
            )
            .replace("require-part-of-label", &format!("require-part-of-label-{}", world.suffix))
            .replace("no-latest-image", &format!("no-latest-image-{}", world.suffix))
            .replace("windlass-gate-", &format!("gate-{}-", world.suffix))
            .replace("Database.db.example.dev", &format!("Database.db-{}.example.dev", world.suffix))
            .replace("lease: 60s", "lease: 8s");
        assert!(!text.contains('@') || !text.contains("@KEY"), "a placeholder is left in {file}");
        Files::new().with("environment.yaml", text)
    }

    /// Applies the example's policies so that they see this world's objects only, and waits until they act.
    pub fn enforce_policies(&self, world: &World) {
        let suffix = &world.suffix;
        let scope = format!(
            "request.namespace in ['{}', '{}'] || request.name.startsWith('gate-{suffix}-')",
            self.shop, self.operators
        );
        for (path, text) in Files::load(&examples().join("policies")).iter() {
            let Some(name) = path.strip_suffix(".yaml") else { continue };
            let renamed = format!("{name}-{suffix}");
            for kind in ["validatingadmissionpolicy", "validatingadmissionpolicybinding"] {
                world.owns(&format!("{kind}/{renamed}"));
            }
            let text = text
                .replace("request.namespace != 'kube-system'", &scope)
                .replace(&format!("name: {name}"), &format!("name: {renamed}"))
                .replace(&format!("policyName: {name}"), &format!("policyName: {renamed}"));
            world.kubectl.apply(&text);
        }
        for (image, labels) in
            [("probe:1", ""), ("probe:latest", ", labels: {app.kubernetes.io/part-of: e2e}")]
        {
            let probe = format!(
                "apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: gate-{suffix}-wait, namespace: default{labels}}}
spec:
  serviceName: probe
  selector: {{matchLabels: {{app: probe}}}}
  template: {{metadata: {{labels: {{app: probe}}}}, spec: {{containers: [{{name: probe, image: '{image}'}}]}}}}
"
            );
            until(15, "the policies act", || {
                let answer = world.kubectl.attempt(&["create", "--dry-run=server", "-f", "-"], &probe);
                (!answer.status.success()).then_some(())
            });
        }
    }

    /// Returns the overlay's folder, relative to the repository's root.
    pub fn shop_path(&self, suffix: &str) -> String {
        format!("apps/shop/stateful/{}-{suffix}", self.overlay)
    }

    /// Returns the values of the Secrets that the example generates.
    pub fn secret_values(&self) -> Vec<String> {
        let text = self.files.content("apps/shop/stateful/base/kustomization.yaml");
        let (_, literals) = text.split_once("secretGenerator:").unwrap();
        let values = literals.lines().filter_map(|line| line.trim().strip_prefix("- ")?.split_once('='));
        let values: Vec<String> = values.map(|(_, value)| value.to_owned()).collect();
        assert!(values.len() >= 3, "the example's Secret has changed: {text}");
        values
    }

    /// Returns every object of both units as it is live, without what the controllers make of them.
    pub fn live(&self, world: &World) -> Vec<Value> {
        let mut live = Vec::new();
        for (kinds, namespace) in [
            (
                "statefulsets,services,serviceaccounts,poddisruptionbudgets,networkpolicies,configmaps,secrets",
                &self.shop,
            ),
            ("deployments,serviceaccounts", &self.operators),
        ] {
            let list = world.kubectl.json(&[kinds, "-n", namespace]);
            live.extend(list["items"].as_array().unwrap().iter().cloned());
        }
        let suffix = self.shop.strip_prefix("shop-").unwrap();
        let databases =
            world.kubectl.json(&[&format!("databases.db-{suffix}.example.dev"), "-n", &self.shop]);
        live.extend(databases["items"].as_array().unwrap().iter().cloned());
        for object in owned(suffix) {
            live.push(world.kubectl.json(&[&object]));
        }
        for namespace in [&self.shop, &self.operators] {
            live.push(world.kubectl.json(&["namespace", namespace]));
        }
        // Made by controllers in every namespace.
        live.retain(|object| {
            let name = object["metadata"]["name"].as_str().unwrap();
            name != "default" && name != "kube-root-ca.crt"
        });
        live.sort_by_key(|object| (object["kind"].to_string(), object["metadata"]["name"].to_string()));
        live
    }
}

/// The cluster-scoped objects, beside the namespaces.
fn owned(suffix: &str) -> Vec<String> {
    vec![
        format!("customresourcedefinition/databases.db-{suffix}.example.dev"),
        format!("clusterrole/database-operator-{suffix}"),
        format!("clusterrolebinding/database-operator-{suffix}"),
        format!("storageclass/stateful-retain-{suffix}"),
        format!("priorityclass/stateful-{suffix}"),
    ]
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples")
}

fn rename(text: &str, suffix: &str) -> String {
    let mut text = text.to_owned();
    for overlay in ["dev", "acc", "prd"] {
        let folder = format!("apps/shop/stateful/{overlay}/");
        text = text.replace(&folder, &format!("apps/shop/stateful/{overlay}-{suffix}/"));
    }
    for (from, to) in [
        ("database-operator", "database-operator-*"),
        ("db.example.dev", "db-*.example.dev"),
        ("stateful-retain", "stateful-retain-*"),
        ("priorityClassName: stateful", "priorityClassName: stateful-*"),
        ("name: stateful\n", "name: stateful-*\n"),
        ("namespace: shop\n", "namespace: shop-*\n"),
        ("name: shop\n  labels", "name: shop-*\n  labels"),
        ("service: shop/", "service: shop-*/"),
        ("namespace: operators\n", "namespace: operators-*\n"),
        ("name: operators\n", "name: operators-*\n"),
    ] {
        text = text.replace(from, &to.replace('*', suffix));
    }
    text
}

/// The two lists of `pipeline/rbac/20-roles.yaml`, edited for the new names.
fn rights(suffix: &str) -> String {
    format!(
        "apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: e2e-{suffix}}}
rules:
  - apiGroups: [db-{suffix}.example.dev]
    resources: [databases]
    verbs: [get, list, watch, create, patch, delete]
  - apiGroups: [rbac.authorization.k8s.io]
    resources: [clusterroles]
    resourceNames: [database-operator-{suffix}]
    verbs: [escalate, bind]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: e2e-{suffix}}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: e2e-{suffix}}}
subjects:
  - {{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'windlass:run'}}
  - {{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'windlass:plan'}}
  - {{apiGroup: rbac.authorization.k8s.io, kind: Group, name: 'windlass:drift'}}
"
    )
}
