//! Renderings and plans to begin with.

use serde_json::{Value, json};
use windlass_model::{
    Action, ClusterId, Digest, EnvironmentName, Object, Plan, Provenance, Rendering, Requirement, Toll, Unit,
    UnitName,
};

/// Returns a rendering of these units, each a name with the bodies of its objects.
pub fn rendering(units: &[(&str, &[Value])]) -> Rendering {
    let object = |body: &Value| Object::new(body.clone(), None).unwrap();
    let unit = |(name, bodies): &(&str, &[Value])| Unit {
        name: UnitName::new(name).unwrap(),
        path: (*name).to_owned(),
        objects: bodies.iter().map(object).collect(),
    };
    let bodies: Vec<&Value> = units.iter().flat_map(|(_, bodies)| *bodies).collect();
    Rendering {
        units: units.iter().map(unit).collect(),
        renderer: "plain".to_owned(),
        digest: Digest::of_json(&json!(bodies)),
        warnings: Vec::new(),
    }
}

/// Returns a plan of the environment `prd` that holds these actions: of an unsigned commit, refused by nobody, on
/// 2026-06-01. A test changes what it is about.
pub fn plan_of(actions: Vec<Action>) -> Plan {
    let commit = "62bc080798ced7f198836a2a33ce522a55ebc7a9".parse().unwrap();
    Plan {
        schema: 1,
        tool: "windlass 0.1.0".to_owned(),
        environment: EnvironmentName::new("prd"),
        cluster: ClusterId {
            uid: "cluster-1".to_owned(),
            server: "https://prd.k8s.example:6443".to_owned(),
            version: "v1.36.3".to_owned(),
        },
        source: Provenance::Unsigned { what: "a commit".to_owned(), commit: Some(commit), author: None },
        renderer: "plain".to_owned(),
        rendering: Digest::of_bytes(b"rendering"),
        policies: None,
        rollback: None,
        before: None,
        actions,
        toll: Toll::default(),
        refusals: Vec::new(),
        requirement: Requirement::default(),
        warnings: Vec::new(),
        parents: None,
        created_at: "2026-06-01T12:00:00Z".parse().unwrap(),
    }
}

/// Checks every line of a plan, its actions as `line` tells them and then its refusals, in order: each must hold all its
/// fragments.
#[track_caller]
pub fn assert_lines(plan: &Plan, line: impl Fn(&Action) -> String, want: &[&[&str]]) {
    let refusals =
        plan.refusals.iter().map(|refusal| format!("refused {}: {}", refusal.guard, refusal.message));
    let lines: Vec<String> = plan.actions.iter().map(line).chain(refusals).collect();
    let shown = lines.join("\n");
    assert_eq!(lines.len(), want.len(), "\n{shown}");
    for (line, fragments) in lines.iter().zip(want) {
        for fragment in *fragments {
            assert!(line.contains(fragment), "`{line}` lacks `{fragment}`\n{shown}");
        }
    }
}
