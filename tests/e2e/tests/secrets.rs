//! No Secret value leaves memory.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use windlass_e2e::{Bed, Files, Outcome, Platform, World, manifests};

/// Asserts that none of the values was written anywhere, in plain text or in base64.
#[track_caller]
fn assert_hidden(world: &World, values: &[String]) {
    let written = world.everything_written();
    assert!(written.len() > 5, "only {} places were searched", written.len());
    for value in values {
        // The middle of the base64 form, whatever stands before the value.
        let forms = [value.clone(), STANDARD.encode(value).trim_end_matches('=').to_owned()];
        for form in &forms {
            for (place, text) in &written {
                assert!(!text.contains(form.as_str()), "`{value}` was written as `{form}`: {place}\n{text}");
            }
        }
    }
}

#[test]
fn no_command_writes_a_secret_value_of_the_example() {
    let mut world = World::named("dev");
    let platform = Platform::new(&world, "dev");
    let folder = world.checkout(&platform.files);
    let (folder, environment) = (folder.to_str().unwrap().to_owned(), world.environment.clone());
    world.commit(&platform.files);
    world.configure(|settings| settings["approval"]["required"] = "always".into());
    let (plan, drift) = (world.path("plan"), world.path("drift"));
    let (plan, drift) = (plan.to_str().unwrap().to_owned(), drift.to_str().unwrap().to_owned());
    world.windlass(&["plan", "--verbose", "--out", &plan]).ok();
    world.windlass(&["plan", "--output", "json"]).ok();
    world.plan_and_approve("alice");
    world.windlass(&["run", "--verbose"]).ok();

    // A changed value: the plan of an update, and drift, show that it differs, not what it is.
    let base = "apps/shop/stateful/base/kustomization.yaml";
    let secret = "s3kr1t-demo-app-3Rz8kN";
    world.commit(&platform.files.clone().replace(base, secret, "s3kr1t-demo-changed-8Kq1vP"));
    world.windlass(&["plan", "--verbose", "--out", &plan]).ok();
    world.windlass(&["plan", "--output", "json"]).ok().says("***");
    let by_hand = r#"{"stringData":{"app-password":"s3kr1t-demo-by-hand-5Tz2mW"}}"#;
    world.kubectl.run(&["patch", "secret", "db-credentials", "-n", &platform.shop, "-p", by_hand]);
    world.windlass(&["drift", "--verbose", "--out", &drift]).exits(2);
    world.windlass(&["drift", "--output", "json"]).exits(2);
    world.windlass(&["run", "--output", "json"]).exits(3);
    world.configure(|settings| settings["approval"]["required"] = "never".into());
    let run = world.windlass(&["run", "--verbose", "--output", "json"]);
    run.ok();

    for output in ["text", "json"] {
        world.call(&["render", &folder, "--environment", &environment, "--output", output]).ok();
        world.call(&["check", &folder, "--environment", &environment, "--output", output]).ok();
        for command in ["status", "history", "lock", "gate", "verify", "doctor"] {
            world.windlass(&[command, "--output", output]);
        }
        let run = last_run(&world);
        world.windlass(&["show", &run, "--output", output]).ok();
    }
    let mut values = platform.secret_values();
    values.extend(["s3kr1t-demo-changed-8Kq1vP".to_owned(), "s3kr1t-demo-by-hand-5Tz2mW".to_owned()]);
    assert_hidden(&world, &values);
    let shown = world.call(&["render", &folder, "--environment", &environment, "--show-secrets"]);
    shown.ok();
    let visible = values
        .iter()
        .any(|value| shown.stdout.contains(value.as_str()) || shown.stdout.contains(&STANDARD.encode(value)));
    assert!(visible, "`--show-secrets` shows nothing: the search above may be blind\n{shown}");
}

fn last_run(world: &World) -> String {
    let history = world.windlass(&["history", "--output", "json"]);
    let text = history.ok().json();
    let run = text["runs"][0]["id"].as_str();
    run.unwrap_or_else(|| panic!("no run in the history\n{history}")).to_owned()
}

#[test]
fn a_secret_that_is_refused_is_not_shown_either() {
    let numbers = "stringData:\n  pin: 7301946582\n";
    let key = "stringData:\n  'no key!': s3kr1t-bad-key-4Hn7xC\n";
    let base64 = "data:\n  password: s3kr1t-no-base64-6Jd3pL!\n";
    let indentation = "stringData:\n  password: s3kr1t-bad-yaml-2Wf9sR\n   more: x\n";
    for (content, value) in [
        (numbers, "7301946582"),
        (key, "s3kr1t-bad-key-4Hn7xC"),
        (base64, "s3kr1t-no-base64-6Jd3pL"),
        (indentation, "s3kr1t-bad-yaml-2Wf9sR"),
    ] {
        let world = World::new();
        let namespace = world.namespace("app");
        let secret = manifests::secret(&namespace, "credentials", &[]).replace("stringData:\n", content);
        let good = world.small();
        world.deliver(&good);
        world.commit(&good.with("app/credentials.yaml", secret));
        let refused: Vec<Outcome> = vec![
            world.windlass(&["plan", "--verbose"]),
            world.windlass(&["plan", "--output", "json"]),
            world.windlass(&["run", "--verbose"]),
        ];
        for outcome in &refused {
            assert!([4, 65].contains(&outcome.code), "{outcome}");
            outcome.says_one_of(&["credentials"]);
        }
        assert_hidden(&world, &[value.to_owned()]);
    }
}

/// The libraries below Windlass have traces of their own, of HTTP and TLS.
#[test]
fn the_trace_of_every_library_holds_no_secret_value_and_no_token() {
    let world = World::new();
    let namespace = world.namespace("app");
    let (first, second) = ("s3kr1t-trace-first-9Xw4bN", "s3kr1t-trace-second-1Kc8vR");
    let with = |value: &str| {
        let secret = manifests::secret(&namespace, "credentials", &[("password", value)]);
        world.small().with("app/credentials.yaml", secret)
    };
    let traced = |arguments: &[&str]| world.windlass_with(("WINDLASS_LOG", "trace"), arguments);
    world.commit(&with(first));
    traced(&["run", "--verbose"]).ok().says("TRACE");
    world.commit(&with(second));
    traced(&["plan", "--verbose"]).ok();
    traced(&["drift"]).ok();
    traced(&["run", "--verbose"]).ok();
    // The server refuses it, with its content in the answer.
    let refused = "s3kr1t-trace-refused-7Mb2qL";
    world.commit(&with(refused).replace("app/credentials.yaml", "password:", "'no key!':"));
    assert_ne!(traced(&["run", "--verbose"]).code, 0);
    let kubeconfig = std::fs::read_to_string(Bed::get().identity("windlass-run")).unwrap();
    let token = kubeconfig.split_once("token: ").unwrap().1.lines().next().unwrap().trim().to_owned();
    assert_hidden(&world, &[first.to_owned(), second.to_owned(), refused.to_owned(), token]);
}

#[test]
fn a_secret_value_in_a_config_of_the_environment_is_refused_with_its_place_only() {
    let world = World::new();
    let files = Files::new().with("windlass.yaml", "units: [s3kr1t-in-settings-1Bv6yG\n");
    world.commit(&files);
    world.windlass(&["run"]).refuses(65, &["windlass.yaml"]);
}
