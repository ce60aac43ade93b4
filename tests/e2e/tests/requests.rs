//! What a delivery asks of the API server, all told.

use windlass_e2e::{Audit, World, manifests, until};

/// The most that a delivery without changes may cost, whatever the number of its objects and namespaces: what it asks
/// grows with kinds, and with pages of lists.
const UNCHANGED: usize = 40;
/// The most objects that it may read one by one, of more than sixty: records, locks and its own rights.
const READ_ALONE: usize = 12;

#[test]
fn an_unchanged_delivery_asks_little_however_many_namespaces_there_are() {
    let world = World::new();
    let mut files = world.small();
    for number in 0..6 {
        let namespace = world.namespace(&format!("many{number}"));
        let workload = manifests::Workload::db(&namespace, &[]);
        files = files
            .with(&format!("base/{number}.yaml"), manifests::namespace(&namespace))
            .with(&format!("app/{number}/db.yaml"), manifests::deployment(&workload));
        for name in 0..10 {
            files = files.with(
                &format!("app/{number}/settings{name}.yaml"),
                manifests::config_map(&namespace, &format!("settings{name}"), &[("a", "b")]),
            );
        }
    }
    world.deliver(&files);
    // Other tests change policies meanwhile, after which everything is asked again.
    let requests = until(90, "a run without dry-runs", || {
        let mark = Audit::mark();
        let run = world.windlass(&["run"]);
        let requests = mark.everything(run.ok().run_id());
        requests.iter().all(|request| !request.dry_run).then_some(requests)
    });
    let told: Vec<String> = requests
        .iter()
        .map(|request| {
            format!("{} {} {} {}", request.verb, request.resource, request.namespace, request.name)
        })
        .collect();
    assert!(requests.iter().all(|request| request.verb != "watch"), "{told:#?}");
    assert!(requests.len() <= UNCHANGED, "{} requests: {told:#?}", requests.len());
    let alone = requests.iter().filter(|request| request.verb == "get").count();
    assert!(alone <= READ_ALONE, "{alone} objects were read one by one: {told:#?}");
}
