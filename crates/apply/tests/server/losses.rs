//! What a deletion would destroy that its plan did not name.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_apply::{Pruned, apply, prune};
use windlass_model::{Action, DestroyedVolume, Object, ObjectRef, Operation};

use crate::bed::{Bed, object};
use crate::definitions::{definition, widget};
use crate::plan::{approve, plan, rendering};
use crate::retain::volume;

pub(crate) const CLAIM: &str = "data-db-0";

pub(crate) fn claim(bed: &Bed, owner: Option<&Object>) -> Object {
    let owners: Vec<Value> = owner.into_iter().map(reference).collect();
    object(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": CLAIM, "namespace": bed.namespace, "ownerReferences": owners},
        "spec": {
            "volumeName": bed.namespace, "storageClassName": "", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        },
    }))
}

fn reference(owner: &Object) -> Value {
    let body = owner.body();
    json!({"apiVersion": body["apiVersion"], "kind": body["kind"], "name": body["metadata"]["name"], "uid": owner.uid()})
}

pub(crate) fn set(bed: &Bed, rule: &str, owner: Option<&Object>) -> Object {
    let owners: Vec<Value> = owner.into_iter().map(reference).collect();
    let labels = json!({"app": "db"});
    object(json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "db", "namespace": bed.namespace, "ownerReferences": owners},
        "spec": {
            "replicas": 0, "serviceName": "db", "selector": {"matchLabels": labels},
            "persistentVolumeClaimRetentionPolicy": {"whenDeleted": rule, "whenScaled": "Retain"},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "a", "image": "i"}]}},
            "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}}}}],
        },
    }))
}

fn lost(bed: &Bed) -> DestroyedVolume {
    let name = bed.namespace.clone();
    DestroyedVolume { namespace: name.clone(), claim: CLAIM.to_owned(), name }
}

pub(crate) async fn bind(bed: &Bed, claim: &Object) {
    bed.put(&volume(bed, CLAIM)).await;
    bed.put(claim).await;
    let bound = async {
        while bed.get(claim.reference()).await.unwrap().body()["status"]["phase"] != "Bound" {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), bound).await.expect("the claim is bound");
}

async fn gone(bed: &Bed, reference: &ObjectRef) {
    let gone = async {
        while bed.get(reference).await.is_some() {
            bed.delete(reference).await;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), gone).await.expect("it goes");
}

/// Delivers an object and prunes it by a plan of which this is added, after something else happened.
pub(crate) async fn pruned(
    bed: &Bed,
    gone: &Object,
    adds: impl FnOnce(&mut Action),
    between: impl AsyncFnOnce(&Object),
) -> Pruned {
    let stays = bed.map("stays", "1");
    bed.run(&rendering(&[("shop", &[stays.clone(), gone.clone()])])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let mut plan = plan(bed, &next).await;
    let is_it = |action: &&mut Action| {
        action.operation == Operation::Prune && action.object.key() == gone.reference().key()
    };
    adds(plan.actions.iter_mut().find(is_it).unwrap());
    let approved = approve(plan);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    between(&bed.get(gone.reference()).await.unwrap()).await;
    prune(&applied, &approved, &next, &bed.context()).await.unwrap()
}

fn stayed(pruned: &Pruned) {
    assert!(pruned.deleted.is_empty(), "{:?}", pruned.deleted);
    assert!(pruned.kept[0].reason.contains(CLAIM), "{}", pruned.kept[0].reason);
}

async fn down(bed: Bed) {
    bed.delete(volume(&bed, CLAIM).reference()).await;
    bed.down().await;
}

#[tokio::test]
async fn a_set_stays_with_a_claim_that_the_plan_did_not_name() {
    let bed = Bed::up().await;
    let comes = async |_: &Object| bind(&bed, &claim(&bed, None)).await;
    stayed(&pruned(&bed, &set(&bed, "Delete", None), |_| (), comes).await);
    // Named, it goes; and a rule that keeps claims destroys nothing.
    let nothing = async |_: &Object| ();
    assert_eq!(
        pruned(&bed, &set(&bed, "Delete", None), |action| action.destroys = vec![lost(&bed)], nothing)
            .await
            .deleted
            .len(),
        1
    );
    down(bed).await;
    let bed = Bed::up().await;
    let comes = async |_: &Object| bind(&bed, &claim(&bed, None)).await;
    assert_eq!(pruned(&bed, &set(&bed, "Retain", None), |_| (), comes).await.deleted.len(), 1);
    bed.delete(claim(&bed, None).reference()).await;
    down(bed).await;
}

/// The database was kept, and its Service and its rights went all the same.
#[tokio::test]
async fn what_stays_with_its_data_keeps_what_it_needs() {
    let bed = Bed::up().await;
    let (stays, set) = (bed.map("stays", "1"), set(&bed, "Delete", None));
    let service = object(json!({"apiVersion": "v1", "kind": "Service",
        "metadata": {"name": "db", "namespace": bed.namespace},
        "spec": {"clusterIP": "None", "selector": {"app": "db"}, "ports": [{"port": 5432}]}}));
    bed.run(&rendering(&[("shop", &[stays.clone(), set.clone(), service.clone()])])).await.unwrap();
    let next = rendering(&[("shop", &[stays])]);
    let approved = approve(plan(&bed, &next).await);
    let applied = apply(&approved, &next, &bed.context()).await.unwrap();
    bind(&bed, &claim(&bed, None)).await;
    let pruned = prune(&applied, &approved, &next, &bed.context()).await.unwrap();
    stayed(&pruned);
    assert_eq!(pruned.postponed, [service.reference().clone()]);
    assert!(bed.get(service.reference()).await.is_some());
    assert_eq!(bed.members("shop").await.unwrap().len(), 3, "a later run finds both again");
    bed.delete(claim(&bed, None).reference()).await;
    down(bed).await;
}

/// Whether an operator keeps the data of what it made is often a field of the resource.
#[tokio::test]
async fn a_custom_resource_or_a_secret_that_was_changed_since_the_plan_stays() {
    let bed = Bed::up().await;
    let definition = definition(&bed);
    bed.run(&rendering(&[("infra", std::slice::from_ref(&definition))])).await.unwrap();
    let secret = object(json!({"apiVersion": "v1", "kind": "Secret",
        "metadata": {"name": "s", "namespace": bed.namespace}, "stringData": {"k": "1"}}));
    let custom = widget(&bed, "db", &json!({"size": 1}));
    for (gone, path, value) in [(&custom, "/spec/size", json!(2)), (&secret, "/data/more", json!("eA=="))] {
        let changes = async |object: &Object| {
            bed.edit(object.reference(), json!([{"op": "add", "path": path, "value": value}])).await;
        };
        let kept = pruned(&bed, gone, |_| (), changes).await.kept;
        assert!(kept[0].reason.contains("was changed since the plan"), "{}", kept[0].reason);
    }
    bed.down().await;
}

/// Approved as "the volume stays".
#[tokio::test]
async fn a_claim_stays_whose_volume_would_not_be_kept_any_more() {
    let bed = Bed::up().await;
    bed.put(&volume(&bed, CLAIM)).await;
    let policy = |policy: &str| json!([{"op": "replace", "path": "/spec/persistentVolumeReclaimPolicy", "value": policy}]);
    bed.edit(volume(&bed, CLAIM).reference(), policy("Retain")).await;
    let changes = async |_: &Object| bed.edit(volume(&bed, CLAIM).reference(), policy("Delete")).await;
    stayed(&pruned(&bed, &claim(&bed, None), |_| (), changes).await);
    let back = async |_: &Object| bed.edit(volume(&bed, CLAIM).reference(), policy("Retain")).await;
    assert_eq!(pruned(&bed, &claim(&bed, None), |_| (), back).await.deleted.len(), 1);
    down(bed).await;
}

#[tokio::test]
async fn a_custom_resource_stays_with_a_claim_that_the_plan_did_not_name() {
    let bed = Bed::up().await;
    let definition = definition(&bed);
    bed.run(&rendering(&[("infra", std::slice::from_ref(&definition))])).await.unwrap();
    let database = widget(&bed, "db", &json!({}));
    let owns = async |owner: &Object| bind(&bed, &claim(&bed, Some(owner))).await;
    stayed(&pruned(&bed, &database, |_| (), owns).await);
    gone(&bed, claim(&bed, None).reference()).await;
    gone(&bed, volume(&bed, CLAIM).reference()).await;
    // Through a StatefulSet of its own.
    let makes = async |owner: &Object| {
        bed.put(&set(&bed, "Delete", Some(owner))).await;
        bind(&bed, &claim(&bed, None)).await;
    };
    stayed(&pruned(&bed, &database, |_| (), makes).await);
    gone(&bed, set(&bed, "Delete", None).reference()).await;
    gone(&bed, claim(&bed, None).reference()).await;
    gone(&bed, volume(&bed, CLAIM).reference()).await;
    // Over a generation between; that the plan could not count is no leave for what can be seen now.
    let between = async |owner: &Object| {
        let mut map = bed.map("between", "1").into_body();
        map["metadata"]["ownerReferences"] = json!([reference(owner)]);
        let map = bed.put(&object(map)).await;
        bind(&bed, &claim(&bed, Some(&map))).await;
    };
    stayed(&pruned(&bed, &database, |action| action.uncounted = true, between).await);
    bed.delete(definition.reference()).await;
    down(bed).await;
}

/// It can own objects of every namespace; they had counted as none.
#[tokio::test]
async fn a_cluster_scoped_resource_stays_with_a_claim_that_the_plan_did_not_name() {
    let bed = Bed::up().await;
    let mut definition = definition(&bed).into_body();
    definition["spec"]["scope"] = json!("Cluster");
    let definition = object(definition);
    bed.run(&rendering(&[("infra", std::slice::from_ref(&definition))])).await.unwrap();
    let mut tenant = widget(&bed, "tenant", &json!({})).into_body();
    tenant["metadata"] = json!({"name": "tenant"});
    let tenant = object(tenant);
    let owns = async |owner: &Object| bind(&bed, &claim(&bed, Some(owner))).await;
    stayed(&pruned(&bed, &tenant, |_| (), owns).await);
    // A namespace of its own goes with everything in it.
    let name = format!("{}-owned", bed.namespace);
    let owned = async |owner: &Object| {
        let metadata = json!({"name": name, "ownerReferences": [reference(owner)]});
        bed.put(&object(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}))).await;
    };
    let named = |action: &mut Action| action.destroys = vec![lost(&bed)];
    let kept = pruned(&bed, &tenant, named, owned).await.kept;
    assert!(kept[0].reason.contains(&format!("everything in the namespace `{name}`")), "{}", kept[0].reason);
    let namespace = object(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}));
    gone(&bed, namespace.reference()).await;
    let pruned = pruned(&bed, &tenant, named, async |_| ()).await;
    assert!(pruned.deleted.contains(tenant.reference()), "{pruned:?}");
    down(bed).await;
}
