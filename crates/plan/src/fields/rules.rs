//! The rules on fields, of both files, read once.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use windlass_model::{FieldPath, FieldPattern, FieldSet, GroupKind, Object, ObjectRef, fits};
use windlass_settings::{ConflictRule, IgnoreRule, Ownership, Winner};

use crate::ownership::is_by_hand;

/// Managers by which kubectl's client-side commands write whole manifests or edits of them, and our own name where an
/// earlier write was no apply. Not among them: `kubectl-rollout`, whose annotation restarts pods when it goes.
const MIGRATED: [&str; 7] = [
    "kubectl-client-side-apply",
    "kubectl-create",
    "kubectl-edit",
    "kubectl-patch",
    "kubectl-replace",
    "kubectl-set",
    windlass_cluster::FIELD_MANAGER,
];

/// Who wins over fields, whose ownership is migrated, and which differences are ignored. The default takes what people's
/// tools wrote and ignores nothing.
#[derive(Debug, Clone, Default)]
pub struct FieldRules {
    conflicts: Vec<(ConflictRule, FieldPattern)>,
    migrate: Vec<String>,
    ignore: Vec<Ignoring>,
    expired: Vec<String>,
}

/// An ignore rule that counts.
#[derive(Debug, Clone)]
pub(crate) struct Ignoring {
    /// The rule.
    pub(crate) rule: IgnoreRule,
    /// Its field.
    pub(crate) field: FieldPattern,
}

impl FieldRules {
    /// Takes the rules of both files as they count in an environment at a time. `environment` is `None` where a bare
    /// directory is planned: then every ignore rule counts.
    pub fn new(
        ownership: &Ownership,
        ignore: &[IgnoreRule],
        environment: Option<&str>,
        now: Timestamp,
    ) -> Self {
        let today = now.to_zoned(TimeZone::UTC).date();
        let here = |rule: &&IgnoreRule| {
            rule.environments.is_empty()
                || environment.is_none_or(|name| rule.environments.iter().any(|known| known == name))
        };
        let counts = |rule: &&IgnoreRule| rule.until.parse::<Date>().is_ok_and(|until| today <= until);
        let (counting, expired): (Vec<_>, Vec<_>) = ignore.iter().filter(here).partition(counts);
        Self {
            conflicts: ownership
                .conflicts
                .iter()
                .filter_map(|rule| Some((rule.clone(), FieldPattern::parse(&rule.field).ok()?)))
                .collect(),
            migrate: ownership.migrate.clone(),
            ignore: counting
                .into_iter()
                .filter_map(|rule| {
                    Some(Ignoring { rule: rule.clone(), field: FieldPattern::parse(&rule.field).ok()? })
                })
                .collect(),
            expired: expired
                .into_iter()
                .map(|rule| format!("{}, until {}", told(rule), rule.until))
                .collect(),
        }
    }

    /// Says who wins over a field that a manager owns, if a rule fits or a person's tool wrote it.
    pub(crate) fn winner(&self, object: &ObjectRef, field: &FieldPath, manager: &str) -> Option<Winner> {
        let rule = self.conflicts.iter().find(|(rule, pattern)| {
            fits(&rule.manager, manager) && is_meant(rule, object) && pattern.covers(field)
        });
        match rule {
            Some((rule, _)) => Some(rule.then),
            None => (is_by_hand(manager) || self.migrates(manager)).then_some(Winner::Take),
        }
    }

    /// Says whether some rule leaves fields to others.
    pub(crate) fn leaves(&self) -> bool {
        self.conflicts.iter().any(|(rule, _)| rule.then == Winner::Leave)
    }

    /// Returns the fields of an object that rules leave to others.
    pub(crate) fn leaving(&self, object: &ObjectRef) -> impl Iterator<Item = &FieldPattern> {
        let meant = |rule: &ConflictRule| rule.then == Winner::Leave && is_meant(rule, object);
        self.conflicts.iter().filter(move |(rule, _)| meant(rule)).map(|(_, pattern)| pattern)
    }

    /// Says whether no rule can leave or ignore a field of an object.
    pub(crate) fn hold_nothing_of(&self, object: &ObjectRef) -> bool {
        !self.leaves() && self.ignoring(object).next().is_none()
    }

    /// Says whether what a manager owns by `Update` moves to Windlass.
    pub(crate) fn migrates(&self, manager: &str) -> bool {
        MIGRATED.contains(&manager) || self.migrate.iter().any(|known| known == manager)
    }

    /// Returns the ignore rules that count for an object, each with its position among all that count.
    pub(crate) fn ignoring(&self, object: &ObjectRef) -> impl Iterator<Item = (usize, &Ignoring)> {
        let meant = |one: &Ignoring| {
            GroupKind::from(one.rule.kind.clone()) == object.kind && fits(&one.rule.name, &full_name(object))
        };
        self.ignore.iter().enumerate().filter(move |(_, one)| meant(one))
    }

    /// Returns the members of a manager's fields that rules leave to it.
    pub(crate) fn left_to(&self, object: &Object, manager: &str, fields: &FieldSet) -> FieldSet {
        fields.filter(|path| self.winner(object.reference(), path, manager) == Some(Winner::Leave))
    }

    /// Returns a warning for each ignore rule that does not count any more or, by its position, was not used.
    pub(crate) fn warnings(&self, is_used: impl Fn(usize) -> bool) -> Vec<String> {
        let expired = self
            .expired
            .iter()
            .map(|rule| format!("the ignore rule for {rule}, has expired: it hides nothing"));
        let unused = self.ignore.iter().enumerate().filter(|(position, _)| !is_used(*position));
        let unused = unused.map(|(_, one)| {
            format!(
                "the ignore rule for {} hides nothing: no object of this commit has such a field",
                told(&one.rule)
            )
        });
        expired.chain(unused).collect()
    }
}

fn told(rule: &IgnoreRule) -> String {
    let manager = rule.manager.as_ref().map(|manager| format!(" of {manager}")).unwrap_or_default();
    format!("{} {} {}{manager}", rule.kind, rule.name, rule.field)
}

fn is_meant(rule: &ConflictRule, object: &ObjectRef) -> bool {
    let kind =
        rule.kinds.is_empty() || rule.kinds.iter().any(|kind| GroupKind::from(kind.clone()) == object.kind);
    let name = full_name(object);
    kind && (rule.names.is_empty() || rule.names.iter().any(|pattern| fits(pattern, &name)))
}

fn full_name(object: &ObjectRef) -> String {
    match &object.namespace {
        Some(namespace) => format!("{namespace}/{}", object.name),
        None => object.name.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(field: &str, manager: &str, kinds: &[&str], names: &[&str], then: Winner) -> ConflictRule {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        ConflictRule {
            field: field.into(),
            manager: manager.into(),
            kinds: owned(kinds),
            names: owned(names),
            then,
        }
    }

    #[test]
    fn the_first_rule_that_fits_decides() {
        let ownership = Ownership {
            conflicts: vec![
                rule("spec.replicas", "hpa", &["Deployment.apps"], &["shop/*"], Winner::Leave),
                rule("spec", "hpa", &[], &[], Winner::Take),
                rule("spec.paused", "kubectl-*", &[], &[], Winner::Fail),
            ],
            migrate: vec!["old-tool".into()],
        };
        let rules = FieldRules::new(&ownership, &[], None, Timestamp::UNIX_EPOCH);
        let check = |kind: &str, namespace: &str, field: &str, manager: &str, want: Option<Winner>| {
            let object = ObjectRef {
                kind: GroupKind::from(kind.to_owned()),
                version: "v1".into(),
                namespace: Some(namespace.into()),
                name: "web".into(),
            };
            let path = field.split('.').fold(FieldPath::root(), |path, key| path.key(key));
            assert_eq!(rules.winner(&object, &path, manager), want, "{kind} {namespace} {field} {manager}");
        };
        check("Deployment.apps", "shop", "spec.replicas", "hpa", Some(Winner::Leave));
        check("Deployment.apps", "other", "spec.replicas", "hpa", Some(Winner::Take));
        check("StatefulSet.apps", "shop", "spec.replicas", "hpa", Some(Winner::Take));
        check("Deployment.apps", "shop", "data.a", "hpa", None);
        check("Deployment.apps", "shop", "spec.paused", "kubectl-edit", Some(Winner::Fail));
        check("Deployment.apps", "shop", "spec.replicas", "kubectl-edit", Some(Winner::Take));
        check("Deployment.apps", "shop", "spec.replicas", "some-operator", None);
        assert!(rules.migrates("old-tool") && rules.migrates("kubectl-edit"));
        assert!(!rules.migrates("kubectl-rollout") && !rules.migrates("hpa"));
    }

    #[test]
    fn an_ignore_rule_counts_until_its_day_where_it_is_meant() {
        let check = |environments: &[&str], now: &str, counting: usize, expired: usize| {
            let rule = IgnoreRule {
                kind: "ConfigMap".into(),
                name: "shop/*".into(),
                field: "data.a".into(),
                manager: None,
                until: "2026-06-30".into(),
                reason: "moved".into(),
                environments: environments.iter().map(|name| (*name).to_owned()).collect(),
            };
            let rules = FieldRules::new(&Ownership::default(), &[rule], Some("prd"), now.parse().unwrap());
            assert_eq!((rules.ignore.len(), rules.warnings(|_| true).len()), (counting, expired), "{now}");
        };
        check(&[], "2026-06-30T23:59:59Z", 1, 0);
        check(&[], "2026-07-01T00:00:00Z", 0, 1);
        check(&["prd"], "2026-06-01T00:00:00Z", 1, 0);
        check(&["acc"], "2026-06-01T00:00:00Z", 0, 0);
    }
}
