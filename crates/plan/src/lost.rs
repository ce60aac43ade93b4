//! Sets whose parent is gone.

use windlass_model::{ApplySet, Object, PART_OF, Unit};

use crate::{Inputs, ObjectKey, Observation};

/// Names the units whose set has lost its parent while members are still labelled: what else it recorded, nobody
/// knows any more.
pub(crate) fn parents(inputs: &Inputs<'_>, observation: &Observation) -> Vec<String> {
    let Some(environment) = &inputs.environment else { return Vec::new() };
    let warn = |unit: &Unit| {
        let set = ApplySet::empty(environment.clone(), unit.name.clone(), inputs.record_namespace);
        let (id, parent) = (set.id(), set.parent());
        let known = observation.sets.iter().any(|set| set.unit == unit.name);
        let unreadable = observation.unreadable.iter().any(|other| other.message.contains(&parent.name));
        let labelled = |object: &Object| {
            let live = observation.objects.get(&ObjectKey::from(object.reference()));
            live.and_then(|asked| asked.live.as_ref()).is_some_and(|live| live.label(PART_OF) == Some(&id))
        };
        (!known && !unreadable && unit.objects.iter().any(labelled)).then(|| {
            format!(
                "somebody deleted the ConfigMap `{}`, which recorded the members of unit `{}`; it is written again with what the unit renders, but older members that nothing renders any more will never be pruned: look for them with `kubectl get KIND -A -l {PART_OF}={id}`",
                parent.name, unit.name
            )
        })
    };
    inputs.rendering.units.iter().filter_map(warn).collect()
}
