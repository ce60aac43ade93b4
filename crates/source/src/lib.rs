//! Stage 1: fetches a commit, reads it by object id and verifies it against trust and branch.
