//! Probes at the load balancer's address.

use windlass_e2e::{Bed, Files, World, manifests};

/// An application behind a load balancer, with one probe; `NS` stands for the namespace.
fn probed(world: &World, answers: &[(&str, &str)], probe: &str) -> Files {
    let namespace = world.namespace("app");
    let web =
        manifests::Workload { namespace: &namespace, name: "web", version: "1", replicas: 1, symptoms: &[] };
    let files = world
        .small()
        .with("app/web.yaml", manifests::deployment(&web))
        .with("app/public.yaml", manifests::load_balancer(&namespace, "public", "web", 8080, answers));
    let units = files.content("windlass.yaml").to_owned();
    let probe = probe.replace("NS", &namespace);
    let common = format!("smoke:\n  - name: the probe\n    service: {namespace}/public\n    port: 8080\n");
    files.with("windlass.yaml", format!("{units}{common}    attempts: 2\n    interval: 200ms\n{probe}"))
}

#[test]
fn probes_that_succeed_and_probes_that_fail() {
    let plain: &[(&str, &str)] = &[("http-body", "shop is ready 17")];
    let teapot: &[(&str, &str)] = &[("http-status", "418")];
    let raw: &[(&str, &str)] = &[("protocol", "tcp"), ("http-body", "220 hello")];
    for (answers, probe, code, says) in [
        (plain, "http: {path: /healthz, body: ready, status: 200}", 0, ""),
        (plain, "http: {bodyMatches: 'ready \\d+$'}", 0, ""),
        (plain, "http: {body: steady}", 9, "steady"),
        (plain, "tcp: {}", 0, ""),
        (teapot, "http: {}", 9, "418"),
        (teapot, "http: {status: 418}", 0, ""),
        (raw, "tcp: {greeting: '220 '}", 0, ""),
        (raw, "tcp: {greeting: '250 '}", 9, "250 "),
    ] {
        let world = World::new();
        world.commit(&probed(&world, answers, &format!("    {probe}\n")));
        let outcome = world.windlass(&["run"]);
        outcome.exits(code);
        if code != 0 {
            outcome.refuses(code, &["the probe", says]);
        }
    }
}

#[test]
fn tls_is_checked_against_the_given_name_and_authority() {
    let tls = "    http: {tlsName: public.NS.svc, tlsCa: ca.pem}\n";
    let world = World::new();
    let files = probed(&world, &[("tls", "true")], tls).with("ca.pem", Bed::get().ca());
    world.deliver(&files);
    world.commit(&files.clone().replace("windlass.yaml", "tlsName: public", "tlsName: private"));
    world.windlass(&["run"]).refuses(9, &["the probe", "certificate"]);
    // Without the authority nobody vouches for the certificate.
    world.commit(&files.replace("windlass.yaml", ", tlsCa: ca.pem", ""));
    world.windlass(&["run"]).refuses(9, &["the probe", "certificate"]);
}

#[test]
fn a_probe_of_another_environment_is_not_asked() {
    let world = World::new();
    world.commit(&probed(&world, &[], "    http: {body: never}\n    environments: [elsewhere]\n"));
    world.windlass(&["run"]).ok();
}
