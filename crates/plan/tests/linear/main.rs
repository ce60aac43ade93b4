//! What a plan costs grows with its objects and not faster, counted in allocations: a step that looks at all objects for
//! each of them takes seconds of a plan of ten thousand.

use serde_json::{Value, json};

#[cfg(test)]
#[path = "../planner/world.rs"]
#[expect(dead_code, reason = "nothing here looks at the lines of a plan")]
mod world;

use world::{World, config, failure, live, member, named, object};

#[global_allocator]
static COUNTED: dhat::Alloc = dhat::Alloc;

const FEW: usize = 60;
const TIMES: u8 = 4;

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
    let (few, many) = (allocations(FEW), allocations(FEW * usize::from(TIMES)));
    // A fifth for what grows in steps.
    let most = few * u64::from(TIMES) * 6 / 5;
    assert!(many <= most, "{what}: {few} allocations for {FEW}, {many} for {TIMES} times as many");
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
    check("data goes with namespaces and StatefulSets", |count| {
        let half = count / 2;
        let mut gone: Vec<Value> = Vec::new();
        let mut claims = Vec::new();
        for name in names("db", half) {
            let mut set = workload("StatefulSet", &name, "c");
            set["spec"]["persistentVolumeClaimRetentionPolicy"] = json!({"whenDeleted": "Delete"});
            set["spec"]["volumeClaimTemplates"] = json!([{"metadata": {"name": "data"}}]);
            let claim = named("v1", "PersistentVolumeClaim", Some("shop"), &format!("data-{name}-0"));
            claims.push(object(live(claim)));
            let inside = named("v1", "PersistentVolumeClaim", Some(&name), "other");
            claims.push(object(live(inside)));
            gone.push(set);
            gone.push(named("v1", "Namespace", None, &name));
        }
        let mut world = World::new().unit("shop", &[]).set("shop", &gone.iter().collect::<Vec<_>>());
        world.observation.claims = claims.into_iter().collect();
        gone.iter().fold(world, |world, body| world.candidate(member("shop", body.clone())))
    });
    check("namespaces go while others stay", |count| {
        let half = count / 2;
        let gone: Vec<Value> =
            names("n", half).iter().map(|name| named("v1", "Namespace", None, name)).collect();
        let stays: Vec<Value> = names("c", half).iter().map(|name| config(name, &json!({}))).collect();
        let all: Vec<&Value> = gone.iter().chain(&stays).collect();
        let world = World::new().unit("shop", &stays).set("shop", &all);
        let world = stays.iter().fold(world, |world, body| world.settled("shop", body));
        gone.iter().fold(world, |world, body| world.candidate(member("shop", body.clone())))
    });
    check("every object is refused", |count| {
        let desired: Vec<Value> =
            names("w", count).iter().map(|name| workload("Deployment", name, "c")).collect();
        let world = World::new().unit("shop", &desired);
        let cause = json!([{"field": "spec.selector", "reason": "FieldValueInvalid", "message": "field is immutable"}]);
        desired.iter().fold(world, |world, body| {
            let failure = failure(422, "Invalid", "field is immutable", &cause);
            world.refused(body, Some(member("shop", body.clone())), failure)
        })
    });
}
