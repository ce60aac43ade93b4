//! One object's part of a plan.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    Bodies, Conflict, DestroyedVolume, Digest, FieldChange, Ignored, Migration, Object, ObjectRef, Origin,
    Recipe, Replacement, RetainedVolume, UnitName, is_namespace, is_secret_kind,
};

/// What would happen to one object.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Action {
    /// The unit that renders the object, or whose set the object leaves.
    pub unit: UnitName,
    /// The object.
    pub object: ObjectRef,
    /// Where it is written; `None` for prunes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// What happens.
    pub operation: Operation,
    /// How far the prediction can be trusted.
    pub preview: Preview,
    /// The live object, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<LiveId>,
    /// The fields that differ, in path order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub delta: Vec<FieldChange>,
    /// For creations: the digest of what will be sent. Absent for Secrets, whose content the commit's id
    /// pins, because a published digest of a short secret can be guessed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub desired: Option<Digest>,
    /// For creations: the generated object that goes when this one takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaces: Option<Replacement>,
    /// How much care the action asks for.
    pub risk: Risk,
    /// Fields of other managers that the apply takes over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub takes_over: Vec<Conflict>,
    /// Fields of the manifest that are left to the managers that own them: they are not sent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<Conflict>,
    /// Differences that an ignore rule hides; their fields keep the values that they have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignored: Vec<Ignored>,
    /// Ownership that moves to Windlass before the object is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub migration: Option<Migration>,
    /// The object as it is sent, where that is not the rendered one as it is. Part of no written form.
    #[serde(skip)]
    pub sent: Option<Object>,
    /// What follows from the action: restarts, what a deletion takes along.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub forecasts: Vec<Forecast>,
    /// Volumes that are kept beforehand, since a deletion takes the claims along that they are bound to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub retains: Vec<RetainedVolume>,
    /// Namespaces that go along with what owns them, and what can hold data in a namespace that goes without being deleted
    /// by itself before. An effect each: a run that was killed between them finds fewer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<ObjectRef>,
    /// Volumes whose data goes with a deletion, or with what scaling down deletes. An effect each, as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub destroys: Vec<DestroyedVolume>,
    /// Whether it could not be found out what a deletion takes along: more may be destroyed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub uncounted: bool,
    /// Why the action cannot be carried out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// What the server warned of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// The whole object before and after, for people; `delta` holds what differs.
    #[serde(skip)]
    pub bodies: Bodies,
}

/// What happens to an object; the order is the order of a report, the most dangerous first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// The object is deleted: its set holds it and no unit renders it any more.
    Prune,
    /// The change touches immutable fields; Windlass never deletes and creates again by itself.
    Recreate,
    /// The object is changed.
    Update,
    /// The object exists and is managed by Windlass from now on, with or without changed fields.
    Adopt,
    /// The object is created.
    Create,
    /// The object looks like a member of a set that nothing renders any more, but the evidence for pruning
    /// it is not complete; it is left alone.
    Keep,
    /// Nothing happens.
    NoOp,
}

impl Operation {
    /// Says whether carrying out the action writes to the cluster.
    pub fn writes(self) -> bool {
        !matches!(self, Self::Keep | Self::NoOp)
    }

    /// Returns the word used in reports.
    pub fn word(self) -> &'static str {
        match self {
            Self::Prune => "prune",
            Self::Recreate => "recreate",
            Self::Update => "update",
            Self::Adopt => "adopt",
            Self::Create => "create",
            Self::Keep => "keep",
            Self::NoOp => "no-op",
        }
    }
}

/// How far a prediction can be trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "verified", content = "because")]
pub enum Preview {
    /// The API server answered a dry-run of exactly this request.
    Server,
    /// The server could not be asked yet; Windlass checked what it can.
    Locally(String),
    /// Nothing could be checked.
    Not(String),
}

/// Which live object an action is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LiveId {
    /// The uid: the action is void if another object has taken the name.
    pub uid: String,
    /// The version that was seen.
    pub resource_version: String,
    /// The generation that was seen, if the object has one: it counts changes of what is declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// Whether it was being deleted already. Part of no written form.
    #[serde(skip)]
    pub terminating: bool,
}

/// How much care an action asks for, ascending.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Risk {
    /// Nothing is written.
    None,
    /// An ordinary change.
    Routine,
    /// Pods restart.
    Restart,
    /// Rights, webhooks, network or storage rules change.
    Access,
    /// An operator or an API definition changes.
    Definition,
    /// An object is deleted.
    Deletion,
    /// Data can be lost.
    Data,
}

/// What follows from an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "forecast")]
pub enum Forecast {
    /// Pods are replaced.
    Restart {
        /// Which pods and why.
        why: String,
        /// How many pods; absent where only an operator or another controller knows.
        #[serde(skip_serializing_if = "Option::is_none")]
        pods: Option<usize>,
    },
    /// Data is destroyed.
    DataLoss {
        /// What is lost.
        what: String,
    },
    /// Other objects go along with a deleted one, counted.
    Cascade {
        /// The sentence.
        text: String,
        /// Pods that go.
        pods: usize,
        /// Claims that go.
        claims: usize,
        /// Volumes of these claims that are destroyed.
        volumes: usize,
        /// The bytes that the destroyed volumes hold at most.
        bytes: u64,
    },
    /// Anything else worth knowing before approving.
    Note {
        /// The note.
        text: String,
    },
}

/// Why an action cannot be carried out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", tag = "problem")]
pub enum Problem {
    /// The server finds the object wrong.
    Invalid {
        /// What is wrong, field by field.
        causes: Vec<String>,
    },
    /// Other managers own fields that the object sets.
    Conflicts {
        /// The fields.
        fields: Vec<Conflict>,
    },
    /// Fields cannot be changed on a live object.
    Immutable {
        /// The fields.
        paths: Vec<String>,
        /// How the change is made by hand.
        #[serde(skip_serializing_if = "Option::is_none")]
        recipe: Option<Recipe>,
    },
    /// A policy denies the object.
    Denied {
        /// The policy's own words.
        message: String,
    },
    /// The identity may not do this.
    Forbidden {
        /// The server's words, which name verb and resource.
        message: String,
    },
    /// Something else is wrong with the object, or in its way.
    Other {
        /// What.
        message: String,
    },
}

impl Problem {
    /// Returns one line that says what is wrong.
    pub fn summary(&self) -> String {
        match self {
            Self::Invalid { causes } => format!("invalid: {}", causes.join("; ")),
            Self::Conflicts { fields } => {
                let owners: Vec<String> = fields.iter().map(Conflict::owner).collect();
                format!("field conflict: {}", owners.join("; "))
            }
            Self::Immutable { paths, .. } => format!("immutable: {}", paths.join(", ")),
            Self::Denied { message } => format!("denied by policy: {message}"),
            Self::Forbidden { message } => format!("forbidden: {message}"),
            Self::Other { message } => message.clone(),
        }
    }

    /// Returns what to do about it; nothing where the summary says it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Invalid { .. } => "correct the manifest",
            Self::Conflicts { .. } => {
                "remove the field from the manifest, have the other manager give it up, or decide in `ownership.conflicts` of the environment file who wins: `take` or `leave`"
            }
            Self::Immutable { .. } => "undo the change, or make it by hand as the plan tells",
            Self::Denied { .. } => "change the object so that the policy accepts it",
            Self::Forbidden { .. } => "grant the right to the identity that runs Windlass (pipeline/rbac)",
            Self::Other { .. } => "",
        }
    }
}

/// What goes along with a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// What happens to what, as a part of a sentence.
    pub what: String,
    /// The same as an effect on the cluster, as [`Action::effect`].
    pub effect: Value,
}

impl Action {
    /// Returns the action in an object's life that changes nothing yet; whoever makes one fills in the rest.
    pub fn new(unit: UnitName, object: ObjectRef, operation: Operation) -> Self {
        Self {
            unit,
            object,
            origin: None,
            operation,
            preview: Preview::Server,
            live: None,
            delta: Vec::new(),
            desired: None,
            replaces: None,
            risk: Risk::None,
            takes_over: Vec::new(),
            retains: Vec::new(),
            takes: Vec::new(),
            destroys: Vec::new(),
            uncounted: false,
            leaves: Vec::new(),
            ignored: Vec::new(),
            migration: None,
            sent: None,
            forecasts: Vec::new(),
            problem: None,
            warnings: Vec::new(),
            bodies: Bodies::default(),
        }
    }

    /// Returns what the action does to the cluster, in a form that two plans of the same effect share.
    ///
    /// Left out is whatever moves without changing the effect: resource versions, order, warnings,
    /// forecasts. An update of a Secret names the live version, since its values are masked. What is taken over
    /// from managers that are migrated is left out too: once they are, there is nothing to take.
    pub fn effect(&self) -> Value {
        let secret_version =
            self.live.as_ref().filter(|_| is_secret_kind(&self.object.kind) && !self.delta.is_empty());
        let migrated = |manager: &str| {
            self.migration
                .as_ref()
                .is_some_and(|migration| migration.managers.iter().any(|m| m.manager == manager))
        };
        let taken = self.takes_over.iter().filter(|conflict| !migrated(&conflict.manager));
        json!({
            "unit": self.unit,
            "object": [self.object.kind, self.object.namespace, self.object.name],
            "operation": self.operation,
            "uid": self.live.as_ref().map(|live| &live.uid),
            "secretVersion": secret_version.map(|live| &live.resource_version),
            "desired": self.desired,
            "delta": self.delta,
            "takesOver": taken.map(|c| (&c.field, &c.manager)).collect::<Vec<_>>(),
        })
    }

    /// Returns what goes along with the action besides the object: an effect for each, so that one that takes less is covered
    /// by an approval of one that takes more, and never the other way round.
    pub fn losses(&self) -> Vec<Loss> {
        let uid = self.live.as_ref().map(|live| &live.uid);
        let taken = self.takes.iter().map(|taken| Loss {
            what: format!("takes along {taken}"),
            effect: json!({"namespace": taken.namespace, "uid": uid, "takes": [taken.kind, taken.name]}),
        });
        let destroyed = self.destroys.iter().map(|volume| Loss {
            what: format!("destroys {volume}"),
            effect: json!({"uid": uid, "destroys": [volume.namespace, volume.claim, volume.name]}),
        });
        let uncounted = self.uncounted.then(|| Loss {
            what: "takes along what could not be counted".to_owned(),
            effect: json!({"uid": uid, "uncounted": true}),
        });
        let retained = self.retains.iter().map(|volume| Loss {
            what: format!("sets the volume {} to Retain", volume.name),
            effect: json!({"uid": uid, "retains": [volume.name, volume.uid]}),
        });
        taken.chain(destroyed).chain(uncounted).chain(retained).collect()
    }

    /// Returns the namespaces that a deletion takes along, with everything in them.
    pub fn namespaces(&self) -> impl Iterator<Item = &str> {
        let all = std::iter::once(&self.object).chain(&self.takes);
        all.filter(|object| is_namespace(&object.kind)).map(|object| object.name.as_str())
    }

    /// Returns what the migration of ownership does, if there is one: an effect of its own, so that a run that was
    /// killed after it finds a smaller effect than the one that was approved.
    pub fn migration_effect(&self) -> Option<Value> {
        let migration = self.migration.as_ref()?;
        Some(json!({
            "object": [self.object.kind, self.object.namespace, self.object.name],
            "uid": self.live.as_ref().map(|live| &live.uid),
            "migrates": migration.managers.iter().map(|from| &from.manager).collect::<Vec<_>>(),
            "version": migration.version,
        }))
    }
}
