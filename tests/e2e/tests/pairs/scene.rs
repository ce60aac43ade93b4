//! Two places in one cluster: what Windlass delivers to, and the twin that kubectl applies to.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_e2e::{Bed, Files, Raw, Reply, World, manifests, until};

use super::each::each;
use super::generate::{Hand, Origin, Pair};
use super::kinds::{self, Kind};
use super::oracle::{LABEL, MANAGER, apply, labelled};

pub(crate) struct Scene {
    pub(crate) world: World,
    pub(crate) raw: Raw,
    /// The namespace, and the prefix of names outside of it, where Windlass delivers.
    pub(crate) here: String,
    /// The same where kubectl applies.
    pub(crate) there: String,
    /// The resources that are in no namespace, as kubectl takes them.
    resources: String,
    /// The fields that a rule can be about.
    fields: BTreeSet<String>,
    /// The twin's label of a set.
    twin_set: String,
}

impl Scene {
    /// Makes both namespaces and the custom kinds; returns all kinds.
    pub(crate) fn new() -> (Self, Vec<Kind>) {
        let mut world = World::named("pairs");
        let (here, there) = (world.namespace("pa"), world.namespace("pb"));
        world.configure(|settings| {
            settings["cluster"]["kubeconfig"] = json!(Bed::get().kubeconfig);
            settings["timeouts"]["request"] = json!("60s");
            settings["timeouts"]["lease"] = json!("60s");
        });
        let group = format!("{}.example.org", world.suffix);
        let raw = world.kubectl.proxy();
        let mut objects = kinds::definitions(&group, &world.suffix);
        for name in [&here, &there] {
            objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
        }
        world.kubectl.apply(&list(objects.iter()));
        for path in
            [format!("/apis/{group}/v1/namespaces/{here}/widgets"), format!("/apis/{group}/v1/gadgets")]
        {
            until(30, "the custom kinds are served", || raw.get(&path).is_ok().then_some(()));
        }
        let twin_set = format!("applyset-twin-{}-v1", world.suffix);
        let kinds = kinds::all(&group);
        // Custom objects go before their definitions.
        let outside = kinds.iter().rev().filter(|kind| !kind.namespaced).map(Kind::resource);
        let resources = outside.collect::<Vec<_>>().join(",");
        let roots = kinds.iter().flat_map(Kind::roots).chain(["metadata.labels", "metadata.annotations"]);
        let fields = roots.map(str::to_owned).collect();
        let mut scene = Self { world, raw, here, there, resources, fields, twin_set };
        scene.take_from(&["keeper"]);
        (scene, kinds)
    }

    /// Lets the environment file say that fields of these managers are taken over.
    pub(crate) fn take_from(&mut self, managers: &[&str]) {
        let rules_of = |manager: &&str| {
            let rule = |field: &String| json!({"field": field, "manager": manager, "then": "take"});
            self.fields.iter().map(rule).collect::<Vec<_>>()
        };
        let rules: Vec<Value> = managers.iter().flat_map(rules_of).collect();
        self.world.configure(|settings| settings["ownership"] = json!({"conflicts": rules}));
    }

    /// Returns an object of the twin.
    pub(crate) fn twin(&self, object: &Value) -> Value {
        serde_json::from_str(&object.to_string().replace(&self.here, &self.there)).unwrap()
    }

    /// Returns the same with the twin's label of a set.
    pub(crate) fn twin_member(&self, object: &Value) -> Value {
        labelled(&self.twin(object), &self.twin_set)
    }

    /// Returns an object of the twin under the names of ours, as a member of a set; `uid` is ours.
    pub(crate) fn untwinned(&self, object: &Value, uid: &str, set: &str) -> Value {
        let theirs = object["metadata"]["uid"].as_str().unwrap_or("none");
        let text = object.to_string().replace(&self.there, &self.here).replace(&self.twin_set, set);
        serde_json::from_str(&text.replace(theirs, uid)).unwrap()
    }

    /// Commits these objects as one unit.
    pub(crate) fn commit<'a>(&self, objects: impl Iterator<Item = &'a Value>) {
        let mut files = Files::new().with("windlass.yaml", manifests::units(&[("all", "all", "")]));
        for (number, object) in objects.enumerate() {
            files = files.with(&format!("all/{number}.yaml"), object.to_string());
        }
        self.world.commit(&files);
    }

    /// Lets the live objects come to be, on both sides; returns the label of the set.
    pub(crate) fn populate(&self, pairs: &[Pair<'_>]) -> String {
        let of = |origin: Origin| pairs.iter().filter(move |pair| pair.origin == origin);
        self.commit(of(Origin::Delivered).map(|pair| &pair.base));
        self.world.windlass(&["run"]).ok();
        each(pairs, |pair| match pair.origin {
            Origin::Absent | Origin::ClientSide => {}
            Origin::Delivered => {
                self.must_apply(pair, &self.twin_member(&pair.base), MANAGER);
            }
            Origin::Rival | Origin::Keeper => {
                let manager = if pair.origin == Origin::Rival { "rival" } else { "keeper" };
                self.must_apply(pair, &pair.base, manager);
                self.must_apply(pair, &self.twin(&pair.base), manager);
            }
        });
        let ours: Vec<Value> = of(Origin::ClientSide).map(|pair| pair.base.clone()).collect();
        let twins: Vec<Value> = ours.iter().map(|object| self.twin(object)).collect();
        self.world.kubectl.feed(&["apply", "-f", "-"], &list(ours.iter().chain(&twins)));
        // The twin's ownership is moved by kubectl itself.
        self.kubectl_applies(&twins);
        each(pairs, |pair| self.lay_hands_on(pair));
        let first = of(Origin::Delivered).next().unwrap();
        let live = self.raw.get(&first.path()).body;
        live["metadata"]["labels"][LABEL].as_str().unwrap().to_owned()
    }

    fn must_apply(&self, pair: &Pair<'_>, object: &Value, manager: &str) {
        let reply = apply(&self.raw, pair.kind, object, manager, "force=true");
        assert!(reply.is_ok(), "{pair}: {} {}", reply.status, reply.body);
    }

    /// Lets kubectl apply objects of the twin.
    pub(crate) fn kubectl_applies(&self, objects: &[Value]) {
        let arguments = [
            "apply",
            "--server-side",
            "--force-conflicts",
            "--validate=false",
            "--field-manager",
            MANAGER,
            "-f",
            "-",
        ];
        std::thread::scope(|scope| {
            for part in objects.chunks(objects.len().div_ceil(2).max(1)) {
                scope.spawn(move || self.world.kubectl.feed(&arguments, &list(part.iter())));
            }
        });
    }

    /// Changes the live objects of both sides as somebody else.
    fn lay_hands_on(&self, pair: &Pair<'_>) {
        let Some((hand, edit)) = &pair.hand else { return };
        let manager = hand.manager();
        if *hand == Hand::RivalApplies
            && let Some(mut part) = edit.alone()
        {
            part["apiVersion"] = pair.base["apiVersion"].clone();
            part["kind"] = pair.base["kind"].clone();
            for key in ["name", "namespace"] {
                part["metadata"][key] = pair.base["metadata"][key].clone();
            }
            for part in [self.twin(&part), part] {
                apply(&self.raw, pair.kind, &part, manager, "force=true");
            }
            return;
        }
        let replace = |object: &Value| self.replace(pair.kind, object, manager, |live| edit.apply(live));
        if *hand != Hand::Editor {
            replace(&pair.base);
            replace(&self.twin(&pair.base));
            return;
        }
        // The twin is what the object is once the editor's fields have moved to Windlass.
        let mut edited = self.twin_member(&pair.base);
        edit.apply(&mut edited);
        let can_be = apply(&self.raw, pair.kind, &edited, MANAGER, "force=true&dryRun=All").is_ok();
        if can_be && replace(&pair.base).is_ok() {
            self.must_apply(pair, &edited, MANAGER);
        }
    }

    /// Replaces a live object by a changed one; what the server refuses stays as it is.
    fn replace(&self, kind: &Kind, object: &Value, manager: &str, change: impl Fn(&mut Value)) -> Reply {
        let path = kind.path(object);
        loop {
            let mut live = self.raw.get(&path).body;
            change(&mut live);
            let path = format!("{path}?fieldManager={manager}&fieldValidation=Strict");
            let reply = self.raw.send("PUT", &path, "application/json", &live);
            if reply.status != 409 || !reply.message().contains("has been modified") {
                return reply;
            }
        }
    }
}

impl Drop for Scene {
    /// Deletes what is in no namespace.
    fn drop(&mut self) {
        let label = format!("pairs={}", self.world.suffix);
        self.world.kubectl.attempt(&["delete", &self.resources, "-l", &label, "--wait=false"], "");
    }
}

/// Writes objects as kubectl reads them.
fn list<'a>(objects: impl Iterator<Item = &'a Value>) -> String {
    json!({"apiVersion": "v1", "kind": "List", "items": objects.collect::<Vec<_>>()}).to_string()
}
