//! Guards over definitions that change: what becomes of the objects that exist.

use std::collections::{BTreeMap, BTreeSet};

use windlass_cluster::FIELD_MANAGER;
use windlass_model::{Action, ManagedEntry, Object, Operation, Refusal};
use windlass_schema::{Definition, Flaw, FlawKind, Validator};

use super::{conversion, some};
use crate::definitions::Defined;
use crate::refusal::Guard;
use crate::scene::Scene;
use crate::{Ask, ObjectKey};

/// How many objects a message describes.
const MANY: usize = 5;

/// What the guards say, and what they could not look at.
#[derive(Default)]
pub(crate) struct Judgement {
    pub(crate) refusals: Vec<Refusal>,
    pub(crate) warnings: Vec<String>,
}

/// Judges every definition that is live and changes. Objects that this very plan removes need not fit.
pub(crate) fn judge(scene: &Scene<'_>, removals: &[Action]) -> Judgement {
    let going: BTreeSet<ObjectKey> = removals
        .iter()
        .filter(|action| action.operation == Operation::Prune)
        .map(|action| ObjectKey::from(&action.object))
        .collect();
    let mut judgement = Judgement::default();
    for (defined, old, new) in scene.definitions.live() {
        if !defined.change.concerns_objects() {
            continue;
        }
        let name = format!("{}.{}", old.plural(), old.kind().group);
        let objects = match scene.observation.customs.get(old.kind()) {
            Some(Ok(objects)) => objects.as_slice(),
            Some(Err(reason)) => {
                judgement.refusals.push(unlisted(&name, old, reason));
                &[]
            }
            None => &[],
        };
        judgement.refusals.extend(conversion::refusal(scene, &name, defined, objects));
        judgement.warnings.extend(conversion::warning(&name, defined, objects));
        let staying: Vec<&Object> =
            objects.iter().filter(|object| !going.contains(&ObjectKey::from(object.reference()))).collect();
        let subject = Subject { scene, name: &name, old, new, staying: &staying };
        judgement.refusals.extend(subject.identity());
        judgement.refusals.extend(subject.stored_versions());
        judgement.refusals.extend(subject.unserved());
        judgement.warnings.extend(subject.moves_storage());
        subject.narrowing(defined, &mut judgement);
    }
    judgement
}

/// `definition-unlisted`: what cannot be read cannot be checked. A webhook that converts between versions and does not
/// answer makes every list of the kind fail.
fn unlisted(name: &str, old: &Definition<'_>, reason: &str) -> Refusal {
    let hint = if old.converts_by_webhook() {
        "repair the webhook that converts between the versions of the kind (spec.conversion), then plan again"
    } else {
        "let the identity list the kind, and let one of its versions be served, then plan again"
    };
    Guard::DefinitionUnlisted
        .refuses(format!("`{name}` changes, and its objects could not be listed: {reason}"), hint)
}

/// A definition that changes, with the objects that stay.
struct Subject<'a> {
    scene: &'a Scene<'a>,
    name: &'a str,
    old: &'a Definition<'a>,
    new: &'a Definition<'a>,
    staying: &'a [&'a Object],
}

impl Subject<'_> {
    /// `definition-identity`: the server keeps a kind's scope and names for ever.
    fn identity(&self) -> Option<Refusal> {
        let (old, new) = (self.old, self.new);
        let pairs = [
            ("spec.group", old.kind().group.as_str(), new.kind().group.as_str()),
            ("spec.names.kind", old.kind().kind.as_str(), new.kind().kind.as_str()),
            ("spec.names.plural", old.plural(), new.plural()),
            ("spec.scope", old.scope(), new.scope()),
        ];
        let changes: Vec<String> = pairs
            .iter()
            .filter(|(_, old, new)| old != new)
            .map(|(field, old, new)| format!("{field} from `{old}` to `{new}`"))
            .collect();
        (!changes.is_empty()).then(|| {
            Guard::DefinitionIdentity.refuses(
                format!("`{}` would change {}{}", self.name, changes.join(" and "), self.holding()),
                "define the new kind under a name of its own, move the objects over, and remove the old definition afterwards",
            )
        })
    }

    /// `stored-version`: objects may still be stored in a version that goes.
    fn stored_versions(&self) -> Option<Refusal> {
        let dropped: Vec<String> = self
            .old
            .stored_versions()
            .filter(|version| self.new.version(version).is_none())
            .map(|version| format!("`{version}`"))
            .collect();
        (!dropped.is_empty()).then(|| {
            Guard::StoredVersion.refuses(
                format!(
                    "`{}` would lose {}, and its status.storedVersions says that objects may still be stored so{}",
                    self.name,
                    dropped.join(", "),
                    self.holding()
                ),
                "keep the version with `served: false`; once every object has been written again in the storage version, take the old one out of status.storedVersions, then drop it",
            )
        })
    }

    /// Tells of another storage version, also of an older one: nothing is refused, and each object moves with its next
    /// write.
    fn moves_storage(&self) -> Option<String> {
        let (old, new) = (self.old.storage()?.name(), self.new.storage()?.name());
        (old != new).then(|| {
            format!(
                "`{}` would store its objects in `{new}` instead of `{old}`, each from its next write on{}; `{old}` stays in status.storedVersions until all have been written again and somebody takes it out",
                self.name,
                self.holding()
            )
        })
    }

    /// `version-in-use`: a version goes in which somebody still writes. Where it is dropped altogether, no apply of
    /// such an object works any more, and the next other write loses all records of ownership (kubernetes issue 111937).
    fn unserved(&self) -> Option<Refusal> {
        let mut users: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
        for object in self.staying {
            for (manager, version) in self.writers(object) {
                let user = format!("{} by `{manager}`", object.reference());
                users.entry(version).or_default().insert(user);
            }
        }
        (!users.is_empty()).then(|| {
            let versions: Vec<String> =
                users.iter().map(|(version, users)| format!("`{version}` is used for {}", some(users))).collect();
            Guard::VersionInUse.refuses(
                format!("`{}` would stop serving versions in which objects are written: {}", self.name, versions.join("; ")),
                "while both versions are served, deliver the objects in a version that stays and let the other managers write in it, then stop serving the old one",
            )
        })
    }

    /// Returns who wrote an object last in a version that goes. What Windlass wrote in a version that is only not
    /// served any more is written anew by this commit.
    fn writers<'o>(&self, object: &'o Object) -> Vec<(&'o str, &'o str)> {
        let renders = self.scene.rendered.contains(object);
        ManagedEntry::all(object)
            .filter_map(|entry| Some((entry.manager(), entry.api_version().rsplit('/').next()?)))
            .filter(|(manager, version)| {
                let stops = self.old.serves(version) && !self.new.serves(version);
                let cured = *manager == FIELD_MANAGER && renders && self.new.version(version).is_some();
                stops && !cured
            })
            .collect()
    }

    /// `definition-narrowing`: objects that exist do not fit the new schema.
    fn narrowing(&self, defined: &Defined<'_>, judgement: &mut Judgement) {
        let Some(validator) = self.validator(defined) else { return };
        let mut described = Vec::new();
        let mut unchecked = BTreeSet::new();
        for object in self.staying {
            let findings = validator.check(object.body(), None);
            unchecked.extend(findings.unchecked.iter().map(ToString::to_string));
            let mut flaws: Vec<Flaw> = findings.flaws;
            flaws.extend(self.lost(validator, object));
            flaws.retain(|flaw| self.stands_in_the_way(flaw, object));
            if let Some(first) = flaws.first() {
                described.push(format!("{}: {first}", object.reference()));
            }
        }
        if !described.is_empty() {
            judgement.refusals.push(self.narrows(&described));
        }
        if !unchecked.is_empty() {
            judgement.warnings.push(format!(
                "objects of `{}` that exist were not checked against all of its new schema: {}",
                self.name,
                some(&unchecked)
            ));
        }
    }

    /// Returns the schema by which the objects that exist will be judged, if it is another one than today's.
    fn validator<'d>(&self, defined: &'d Defined<'_>) -> Option<&'d Validator> {
        let read = self.staying.first()?.reference().version.as_str();
        let storage = self.new.storage().map_or("", windlass_schema::Version::name);
        let convertible = !self.new.converts_by_webhook() && !self.old.converts_by_webhook();
        defined.validator(read).or_else(|| defined.validator(storage).filter(|_| convertible))
    }

    /// Returns the fields that would be dropped. A field that the same commit removes is not lost, and the status is
    /// written anew by whoever writes it.
    fn lost(&self, validator: &Validator, object: &Object) -> Vec<Flaw> {
        let asked = self.scene.observation.objects.get(&ObjectKey::from(object.reference()));
        let stays = match asked.map(|asked| &asked.answer) {
            Some(Ask::Answered(reply)) => &reply.object,
            _ => object,
        };
        let mut lost = validator.unknown(stays.body());
        lost.retain(|flaw| !flaw.path.starts_with(&["status"]));
        lost
    }

    /// Says whether a flaw stops more than the object's own change does. An object that the commit renders is judged
    /// with its change, unless its stored form keeps any apply from working.
    fn stands_in_the_way(&self, flaw: &Flaw, object: &Object) -> bool {
        let in_status = flaw.path.starts_with(&["status"]);
        match flaw.kind {
            FlawKind::Shape | FlawKind::Unknown => true,
            FlawKind::Missing | FlawKind::Value | FlawKind::Rule => {
                !in_status && !self.scene.rendered.contains(object)
            }
        }
    }

    fn narrows(&self, described: &[String]) -> Refusal {
        let shown = described.get(..MANY).unwrap_or(described).join("; ");
        let more = match described.len().saturating_sub(MANY) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let (count, all) = (described.len(), self.staying.len());
        Guard::DefinitionNarrowing.refuses(
            format!("the new schema of `{}` does not fit {count} of the {all} objects that exist: {shown}{more}", self.name),
            "change these objects first, in a delivery of their own, or widen the schema: a field can be made optional, an old value allowed, and removed fields kept until nobody sets them",
        )
    }

    /// Says which objects exist.
    fn holding(&self) -> String {
        let names: BTreeSet<String> =
            self.staying.iter().map(|object| object.reference().to_string()).collect();
        match names.len() {
            0 => String::new(),
            count => format!("; {count} exist: {}", some(&names)),
        }
    }
}
