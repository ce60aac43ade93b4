//! Reads YAML exactly as Kubernetes does, with positions.
