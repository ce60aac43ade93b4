//! From observation to plan.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use windlass_cluster::FIELD_MANAGER;
use windlass_model::{
    Action, ClusterId, Digest, EnvironmentName, ExitCode, Object, Plan, Preview, Problem, Provenance,
    Refusal, Rendering, Requirement, Toll, Tool, apply_rank, other_owner,
};
use windlass_settings::{DeletionPermission, Guards};

use crate::scene::Scene;
use crate::{
    FieldRules, Observation, forecast, guards, local, lost, ownership, pods, prune, recipe, replacement,
    verdict,
};

/// What a plan is made from, beside the observation.
#[derive(Debug, Clone)]
pub struct Inputs<'a> {
    /// The environment; `None` when a bare directory is planned: then there are no sets and nothing is pruned.
    pub environment: Option<EnvironmentName>,
    /// The cluster.
    pub cluster_id: ClusterId,
    /// Where the desired state comes from.
    pub source: Provenance,
    /// The desired state.
    pub rendering: &'a Rendering,
    /// The digest of the policies that the gate found enforced.
    pub policies: Option<Digest>,
    /// Why this is a rollback, if it is one.
    pub rollback: Option<String>,
    /// The rules on deletions.
    pub guards: &'a Guards,
    /// The deletions that the commit means.
    pub deletions: &'a [DeletionPermission],
    /// What is left to others, migrated and ignored.
    pub fields: &'a FieldRules,
    /// The namespace of the sets' parents.
    pub record_namespace: &'a str,
    /// The tool and its version, such as `windlass 0.1.0`.
    pub tool: &'a str,
    /// The current time.
    pub now: Timestamp,
}

/// Computes what would change, and whether it may.
pub fn plan(inputs: Inputs<'_>, observation: &Observation) -> Plan {
    let Decision { actions, toll, refusals, warnings: doubts, used } = decide(&inputs, observation);
    let mut warnings = warnings(&inputs, observation, &refusals);
    warnings.extend(doubts);
    warnings.extend(inputs.fields.warnings(|rule| used.contains(&rule)));
    Plan {
        schema: 1,
        tool: inputs.tool.to_owned(),
        environment: inputs.environment,
        cluster: inputs.cluster_id,
        source: inputs.source,
        renderer: inputs.rendering.renderer.clone(),
        rendering: inputs.rendering.digest,
        policies: inputs.policies,
        rollback: inputs.rollback,
        before: None,
        actions,
        toll,
        refusals,
        requirement: Requirement::default(),
        warnings,
        parents: observation.parents.clone(),
        created_at: inputs.now,
    }
}

struct Decision {
    actions: Vec<Action>,
    toll: Toll,
    refusals: Vec<Refusal>,
    warnings: Vec<String>,
    /// The positions of the ignore rules that meant something.
    used: BTreeSet<usize>,
}

fn decide(inputs: &Inputs<'_>, observation: &Observation) -> Decision {
    let scene = Scene::new(inputs, observation);
    let removals = prune::actions(&scene);
    let mut refusals = guards::refusals(&scene, &removals);
    let definitions = guards::of_definitions(&scene, &removals);
    refusals.extend(definitions.refusals);
    let mut warnings = definitions.warnings;
    warnings.extend(guards::of_backends(&scene));
    let mut actions = Vec::new();
    let mut used = BTreeSet::new();
    for (position, unit) in inputs.rendering.units.iter().enumerate() {
        let mut objects: Vec<&Object> = unit.objects.iter().collect();
        objects.sort_by_key(|object| apply_rank(&object.reference().kind));
        for object in objects {
            let mut verdict = verdict::judge(&scene, position, unit, object);
            refusals.extend(verdict.refusal);
            used.extend(verdict.used);
            forecast::explain(&scene, &mut verdict.action);
            recipe::add(&scene, &mut verdict.action);
            refusals.extend(pods::judge(&scene, &mut verdict.action));
            actions.push(verdict.action);
        }
    }
    forecast::follow(&scene, &mut actions);
    actions.extend(removals);
    replacement::compare(&scene, &mut actions);
    if observation.read_only {
        let foretold = actions.iter_mut().filter(|action| action.preview == Preview::Server);
        foretold.for_each(|action| action.preview = Preview::Locally(local::READ_ONLY.to_owned()));
    }
    let toll = forecast::of_plan(&scene, &actions);
    warnings.extend(scene.permissions.warnings(&scene.rendered));
    Decision { actions, toll, refusals, warnings, used }
}

/// Passes on what does not stop the run: kinds that could not be listed are refused only where that hides something.
fn warnings(inputs: &Inputs<'_>, observation: &Observation, refusals: &[Refusal]) -> Vec<String> {
    let mut warnings = inputs.rendering.warnings.clone();
    warnings.extend(
        observation
            .stale_groups
            .iter()
            .map(|group| format!("the API service of the group `{group}` does not answer")),
    );
    let unlisted = observation.unlisted.iter().filter(|(kind, _)| {
        let named = format!("kind `{kind}`");
        !refusals.iter().any(|refusal| refusal.message.contains(&named))
    });
    warnings.extend(unlisted.map(|(kind, reason)| {
        format!(
            "objects of the kind `{kind}` could not be listed, but every recorded one is rendered: {reason}"
        )
    }));
    warnings.extend(lost::parents(inputs, observation));
    warnings.extend(observation.strays.iter().map(|(unit, object)| {
        format!(
            "{object} was delivered by unit `{unit}` and is not rendered any more, but somebody took its label off: it is left alone, and nothing will mention it again"
        )
    }));
    warnings.extend(observation.inventories.unlisted.iter().map(|(kind, reason)| {
        format!(
            "what objects of the kind `{kind}` deliver could not be listed, so that an object of theirs is known by its labels and annotations alone, and nothing is deleted: {reason}"
        )
    }));
    warnings.extend(leftover_marks(observation));
    warnings.extend(local::BLIND_SPOTS.iter().filter(|_| observation.read_only).map(ToString::to_string));
    warnings
}

/// Helm's marks stay on what was taken over from it: whoever runs it again changes or deletes what Windlass delivers.
fn leftover_marks(observation: &Observation) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    let live = observation.objects.values().filter_map(|asked| asked.live.as_ref());
    let ours = live.filter(|live| ownership::applied(live).is_some());
    for owner in
        ours.filter_map(|live| other_owner(live, FIELD_MANAGER)).filter(|owner| owner.tool == Tool::Helm)
    {
        *counts.entry(owner.to_string()).or_default() += 1;
    }
    let tell = |(owner, count)| {
        format!(
            "{count} delivered objects still carry the marks of {owner}: running Helm again would change or delete them; remove its annotations, or the release's record"
        )
    };
    counts.into_iter().map(tell).collect()
}

/// Returns the exit code of a plan that may not be carried out, or `None` if nothing forbids it.
///
/// What the author can mend comes first, then what the administrator can, then what the guards say.
pub fn exit_code(plan: &Plan) -> Option<ExitCode> {
    let has = |wanted: fn(&Problem) -> bool| {
        plan.actions.iter().filter_map(|action| action.problem.as_ref()).any(wanted)
    };
    if has(|problem| matches!(problem, Problem::Invalid { .. })) {
        Some(ExitCode::BadInput)
    } else if has(|problem| matches!(problem, Problem::Forbidden { .. })) {
        Some(ExitCode::Forbidden)
    } else if plan.is_executable() {
        None
    } else {
        Some(ExitCode::Refused)
    }
}
