//! Fields that the schema does not declare: dropped by a plain write and from what is stored, refused by a server-side
//! apply.

use serde_json::{Map, Value};
use windlass_model::FieldPath;

use crate::flaw::{Findings, FlawKind};
use crate::metadata;
use crate::node::{Additional, Node};

/// Takes every field that would not be stored off the value, and names it. `whole` says whether the value is an object
/// with apiVersion, kind and metadata, as the root and embedded objects are.
pub(crate) fn prune(node: &Node, value: &mut Value, path: &FieldPath, whole: bool, findings: &mut Findings) {
    match value {
        Value::Object(fields) => object(node, fields, path, whole, findings),
        Value::Array(items) => {
            let Some(node) = &node.items else { return };
            for (index, item) in items.iter_mut().enumerate() {
                prune(node, item, &path.index(index), node.embedded, findings);
            }
        }
        _ => {}
    }
}

fn object(
    node: &Node,
    fields: &mut Map<String, Value>,
    path: &FieldPath,
    whole: bool,
    findings: &mut Findings,
) {
    fields.retain(|name, value| {
        let path = path.key(name);
        if whole && name == "metadata" {
            metadata::unknown(value, &path, findings);
            true
        } else if let Some(node) = node.field(name) {
            prune(node, value, &path, node.embedded, findings);
            true
        } else if (whole && matches!(name.as_str(), "apiVersion" | "kind")) || keeps(node) {
            true
        } else {
            findings.flaw(&path, FlawKind::Unknown, "is not declared in the schema");
            false
        }
    });
}

/// Says whether fields stay that are not declared.
fn keeps(node: &Node) -> bool {
    node.preserves || matches!(node.additional, Additional::Anything)
}
