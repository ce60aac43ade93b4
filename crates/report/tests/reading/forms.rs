//! What each form says, and what it leaves out where there is too much.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use windlass_model::{
    Approvals, Before, CommitId, CompletedRun, Conflict, Forecast, Ignored, Object, Operation, Plan,
    Replacement, RunId, UnfinishedRun,
};
use windlass_report::{
    Diff, Palette, PlanMarkdown, PlanText, plan_html, plan_line, plan_markdown, plan_text,
};

use crate::samples::{self, action, config};

fn text(plan: &Plan, diff: Diff, objects: usize) -> String {
    plan_text(plan, PlanText { drift: false, palette: Palette::plain(), diff, fields: 20, objects })
}

fn markdown(plan: &Plan, budget: usize) -> String {
    plan_markdown(plan, PlanMarkdown { drift: false, budget, whereabouts: Some("reports/plan.html") })
}

#[test]
fn the_verdict_comes_first_then_dangers_then_objects() {
    let plan = samples::rich();
    for form in
        [text(&plan, Diff::Fields, 99), markdown(&plan, PlanMarkdown::BUDGET), plan_html(&plan, false)]
    {
        let body = form.find("<body>").unwrap_or_default();
        let place =
            |wanted: &str| form[body..].find(wanted).unwrap_or_else(|| panic!("no {wanted:?} in {form}"));
        let order = [
            "REFUSED by 1 guard and for 1 object that cannot be applied",
            "Nothing of this plan is carried out, and no approval changes that",
            "ltogether restarts 3 pods and those that the controllers of 1 object decide over; deletes 1 claim; destroys 10 GiB in 1 volume",
            "protected-kind",
            "Destroys data",
            "Restarts pods, in this order (1)",
            "1. StatefulSet.apps shop/orders-db (unit shop): orders-db-2, orders-db-1",
            "No way back (",
            "DESTROYS DATA: 10Gi",
            "registry.example/postgres:17.2",
        ];
        let places = order.map(place);
        assert!(places.is_sorted(), "{order:?} are at {places:?} in {form}");
        assert!(!form.contains("aHVudGVy"), "a Secret value in {form}");
    }
}

#[test]
fn adoption_names_each_manager_with_its_fields() {
    let text = text(&samples::rich(), Diff::Fields, 99);
    for wanted in [
        "takes over 3 fields from kubectl-client-side-apply, which last wrote this object 211 days ago (2025-11-02T08:15:00Z):",
        "spec.selector.app",
        "takes over metadata.annotations.owner from helm, and when it last wrote is not recorded",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
}

#[test]
fn yaml_is_shown_on_demand() {
    let (fields, yaml) = (text(&samples::rich(), Diff::Fields, 99), text(&samples::rich(), Diff::Yaml, 99));
    let line = "-       - image: registry.example/postgres:17.2";
    assert!(yaml.contains(line) && !fields.contains(line), "{yaml}");
    let masked = "data.password: another value; those of Secrets are not shown";
    assert!(yaml.contains(masked) && fields.contains(masked), "{yaml}");
}

#[test]
fn a_summary_names_every_deletion_and_says_what_it_leaves_out() {
    let plan = samples::many(3000);
    let whole = markdown(&plan, PlanMarkdown::BUDGET);
    assert!(!whole.contains("only named"), "3000 objects have room");
    for budget in [100_000, 300_000] {
        let cut = markdown(&plan, budget);
        for number in (1..3000).step_by(3) {
            assert!(cut.contains(&format!("settings-{number:05}")), "deletion {number} is cut");
        }
        assert!(cut.contains("are only named") && cut.contains("`reports/plan.html`"), "{budget}");
        assert_eq!(cut.matches("<details>").count(), cut.matches("</details>").count());
        assert!(cut.len() <= budget, "{} bytes for {budget}", cut.len());
    }
}

/// GitHub drops a summary that is too large as a whole: then no deletion was named at all.
#[test]
fn a_summary_keeps_its_budget_and_never_leaves_a_deletion_out_in_silence() {
    let check = |plan: &Plan, budget: usize, unnamed: bool| {
        let cut = markdown(plan, budget);
        assert!(cut.len() <= budget, "{} bytes for {budget}", cut.len());
        let deletions: Vec<&str> = plan
            .actions
            .iter()
            .filter(|action| action.operation == Operation::Prune)
            .map(|action| action.object.name.as_str())
            .collect();
        let words: BTreeSet<&str> =
            cut.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '-').collect();
        let named = deletions.iter().filter(|name| words.contains(**name)).count();
        let top: String = cut.lines().take(10).collect();
        assert!(top.contains("The whole plan: `reports/plan.html`"), "{top}");
        let missing = deletions.len() - named;
        let said = top.contains(&format!("{missing} deletions are NOT named below"));
        assert_eq!((said, missing > 0), (unnamed, unnamed), "{named} of {} in {top}", deletions.len());
    };
    let some = samples::many(3000);
    check(&some, 25_000, false);
    check(&some, 5_000, true);
    check(&samples::deletions(12_000), PlanMarkdown::BUDGET, false);
    check(&samples::deletions(30_000), PlanMarkdown::BUDGET, true);
}

/// A difference that a rule hides was counted in no summary but the terminal's.
#[test]
fn every_summary_counts_what_is_ignored() {
    let mut action = action(Operation::NoOp, Some(config("a", &json!({}))), Some(config("a", &json!({}))));
    let ignored = |field: &str| Ignored {
        field: field.to_owned(),
        reason: "set by hand".to_owned(),
        until: "2026-07-01".to_owned(),
    };
    action.ignored = vec![ignored("data.a"), ignored("data.b")];
    let plan = samples::plan(vec![action]);
    let told = "2 ignored differences";
    assert!(text(&plan, Diff::Fields, 99).contains(told));
    assert!(markdown(&plan, PlanMarkdown::BUDGET).contains(told));
    assert!(plan_html(&plan, false).contains(told));
    assert!(plan_line(&plan).contains(told));
    assert_eq!(plan.to_json()["actions"][0]["ignored"].as_array().unwrap().len(), 2);
}

#[test]
fn the_terminal_shows_every_deletion_whatever_the_limit() {
    let cut = text(&samples::many(300), Diff::Fields, 10);
    for number in (1..300).step_by(3) {
        assert!(cut.contains(&format!("prune     ConfigMap shop/settings-{number:05}")), "{number}");
    }
    assert!(cut.contains("of 300 objects shown; --out writes the whole plan"), "{cut}");
}

/// A person who is told that a change is refused has to be told what to do instead, in whatever form the plan is read.
#[test]
fn every_form_tells_how_a_refused_change_is_made_by_hand() {
    let plan = samples::plan(vec![samples::replaced()]);
    let json = plan.to_json().to_string();
    for form in
        [text(&plan, Diff::Fields, 99), markdown(&plan, PlanMarkdown::BUDGET), plan_html(&plan, false), json]
    {
        for wanted in [
            "roleRef.name",
            "the rights that it gives, until it is back",
            "kubectl -n shop delete rolebinding.rbac.authorization.k8s.io/reader",
            "run the same commit again",
            "deliver the new binding as",
        ] {
            assert!(form.contains(wanted), "{wanted} is not in {form}");
        }
    }
    let told = text(&plan, Diff::Fields, 99);
    let order = [
        "immutable: roleRef.name",
        "hint: ",
        "down meanwhile",
        "data: ",
        "1. delete it: kubectl",
        "2. run",
        "or: ",
    ];
    let places = order.map(|wanted| told.rfind(wanted).unwrap_or_else(|| panic!("no {wanted} in {told}")));
    assert!(places.is_sorted(), "{places:?} in {told}");
}

/// What a plan says must be in each form that people read.
fn check_forms(plan: &Plan, wanted: &[&str], unwanted: &[&str]) {
    let forms = [text(plan, Diff::Fields, 99), markdown(plan, PlanMarkdown::BUDGET), plan_html(plan, false)];
    for form in forms {
        for words in wanted {
            assert!(form.contains(words), "no {words:?} in {form}");
        }
        for words in unwanted {
            assert!(!form.contains(words), "{words:?} in {form}");
        }
    }
}

/// The name of a generated ConfigMap says only that something changed.
#[test]
fn a_generated_object_is_compared_with_the_one_it_replaces() {
    let config =
        |name: &str, connections: &str| samples::config(name, &json!({"max_connections": connections}));
    let (old, new) = (config("db-5h2ct8kd4m", "200"), config("db-hk7m2bdt9f", "300"));
    let object = |body: &Value| Object::new(body.clone(), None).unwrap();
    let mut created = samples::action(Operation::Create, None, Some(new.clone()));
    created.replaces = Some(Replacement::between(&object(&old), &object(&new)));
    let plan = samples::plan(vec![created, samples::action(Operation::Prune, Some(old), None)]);
    check_forms(&plan, &["compared with db-5h2ct8kd4m", "data.max_connections: ", "200", "→", "300"], &[]);
    let json = &plan.to_json()["actions"][0]["replaces"];
    assert_eq!(
        (&json["object"]["name"], &json["delta"][0]["after"]),
        (&json!("db-5h2ct8kd4m"), &json!("300"))
    );
}

#[test]
fn a_deletion_says_whether_data_goes_and_whether_it_can_be_undone() {
    let prune = |kind: &str| {
        let body = json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": "a", "namespace": "shop"}});
        samples::action(Operation::Prune, Some(body), None)
    };
    let mut plan = samples::plan(vec![prune("ConfigMap")]);
    let undone = "oing back: delivering the previous commit again puts every object back as it was";
    check_forms(&plan, &["ltogether destroys no volume", undone], &["Going back takes more"]);

    plan.toll.uncounted_deletions = 1;
    check_forms(&plan, &["what 1 deletion would take along could not be counted"], &["destroys no volume"]);

    let kept = samples::plan(vec![prune("PersistentVolumeClaim"), prune("Secret")]);
    check_forms(
        &kept,
        &[
            "Going back takes more than the previous commit (2)",
            "PersistentVolumeClaim shop/a: the volume stays",
        ],
        &[undone],
    );

    let mut lost = samples::plan(vec![prune("PersistentVolumeClaim")]);
    lost.actions[0].forecasts = vec![Forecast::DataLoss { what: "10Gi".into() }];
    check_forms(&lost, &["No way back (1)", "their data would not"], &["destroys no volume", undone]);
}

/// The caution of a rollback spoke of the other direction, and its reason read like what had gone wrong with it.
#[test]
fn a_rollback_says_that_it_is_one_and_what_it_relies_on() {
    let set = |image: &str| {
        json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": "db", "namespace": "shop"},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "db", "image": image}]}}}})
    };
    let mut plan =
        samples::plan(vec![samples::action(Operation::Update, Some(set("db:18")), Some(set("db:17")))]);
    let forward =
        "StatefulSet.apps shop/db: the version before must be able to read what the new one has written";
    check_forms(&plan, &["Going back takes more than the previous commit (1)", forward], &["ollback"]);
    plan.rollback = Some("18.0 cannot read the data".to_owned());
    let relied = "StatefulSet.apps shop/db: the version that comes back must be able to read what the one that runs has written";
    check_forms(
        &plan,
        &[
            "Rollback plan",
            "reason given: 18.0 cannot read the data",
            "This goes back: check before you approve (1)",
            relied,
        ],
        &["Going back takes more", forward],
    );
}

/// A colleague's edit of a minute ago was undone by a plan that looked as if the commit had changed the field.
#[test]
fn what_somebody_set_by_hand_is_said_to_be_undone() {
    let budget = |most: u64| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "db", "namespace": "shop"}, "spec": {"maxUnavailable": most}})
    };
    let mut update = samples::action(Operation::Update, Some(budget(3)), Some(budget(1)));
    let conflict = |field: &str| Conflict {
        field: field.to_owned(),
        manager: "kubectl-edit".to_owned(),
        ..Conflict::default()
    };
    update.takes_over = vec![conflict("spec.maxUnavailable"), conflict("spec.selector")];
    let plan = samples::plan(vec![update]);
    let told = "spec.maxUnavailable: 3 → 1 (set by kubectl-edit";
    check_forms(&plan, &["Changes what somebody else set (1)", told], &[]);
    // Where the value stays, nothing is undone.
    let mut same = samples::action(Operation::Adopt, Some(budget(1)), Some(budget(1)));
    same.takes_over = vec![conflict("spec.maxUnavailable")];
    check_forms(&samples::plan(vec![same]), &[], &["what somebody else set"]);
}

/// Who is asked at night wants to know who else may say yes, and from where to where this goes.
#[test]
fn who_may_approve_and_what_was_delivered_before() {
    let mut plan = samples::many(3);
    plan.source = samples::commit("Run 18", "Dev <dev@example.com>");
    plan.requirement.reasons = vec!["because".to_owned()];
    let approvers = vec!["alice".to_owned(), "bob".to_owned()];
    plan.requirement.approval = Some(Approvals { count: 1, approvers, terminal: false });
    let commit = "a".repeat(40).parse().unwrap();
    let run = |id: &str| RunId::parse(id).unwrap();
    let at = "2026-05-31T09:30:00Z".parse().unwrap();
    let completed = CompletedRun { run: run("first"), commit: Some(commit), at };
    let second =
        |commit: Option<CommitId>| UnfinishedRun { run: run("second"), commit, subject: "Run 17".to_owned() };
    let unfinished = Some(second(None));
    plan.before = Some(Before { completed: Some(completed.clone()), unfinished });
    let approving = "One approval is needed, signed by alice or bob";
    let last = "commit aaaaaaaaaaaa on 2026-05-31 09:30:00 UTC by run first; since then run second began to write and did not complete";
    check_forms(&plan, &["delivered before", last, approving], &[]);
    let commit = plan.source.commit().cloned();
    plan.before = Some(Before { completed: Some(CompletedRun { commit, ..completed }), unfinished: None });
    check_forms(&plan, &["the same commit 62bc080798ce"], &["did not complete"]);
    let begun = Some(second(Some("b".repeat(40).parse().unwrap())));
    plan.before = Some(Before { completed: None, unfinished: begun });
    let told = "which run second began to write and did not complete";
    check_forms(&plan, &["nothing to its end; commit bbbbbbbbbbbb", "Run 17", told], &[]);
    plan.before = Some(Before { completed: None, unfinished: None });
    check_forms(&plan, &["delivered before"], &["to its end"]);
}

#[test]
fn the_verdict_is_a_key_of_the_document() {
    let check = |plan: &Plan, want: &str| assert_eq!(plan.to_json()["verdict"], want);
    check(&samples::rich(), "refused");
    let mut changed = samples::many(3);
    check(&changed, "ready");
    changed.requirement.reasons.push("every change needs one".into());
    check(&changed, "approval-needed");
    check(&samples::plan(Vec::new()), "nothing-to-do");
}
