//! The rule on untrusted text, for every payload, in every position, in every form:
//!
//! - printed text holds no control or hidden character, no `##[`, no `##vso[` and no line that begins with `::`;
//! - Markdown shows it as code: no link, image, HTML element or heading comes from it;
//! - HTML shows it as text: no element or attribute comes from it;
//! - JSON gives it back unchanged, and is printed like text.

use std::collections::BTreeSet;

use pulldown_cmark::{Event, Options, Parser, Tag};
use serde_json::{Value, json};
use windlass_model::{
    Action, Approvals, Before, ChangeKind, Conflict, Event as RunEvent, FieldChange, FieldPath, Forecast,
    Level, Object, Operation, Plan, Preview, Problem, Recipe, RecipeStep, Refusal, Replacement, RunId,
    UnfinishedRun,
};
use windlass_report::{
    Diff, Narrator, Palette, PlanMarkdown, PlanText, Report, RunLine, Terminal, history_text, json_text,
    plan_document_text, plan_html, plan_markdown, plan_text, problem_text,
};

use crate::samples;

const PAYLOADS: [&str; 20] = [
    "::set-output name=approval_required::false",
    "   ::error file=a::b",
    "x\n::add-mask::1\n  ::stop-commands::t",
    "a ##[set-output name=digest]sha256:0",
    "a ##vso[task.setvariable variable=x]y",
    "##\u{200b}vso[task.complete]",
    "##",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{1b}]8;;https://evil.example\u{1b}\\link",
    "\u{9b}31m\r\u{8}\u{7f}overwritten",
    "abc\u{202e}cba\u{2066}\u{200d}\u{feff}\u{e0041}",
    "<script>alert(1)</script><img src=x onerror=alert(1)>",
    "</code></pre></details></summary><h1>approved</h1>",
    "\" onmouseover=\"alert(1)\" x='",
    "[approve](https://evil.example) ![x](https://evil.example/x.png) <https://evil.example>",
    "`````\n# Approved\n```\n`x",
    "| a | b |\n|---|---|\n**bold** _it_ ~~no~~ @team #12",
    "</details>\n\n## nothing to do\n",
    "-->]]>{{x}}${x}$(x)%x%",
    "&lt;b&gt;&#60;i&#62;",
    "https://evil.example www.evil.example a@evil.example",
];

/// Puts a text into a plan.
type Place = fn(&mut Plan, &str);

/// Every place where text of a repository or a cluster gets into a plan.
const POSITIONS: [(&str, Place); 25] = [
    ("name", |plan, text| first(plan).object.name = text.into()),
    ("namespace", |plan, text| first(plan).object.namespace = Some(text.to_owned())),
    ("kind", |plan, text| first(plan).object.kind.kind = text.into()),
    ("group", |plan, text| first(plan).object.kind.group = text.into()),
    ("origin", |plan, text| first(plan).origin.as_mut().unwrap().path = text.into()),
    ("key", |plan, text| change(plan, FieldPath::root().key("data").key(text), json!("v"))),
    ("item", |plan, text| change(plan, FieldPath::root().item(text), json!("v"))),
    ("value", |plan, text| change(plan, FieldPath::root().key("a"), json!(text))),
    ("nested", |plan, text| {
        let long = "x".repeat(100);
        change(plan, FieldPath::root().key("a"), json!({"k": [text, long], text: {text: 1}}));
    }),
    ("body", |plan, text| {
        let action =
            samples::action(Operation::Create, None, Some(samples::config("a", &json!({text: text}))));
        plan.actions.push(action);
    }),
    ("replaced", |plan, text| {
        let config = |value: &str| {
            Object::new(samples::config("a", &json!({text: value, "same": text})), None).unwrap()
        };
        let mut replaces = Replacement::between(&config("before"), &config(text));
        text.clone_into(&mut replaces.object.name);
        let mut action = samples::action(Operation::Create, None, Some(samples::config("a", &json!({}))));
        action.replaces = Some(replaces);
        plan.actions.push(action);
    }),
    ("created", |plan, text| {
        let body = json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "a"}, "spec": {
            "template": {"spec": {"containers": [{"name": text, "image": text}]}}}});
        plan.actions.push(samples::action(Operation::Create, None, Some(body)));
    }),
    ("rules", |plan, text| {
        let names = json!([text, text]);
        let labels = json!({"matchLabels": {text: text}, "matchExpressions": [{"key": text, "operator": "In", "values": names}]});
        let peers = json!([{"podSelector": labels, "namespaceSelector": labels}, {"ipBlock": {"cidr": text, "except": names}}]);
        let service = json!({"service": {"namespace": text, "name": text}});
        for (api_version, kind, mut body) in [
            (
                "rbac.authorization.k8s.io/v1",
                "Role",
                json!({"rules": [{"verbs": names, "apiGroups": names, "resources": names, "resourceNames": names}]}),
            ),
            (
                "rbac.authorization.k8s.io/v1",
                "RoleBinding",
                json!({"roleRef": {"kind": text, "name": text}, "subjects": [{"kind": text, "namespace": text, "name": text}]}),
            ),
            (
                "networking.k8s.io/v1",
                "NetworkPolicy",
                json!({"spec": {"podSelector": labels, "ingress": [{"from": peers, "ports": [{"port": text, "protocol": text}]}]}}),
            ),
            (
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                json!({"spec": {"group": text, "names": {"kind": text}, "versions": [{"name": text, "served": true}]}}),
            ),
            ("storage.k8s.io/v1", "StorageClass", json!({"provisioner": text, "reclaimPolicy": text})),
            ("policy/v1", "PodDisruptionBudget", json!({"spec": {"minAvailable": text}})),
            (
                "admissionregistration.k8s.io/v1",
                "ValidatingWebhookConfiguration",
                json!({"webhooks": [{"clientConfig": service, "rules": [{"operations": names, "resources": names}]}]}),
            ),
        ] {
            (body["apiVersion"], body["kind"], body["metadata"]) =
                (json!(api_version), json!(kind), json!({"name": "a"}));
            plan.actions.push(samples::action(Operation::Create, None, Some(body)));
        }
    }),
    ("unfinished", |plan, text| {
        let commit = "c".repeat(40).parse().ok();
        let run = RunId::parse("broken").unwrap();
        let unfinished = Some(UnfinishedRun { run, commit, subject: text.to_owned() });
        plan.before = Some(Before { completed: None, unfinished });
    }),
    ("approver", |plan, text| {
        let approvers = vec![text.to_owned(), text.to_owned()];
        plan.requirement.approval = Some(Approvals { count: 1, approvers, terminal: false });
    }),
    ("forecast", |plan, text| {
        let texts = [text.to_owned(), text.to_owned(), text.to_owned()];
        let [why, what, text] = texts;
        first(plan).forecasts =
            vec![Forecast::Restart { why, pods: None }, Forecast::DataLoss { what }, Forecast::Note { text }];
    }),
    ("problem", |plan, text| first(plan).problem = Some(Problem::Other { message: text.to_owned() })),
    ("conflict", |plan, text| {
        let conflict = Conflict {
            field: text.to_owned(),
            manager: text.to_owned(),
            last_write: Some(text.to_owned()),
            last_write_age: Some(text.to_owned()),
            ..Conflict::default()
        };
        first(plan).problem = Some(Problem::Conflicts { fields: vec![conflict.clone()] });
        first(plan).takes_over = vec![conflict.clone(), conflict];
    }),
    ("recipe", |plan, text| {
        let recipe = Recipe {
            down: text.to_owned(),
            data: text.to_owned(),
            data_at_risk: true,
            steps: vec![RecipeStep::run(text, text), RecipeStep::told(text)],
            instead: Some(text.to_owned()),
        };
        let paths = vec![text.to_owned()];
        first(plan).problem = Some(Problem::Immutable { paths, recipe: Some(recipe) });
    }),
    ("preview", |plan, text| {
        first(plan).preview = Preview::Not(text.to_owned());
        last(plan).preview = Preview::Locally(text.to_owned());
    }),
    ("warning", |plan, text| {
        first(plan).warnings = vec![text.to_owned()];
        plan.warnings = vec![text.to_owned()];
    }),
    ("refusal", |plan, text| {
        let (guard, message, hint) = (text.to_owned(), text.to_owned(), text.to_owned());
        plan.refusals = vec![Refusal { guard, message, hint }];
    }),
    ("reason", |plan, text| plan.requirement.reasons = vec![text.to_owned()]),
    ("commit", |plan, text| plan.source = samples::commit(text, text)),
    ("cluster", |plan, text| {
        plan.cluster.server = text.into();
        plan.rollback = Some(text.to_owned());
        plan.source = windlass_model::Provenance::Unsigned {
            what: text.to_owned(),
            commit: None,
            author: Some(text.to_owned()),
        };
    }),
];

fn first(plan: &mut Plan) -> &mut Action {
    plan.actions.first_mut().unwrap()
}

fn last(plan: &mut Plan) -> &mut Action {
    plan.actions.last_mut().unwrap()
}

#[expect(clippy::needless_pass_by_value, reason = "callers build the path in place")]
fn change(plan: &mut Plan, path: FieldPath, value: Value) {
    let change = |kind, before: Option<Value>, after: Option<Value>| FieldChange {
        path: path.clone(),
        kind,
        before,
        after,
    };
    first(plan).delta = vec![
        change(ChangeKind::Added, None, Some(value.clone())),
        change(ChangeKind::Removed, Some(value.clone()), None),
        change(ChangeKind::Changed, Some(json!("before")), Some(value)),
    ];
}

#[track_caller]
fn check_printed(text: &str, what: &str) {
    for line in text.split('\n') {
        let lower = line.to_lowercase();
        let commands = ["##[", "##vso["].iter().any(|command| lower.contains(command));
        assert!(!commands && !line.trim_start().starts_with("::"), "{what}: a command in {line:?}");
        let hidden = line.chars().find(|character| {
            character.is_control()
                || matches!(character, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}')
        });
        assert_eq!(hidden, None, "{what}: a hidden character in {line:?}");
    }
}

/// What our own Markdown is made of.
const OUR_HTML: [&str; 11] = [
    "<details open><summary><b>",
    "<details><summary><b>",
    "</b> <code>",
    "</code></summary>",
    "</details>",
    "<b>",
    "</code><br>",
    "<br>",
    "<code>",
    "</b>",
    "</code>",
];

#[track_caller]
fn check_markdown(text: &str, what: &str) {
    check_printed(text, what);
    let (mut open, mut headings) = (0, BTreeSet::new());
    let (mut in_heading, mut in_code) = (false, false);
    for event in Parser::new_ext(text, Options::all()) {
        match event {
            Event::Html(html) | Event::InlineHtml(html) => {
                open += html.matches("<details").count();
                open = open.checked_sub(html.matches("</details>").count()).expect("more closed than opened");
                let mut rest = html.trim().to_owned();
                for ours in OUR_HTML {
                    rest = rest.replace(ours, "");
                }
                assert!(!rest.contains(['<', '>']), "{what}: HTML {html:?}");
            }
            Event::Start(
                Tag::Link { .. } | Tag::Image { .. } | Tag::Table(_) | Tag::FootnoteDefinition(_),
            ) => {
                panic!("{what}: a link, image, table or note in {text}")
            }
            Event::Start(Tag::Heading { .. }) => in_heading = true,
            Event::Start(Tag::CodeBlock(_)) => in_code = true,
            Event::End(pulldown_cmark::TagEnd::CodeBlock) => in_code = false,
            Event::End(pulldown_cmark::TagEnd::Heading(_)) => in_heading = false,
            Event::Text(text) if in_heading => {
                headings.insert(text.to_string());
            }
            Event::Text(text) if !in_code => assert!(!text.contains("evil"), "{what}: {text:?} is no code"),
            _ => {}
        }
    }
    assert_eq!(open, 0, "{what}: details that are not closed");
    assert!(!headings.iter().any(|heading| heading.contains("pproved")), "{what}: {headings:?}");
}

#[track_caller]
fn check_html(text: &str, what: &str) {
    check_printed(text, what);
    for element in ["<script", "</script", "<style", "<main", "</main", "<h1", "<title"] {
        assert_eq!(text.matches(element).count(), 1, "{what}: {element}");
    }
    for foreign in ["<img", "<iframe", "<!--", "onmouseover=\"", "onerror=alert(1)>", "href=\"http", "src="] {
        let ours = if foreign == "src=" { text.matches("&lt;img src=").count() } else { 0 };
        assert_eq!(text.matches(foreign).count(), ours, "{what}: {foreign}");
    }
    assert_eq!(text.matches("<details").count(), text.matches("</details>").count(), "{what}");
}

fn for_all(check: impl Fn(&Plan, &str, &str)) {
    for (position, set) in POSITIONS {
        for payload in PAYLOADS {
            let mut plan = samples::plan(samples::rich().actions.into_iter().take(1).collect());
            plan.requirement.reasons = vec!["because".to_owned()];
            set(&mut plan, payload);
            check(&plan, payload, &format!("{payload:?} as {position}"));
        }
    }
}

#[test]
fn text_for_terminals_is_harmless() {
    for_all(|plan, _, what| {
        for diff in [Diff::Fields, Diff::Yaml] {
            for drift in [false, true] {
                let palette = Palette::plain();
                let options = PlanText { drift, palette, diff, fields: usize::MAX, objects: usize::MAX };
                check_printed(&plan_text(plan, options), what);
            }
        }
        check_printed(&plan_document_text(&plan.to_json(), Palette::plain()), what);
    });
}

#[test]
fn markdown_is_harmless() {
    for_all(|plan, payload, what| {
        for budget in [PlanMarkdown::BUDGET, 4_000, 0] {
            let options = PlanMarkdown { drift: false, budget, whereabouts: Some(payload) };
            check_markdown(&plan_markdown(plan, options), what);
        }
    });
}

#[test]
fn html_is_harmless() {
    for_all(|plan, _, what| check_html(&plan_html(plan, false), what));
}

#[test]
fn json_is_harmless_and_complete() {
    for_all(|plan, _, what| {
        let text = json_text(&plan.to_json());
        check_printed(&text, what);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), plan.to_json(), "{what}");
    });
}

#[test]
fn what_is_told_beside_plans_is_harmless() {
    for payload in PAYLOADS {
        let text = payload.to_owned();
        let report = Report {
            what: text.clone(),
            details: vec![text.clone()],
            block: Some(text.clone()),
            hints: vec![text.clone()],
        };
        check_printed(&problem_text(&report, Palette::plain()), payload);
        let line = RunLine {
            id: text.clone(),
            command: text.clone(),
            commit: text.clone(),
            actor: text.clone(),
            outcome: text.clone(),
            summary: text.clone(),
        };
        check_printed(&history_text(&[line], Palette::plain()), payload);
        let terminal = Terminal { palette: Palette::plain(), live: false, verbose: true };
        let mut told = Vec::new();
        Narrator::new(&mut told, terminal).tell(&RunEvent::Message { level: Level::Info, text });
        check_printed(&String::from_utf8(told).unwrap(), payload);
    }
}

/// The switch-off of a colour holds a bracket: `##` before it would make a command.
#[test]
fn colours_make_no_commands() {
    let mut plan = samples::rich();
    first(&mut plan).object.name = "##".to_owned();
    let palette = Palette::new(true);
    let options = PlanText { drift: false, palette, diff: Diff::Fields, fields: 9, objects: 9 };
    assert!(!plan_text(&plan, options).replace('\u{1b}', "").contains("##["));
}
