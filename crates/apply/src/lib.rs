//! Stage 5: ordered server-side apply, ApplySet membership, pruning.
