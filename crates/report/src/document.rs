//! A plan file for the one who is asked to approve it.

use std::fmt::Write as _;

use serde_json::Value;

use crate::actions::{Deletes, toll_line};
use crate::view::Change;
use crate::{Palette, clean, without_commands};

/// How many changed fields of an object are shown.
const FIELDS: usize = 20;

/// Returns what the plan in a plan file would do, action by action, as the file lists them.
///
/// The text shows what the file says; that the digest belongs to it is checked when it is signed.
pub fn plan_document_text(plan: &Value, palette: Palette) -> String {
    let mut out = String::new();
    let toll = serde_json::from_value(plan["toll"].clone()).unwrap_or_default();
    if let Some(line) = toll_line(&toll, deletes(plan)) {
        let _ = writeln!(out, "  altogether {}", palette.bad(&line));
    }
    let actions = plan["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let writes = |action: &&Value| !matches!(action["operation"].as_str(), None | Some("no-op" | "keep"));
    for action in actions.iter().filter(writes) {
        let word = text(&action["operation"]);
        let padded = format!("{word:<9}");
        let painted = if word == "prune" { palette.bad(&padded) } else { palette.warn(&padded) };
        let _ = writeln!(out, "  {painted} {}", palette.strong(&object_name(&action["object"])));
        if let Some(replaced) = action["replaces"]["object"]["name"].as_str() {
            let _ = writeln!(out, "            compared with {}, which it replaces", clean(replaced));
        }
        for forecast in items(&action["forecasts"]) {
            let _ = writeln!(out, "            {}", palette.bad(&forecast_text(forecast)));
        }
        let own = items(&action["delta"]);
        let changes = if own.is_empty() { items(&action["replaces"]["delta"]) } else { own };
        for change in changes.iter().take(FIELDS) {
            let described = field(change);
            for line in std::iter::once(&described.head).chain(&described.body) {
                let _ = writeln!(out, "            {}", line.signed());
            }
        }
        if changes.len() > FIELDS {
            let _ = writeln!(out, "            … and {} more fields", changes.len() - FIELDS);
        }
    }
    without_commands(&out)
}

fn deletes(plan: &Value) -> Deletes {
    let forecasts = items(&plan["actions"]).iter().flat_map(|action| items(&action["forecasts"]));
    let is_loss = |forecast: &Value| {
        forecast["forecast"] == "dataLoss" || (forecast["forecast"] == "cascade" && forecast["volumes"] != 0)
    };
    if forecasts.into_iter().any(is_loss) {
        Deletes::Data
    } else if items(&plan["actions"]).iter().any(|action| action["operation"] == "prune") {
        Deletes::NoData
    } else {
        Deletes::Nothing
    }
}

fn field(change: &Value) -> Change {
    let path = change["path"].as_str().unwrap_or_default();
    Change::between(path, change.get("before"), change.get("after"), change["change"] == "reordered")
}

fn items(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    clean(value.as_str().unwrap_or_default())
}

fn object_name(object: &Value) -> String {
    let namespace = object["namespace"].as_str().map(|name| format!("{}/", clean(name))).unwrap_or_default();
    format!("{} {namespace}{}", text(&object["kind"]), text(&object["name"]))
}

fn forecast_text(forecast: &Value) -> String {
    match forecast["forecast"].as_str() {
        Some("restart") => format!("restarts {}", text(&forecast["why"])),
        Some("dataLoss") => format!("DESTROYS DATA: {}", text(&forecast["what"])),
        Some("cascade") if forecast["volumes"] != 0 => format!("DESTROYS DATA: {}", text(&forecast["text"])),
        _ => text(&forecast["text"]),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shows_what_is_approved() {
        let object = |kind: &str, name: &str| json!({"kind": kind, "version": "v1", "namespace": "shop", "name": name});
        let toll = json!({"restartedPods": 3, "uncountedRestarts": 0, "deletedPods": 0, "deletedClaims": 1,
            "destroyedVolumes": 1, "destroyedBytes": 10_u64 << 30});
        let plan = json!({"toll": toll, "actions": [
            {"operation": "prune", "object": object("PersistentVolumeClaim", "data-0"),
             "forecasts": [{"forecast": "dataLoss", "what": "10Gi"}]},
            {"operation": "no-op", "object": object("ConfigMap", "same")},
            {"operation": "update", "object": object("StatefulSet.apps", "db"),
             "delta": [{"change": "changed", "path": "spec.replicas", "before": 1, "after": 3}]},
        ]});
        let want = "  altogether restarts 3 pods; deletes 1 claim; destroys 10 GiB in 1 volume\n  prune     PersistentVolumeClaim shop/data-0\n            DESTROYS DATA: 10Gi\n  \
                    update    StatefulSet.apps shop/db\n            ~ spec.replicas: 1 → 3\n";
        assert_eq!(plan_document_text(&plan, Palette::plain()), want);
    }
}
