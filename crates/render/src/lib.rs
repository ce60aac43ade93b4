//! Stage 1: turns a tree into objects.
