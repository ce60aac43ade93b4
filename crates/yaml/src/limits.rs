//! How much a file may cost to read.

use crate::{Position, YamlError};

/// The limits of one file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// Bytes of the file.
    pub(crate) bytes: usize,
    /// Nodes of all documents, aliases expanded.
    pub(crate) nodes: usize,
    /// Nodes that come out of aliases. `kubectl` allows about this many (go-yaml's alias ratio).
    pub(crate) aliased: usize,
    /// Collections inside one another: fewer than JSON readers take (128), with room for the lists that objects stand in.
    pub(crate) depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { bytes: 64 << 20, nodes: 4_000_000, aliased: 400_000, depth: 120 }
    }
}

/// What is left of the limits.
#[derive(Debug)]
pub(crate) struct Budget {
    limits: Limits,
    nodes: usize,
    aliased: usize,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limits, nodes: limits.nodes, aliased: limits.aliased }
    }

    /// Pays for one node.
    pub(crate) fn node(&mut self, position: Position) -> Result<(), YamlError> {
        self.nodes = self.nodes.checked_sub(1).ok_or_else(|| {
            let message = format!("more than {} nodes in one file", self.limits.nodes);
            YamlError::new(position, message, "cut the file into smaller ones")
        })?;
        Ok(())
    }

    /// Pays for the nodes that an alias stands for.
    pub(crate) fn alias(&mut self, count: usize, position: Position) -> Result<(), YamlError> {
        self.aliased = self.aliased.checked_sub(count).ok_or_else(|| {
            let message = format!("aliases expand to more than {} nodes", self.limits.aliased);
            YamlError::new(position, message, "write the content out instead of nesting aliases")
        })?;
        Ok(())
    }

    /// Refuses collections that lie too deep.
    pub(crate) fn depth(&self, depth: usize, position: Position) -> Result<(), YamlError> {
        if depth <= self.limits.depth {
            return Ok(());
        }
        let message = format!("more than {} collections inside one another", self.limits.depth);
        Err(YamlError::new(position, message, "flatten the content"))
    }
}
