//! What a new rule allows: a reader must not have to open the manifest to see who may do what.

use serde_json::Value;

use super::text;
use crate::actions::plural;
use crate::clean;

/// How many rules of an object are told before they are only counted.
const RULES: usize = 8;
/// How many names one rule lists.
const NAMES: usize = 8;

/// Says what a Role or ClusterRole allows, rule by rule.
pub(super) fn role(body: &Value) -> Vec<String> {
    if let Some(selectors) = body["aggregationRule"]["clusterRoleSelectors"].as_array() {
        let chosen: Vec<String> = selectors.iter().map(selector).collect();
        return vec![format!("allows what the ClusterRoles with {} allow", chosen.join(" or "))];
    }
    told(items(&body["rules"]).iter().map(rule).collect())
}

fn rule(rule: &Value) -> String {
    let verbs = list(&rule["verbs"], "every verb");
    if let [_, ..] = items(&rule["nonResourceURLs"]) {
        return format!("allows {verbs} on the paths {}", list(&rule["nonResourceURLs"], "all"));
    }
    let groups: Vec<&str> = items(&rule["apiGroups"]).iter().filter_map(Value::as_str).collect();
    let of = match groups.as_slice() {
        [""] | [] => String::new(),
        ["*"] => " of every API group".to_owned(),
        groups => {
            let names: Vec<String> = groups
                .iter()
                .map(|group| if group.is_empty() { "core".to_owned() } else { clean(group) })
                .collect();
            format!(" of {}", names.join(", "))
        }
    };
    let only = match items(&rule["resourceNames"]) {
        [] => String::new(),
        _ => format!(", only {}", list(&rule["resourceNames"], "all")),
    };
    format!("allows {verbs} on {}{of}{only}", list(&rule["resources"], "every resource"))
}

/// Says whom a RoleBinding or ClusterRoleBinding gives what, and where.
pub(super) fn binding(body: &Value) -> Vec<String> {
    let role = &body["roleRef"];
    let subjects = items(&body["subjects"]).iter().map(|subject| {
        let namespace =
            subject["namespace"].as_str().map(|name| format!("{}/", clean(name))).unwrap_or_default();
        format!("{} {namespace}{}", clean(text(&subject["kind"])), clean(text(&subject["name"])))
    });
    let subjects = few(subjects.collect());
    let whom = if subjects.is_empty() { "nobody".to_owned() } else { subjects };
    let place = if body["kind"] == "ClusterRoleBinding" { "in every namespace" } else { "in its namespace" };
    vec![format!("gives {} {} {place} to {whom}", clean(text(&role["kind"])), clean(text(&role["name"])))]
}

/// Says which traffic a NetworkPolicy lets pass.
pub(super) fn network(body: &Value) -> Vec<String> {
    let spec = &body["spec"];
    let pods = match selector(&spec["podSelector"]) {
        all if all.is_empty() => "all pods of the namespace".to_owned(),
        some => format!("the pods with {some}"),
    };
    let types: Vec<&str> = items(&spec["policyTypes"]).iter().filter_map(Value::as_str).collect();
    let ingress = types.contains(&"Ingress") || types.is_empty();
    let egress = types.contains(&"Egress") || types.is_empty() && spec["egress"].is_array();
    let mut lines = vec![format!("for {pods}")];
    if ingress {
        lines.extend(traffic("lets in", "from", "nothing in", &spec["ingress"]));
    }
    if egress {
        lines.extend(traffic("lets out", "to", "nothing out", &spec["egress"]));
    }
    lines
}

fn traffic(verb: &str, side: &str, none: &str, rules: &Value) -> Vec<String> {
    let rules = items(rules);
    if rules.is_empty() {
        return vec![format!("lets {none}")];
    }
    told(
        rules
            .iter()
            .map(|rule| {
                let peers = few(items(&rule[side]).iter().map(peer).collect());
                let peers = if peers.is_empty() { "anywhere".to_owned() } else { peers };
                let ports = few(items(&rule["ports"]).iter().map(port).collect());
                let ports = if ports.is_empty() { "on all ports".to_owned() } else { format!("on {ports}") };
                format!("{verb} {side} {peers} {ports}")
            })
            .collect(),
    )
}

fn peer(peer: &Value) -> String {
    if let Some(cidr) = peer["ipBlock"]["cidr"].as_str() {
        let except = match items(&peer["ipBlock"]["except"]) {
            [] => String::new(),
            _ => format!(" except {}", list(&peer["ipBlock"]["except"], "all")),
        };
        return format!("{}{except}", clean(cidr));
    }
    let pods = peer.get("podSelector").map(selector).filter(|text| !text.is_empty());
    let pods = pods.map_or_else(|| "all pods".to_owned(), |text| format!("pods with {text}"));
    match peer.get("namespaceSelector").map(selector) {
        None => pods,
        Some(all) if all.is_empty() => format!("{pods} of every namespace"),
        Some(some) => format!("{pods} of namespaces with {some}"),
    }
}

fn port(port: &Value) -> String {
    let protocol = port["protocol"].as_str().unwrap_or("TCP");
    let number = match &port["port"] {
        Value::Null => return format!("all {} ports", clean(protocol)),
        Value::String(name) => clean(name),
        number => number.to_string(),
    };
    let end = port["endPort"].as_u64().map(|end| format!("-{end}")).unwrap_or_default();
    format!("{} {number}{end}", clean(protocol))
}

/// Returns a label selector as `kubectl` writes one; empty if it selects everything.
fn selector(selector: &Value) -> String {
    let labels = selector["matchLabels"].as_object().into_iter().flatten();
    let labels = labels.map(|(key, value)| format!("{}={}", clean(key), clean(text(value))));
    let expressions = items(&selector["matchExpressions"]).iter().map(|expression| {
        let (key, values) = (clean(text(&expression["key"])), list(&expression["values"], ""));
        match expression["operator"].as_str() {
            Some("In") => format!("{key} in ({values})"),
            Some("NotIn") => format!("{key} not in ({values})"),
            Some("Exists") => key,
            Some("DoesNotExist") => format!("no {key}"),
            _ => format!("{key} ?"),
        }
    });
    labels.chain(expressions).collect::<Vec<_>>().join(", ")
}

fn list(value: &Value, all: &str) -> String {
    let names: Vec<String> = items(value).iter().map(|name| clean(text(name))).collect();
    if names == ["*"] { all.to_owned() } else { few(names) }
}

fn few(mut names: Vec<String>) -> String {
    let more = names.len().saturating_sub(NAMES);
    names.truncate(NAMES);
    let rest = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{}{rest}", names.join(", "))
}

fn told(mut rules: Vec<String>) -> Vec<String> {
    let more = rules.len().saturating_sub(RULES);
    rules.truncate(RULES);
    rules.extend((more > 0).then(|| format!("and {more} more rule{}", plural(more))));
    rules
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_role_allows() {
        let check = |rule: Value, want: &str| assert_eq!(role(&json!({"rules": [rule]})), [want]);
        check(
            json!({"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list"]}),
            "allows get, list on pods, pods/log",
        );
        check(
            json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}),
            "allows every verb on every resource of every API group",
        );
        check(
            json!({"apiGroups": ["", "apps"], "resources": ["secrets"], "verbs": ["get"], "resourceNames": ["db"]}),
            "allows get on secrets of core, apps, only db",
        );
        check(json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}), "allows get on the paths /metrics");
        assert_eq!(role(&json!({"rules": []})), [""; 0]);
        let many: Vec<Value> = (0..10).map(|_| json!({"resources": ["pods"], "verbs": ["get"]})).collect();
        assert_eq!(role(&json!({"rules": many})).last().unwrap(), "and 2 more rules");
        let selectors = json!([{"matchLabels": {"to-admin": "true"}}]);
        assert_eq!(
            role(&json!({"aggregationRule": {"clusterRoleSelectors": selectors}})),
            ["allows what the ClusterRoles with to-admin=true allow"]
        );
    }

    #[test]
    fn whom_a_binding_gives_what() {
        let subjects = json!([{"kind": "ServiceAccount", "namespace": "ci", "name": "agent"}, {"kind": "Group", "name": "ops"}]);
        assert_eq!(
            binding(
                &json!({"kind": "ClusterRoleBinding", "roleRef": {"kind": "ClusterRole", "name": "admin"}, "subjects": subjects})
            ),
            ["gives ClusterRole admin in every namespace to ServiceAccount ci/agent, Group ops"]
        );
        assert_eq!(
            binding(&json!({"roleRef": {"kind": "Role", "name": "a"}})),
            ["gives Role a in its namespace to nobody"]
        );
    }

    #[test]
    fn what_a_network_policy_lets_pass() {
        let check = |spec: Value, want: &[&str]| assert_eq!(network(&json!({"spec": spec})), want);
        check(
            json!({"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}),
            &["for all pods of the namespace", "lets nothing in", "lets nothing out"],
        );
        let app = json!({"podSelector": {"matchLabels": {"app": "web"}}});
        let elsewhere = json!({"namespaceSelector": {"matchExpressions": [{"key": "team", "operator": "In", "values": ["a", "b"]}]}});
        check(
            json!({"podSelector": {"matchLabels": {"app": "db"}},
                "ingress": [{"from": [app, elsewhere], "ports": [{"port": 5432}, {"port": 8000, "endPort": 8010, "protocol": "UDP"}]}, {}]}),
            &[
                "for the pods with app=db",
                "lets in from pods with app=web, all pods of namespaces with team in (a, b) on TCP 5432, UDP 8000-8010",
                "lets in from anywhere on all ports",
            ],
        );
        let block = json!([{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}]);
        check(
            json!({"podSelector": {}, "policyTypes": ["Egress"], "egress": [{"to": block}]}),
            &["for all pods of the namespace", "lets out to 10.0.0.0/8 except 10.1.0.0/16 on all ports"],
        );
    }
}
