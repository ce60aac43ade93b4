//! Whether going back to the previous commit undoes an action.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{Action, FieldChange, Forecast, Operation, Segment, is_custom_kind};

/// What it takes to undo an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "undo", content = "why")]
pub enum Reversal {
    /// Delivering the previous commit undoes it.
    Yes,
    /// Delivering the previous commit undoes it, and something must be done besides.
    WithSteps(String),
    /// Nothing undoes it.
    No(String),
}

impl Action {
    /// Says whether delivering the previous commit undoes the action, as far as its kind, its fields and its forecasts
    /// tell. Of a custom resource's fields, only its operator knows.
    pub fn reversal(&self) -> Reversal {
        let kind = &self.object.kind;
        if kind.is("batch", "Job") && matches!(self.operation, Operation::Create | Operation::Prune) {
            return Reversal::WithSteps(
                "what a job has done stays done, and one that comes back runs again".to_owned(),
            );
        }
        match self.operation {
            Operation::NoOp | Operation::Keep | Operation::Recreate => Reversal::Yes,
            Operation::Create => self.of_creation(),
            Operation::Adopt => Reversal::WithSteps(
                "the previous commit does not hold it and would delete it: take it out of the set first, by removing the label applyset.kubernetes.io/part-of".to_owned(),
            ),
            Operation::Update => self.of_update(),
            Operation::Prune => self.of_deletion(),
        }
    }

    /// Says whether another version may run on the same data after the action, in whichever direction.
    pub fn may_change_format(&self) -> bool {
        let kind = &self.object.kind;
        let changes = |keys: &[&str]| self.delta.iter().any(|change| change.path.starts_with(keys));
        self.operation == Operation::Update
            && (kind.is("apps", "StatefulSet") && changes(&["spec", "template"])
                || is_custom_kind(kind) && changes(&["spec"]))
    }

    fn of_creation(&self) -> Reversal {
        let kind = &self.object.kind;
        let protected = is_custom_kind(kind)
            || matches!(
                kind.to_string().as_str(),
                "StatefulSet.apps"
                    | "PersistentVolumeClaim"
                    | "PersistentVolume"
                    | "Namespace"
                    | "Secret"
                    | "CustomResourceDefinition.apiextensions.k8s.io"
                    | "StorageClass.storage.k8s.io"
            );
        if protected {
            return Reversal::WithSteps(
                "deleted by the previous commit, and of a protected kind: that needs a dated permission"
                    .to_owned(),
            );
        }
        Reversal::Yes
    }

    fn of_update(&self) -> Reversal {
        let kind = &self.object.kind;
        let changes = |keys: &[&str]| self.delta.iter().any(|change| change.path.starts_with(keys));
        if self.loses_data() {
            Reversal::No("what is lost is not brought back".to_owned())
        } else if kind.is("", "PersistentVolumeClaim") && changes(&["spec", "resources"]) {
            Reversal::No("a volume never shrinks".to_owned())
        } else if kind.is("apiextensions.k8s.io", "CustomResourceDefinition")
            && changes(&["spec", "versions"])
        {
            Reversal::WithSteps(
                "objects that are stored in a version which the previous commit does not have must be migrated first (status.storedVersions)".to_owned(),
            )
        } else if changes(&["immutable"]) {
            Reversal::No(
                "an object that was made immutable stays so: it would have to be replaced".to_owned(),
            )
        } else if !self.takes_over.is_empty() || self.migration.is_some() {
            Reversal::WithSteps("the fields that it takes over stay with Windlass".to_owned())
        } else if self.may_change_format() {
            let who = if is_custom_kind(kind) {
                "its operator must be able to go back"
            } else {
                "the version before must be able to read what the new one has written"
            };
            let major = self
                .major_step()
                .map(|(from, to)| format!("; {from} → {to} is another MAJOR version"))
                .unwrap_or_default();
            Reversal::WithSteps(format!(
                "{who}: upgrades of data formats are often one way, so have a backup{major}"
            ))
        } else {
            Reversal::Yes
        }
    }

    /// Returns the tags between which an image goes from one major version to another.
    fn major_step(&self) -> Option<(&str, &str)> {
        let is_image = |change: &&FieldChange| matches!(change.path.segments().last(), Some(Segment::Key(key)) if key == "image");
        let images = self.delta.iter().filter(is_image);
        let mut tags = images.filter_map(|change| {
            Some((tag(change.before.as_ref()?.as_str()?)?, tag(change.after.as_ref()?.as_str()?)?))
        });
        tags.find(|(from, to)| major(from).zip(major(to)).is_some_and(|(from, to)| from != to))
    }

    fn of_deletion(&self) -> Reversal {
        let kind = &self.object.kind;
        if kind.is("", "Secret") {
            return Reversal::WithSteps(
                "the previous commit creates it again, without keys that others had added".to_owned(),
            );
        }
        if self.loses_data() {
            return Reversal::No("the objects would come back, their data would not".to_owned());
        }
        if kind.is("", "PersistentVolumeClaim") {
            return Reversal::WithSteps(
                "the volume stays: take spec.claimRef.uid and spec.claimRef.resourceVersion out of the PersistentVolume, and name the PersistentVolume in the claim's spec.volumeName"
                    .to_owned(),
            );
        }
        Reversal::Yes
    }

    fn loses_data(&self) -> bool {
        self.forecasts.iter().any(|forecast| match forecast {
            Forecast::DataLoss { .. } => true,
            Forecast::Cascade { volumes, .. } => *volumes > 0,
            Forecast::Restart { .. } | Forecast::Note { .. } => false,
        })
    }
}

/// Returns an image's tag.
fn tag(image: &str) -> Option<&str> {
    let name = image.split('@').next()?;
    name.rsplit_once(':').map(|(_, tag)| tag).filter(|tag| !tag.contains('/'))
}

/// Returns a tag's first number: `17` of `17.3-bookworm` and of `v17`.
fn major(tag: &str) -> Option<u64> {
    let digits = tag.trim_start_matches('v');
    digits.split(|character: char| !character.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ChangeKind, FieldChange, FieldPath, GroupKind, ObjectRef, Risk, UnitName};

    fn check(operation: Operation, kind: &str, fields: &[&str], forecasts: &[Forecast], want: &str) {
        let path = fields.iter().fold(FieldPath::root(), |path, field| path.key(field));
        let change = FieldChange { path, kind: ChangeKind::Changed, before: None, after: None };
        let object = ObjectRef {
            kind: GroupKind::from(kind.to_owned()),
            version: "v1".into(),
            namespace: Some("shop".into()),
            name: "a".into(),
        };
        let action = Action {
            delta: if fields.is_empty() { Vec::new() } else { vec![change] },
            risk: Risk::Routine,
            forecasts: forecasts.to_vec(),
            ..Action::new(UnitName::new("shop").unwrap(), object, operation)
        };
        let got = match action.reversal() {
            Reversal::Yes => "yes".to_owned(),
            Reversal::WithSteps(why) => format!("steps: {why}"),
            Reversal::No(why) => format!("no: {why}"),
        };
        assert!(got.starts_with(want), "{operation:?} {kind} {fields:?}: {got}, not {want}");
    }

    #[test]
    fn what_the_previous_commit_brings_back() {
        let lost = [Forecast::DataLoss { what: String::new() }];
        let cascade =
            |volumes| [Forecast::Cascade { text: String::new(), pods: 3, claims: 1, volumes, bytes: 1 }];
        check(Operation::NoOp, "Secret", &[], &[], "yes");
        check(Operation::Create, "ConfigMap", &[], &[], "yes");
        check(Operation::Create, "StatefulSet.apps", &[], &[], "steps: deleted by the previous commit");
        check(Operation::Adopt, "ConfigMap", &[], &[], "steps: the previous commit does not hold it");
        check(Operation::Update, "StatefulSet.apps", &["spec", "template"], &[], "steps: the version before");
        check(Operation::Create, "Job.batch", &[], &[], "steps: what a job has done");
        check(Operation::Prune, "Job.batch", &[], &[], "steps: what a job has done");
        check(Operation::Update, "StatefulSet.apps", &["spec", "replicas"], &lost, "no: what is lost");
        check(
            Operation::Update,
            "PersistentVolumeClaim",
            &["spec", "resources"],
            &[],
            "no: a volume never shrinks",
        );
        check(Operation::Update, "PersistentVolumeClaim", &["metadata", "labels"], &[], "yes");
        check(
            Operation::Update,
            "CustomResourceDefinition.apiextensions.k8s.io",
            &["spec", "versions"],
            &[],
            "steps: ",
        );
        check(Operation::Update, "Database.db.example.dev", &["spec", "version"], &[], "steps: its operator");
        check(Operation::Update, "ConfigMap", &["immutable"], &[], "no: ");
        check(Operation::Prune, "ConfigMap", &[], &[], "yes");
        check(
            Operation::Prune,
            "Database.db.example.dev",
            &[],
            &cascade(1),
            "no: the objects would come back",
        );
        check(Operation::Prune, "Deployment.apps", &[], &cascade(0), "yes");
        check(Operation::Prune, "PersistentVolumeClaim", &[], &[], "steps: the volume stays");
        check(Operation::Prune, "Secret", &[], &lost, "steps: the previous commit creates it again");
    }

    #[test]
    fn another_major_version_is_named() {
        for (from, to, want) in [
            ("r.example:5000/db:17.3", "r.example:5000/db:18.0", Some(("17.3", "18.0"))),
            ("db:v17", "db:v18-alpine@sha256:00", Some(("v17", "v18-alpine"))),
            ("db:17.3", "db:17.4", None),
            ("db:stable", "db:18", None),
            ("r.example:5000/db", "r.example:6000/db", None),
        ] {
            let path = FieldPath::root().key("spec").key("containers").item("name=db").key("image");
            let change = FieldChange {
                path,
                kind: ChangeKind::Changed,
                before: Some(from.into()),
                after: Some(to.into()),
            };
            let unit = UnitName::new("shop").unwrap();
            let object = ObjectRef {
                kind: GroupKind::new("apps", "StatefulSet"),
                version: "v1".to_owned(),
                namespace: None,
                name: "db".to_owned(),
            };
            let action = Action { delta: vec![change], ..Action::new(unit, object, Operation::Update) };
            assert_eq!(action.major_step(), want, "{from} {to}");
        }
    }
}
