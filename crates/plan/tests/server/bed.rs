//! An environment of a test's own in the shared testbed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use windlass_bed::assert_lines;
pub(crate) use windlass_bed::rendering;
use windlass_cluster::{ApplyRequest, Cluster, Expect};
use windlass_model::{
    Action, ApplySet, ClusterId, EnvironmentName, Object, Operation, Plan, Problem, Provenance, Recipe,
    Rendering, UnitName,
};
use windlass_plan::{FieldRules, Inputs, Observation, ObserveOptions, Trials, observe, plan};
use windlass_settings::Guards;

/// A namespace for objects, a namespace for records, an environment of its own.
pub(crate) struct Bed {
    pub(crate) cluster: Cluster,
    /// Six random characters.
    pub(crate) suffix: String,
    /// The namespace for objects; it exists.
    pub(crate) namespace: String,
    pub(crate) environment: EnvironmentName,
    pub(crate) guards: Guards,
    pub(crate) fields: FieldRules,
    kubeconfig: PathBuf,
    /// Cluster-scoped objects to delete at the end: kind and name.
    pub(crate) leftovers: Vec<(String, String)>,
}

impl Bed {
    pub(crate) async fn new() -> Self {
        let kubeconfig = windlass_bed::kubeconfig();
        let suffix: String = format!("{:08x}", rand::random::<u32>());
        let bed = Self {
            cluster: connect(&kubeconfig).await,
            namespace: format!("plan-{suffix}"),
            environment: EnvironmentName::new(&format!("e{suffix}")).unwrap(),
            guards: Guards::default(),
            fields: FieldRules::default(),
            leftovers: Vec::new(),
            suffix,
            kubeconfig,
        };
        bed.kubectl(&["create", "namespace", &bed.namespace], "");
        bed
    }

    /// Returns the same environment seen by an identity that may only read one resource.
    pub(crate) async fn as_reader_of(&self, resource: &str) -> Self {
        self.as_identity("get,list", resource).await
    }

    /// Returns the same environment seen by an identity that has these verbs on these resources and nothing else.
    pub(crate) async fn as_identity(&self, verbs: &str, resources: &str) -> Self {
        let (name, namespace) = (format!("reader-{}", self.suffix), self.namespace.as_str());
        self.kubectl(&["-n", namespace, "create", "serviceaccount", &name], "");
        let (verbs, resources) = (format!("--verb={verbs}"), format!("--resource={resources}"));
        self.kubectl(&["create", "clusterrole", &name, &verbs, &resources], "");
        let (role, account) =
            (format!("--clusterrole={name}"), format!("--serviceaccount={namespace}:{name}"));
        self.kubectl(&["create", "clusterrolebinding", &name, &role, &account], "");
        let token = self.kubectl(&["-n", namespace, "create", "token", &name], "");
        let view = self.kubectl(&["config", "view", "--raw", "--minify", "-o", "json"], "");
        let mut config: Value = serde_json::from_str(&view).unwrap();
        config["users"][0]["user"] = json!({"token": token.trim()});
        let path = self.kubeconfig.with_file_name(&name);
        std::fs::write(&path, config.to_string()).unwrap();
        let reader = Self {
            cluster: connect(&path).await,
            suffix: self.suffix.clone(),
            namespace: self.namespace.clone(),
            environment: self.environment.clone(),
            guards: Guards::default(),
            fields: FieldRules::default(),
            kubeconfig: self.kubeconfig.clone(),
            leftovers: vec![("clusterrole".into(), name.clone()), ("clusterrolebinding".into(), name)],
        };
        std::fs::remove_file(path).unwrap();
        reader
    }

    /// Runs kubectl with a manifest as its input and returns what it prints.
    pub(crate) fn kubectl(&self, arguments: &[&str], input: &str) -> String {
        let answer = windlass_bed::kubectl(&self.kubeconfig, arguments, input);
        answer.unwrap_or_else(|error| panic!("{arguments:?}: {error}"))
    }

    /// Runs kubectl and says whether it went well.
    pub(crate) fn attempt(&self, arguments: &[&str]) -> bool {
        windlass_bed::kubectl(&self.kubeconfig, arguments, "").is_ok()
    }

    /// Runs what a recipe says, as a person would who copies it into a shell.
    pub(crate) fn carry_out(&self, recipe: &Recipe) {
        for command in recipe.steps.iter().filter_map(|step| step.command.as_ref()) {
            windlass_bed::shell(&self.kubeconfig, command)
                .unwrap_or_else(|error| panic!("{command}: {error}"));
        }
    }

    pub(crate) fn config(&self, name: &str, data: &Value) -> Value {
        json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace}, "data": data})
    }

    pub(crate) fn set(&self, unit: &str) -> ApplySet {
        ApplySet::empty(self.environment.clone(), UnitName::new(unit).unwrap(), &self.namespace)
    }

    /// Plans these units.
    pub(crate) async fn plan(&self, units: &[(&str, &[Value])]) -> Plan {
        let rendering = rendering(units);
        let environment = Some(&self.environment);
        let options = ObserveOptions {
            concurrency: 8,
            remembering: None,
            rules: &self.fields,
            stand_in: &self.namespace,
            trials: Trials::Each,
        };
        let observation =
            observe(&self.cluster, environment, &self.namespace, &rendering, &options).await.unwrap();
        self.plan_of(environment, &rendering, &observation)
    }

    /// Plans what was observed.
    pub(crate) fn plan_of(
        &self,
        environment: Option<&EnvironmentName>,
        rendering: &Rendering,
        observation: &Observation,
    ) -> Plan {
        let inputs = Inputs {
            environment: environment.cloned(),
            cluster_id: ClusterId { uid: "u".into(), server: "s".into(), version: "v".into() },
            source: Provenance::Unsigned { what: "test".into(), commit: None, author: None },
            rendering,
            policies: None,
            rollback: None,
            deletions: &[],
            guards: &self.guards,
            fields: &self.fields,
            record_namespace: &self.namespace,
            tool: "windlass 0.1.0",
            now: "2026-06-15T12:00:00Z".parse().unwrap(),
        };
        plan(inputs, observation)
    }

    /// Applies these units as an executor would: parents first, then the members with their label.
    pub(crate) async fn deliver(&self, units: &[(&str, &[Value])]) {
        for unit in rendering(units).units {
            let set = self.set(unit.name.as_str()).of(unit.objects.iter().map(Object::reference));
            let parent = set.to_object("0.1.0");
            let request =
                ApplyRequest { object: &parent, expect: Expect::Anything, force: true, dry_run: false };
            self.cluster.apply_parent(request).await.unwrap();
            for mut object in unit.objects {
                object.set_label(windlass_model::PART_OF, &set.id());
                let request =
                    ApplyRequest { object: &object, expect: Expect::Anything, force: true, dry_run: false };
                self.cluster.apply(request).await.unwrap();
            }
        }
    }

    /// Plans one unit `shop` and checks the lines of the plan, in order: each must hold all its fragments.
    pub(crate) async fn check(&self, objects: &[Value], want: &[&[&str]]) -> Plan {
        self.check_units(&[("shop", objects)], want).await
    }

    pub(crate) async fn check_units(&self, units: &[(&str, &[Value])], want: &[&[&str]]) -> Plan {
        let plan = self.plan(units).await;
        assert_lines(&plan, line, want);
        plan
    }
}

async fn connect(kubeconfig: &Path) -> Cluster {
    windlass_bed::connect(kubeconfig, "windlass-plan-test", Duration::from_mins(2)).await
}

/// Namespaces go in the background; a failed test leaves nothing behind either.
impl Drop for Bed {
    fn drop(&mut self) {
        let mut all = self.leftovers.clone();
        all.push(("namespace".into(), self.namespace.clone()));
        for (kind, name) in all {
            let arguments = ["delete", &kind, &name, "--wait=false", "--ignore-not-found"];
            windlass_bed::kubectl(&self.kubeconfig, &arguments, "").ok();
        }
    }
}

fn line(action: &Action) -> String {
    let mut parts = vec![format!(
        "{} {}/{} {:?}",
        action.operation.word(),
        action.object.kind,
        action.object.name,
        action.preview
    )];
    parts.extend(action.delta.iter().map(|change| format!("{:?} {}", change.kind, change.path)));
    parts.extend(
        action.takes_over.iter().map(|taken| format!("takes {} from {}", taken.field, taken.manager)),
    );
    parts.extend(action.forecasts.iter().map(|forecast| format!("{forecast:?}")));
    parts.extend(action.problem.as_ref().map(|problem| format!("problem {}", problem.summary())));
    parts.extend(recipe(action).map(|recipe| format!("{recipe:?}")));
    parts.extend(action.warnings.iter().map(|warning| format!("warning {warning}")));
    parts.join("; ")
}

/// Returns how a refused change is made by hand.
pub(crate) fn recipe(action: &Action) -> Option<&Recipe> {
    match &action.problem {
        Some(Problem::Immutable { recipe, .. }) => recipe.as_ref(),
        _ => None,
    }
}

/// Says whether every action of a plan is a no-op.
pub(crate) fn is_quiet(plan: &Plan) -> bool {
    plan.actions.iter().all(|action| action.operation == Operation::NoOp) && plan.is_executable()
}

/// Waits until a kind is served.
pub(crate) async fn served(bed: &Bed, group: &str, kind: &str) {
    for attempt in 0.. {
        let resource = bed.cluster.preferred(&windlass_model::GroupKind::new(group, kind)).await;
        if let Ok(resource) = resource
            && bed.cluster.list(&resource, windlass_cluster::Selector::default()).await.is_ok()
        {
            return;
        }
        assert!(attempt < 100, "{kind}.{group} is never served");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
