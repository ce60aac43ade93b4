//! A cluster and a commit built by hand.

use serde_json::{Value, json};
use windlass_bed::assert_lines;
use windlass_cluster::Failure;
use windlass_model::{
    Action, ApplySet, ClusterId, Conflict, Digest, EnvironmentName, Forecast, Object, Plan, Preview,
    Provenance, Rendering, Unit, UnitName,
};
use windlass_plan::{
    Ask, Asked, Candidate, FieldRules, Inputs, ObjectKey, Observation, Removal, Reply, exit_code, plan,
};
use windlass_settings::{DeletionPermission, Guards};

pub(crate) const PART_OF: &str = "applyset.kubernetes.io/part-of";
pub(crate) const NAMESPACE: &str = "windlass-system";

/// What is planned, by default for the environment `prd` on 2026-06-15.
pub(crate) struct World {
    pub(crate) units: Vec<Unit>,
    pub(crate) observation: Observation,
    pub(crate) guards: Guards,
    pub(crate) deletions: Vec<DeletionPermission>,
    pub(crate) fields: FieldRules,
    pub(crate) environment: Option<EnvironmentName>,
    pub(crate) rollback: bool,
}

pub(crate) fn object(body: Value) -> Object {
    Object::new(body, None).unwrap()
}

pub(crate) fn config(name: &str, data: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data})
}

pub(crate) fn named(api_version: &str, kind: &str, namespace: Option<&str>, name: &str) -> Value {
    json!({"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}})
}

pub(crate) fn set(unit: &str) -> ApplySet {
    let environment = EnvironmentName::new("prd").unwrap();
    ApplySet::empty(environment, UnitName::new(unit).unwrap(), NAMESPACE)
}

/// An object as it is live, written by nobody in particular.
pub(crate) fn live(mut body: Value) -> Value {
    let uid = format!("uid-{}-{}", body["kind"], body["metadata"]["name"]).replace('"', "");
    body["metadata"]["uid"] = uid.into();
    body["metadata"]["resourceVersion"] = "7".into();
    body
}

/// An object as it is live after Windlass applied it for a unit.
pub(crate) fn member(unit: &str, body: Value) -> Value {
    let mut body = live(body);
    body["metadata"]["labels"][PART_OF] = set(unit).id().into();
    body["metadata"]["managedFields"] = json!([{"manager": "windlass", "operation": "Apply", "apiVersion": "v1", "fieldsV1": {"f:data": {}}}]);
    body
}

pub(crate) fn failure(code: u16, reason: &str, message: &str, causes: &Value) -> Failure {
    let body = json!({"kind": "Status", "reason": reason, "message": message, "details": {"causes": causes}});
    Failure::parse(code, body.to_string().as_bytes(), None)
}

pub(crate) fn conflict(field: &str, manager: &str) -> Conflict {
    Conflict { field: field.into(), manager: manager.into(), ..Conflict::default() }
}

impl World {
    pub(crate) fn new() -> Self {
        Self {
            units: Vec::new(),
            observation: Observation::default(),
            guards: Guards::default(),
            deletions: Vec::new(),
            fields: FieldRules::default(),
            environment: EnvironmentName::new("prd"),
            rollback: false,
        }
    }

    /// Adds a unit that renders these objects.
    pub(crate) fn unit(mut self, name: &str, objects: &[Value]) -> Self {
        self.units.push(Unit {
            name: UnitName::new(name).unwrap(),
            path: name.to_owned(),
            objects: objects.iter().cloned().map(object).collect(),
        });
        self
    }

    /// Adds a unit's set, which records these members.
    pub(crate) fn set(mut self, unit: &str, members: &[&Value]) -> Self {
        let members: Vec<Object> = members.iter().map(|body| object((*body).clone())).collect();
        self.observation.sets.push(set(unit).of(members.iter().map(Object::reference)));
        self
    }

    /// Says how the server answers for an object.
    pub(crate) fn asked(
        mut self,
        live: Option<Value>,
        conflicts: &[Conflict],
        answer: Ask,
        desired: &Value,
    ) -> Self {
        let key = ObjectKey::from(object(desired.clone()).reference());
        let asked = Asked { live: live.map(object), conflicts: conflicts.to_vec(), answer, moving: None };
        self.observation.objects.insert(key, asked);
        self
    }

    /// Says that the server would store this.
    pub(crate) fn answered(self, desired: &Value, live: Option<Value>, answer: Value) -> Self {
        self.asked(live, &[], Ask::Answered(Reply { object: object(answer), warnings: Vec::new() }), desired)
    }

    /// Says that the object is live exactly as it is desired.
    pub(crate) fn settled(self, unit: &str, desired: &Value) -> Self {
        let body = member(unit, desired.clone());
        self.answered(desired, Some(body.clone()), body)
    }

    /// Says that the server refuses the object.
    pub(crate) fn refused(self, desired: &Value, live: Option<Value>, failure: Failure) -> Self {
        self.asked(live, &[], Ask::Refused(failure), desired)
    }

    /// Adds a live object that carries the label of a set.
    pub(crate) fn candidate(mut self, body: Value) -> Self {
        self.observation.candidates.push(Candidate {
            object: object(body),
            prunable: true,
            removal: Removal::Accepted,
        });
        self
    }

    /// Allows a deletion until a day.
    pub(crate) fn allow(mut self, kind: &str, namespace: Option<&str>, name: &str, until: &str) -> Self {
        self.guards.allow_deletions.push(permission(kind, namespace, name, until));
        self
    }

    /// Says that the commit means a deletion, until a day.
    pub(crate) fn mean(mut self, kind: &str, namespace: Option<&str>, name: &str, until: &str) -> Self {
        self.deletions.push(permission(kind, namespace, name, until));
        self
    }

    pub(crate) fn plan(&self) -> Plan {
        let rendering = Rendering {
            units: self.units.clone(),
            renderer: "plain".into(),
            digest: Digest::of_bytes(b"rendering"),
            warnings: Vec::new(),
        };
        let inputs = Inputs {
            environment: self.environment.clone(),
            cluster_id: ClusterId { uid: "u".into(), server: "https://s".into(), version: "v1.36.3".into() },
            source: Provenance::Unsigned { what: "test".into(), commit: None, author: None },
            rendering: &rendering,
            policies: None,
            rollback: self.rollback.then(|| "test".to_owned()),
            guards: &self.guards,
            deletions: &self.deletions,
            fields: &self.fields,
            record_namespace: NAMESPACE,
            tool: "windlass 0.1.0",
            now: "2026-06-15T12:00:00Z".parse().unwrap(),
        };
        plan(inputs, &self.observation)
    }

    /// Checks the exit code and every line of the plan, in order: each must hold all its fragments.
    pub(crate) fn check(&self, exit: u8, want: &[&[&str]]) {
        let plan = self.plan();
        assert_lines(&plan, line, want);
        assert_eq!(exit_code(&plan).map_or(0, windlass_model::ExitCode::code), exit);
    }
}

fn permission(kind: &str, namespace: Option<&str>, name: &str, until: &str) -> DeletionPermission {
    DeletionPermission {
        kind: kind.into(),
        namespace: namespace.map(str::to_owned),
        name: name.into(),
        until: until.into(),
        reason: "test".into(),
    }
}

/// One action as one line.
fn line(action: &Action) -> String {
    let preview = match &action.preview {
        Preview::Server => "server".to_owned(),
        Preview::Locally(because) => format!("locally: {because}"),
        Preview::Not(because) => format!("not: {because}"),
    };
    let mut parts = vec![
        format!(
            "{} {} in {} [{:?}] [{preview}]",
            action.operation.word(),
            action.object,
            action.unit,
            action.risk
        )
        .to_lowercase(),
    ];
    parts.extend(action.delta.iter().map(|change| format!("{:?} {}", change.kind, change.path)));
    parts.extend(
        action.takes_over.iter().map(|taken| format!("takes {} from {}", taken.field, taken.manager)),
    );
    parts.extend(action.leaves.iter().map(|left| format!("leaves {} to {}", left.field, left.manager)));
    parts.extend(
        action.ignored.iter().map(|ignored| format!("ignores {} ({})", ignored.field, ignored.reason)),
    );
    parts.extend(action.forecasts.iter().map(|forecast| match forecast {
        Forecast::Restart { why, .. } => format!("restart: {why}"),
        Forecast::DataLoss { what } => format!("loss: {what}"),
        Forecast::Cascade { text, .. } => format!("cascade: {text}"),
        Forecast::Note { text } => format!("note: {text}"),
    }));
    parts.extend(action.problem.as_ref().map(|problem| format!("problem {}", problem.summary())));
    parts.extend(action.warnings.iter().map(|warning| format!("warning {warning}")));
    parts.join("; ")
}
