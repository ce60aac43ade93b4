//! Requests that are throttled, lost or not answered in time: what may be sent again is, and nothing else.

use serde_json::json;
use windlass_e2e::{Fate, Proxy, Sight, World, manifests};

/// A world behind a proxy, with a ConfigMap `new` that the next run creates.
fn world() -> (World, Proxy) {
    let mut world = World::new();
    let proxy = Proxy::start();
    proxy.stands_before(&mut world);
    world.deliver(&world.small());
    let namespace = world.namespace("app");
    world
        .commit(&world.small().with("app/new.yaml", manifests::config_map(&namespace, "new", &[("a", "b")])));
    (world, proxy)
}

/// Lets the first write of an object have one fate, and everything else pass.
fn first_write(proxy: &Proxy, name: &'static str, fate: Fate) {
    let mut left = 1;
    proxy.decide(move |sight: &Sight| {
        if left > 0 && sight.writes() && sight.name() == name {
            left -= 1;
            return fate;
        }
        Fate::Passes
    });
}

/// Creates `new` on a way that does something to its first request; returns what was sent about it.
fn creating(fate: Fate) -> Vec<String> {
    let (mut world, proxy) = world();
    world.configure(|settings| settings["timeouts"]["request"] = json!("2s"));
    first_write(&proxy, "new", fate);
    world.windlass(&["run"]).ok();
    let sent = proxy.methods("new");
    proxy.pass();
    assert_eq!(world.kubectl.field("configmap", &world.namespace("app"), "new", "/data/a"), "b");
    world.windlass(&["drift"]).ok();
    let from_first_write = sent.iter().position(|method| method == "PATCH").unwrap();
    sent[from_first_write..].to_vec()
}

#[test]
fn a_creation_that_was_throttled_is_sent_again() {
    assert_eq!(creating(Fate::Refused(429, Some(1))), ["PATCH", "PATCH"]);
}

#[test]
fn a_creation_whose_outcome_is_unknown_is_looked_up_before_it_is_sent_again() {
    let check = |fate, want: &[&str]| {
        let sent = creating(fate);
        // The rollout and the deletions may read it later.
        assert_eq!(sent[..want.len().min(sent.len())], *want, "{fate:?}: {sent:?}");
        let writes = sent.iter().filter(|method| *method == "PATCH").count();
        assert_eq!(writes, 2, "{fate:?}: {sent:?}");
    };
    // It is there, so that the second request names its uid; or it is not, and is created.
    check(Fate::AnswerLost, &["PATCH", "GET", "PATCH"]);
    check(Fate::AnswerLate, &["PATCH", "GET", "PATCH"]);
    check(Fate::Lost, &["PATCH", "GET", "PATCH"]);
    check(Fate::Refused(503, Some(1)), &["PATCH", "GET", "PATCH"]);
}

#[test]
fn a_server_that_asks_to_wait_for_an_hour_is_not_waited_for() {
    let (world, proxy) = world();
    first_write(&proxy, "new", Fate::Refused(429, Some(3600)));
    world.windlass(&["run"]).refuses(7, &["new", "has had enough"]);
    assert_eq!(proxy.methods("new").iter().filter(|method| *method == "PATCH").count(), 1);
}

#[test]
fn an_update_and_a_deletion_whose_answers_were_lost_are_made_sure_of() {
    let (world, proxy) = world();
    world.windlass(&["run"]).ok();
    world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    for fate in [Fate::AnswerLost, Fate::Refused(503, None)] {
        let mut left = vec!["new", "settings"];
        proxy.decide(move |sight: &Sight| match left.iter().position(|name| sight.name() == *name) {
            Some(position) if sight.writes() => {
                left.remove(position);
                fate
            }
            _ => Fate::Passes,
        });
        world.windlass(&["run"]).ok();
        let namespace = world.namespace("app");
        assert!(!world.kubectl.exists("configmap", &namespace, "new"), "{fate:?}");
        assert_eq!(world.kubectl.field("configmap", &namespace, "settings", "/data/colour"), "green");
        let again = world.small().with("app/new.yaml", manifests::config_map(&namespace, "new", &[]));
        world.commit(&again);
        proxy.pass();
        world.windlass(&["run"]).ok();
        world.commit(&world.small().replace("app/settings.yaml", "blue", "green"));
    }
}

/// It ended as if another run had taken the lock.
#[test]
fn an_api_server_that_goes_away_in_the_midst_of_a_run_is_named_as_the_cause() {
    let (world, proxy) = world();
    let mut gone = false;
    proxy.decide(move |sight: &Sight| {
        gone |= sight.writes() && sight.name() == "new";
        if gone { Fate::Lost } else { Fate::Passes }
    });
    let outcome = world.windlass(&["run"]);
    outcome.refuses(69, &["cannot be reached", "127.0.0.1"]);
    proxy.pass();
    world.windlass(&["run", "--lock-timeout", "60s"]).ok();
}

/// The server forgets after some minutes how a list goes on, so that a slow reader gets its second page no more.
#[test]
fn a_list_that_expires_between_two_pages_is_read_again() {
    let (world, proxy) = world();
    let namespace = world.namespace("app");
    let foreign = |number| manifests::config_map(&namespace, &format!("foreign{number}"), &[]) + "---\n";
    world.kubectl.feed(&["create", "-f", "-"], &(0..501).map(foreign).collect::<String>());
    let ours = |name: &str| manifests::config_map(&namespace, name, &[("a", "b")]) + "---\n";
    let many: String = ["one", "two", "three"].iter().map(|name| ours(name)).collect();
    world.commit(&world.small().with("app/many.yaml", many));
    let mut left = 1;
    proxy.decide(move |sight: &Sight| {
        if left > 0 && sight.query.contains("continue=") {
            left -= 1;
            return Fate::Refused(410, None);
        }
        Fate::Passes
    });
    world.windlass(&["plan"]).ok().says("3 to create");
    let later_pages = proxy.seen().iter().filter(|sight| sight.query.contains("continue=")).count();
    assert!(later_pages >= 2, "{later_pages} later pages were asked for");
}

/// The record says who delivered what: a server that restarts at the very end costs it nothing.
#[test]
fn records_are_written_although_answers_are_lost() {
    let (world, proxy) = world();
    let mut seen = std::collections::BTreeSet::new();
    // The first write of each kind to the records, except the lock's, which has rules of its own.
    proxy.decide(move |sight: &Sight| {
        let record = sight.writes() && sight.path.contains("/windlass-system/configmaps");
        if record && seen.insert(sight.method.clone() + sight.name()) {
            Fate::AnswerLost
        } else {
            Fate::Passes
        }
    });
    world.windlass(&["run"]).ok();
    proxy.pass();
    let history = world.windlass(&["history", "--output", "json"]).ok().json();
    assert_eq!(history["runs"][0]["outcome"], "ok", "{history:#}");
    world.windlass(&["drift"]).ok();
}

/// What cannot be previewed, since its namespace comes with it, is warned of when it is written.
#[test]
fn what_the_server_warns_of_when_it_writes_is_told() {
    let world = World::new();
    let namespace = world.namespace("app");
    let workload =
        manifests::Workload { namespace: &namespace, name: "web", version: "1", replicas: 1, symptoms: &[] };
    let labelled =
        manifests::namespace(&namespace) + "  labels: {pod-security.kubernetes.io/warn: restricted}\n";
    let files = world.small().with("base/namespace.yaml", labelled);
    world.commit(&files.with("app/web.yaml", manifests::deployment(&workload)));
    world.windlass(&["run"]).ok().says("warning:").says("would violate PodSecurity");
}
