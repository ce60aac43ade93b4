//! Objects that another tool delivers too.

use serde_json::{Value, json};
use windlass_model::{GroupKind, Owner, Tool};
use windlass_plan::ObjectKey;
use windlass_settings::{DeliveryTool, TakeoverPermission};

use crate::world::{PART_OF, World, config, live, member};

const FLUX: &str = "kustomize.toolkit.fluxcd.io/name";
const RELEASE: &str = "meta.helm.sh/release-name";

fn marked(mut body: Value, mark: &str) -> Value {
    if mark == RELEASE {
        body["metadata"]["labels"]["app.kubernetes.io/managed-by"] = "Helm".into();
        body["metadata"]["annotations"][mark] = "shop".into();
    } else {
        body["metadata"]["labels"][mark] = "shop".into();
    }
    body
}

fn world(stored: Value) -> World {
    let desired = config("a", &json!({}));
    let mut after = member("shop", desired.clone());
    after["metadata"]["uid"] = stored["metadata"]["uid"].clone();
    World::new().unit("shop", std::slice::from_ref(&desired)).answered(&desired, Some(stored), after)
}

fn allow(mut world: World, tool: DeliveryTool, name: &str, until: &str) -> World {
    let permission =
        TakeoverPermission { tool, name: name.into(), until: until.into(), reason: "it moves".into() };
    world.guards.allow_takeovers.push(permission);
    world
}

#[test]
fn an_object_of_another_tool_is_refused_by_the_tools_name() {
    for (mark, owner) in [
        (RELEASE, "the Helm release `shop`"),
        (FLUX, "the Flux Kustomization `shop`"),
        ("helm.toolkit.fluxcd.io/name", "the Flux HelmRelease `shop`"),
        ("argocd.argoproj.io/tracking-id", "the Argo CD application `shop`"),
        ("kapp.k14s.io/app", "the kapp application `shop`"),
    ] {
        let stored = marked(live(config("a", &json!({}))), mark);
        world(stored).check(4, &[&["adopt"], &["refused two-owners", owner]]);
    }
}

#[test]
fn a_takeover_is_allowed_by_tool_name_and_day() {
    let stored = || marked(live(config("a", &json!({}))), FLUX);
    let allowed = |tool, name, until| allow(world(stored()), tool, name, until);
    let note = "note: taken over from the Flux Kustomization `shop` (allowed until 2026-06-15: it moves)";
    allowed(DeliveryTool::Flux, "shop", "2026-06-15").check(0, &[&["adopt", note]]);
    let refused: &[&[&str]] = &[&["adopt"], &["refused two-owners"]];
    allowed(DeliveryTool::Flux, "shop", "2026-06-14").check(4, refused);
    allowed(DeliveryTool::Flux, "other", "2026-06-15").check(4, refused);
    allowed(DeliveryTool::Helm, "shop", "2026-06-15").check(4, refused);
}

#[test]
fn a_set_of_another_tool_is_taken_over_by_its_parents_name() {
    let mut stored = live(config("a", &json!({})));
    stored["metadata"]["labels"][PART_OF] = "applyset-theirs-v1".into();
    let mut foreign = world(stored);
    foreign.observation.foreign_parents.insert("applyset-theirs-v1".into(), "Secret shop/theirs".into());
    foreign.check(4, &[&["adopt"], &["refused two-owners", "Secret shop/theirs"]]);
    let allowed = allow(foreign, DeliveryTool::ApplySet, "shop/theirs", "2026-06-30");
    allowed.check(0, &[&["adopt", "note: taken over from the ApplySet `Secret shop/theirs`"]]);
}

/// An object that was delivered by us, and that somebody gave to Flux besides, was overwritten every ten minutes.
#[test]
fn an_object_of_ours_that_another_tool_writes_too_is_refused() {
    let stored = marked(member("shop", config("a", &json!({}))), FLUX);
    world(stored).check(4, &[&["update"], &["refused two-owners", "Flux"]]);
}

/// Helm's marks outlive it: they are told once for all objects, and stop nothing.
#[test]
fn the_marks_that_helm_leaves_behind_only_warn() {
    let desired = config("a", &json!({}));
    let stored = marked(member("shop", desired.clone()), RELEASE);
    let world = World::new().unit("shop", std::slice::from_ref(&desired)).set("shop", &[&desired]).answered(
        &desired,
        Some(stored.clone()),
        stored,
    );
    world.check(0, &[&["no-op"]]);
    let warnings = world.plan().warnings;
    assert!(
        warnings[0].contains("1 delivered objects still carry the marks of the Helm release `shop`"),
        "{warnings:?}"
    );
}

/// Argo CD tracks by its own list where it is told to put no mark on objects.
#[test]
fn what_only_an_inventory_names_is_owned() {
    let desired = config("a", &json!({}));
    let owner = || Owner::new(Tool::ArgoCd, "Argo CD application", "shop");
    let recorded = |mut world: World| {
        let key = ObjectKey::from((GroupKind::new("", "ConfigMap"), Some("shop"), "a"));
        world.observation.inventories.owners.insert(key, owner());
        world
    };
    let refused: &[&str] = &["refused two-owners", "the Argo CD application `shop`"];
    recorded(world(live(desired.clone()))).check(4, &[&["adopt"], refused]);
    recorded(world(member("shop", desired.clone()))).check(4, &[&["no-op"], refused]);
    let allowed = allow(recorded(world(live(desired.clone()))), DeliveryTool::ArgoCd, "shop", "2026-06-30");
    allowed.check(0, &[&["adopt", "note: taken over from the Argo CD application `shop`"]]);
    let stays = config("stays", &json!({}));
    let gone = World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &desired])
        .candidate(member("shop", desired.clone()));
    recorded(gone).check(
        0,
        &[
            &["no-op"],
            &[
                "keep configmap shop/a",
                "the Argo CD application `shop` delivers it too, as its inventory says",
            ],
        ],
    );
}

/// Without the right to list inventories a plan goes on, and says what it does not see.
#[test]
fn inventories_that_cannot_be_listed_are_told() {
    let desired = config("a", &json!({}));
    let mut world = World::new().unit("shop", std::slice::from_ref(&desired)).settled("shop", &desired);
    world
        .observation
        .inventories
        .unlisted
        .insert(GroupKind::new("argoproj.io", "Application"), "forbidden".into());
    world.check(0, &[&["no-op"]]);
    let warnings = world.plan().warnings;
    let gone = config("gone", &json!({}));
    world
        .set("shop", &[&desired, &gone])
        .candidate(member("shop", gone))
        .check(0, &[&["no-op"], &["keep", "`Application.argoproj.io` deliver could not be listed"]]);
    assert!(
        warnings.iter().any(|text| text.contains("`Application.argoproj.io` deliver could not be listed")),
        "{warnings:?}"
    );
}

/// An object that moved to Flux, and then left this repository, would have been deleted under its new owner.
#[test]
fn what_another_tool_delivers_now_is_not_deleted() {
    let (stays, gone) = (config("stays", &json!({})), config("gone", &json!({})));
    World::new()
        .unit("shop", std::slice::from_ref(&stays))
        .settled("shop", &stays)
        .set("shop", &[&stays, &gone])
        .candidate(marked(member("shop", gone), FLUX))
        .check(
            0,
            &[&["no-op"], &["keep configmap shop/gone", "the Flux Kustomization `shop` delivers it too"]],
        );
}
