//! Approving at the terminal, by typing the beginning of the change digest.

use windlass_e2e::World;

/// A world in which one version runs and the next one waits for an approval; and the digest of what it would do.
fn waiting() -> (World, String) {
    let mut world = World::new();
    world.deliver(&world.small());
    world.configure(|settings| settings["approval"]["required"] = "always".into());
    world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    let plan = world.windlass(&["plan", "--output", "json"]).json();
    let digest = plan["changeDigest"].as_str().unwrap().trim_start_matches("sha256:").to_owned();
    (world, digest)
}

fn colour(world: &World) -> String {
    world
        .kubectl
        .field("configmap", &world.namespace("app"), "settings", "/data/colour")
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn the_digest_that_is_typed_approves() {
    let (world, digest) = waiting();
    let (code, screen) = world.at_terminal(&["run"], &digest[..8]);
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("to approve") && screen.contains("confirmed at the terminal"), "{screen}");
    assert_eq!(colour(&world), "green");
}

#[test]
fn anything_else_approves_nothing() {
    let (world, _) = waiting();
    for typed in ["yes", "00000000", ""] {
        let (code, screen) = world.at_terminal(&["run"], typed);
        assert_eq!(code, Some(3), "{typed:?}: {screen}");
        assert!(screen.contains("was not approved"), "{screen}");
    }
    assert_eq!(colour(&world), "blue");
}
