//! What a plan costs grows with its objects and not faster, counted in allocations: a step that looks at all objects for
//! each of them takes seconds of a plan of ten thousand.

use serde_json::{Value, json};

#[cfg(test)]
#[path = "../planner/world.rs"]
mod world;

use world::{World, config, live, member, named};

#[global_allocator]
static COUNTED: dhat::Alloc = dhat::Alloc;

const FEW: usize = 60;
const TIMES: u32 = 4;

/// Makes the plan of many and of few.
fn check(what: &str, world: impl Fn(usize) -> World) {
    let allocations = |count: usize| {
        let world = world(count);
        let _profiler = dhat::Profiler::builder().testing().build();
        let plan = world.plan();
        let blocks = dhat::HeapStats::get().total_blocks;
        assert!(plan.actions.len() >= count, "{what}: {} actions", plan.actions.len());
        blocks
    };
    let (few, many) = (allocations(FEW), allocations(FEW * TIMES as usize));
    let factor = many as f64 / few as f64;
    assert!(
        factor < f64::from(TIMES) * 1.2,
        "{what}: {few} for {FEW}, {factor:.1} times as many for {TIMES} times as many"
    );
}

fn workload(kind: &str, name: &str, uses: &str) -> Value {
    let mut body = named("apps/v1", kind, Some("shop"), name);
    let volume = json!({"name": "v", "configMap": {"name": uses}});
    let pod = json!({"containers": [{"name": "c", "image": "i"}], "volumes": [volume]});
    body["spec"] = json!({"replicas": 2, "template": {"metadata": {"labels": {"app": name}}, "spec": pod}});
    body
}

fn names(prefix: &str, count: usize) -> Vec<String> {
    (0..count).map(|number| format!("{prefix}{number}")).collect()
}

/// One profiler at a time: these run one after the other.
#[test]
fn allocations_grow_with_the_objects() {
    check("nothing changes", |count| {
        let desired: Vec<Value> =
            names("c", count).iter().map(|name| config(name, &json!({"k": "1"}))).collect();
        desired.iter().fold(World::new().unit("shop", &desired), |world, body| world.settled("shop", body))
    });
    check("everything is new", |count| {
        let desired: Vec<Value> =
            names("c", count).iter().map(|name| config(name, &json!({"k": "1"}))).collect();
        let world = World::new().unit("shop", &desired);
        desired.iter().fold(world, |world, body| world.answered(body, None, live(body.clone())))
    });
    check("everything goes", |count| {
        let gone: Vec<Value> = names("c", count).iter().map(|name| config(name, &json!({}))).collect();
        let world = World::new().unit("shop", &[]).set("shop", &gone.iter().collect::<Vec<_>>());
        gone.iter().fold(world, |world, body| world.candidate(member("shop", body.clone())))
    });
    check("what workloads read changes", |count| {
        let configs = names("c", count / 2);
        let before: Vec<Value> = configs.iter().map(|name| config(name, &json!({"k": "1"}))).collect();
        let after: Vec<Value> = configs.iter().map(|name| config(name, &json!({"k": "2"}))).collect();
        let readers: Vec<Value> =
            configs.iter().map(|name| workload("Deployment", &format!("w{name}"), name)).collect();
        let rendered: Vec<Value> = after.iter().chain(&readers).cloned().collect();
        let world = World::new().unit("shop", &rendered);
        let world = before.iter().zip(&after).fold(world, |world, (before, after)| {
            world.answered(after, Some(member("shop", before.clone())), member("shop", after.clone()))
        });
        readers.iter().fold(world, |world, body| world.settled("shop", body))
    });
    check("every pod restarts", |count| {
        let sets: Vec<Value> =
            names("w", count).iter().map(|name| workload("StatefulSet", name, "c")).collect();
        let changed = |body: &Value| {
            let mut body = body.clone();
            body["spec"]["template"]["spec"]["containers"][0]["image"] = "j".into();
            body
        };
        let after: Vec<Value> = sets.iter().map(changed).collect();
        let world = World::new().unit("shop", &after);
        sets.iter().zip(&after).fold(world, |world, (before, after)| {
            world.answered(after, Some(member("shop", before.clone())), member("shop", after.clone()))
        })
    });
}
