//! kubectl, plain and with ApplySet pruning.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use crate::case::Case;
use crate::step::{Place, Step};

/// A set that spans namespaces needs a parent outside of them, which no stock kind is. kubectl wants to find its own
/// name and the id on it: the base64 of the SHA-256 of `bench..ApplySet.bench.windlass.dev`.
const PARENT_KIND: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: applysets.bench.windlass.dev
  labels: {applyset.kubernetes.io/is-parent-type: "true"}
spec:
  group: bench.windlass.dev
  scope: Cluster
  names: {kind: ApplySet, plural: applysets, singular: applyset}
  versions:
    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object}}}
"#;
const PARENT: &str = r#"
apiVersion: bench.windlass.dev/v1
kind: ApplySet
metadata:
  name: bench
  annotations: {applyset.kubernetes.io/tooling: kubectl/v1.36.3, applyset.kubernetes.io/contains-group-kinds: ""}
  labels: {applyset.kubernetes.io/id: applyset-7NIOvMR6YVoLMRjdRkwoem0Y54HwxkqBfUJ6AZkedOA-v1}
"#;

pub(super) fn steps(place: &Place) -> Vec<Step> {
    let call = |arguments: &[&str], objects: &Path| call(place, arguments, objects);
    let (apply, diff) = (["apply", "--server-side"], ["diff", "--server-side"]);
    let parallel = ["diff", "--server-side", "--concurrency=8"];
    let (set, changed) = (place.set.objects(), place.changed.objects());
    vec![
        Step::of(Case::First, "kubectl apply", call(&apply, &set)),
        Step::of(Case::Plan, "kubectl diff", call(&diff, &set)),
        Step::new("plan-parallel", Some(Case::Plan), "kubectl diff --concurrency=8", call(&parallel, &set)),
        Step::of(Case::Changed, "kubectl diff", call(&diff, &changed)).exits_with(1),
        Step::of(Case::Again, "kubectl apply", call(&apply, &set)),
    ]
}

/// kubectl compares nothing with a set: there is only apply.
pub(super) fn applyset_steps(place: &Place) -> io::Result<Vec<Step>> {
    let (kind, parent) = (place.scratch.join("kind.yaml"), place.scratch.join("parent.yaml"));
    fs::write(&kind, PARENT_KIND)?;
    fs::write(&parent, PARENT)?;
    let apply = || {
        let arguments =
            ["apply", "--server-side", "--prune", "--applyset=applysets.bench.windlass.dev/bench"];
        let mut command = call(place, &arguments, &place.set.objects());
        command.env("KUBECTL_APPLYSET", "true");
        command
    };
    Ok(vec![
        place.prepare(&["apply", "--server-side", "--filename"], &kind),
        place.prepare(&["wait", "--for=condition=Established", "--filename"], &kind),
        place.prepare(&["apply", "--server-side", "--filename"], &parent),
        Step::of(Case::First, "kubectl apply --prune --applyset", apply()),
        Step::of(Case::Again, "kubectl apply --prune --applyset", apply()),
    ])
}

/// Namespaces come first in every file, so one pass is enough.
fn call(place: &Place, arguments: &[&str], objects: &Path) -> Command {
    let mut command = place.call(arguments);
    command.arg("--filename").arg(objects);
    command
}
