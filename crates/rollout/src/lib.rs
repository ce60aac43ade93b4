//! Stages 6 and 7: health rules, rollout watch, smoke probes.
