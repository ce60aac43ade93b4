//! Stage 4: evidence that a human has approved this very plan.
