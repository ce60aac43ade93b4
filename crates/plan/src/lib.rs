//! Stage 3: what would change, object by object, deletions included.
