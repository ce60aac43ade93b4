//! How a definition changes.

use std::collections::BTreeSet;

use windlass_model::{Object, ObjectRef};
use windlass_schema::{Definition, Version};

/// A definition as it is and as it would be.
pub(crate) struct Change<'a> {
    /// `None` if it is not live.
    pub(crate) old: Option<Definition<'a>>,
    pub(crate) new: Definition<'a>,
}

impl<'a> Change<'a> {
    /// Compares two objects; `None` if the new one is no definition.
    pub(crate) fn between(live: Option<&'a Object>, new: &'a Object) -> Option<Self> {
        Some(Self { old: live.and_then(Definition::read), new: Definition::read(new)? })
    }

    /// Returns the versions that will be served and by whose schema the server does not judge yet.
    pub(crate) fn judged_anew(&self) -> impl Iterator<Item = Version<'a>> {
        self.new.versions().filter(|version| version.is_served() && self.has_new_schema(*version))
    }

    /// Says whether the live objects have to be looked at: what they may hold changes, or the versions in which
    /// they are read, written and stored.
    pub(crate) fn concerns_objects(&self) -> bool {
        let Some(old) = &self.old else { return false };
        let stops = |version: Version<'_>| version.is_served() && !self.new.serves(version.name());
        let moves = old.storage().map(Version::name) != self.new.storage().map(Version::name);
        let renames = old.scope() != self.new.scope()
            || old.plural() != self.new.plural()
            || old.kind() != self.new.kind();
        moves
            || renames
            || old.versions().any(stops)
            || self.judged_anew().next().is_some()
            || self.drops_stored()
            || self.converting_service().is_some_and(|new| old.converting_service() != Some(new))
            || self.new_converting_url().is_some()
    }

    /// Returns the Service that will convert objects which may be stored or asked for in several versions. A single
    /// version needs no conversion, whatever the definition says of it.
    pub(crate) fn converting_service(&self) -> Option<ObjectRef> {
        self.new.converting_service().filter(|_| self.has_versions())
    }

    /// Returns the address that will convert such objects, if it is another one than now.
    pub(crate) fn new_converting_url(&self) -> Option<&'a str> {
        let old = self.old.as_ref().and_then(Definition::converting_url);
        self.new.converting_url().filter(|url| self.has_versions() && old != Some(*url))
    }

    /// Says whether objects may be stored or asked for in several versions.
    fn has_versions(&self) -> bool {
        let stored = self.old.iter().flat_map(Definition::stored_versions);
        let served = self.new.versions().filter(|version| version.is_served()).map(Version::name);
        let storage = self.new.storage().map(Version::name);
        let versions: BTreeSet<&str> = stored.chain(served).chain(storage).collect();
        versions.len() > 1
    }

    /// Says whether a version goes in which objects may be stored.
    fn drops_stored(&self) -> bool {
        self.old.iter().flat_map(Definition::stored_versions).any(|stored| self.new.version(stored).is_none())
    }

    fn has_new_schema(&self, version: Version<'_>) -> bool {
        let old = self.old.as_ref().and_then(|old| old.version(version.name()));
        old.is_none_or(|old| !old.is_served() || old.schema() != version.schema())
    }
}

/// Returns the version in which the live objects are best read: the one in which they will be stored, or else the
/// one in which they are. `None` if the server reads them in no version.
pub(crate) fn listing_version<'a>(change: &Change<'a>) -> Option<&'a str> {
    let old = change.old.as_ref()?;
    let storages = [change.new.storage(), old.storage()].into_iter().flatten();
    let mut readable = storages.chain(old.versions()).filter(|version| old.serves(version.name()));
    readable.next().map(Version::name)
}
