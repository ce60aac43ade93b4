//! Namespaces.

use windlass_model::Object;

use crate::Verdict;

pub(super) fn judge(object: &Object) -> Verdict {
    match object.body()["status"]["phase"].as_str() {
        Some("Active") => Verdict::ready(),
        Some(phase) => Verdict::failed(format!("its phase is {phase}")),
        None => Verdict::waiting("it is not active yet"),
    }
}
