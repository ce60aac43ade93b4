//! The whole life of an approval, with real keys.

use serde_json::json;
use ssh_key::private::{Ed25519Keypair, PrivateKey};
use windlass_model::Risk;
use windlass_model::{Digest, Operation};
use windlass_settings::{ApprovalMode, ApprovalRules, Duration};
use windlass_trust::sshsig::SigningKey;

use super::*;
use crate::samples::{action, file, mixed, plan, update};
use crate::{Consent, sign};

const GIVEN: &str = "2026-06-01T12:00:00Z";
const NOW: &str = "2026-06-01T13:00:00Z";

fn key(seed: u8) -> SigningKey {
    let pair = Ed25519Keypair::from_seed(&[seed; 32]);
    let text = PrivateKey::from(pair).to_openssh(ssh_key::LineEnding::LF).unwrap();
    SigningKey::from_openssh(text.as_bytes(), None).unwrap()
}

fn approver(name: &str, seed: u8) -> Approver {
    Approver {
        name: name.to_owned(),
        key: format!("{} {name}", key(seed).public_line()),
        email: Some(format!("{name}@example.org")),
    }
}

/// Anna has two keys (1 and 2), Ben one (3).
fn rules() -> ApprovalRules {
    ApprovalRules {
        approvers: vec![approver("anna", 1), approver("anna", 2), approver("ben", 3)],
        ..ApprovalRules::default()
    }
}

struct Given {
    name: &'static str,
    seed: u8,
    nonce: &'static str,
    at: &'static str,
    hours: u64,
}

const ANNA: Given = Given { name: "anna", seed: 1, nonce: "n1", at: GIVEN, hours: 4 };
const BEN: Given = Given { name: "ben", seed: 3, nonce: "n2", at: GIVEN, hours: 4 };

impl Given {
    fn over(&self, plan: &Plan) -> SignedApproval {
        let consent = Consent {
            approver: self.name,
            reason: Some("reviewed"),
            now: self.at.parse().unwrap(),
            valid_for: Duration::from_secs(self.hours * 3600),
            nonce: self.nonce,
        };
        sign(&file(plan), &consent, &key(self.seed)).unwrap()
    }
}

fn documents(signed: Vec<SignedApproval>) -> Vec<Document> {
    let document = |(index, signed)| Document { file: format!("{index}.json"), content: Ok(signed) };
    signed.into_iter().enumerate().map(document).collect()
}

#[derive(Default)]
struct Run<'a> {
    author: Option<&'a str>,
    trigger: Option<&'a str>,
    consumed: &'a [String],
    count: Option<usize>,
    now: Option<&'a str>,
}

/// Judges and tells the outcome in one line: what was found, and each rejection.
fn outcome(run: &Run<'_>, plan: Plan, signed: Vec<SignedApproval>) -> String {
    let approval = ApprovalRules { count: run.count.unwrap_or(1), ..rules() };
    let rules = Rules {
        approval: &approval,
        author: run.author,
        trigger: run.trigger,
        now: run.now.unwrap_or(NOW).parse().unwrap(),
        consumed: run.consumed,
    };
    let (found, rejected) = match judge(plan, &rules, documents(signed)) {
        Judgement::Approved { plan, rejected } => match plan.evidence() {
            Evidence::Signed { approvals } => {
                let names: Vec<&str> = approvals.iter().map(|approval| approval.approver.as_str()).collect();
                (format!("approved by {}", names.join(", ")), rejected)
            }
            other => (format!("{other:?}"), rejected),
        },
        Judgement::Required { given, needed, rejected, .. } => {
            (format!("required: {} of {needed}", given.len()), rejected)
        }
        Judgement::Stale { uncovered, rejected, .. } => {
            (format!("stale: {}", uncovered.join(" | ")), rejected)
        }
    };
    rejected.iter().fold(found, |text, rejected| {
        assert!(!rejected.why.hint().is_empty());
        format!("{text}\n{}: {}", rejected.file, rejected.why)
    })
}

fn check(run: &Run<'_>, signed: Vec<SignedApproval>, want: &str) {
    assert_eq!(outcome(run, mixed(), signed), want);
}

#[test]
fn one_approval() {
    let run = Run::default();
    check(&run, vec![], "required: 0 of 1");
    check(&run, vec![ANNA.over(&mixed())], "approved by anna");
    check(&run, vec![Given { seed: 2, ..ANNA }.over(&mixed())], "approved by anna");
    check(
        &run,
        vec![Given { seed: 3, ..ANNA }.over(&mixed())],
        "required: 0 of 1\n0.json: the approval names `anna` but was signed with a key of `ben`",
    );
    check(
        &run,
        vec![Given { name: "mallory", seed: 9, ..ANNA }.over(&mixed())],
        "required: 0 of 1\n0.json: `mallory` is not an approver of this environment",
    );
    let stranger = outcome(&run, mixed(), vec![Given { seed: 9, ..ANNA }.over(&mixed())]);
    assert!(
        stranger.starts_with(
            "required: 0 of 1\n0.json: it is not signed by `anna`: the signature was made by another key"
        ),
        "{stranger}"
    );
}

#[test]
fn a_signature_made_for_something_else_does_not_count() {
    let mut signed = ANNA.over(&mixed());
    signed.signature = sshsig::sign(&key(1), "git", message(&signed.approval).as_bytes()).unwrap();
    check(
        &Run::default(),
        vec![signed],
        "required: 0 of 1\n0.json: it is not signed by `anna`: the signature is made for `git`, not for `windlass-approval`",
    );
}

#[test]
fn every_field_is_signed() {
    let genuine = ANNA.over(&mixed());
    let text = serde_json::to_value(&genuine).unwrap();
    let fields: Vec<&String> = text["approval"].as_object().unwrap().keys().collect();
    let other = |field: &str| match field {
        "schema" => json!(2),
        "changeDigest" => json!(Digest::of_bytes(b"other")),
        "subject" => json!({"environment": "dev"}),
        "effects" => json!([]),
        "approver" => json!("ben"),
        "givenAt" => json!("2026-06-01T12:30:00Z"),
        "notAfter" => json!("2026-06-01T15:59:00Z"),
        _ => json!("other"),
    };
    assert_eq!(fields.len(), 9);
    for field in fields {
        let mut changed = text.clone();
        changed["approval"][field] = other(field);
        let signed = SignedApproval::parse(changed.to_string().as_bytes()).unwrap();
        let found = outcome(&Run::default(), mixed(), vec![signed]);
        assert!(found.starts_with("required: 0 of 1\n0.json: it is not signed by"), "{field}: {found}");
    }
}

/// Signed by a listed key, but not as this program writes approvals.
#[test]
fn a_signature_does_not_make_nonsense_valid() {
    let check = |change: &dyn Fn(&mut Approval), want: &str| {
        let mut approval = ANNA.over(&mixed()).approval;
        change(&mut approval);
        let signature = sshsig::sign(&key(1), APPROVAL_NAMESPACE, message(&approval).as_bytes()).unwrap();
        let found = outcome(&Run::default(), mixed(), vec![SignedApproval { approval, signature }]);
        assert_eq!(found, format!("required: 0 of 1\n0.json: {want}"));
    };
    check(&|approval| approval.schema = 2, "the approval has form 2, expected 1");
    let inconsistent = "the change digest is not that of the effects that the approval lists";
    check(&|approval| approval.change_digest = Digest::of_bytes(b"x"), inconsistent);
    check(&|approval| approval.effects.push(Digest::of_bytes(b"x")), inconsistent);
    check(&|approval| approval.nonce.clear(), "an earlier run has used it");
}

#[test]
fn time() {
    let check = |given: Given, now: &str, want: &str| {
        let run = Run { now: Some(now), ..Run::default() };
        assert_eq!(outcome(&run, mixed(), vec![given.over(&mixed())]), want);
    };
    check(ANNA, "2026-06-01T16:00:00Z", "approved by anna");
    check(ANNA, "2026-06-01T16:00:01Z", "required: 0 of 1\n0.json: it expired at 2026-06-01T16:00:00Z");
    check(ANNA, "2026-06-01T11:59:00Z", "approved by anna");
    check(
        ANNA,
        "2026-06-01T11:58:59Z",
        "required: 0 of 1\n0.json: it was given in the future, at 2026-06-01T12:00:00Z",
    );
    check(
        Given { hours: 5, ..ANNA },
        NOW,
        "required: 0 of 1\n0.json: it counts for longer than the 4h that the environment allows",
    );
}

#[test]
fn nobody_approves_their_own_work() {
    let check = |run: &Run<'_>, want: &str| check(run, vec![ANNA.over(&mixed())], want);
    let author = |author| Run { author: Some(author), ..Run::default() };
    let trigger = |trigger| Run { trigger: Some(trigger), ..Run::default() };
    let is_author = "required: 0 of 1\n0.json: `anna` is the author of the commit";
    let is_trigger = "required: 0 of 1\n0.json: `anna` started this run";
    check(&author("Anna Smith <ANNA@example.org>"), is_author);
    check(&author("Anna <private@example.net>"), is_author);
    check(&author("Ben <ben@example.org>"), "approved by anna");
    check(&author("Annabel <annabel@example.org>"), "approved by anna");
    check(&trigger("anna@example.org"), is_trigger);
    check(&trigger("Anna"), is_trigger);
    check(&trigger("robot"), "approved by anna");
}

#[test]
fn an_approval_counts_once() {
    let consumed = ["n1".to_owned()];
    let run = Run { consumed: &consumed, ..Run::default() };
    check(&run, vec![ANNA.over(&mixed())], "required: 0 of 1\n0.json: an earlier run has used it");
    let two = Run { count: Some(2), ..Run::default() };
    let replayed = "required: 1 of 2\n1.json: its nonce has been counted already";
    check(&two, vec![ANNA.over(&mixed()), Given { nonce: "n1", ..BEN }.over(&mixed())], replayed);
}

#[test]
fn two_people_are_two_people() {
    let two = Run { count: Some(2), ..Run::default() };
    check(&two, vec![ANNA.over(&mixed()), BEN.over(&mixed())], "approved by anna, ben");
    check(&two, vec![ANNA.over(&mixed())], "required: 1 of 2");
    let again = Given { seed: 2, nonce: "n3", ..ANNA };
    check(
        &two,
        vec![ANNA.over(&mixed()), again.over(&mixed())],
        "required: 1 of 2\n1.json: `anna` has approved already, and each person counts once",
    );
}

/// After an interrupted run less is left to do than was approved.
#[test]
fn a_smaller_effect_is_covered() {
    let mut rest = mixed();
    rest.actions.remove(0);
    assert_eq!(outcome(&Run::default(), rest, vec![ANNA.over(&mixed())]), "approved by anna");
}

#[test]
fn another_effect_is_stale() {
    let mut more = mixed();
    more.actions.push(action(Operation::Prune, "PersistentVolumeClaim", "data-db-0", Risk::Data));
    more.actions[1] = update("StatefulSet.apps", "db", 0);
    let run = Run::default();
    assert_eq!(
        outcome(&run, more.clone(), vec![ANNA.over(&mixed())]),
        "stale: update StatefulSet.apps shop/db: data.n, spec.replicas | prune PersistentVolumeClaim shop/data-db-0\n\
         0.json: it does not cover 2 of the plan's effects"
    );
    // The nearest approval is the one that is compared with, and a covering one makes the other harmless.
    let smaller = plan(vec![action(Operation::Create, "ConfigMap", "new", Risk::Routine)]);
    let nearest = outcome(&run, more.clone(), vec![BEN.over(&smaller), ANNA.over(&mixed())]);
    assert!(nearest.starts_with("stale: update StatefulSet.apps shop/db"), "{nearest}");
    let covered = outcome(&run, more.clone(), vec![ANNA.over(&mixed()), BEN.over(&more)]);
    assert!(covered.starts_with("approved by ben\n0.json"), "{covered}");
}

/// A masked value looks the same whatever it is, so a Secret that moved on is another effect.
#[test]
fn a_secret_changed_by_somebody_else_is_stale() {
    let mut moved = mixed();
    moved.actions[2].live.as_mut().unwrap().resource_version = "42".to_owned();
    let found = outcome(&Run::default(), moved, vec![ANNA.over(&mixed())]);
    assert!(found.starts_with("stale: update Secret shop/login: data.n"), "{found}");
}

#[test]
fn another_subject_is_another_approval() {
    let check = |change: &dyn Fn(&mut Plan), want: &str| {
        let mut other = mixed();
        change(&mut other);
        assert_eq!(outcome(&Run::default(), other, vec![ANNA.over(&mixed())]), want);
    };
    check(
        &|plan| {
            let commit = Some("0".repeat(40).parse().unwrap());
            plan.source = windlass_model::Provenance::Unsigned { what: String::new(), commit, author: None };
        },
        "required: 0 of 1\n0.json: it approves another commit",
    );
    check(&|plan| plan.cluster.uid = "2".to_owned(), "required: 0 of 1\n0.json: it approves another cluster");
    check(
        &|plan| plan.environment = windlass_model::EnvironmentName::new("acc"),
        "required: 0 of 1\n0.json: it approves another environment",
    );
    check(
        &|plan| plan.rollback = Some("release 7 is broken".to_owned()),
        "required: 0 of 1\n0.json: it approves another direction: a rollback and an ordinary delivery are approved separately",
    );
    check(
        &|plan| plan.rendering = Digest::of_bytes(b"other renderer"),
        "stale: the commit renders to other objects than when it was approved\n\
         0.json: it was given for another rendering of the same commit",
    );
}

#[test]
fn unusable_files_are_reported_and_ignored() {
    let approval = rules();
    let rules =
        Rules { approval: &approval, author: None, trigger: None, now: NOW.parse().unwrap(), consumed: &[] };
    let mut given = documents(vec![ANNA.over(&mixed())]);
    given.insert(0, Document { file: "notes.json".to_owned(), content: SignedApproval::parse(b"[]") });
    let Judgement::Approved { rejected, .. } = judge(mixed(), &rules, given) else {
        panic!("must be approved")
    };
    assert_eq!(rejected.len(), 1);
    assert!(rejected[0].why.to_string().starts_with("the file is not an approval"), "{}", rejected[0].why);
}

#[test]
fn without_a_requirement_nothing_is_looked_at() {
    let approval = ApprovalRules { required: ApprovalMode::Never, ..rules() };
    let rules =
        Rules { approval: &approval, author: None, trigger: None, now: NOW.parse().unwrap(), consumed: &[] };
    let check = |plan: Plan, want: bool| {
        let found = judge(plan, &rules, Vec::new());
        let open =
            matches!(&found, Judgement::Approved { plan, .. } if plan.evidence() == &Evidence::NotRequired);
        assert_eq!(open, want, "{found:?}");
    };
    check(mixed(), true);
    // A reason that an earlier stage found is not dropped.
    let mut held = mixed();
    held.requirement.reasons = vec!["the cluster is frozen".to_owned()];
    check(held, false);
}

/// An approver whose key lives in a security key or an agent signs with OpenSSH itself.
#[test]
fn signatures_by_ssh_keygen_count() {
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new("ssh-keygen");
        let done = command.args(arguments).current_dir(folder.path()).output();
        assert!(done.expect("ssh-keygen is installed").status.success(), "{arguments:?}");
    };
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    run(&["-q", "-t", "ed25519", "-N", "", "-C", "carl", "-f", "carl"]);
    let consent = Consent {
        approver: "carl",
        reason: None,
        now: GIVEN.parse().unwrap(),
        valid_for: Duration::from_secs(3600),
        nonce: "n9",
    };
    let approval = crate::draft(&file(&mixed()), &consent).unwrap();
    std::fs::write(folder.path().join("text"), message(&approval)).unwrap();
    run(&["-q", "-Y", "sign", "-f", "carl", "-n", APPROVAL_NAMESPACE, "text"]);
    let signed = SignedApproval { approval, signature: read("text.sig") };

    let carl = Approver { name: "carl".to_owned(), key: read("carl.pub"), email: None };
    let approval = ApprovalRules { approvers: vec![carl], ..ApprovalRules::default() };
    let rules =
        Rules { approval: &approval, author: None, trigger: None, now: NOW.parse().unwrap(), consumed: &[] };
    let found = judge(mixed(), &rules, documents(vec![signed]));
    assert!(matches!(found, Judgement::Approved { .. }), "{found:?}");
}
