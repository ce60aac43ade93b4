//! Which objects a webhook or a policy is asked about.

use serde_json::Value;
use windlass_cluster::Resource;

/// The rules and selectors of a webhook or a policy whose judgement cannot be foreseen.
///
/// In doubt it concerns an object: versions are not compared (`matchPolicy: Equivalent` crosses them), and
/// `matchConditions` count as met.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    rules: Vec<Value>,
    namespaces: Value,
    objects: Value,
}

/// An object that is updated.
pub(crate) struct Subject<'a> {
    pub(crate) resource: &'a Resource,
    /// The labels before and after.
    pub(crate) labels: [Option<&'a Value>; 2],
    /// The labels of its namespace, or a namespace's own before and after; empty for other cluster-scoped objects.
    pub(crate) namespace: Vec<Option<&'a Value>>,
}

impl Matcher {
    /// Reads a webhook's `rules`, or a policy's `resourceRules`, and the selectors beside them.
    pub(crate) fn read(place: &Value, rules: &str) -> Self {
        Self {
            rules: place[rules].as_array().cloned().unwrap_or_default(),
            namespaces: place["namespaceSelector"].clone(),
            objects: place["objectSelector"].clone(),
        }
    }

    /// Says whether the update of an object may be judged.
    pub(crate) fn concerns(&self, subject: &Subject<'_>) -> bool {
        let selects = |selector: &Value, labels: &[Option<&Value>]| {
            labels.is_empty() || labels.iter().any(|labels| is_selected(selector, *labels))
        };
        self.rules.iter().any(|rule| is_ruled(rule, subject.resource))
            && selects(&self.objects, &subject.labels)
            && selects(&self.namespaces, &subject.namespace)
    }
}

fn is_ruled(rule: &Value, resource: &Resource) -> bool {
    let lists = |field: &str, wanted: &str| texts(&rule[field]).any(|text| text == "*" || text == wanted);
    let scope = match rule["scope"].as_str() {
        Some("Namespaced") => resource.namespaced,
        Some("Cluster") => !resource.namespaced,
        _ => true,
    };
    let is_resource = |text: &str| match text.split_once('/') {
        // `pods/*` is the pods and everything below them.
        Some((plural, below)) => below == "*" && (plural == "*" || plural == resource.plural),
        None => text == "*" || text == resource.plural,
    };
    scope
        && lists("operations", "UPDATE")
        && lists("apiGroups", &resource.kind.group)
        && texts(&rule["resources"]).any(is_resource)
}

/// Applies a label selector; one that is missing or cannot be read selects everything.
fn is_selected(selector: &Value, labels: Option<&Value>) -> bool {
    let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Value::as_str);
    let mut equal = selector["matchLabels"].as_object().into_iter().flatten();
    let mut expressions = selector["matchExpressions"].as_array().into_iter().flatten();
    equal.all(|(key, value)| label(key) == value.as_str())
        && expressions.all(|expression| {
            let found = label(expression["key"].as_str().unwrap_or_default());
            let listed = || texts(&expression["values"]).any(|value| Some(value) == found);
            match expression["operator"].as_str() {
                Some("In") => listed(),
                Some("NotIn") => !listed(),
                Some("Exists") => found.is_some(),
                Some("DoesNotExist") => found.is_none(),
                _ => true,
            }
        })
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_model::GroupKind;

    use super::*;

    fn rule(groups: &[&str], resources: &[&str], operations: &[&str], scope: &str) -> Value {
        json!({"apiGroups": groups, "apiVersions": ["v1"], "resources": resources, "operations": operations, "scope": scope})
    }

    fn resource(group: &str, plural: &str, namespaced: bool) -> Resource {
        Resource {
            kind: GroupKind::new(group, "X"),
            version: "v1".into(),
            plural: plural.into(),
            namespaced,
            verbs: Vec::new(),
        }
    }

    #[test]
    fn rules() {
        let check = |rule: Value, resource: &Resource, want: bool| {
            let matcher = Matcher::read(&json!({"rules": [rule]}), "rules");
            let subject = Subject { resource, labels: [None, None], namespace: Vec::new() };
            assert_eq!(matcher.concerns(&subject), want, "{rule} {resource:?}");
        };
        let sets = resource("apps", "statefulsets", true);
        check(rule(&["apps"], &["statefulsets"], &["CREATE", "UPDATE"], "*"), &sets, true);
        check(rule(&["*"], &["*"], &["*"], "*"), &sets, true);
        check(rule(&["*"], &["*/*"], &["*"], "Namespaced"), &sets, true);
        check(rule(&["apps"], &["statefulsets/*"], &["UPDATE"], "*"), &sets, true);
        check(rule(&["apps"], &["statefulsets/scale"], &["UPDATE"], "*"), &sets, false);
        check(rule(&["apps"], &["statefulsets"], &["CREATE", "DELETE"], "*"), &sets, false);
        check(rule(&[""], &["statefulsets"], &["*"], "*"), &sets, false);
        check(rule(&["apps"], &["deployments"], &["*"], "*"), &sets, false);
        check(rule(&["*"], &["*"], &["*"], "Cluster"), &sets, false);
        check(rule(&["*"], &["*"], &["*"], "Cluster"), &resource("", "namespaces", false), true);
    }

    #[test]
    fn selectors() {
        let check = |selector: Value, labels: Value, want: bool| {
            assert_eq!(is_selected(&selector, Some(&labels)), want, "{selector} {labels}");
        };
        check(Value::Null, json!({}), true);
        check(json!({"matchLabels": {"a": "1"}}), json!({"a": "1"}), true);
        check(json!({"matchLabels": {"a": "1"}}), json!({"a": "2"}), false);
        let expression = |operator: &str| json!({"matchExpressions": [{"key": "a", "operator": operator, "values": ["1"]}]});
        for (operator, one, two, none) in [
            ("In", true, false, false),
            ("NotIn", false, true, true),
            ("Exists", true, true, false),
            ("DoesNotExist", false, false, true),
            ("New", true, true, true),
        ] {
            check(expression(operator), json!({"a": "1"}), one);
            check(expression(operator), json!({"a": "2"}), two);
            check(expression(operator), json!({}), none);
        }
    }

    #[test]
    fn either_state_of_an_object_may_be_selected() {
        let place = json!({"rules": [rule(&["*"], &["*"], &["*"], "*")],
            "objectSelector": {"matchLabels": {"a": "1"}}, "namespaceSelector": {"matchLabels": {"n": "1"}}});
        let matcher = Matcher::read(&place, "rules");
        let (yes, no) = (json!({"a": "1", "n": "1"}), json!({}));
        let resource = resource("", "configmaps", true);
        let check = |labels: [Option<&Value>; 2], namespace: Vec<Option<&Value>>, want: bool| {
            assert_eq!(matcher.concerns(&Subject { resource: &resource, labels, namespace }), want);
        };
        check([Some(&no), Some(&yes)], vec![Some(&yes)], true);
        check([Some(&yes), None], vec![Some(&yes)], true);
        check([Some(&no), None], vec![Some(&yes)], false);
        check([Some(&yes), None], vec![Some(&no)], false);
        check([Some(&yes), None], Vec::new(), true);
    }
}
