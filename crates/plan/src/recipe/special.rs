//! Recipes that depend on more than the kind: what is live decides whether a deletion is safe.

use windlass_model::{Object, Recipe, RecipeStep, defined_kind};

use super::{command, row};
use crate::scene::Scene;

/// A load balancer's address goes with its Service.
pub(super) fn of_service(live: &Object) -> Option<Recipe> {
    let mut recipe = row::of(live.reference())?;
    if live.body().pointer("/spec/type").is_some_and(|kind| kind == "LoadBalancer") {
        recipe.down.push_str("; its external address is given back, and another one may come");
    }
    Some(recipe)
}

/// A volume that is bound cannot go before its claim, so no deletion is named for it.
pub(super) fn of_volume(live: &Object) -> Recipe {
    let object = live.reference();
    let instead = Some(format!(
        "deliver the new volume as `{}-2` with a claim of its own, copy the data while nothing writes, point the workload to it, and remove this one afterwards",
        object.name
    ));
    if live.body().pointer("/spec/claimRef").is_some() {
        return Recipe {
            down: "nothing, as long as it stays".to_owned(),
            data: "at risk: the volume is bound, and goes only after its claim".to_owned(),
            data_at_risk: true,
            steps: Vec::new(),
            instead,
        };
    }
    Recipe {
        down: "nothing: no claim is bound to it".to_owned(),
        data: "kept: only the object goes, once its reclaim policy is Retain".to_owned(),
        data_at_risk: false,
        steps: vec![
            RecipeStep::run(
                "keep what it stands for",
                command::patch(object, r#"{"spec":{"persistentVolumeReclaimPolicy":"Retain"}}"#),
            ),
            RecipeStep::run("delete it", command::delete(object)),
            RecipeStep::told("run the same commit again: it is created"),
        ],
        instead,
    }
}

/// A claim holds data and is never deleted to be made again.
pub(super) fn of_claim(live: &Object) -> Recipe {
    Recipe {
        down: "what uses it, while the data is copied".to_owned(),
        data: "at risk if the claim is deleted: its volume goes with it, unless its reclaim policy is Retain"
            .to_owned(),
        data_at_risk: true,
        steps: Vec::new(),
        instead: Some(format!(
            "leave this claim as it was in Git, deliver the new one as `{}-2`, copy the data while nothing writes, point the workload to it, then remove the old claim",
            live.reference().name
        )),
    }
}

/// What an operator made from an object usually goes with it.
pub(super) fn of_custom(live: &Object) -> Recipe {
    let object = live.reference();
    Recipe {
        down: "nothing, as long as it stays".to_owned(),
        data: format!(
            "at risk if it is deleted: the operator of `{}` may delete all that it made from it",
            object.kind
        ),
        data_at_risk: true,
        steps: Vec::new(),
        instead: Some(format!(
            "leave this object as it was in Git, deliver the new one as `{}-2` beside it, move the data, then remove the old one",
            object.name
        )),
    }
}

/// All objects of a kind go with its definition.
pub(super) fn of_definition(scene: &Scene<'_>, live: &Object) -> Recipe {
    let (object, kind) = (live.reference(), defined_kind(live));
    let objects = kind.and_then(|kind| scene.observation.customs.get(&kind));
    let instead = Some(
        "define the new kind under another plural, let its operator make the objects anew, and remove this definition afterwards"
            .to_owned(),
    );
    if let Some(Ok(objects)) = objects
        && objects.is_empty()
    {
        return Recipe {
            down: "the kind is not served, until it is back; its operator may stop meanwhile".to_owned(),
            data: "none at risk: no object of the kind exists".to_owned(),
            data_at_risk: false,
            steps: vec![
                RecipeStep::run(
                    "see that there is still no object",
                    format!("kubectl get {} -A", object.name),
                ),
                RecipeStep::run("delete it", command::delete(object)),
                RecipeStep::told("run the same commit again: it is created"),
            ],
            instead,
        };
    }
    let count = match objects {
        Some(Ok(objects)) if objects.len() == 1 => "the one object of the kind goes with it".to_owned(),
        Some(Ok(objects)) => format!("{} objects of the kind go with it", objects.len()),
        Some(Err(reason)) => {
            format!("every object of the kind goes with it; how many there are could not be read: {reason}")
        }
        None => "every object of the kind goes with it; they were not counted".to_owned(),
    };
    Recipe {
        down: "nothing, as long as it stays".to_owned(),
        data: format!("at risk if it is deleted: {count}"),
        data_at_risk: true,
        steps: Vec::new(),
        instead,
    }
}
