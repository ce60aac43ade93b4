//! A plan file for the one who is asked to approve it.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::Value;

use crate::actions::plural;
use crate::view::Change;
use crate::{Palette, clean, without_commands};

/// How many changed fields of an object are shown.
const FIELDS: usize = 20;

const NOT_SIGNED: &str =
    "Forecasts explain. A signature covers the objects, their fields, takeovers and losses, not them.";

/// Returns what the plan in a plan file would do, action by action, as the file lists them.
///
/// The text shows what the file says; that the digest belongs to it is checked when it is signed. What destroys, what is
/// taken along and what is taken over comes from the parts that the digest covers. Forecasts are not among these: whoever
/// had the file in between may have changed them, so they are marked.
pub fn plan_document_text(plan: &Value, palette: Palette) -> String {
    let mut out = String::new();
    let actions = plan["actions"].as_array().map(Vec::as_slice).unwrap_or_default();
    let writes = |action: &&Value| !matches!(action["operation"].as_str(), None | Some("no-op" | "keep"));
    let actions: Vec<&Value> = actions.iter().filter(writes).collect();
    if let Some(line) = altogether(&actions) {
        let _ = writeln!(out, "  altogether {}", palette.bad(&line));
    }
    let mut forecasts = false;
    for action in actions {
        let word = text(&action["operation"]);
        let padded = format!("{word:<9}");
        let painted = if word == "prune" { palette.bad(&padded) } else { palette.warn(&padded) };
        let _ = writeln!(out, "  {painted} {}", palette.strong(&object_name(&action["object"])));
        for line in signed(action) {
            let _ = writeln!(out, "            {}", palette.bad(&line));
        }
        for forecast in items(&action["forecasts"]) {
            forecasts = true;
            let _ = writeln!(out, "            forecast: {}", palette.warn(&forecast_text(forecast)));
        }
        if let Some(replaced) = action["replaces"]["object"]["name"].as_str() {
            forecasts = true;
            let name = clean(replaced);
            let _ = writeln!(out, "            forecast: compared with {name}, which it replaces");
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
    if forecasts {
        let _ = writeln!(out, "  {}", palette.dim(NOT_SIGNED));
    }
    without_commands(&out)
}

/// Counts what the signature covers of deletions.
fn altogether(actions: &[&Value]) -> Option<String> {
    let deletions = actions.iter().filter(|action| action["operation"] == "prune").count();
    let volumes: BTreeSet<String> =
        actions.iter().flat_map(|action| items(&action["destroys"])).map(volume).collect();
    let uncounted = actions.iter().filter(|action| action["uncounted"] == true).count();
    let number = |count: usize, noun: &str| format!("{count} {noun}{}", plural(count));
    let mut parts = Vec::new();
    if deletions > 0 {
        parts.push(format!("deletes {}", number(deletions, "object")));
    }
    if !volumes.is_empty() {
        parts.push(format!("destroys {}", number(volumes.len(), "volume")));
    }
    if uncounted > 0 {
        parts.push(format!("what {} would take along could not be counted", number(uncounted, "deletion")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Says what goes along with an action, and what it takes over.
fn signed(action: &Value) -> Vec<String> {
    let destroys = items(&action["destroys"]).iter().map(|lost| format!("DESTROYS DATA: {}", volume(lost)));
    let taken = items(&action["takes"]).iter().map(|taken| format!("takes along {}", object_name(taken)));
    let uncounted = (action["uncounted"] == true).then(|| "takes along what could not be counted".to_owned());
    let retains = items(&action["retains"]).iter().map(|kept| format!("sets to Retain: {}", volume(kept)));
    let takes_over = items(&action["takesOver"])
        .iter()
        .map(|field| format!("takes over {} from {}", text(&field["field"]), text(&field["manager"])));
    let moves = items(&action["migration"]["managers"])
        .iter()
        .map(|from| format!("moves the fields of {} to Windlass first", text(&from["manager"])));
    destroys.chain(taken).chain(uncounted).chain(retains).chain(takes_over).chain(moves).collect()
}

fn volume(volume: &Value) -> String {
    let (namespace, claim) = (text(&volume["namespace"]), text(&volume["claim"]));
    format!("the volume {} of PersistentVolumeClaim {namespace}/{claim}", text(&volume["name"]))
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

    fn object(kind: &str, name: &str) -> Value {
        json!({"kind": kind, "version": "v1", "namespace": "shop", "name": name})
    }

    #[test]
    fn shows_what_is_approved() {
        let plan = json!({"actions": [
            {"operation": "prune", "object": object("PersistentVolumeClaim", "data-0"),
             "destroys": [{"namespace": "shop", "claim": "data-0", "name": "pv-1"}],
             "forecasts": [{"forecast": "dataLoss", "what": "10Gi"}]},
            {"operation": "no-op", "object": object("ConfigMap", "same")},
            {"operation": "update", "object": object("StatefulSet.apps", "db"),
             "delta": [{"change": "changed", "path": "spec.replicas", "before": 1, "after": 3}]},
        ]});
        let want = format!(
            "  altogether deletes 1 object; destroys 1 volume
  prune     PersistentVolumeClaim shop/data-0
            DESTROYS DATA: the volume pv-1 of PersistentVolumeClaim shop/data-0
            forecast: DESTROYS DATA: 10Gi
  update    StatefulSet.apps shop/db
            ~ spec.replicas: 1 → 3
  {NOT_SIGNED}
"
        );
        assert_eq!(plan_document_text(&plan, Palette::plain()), want);
    }

    /// What is signed was shown by words that no digest covers: whoever took them out hid the loss.
    #[test]
    fn what_the_signature_covers_is_shown_whatever_the_forecasts_say() {
        let lost = json!({"namespace": "shop", "claim": "data-db-0", "name": "pv-1"});
        let plan = json!({"toll": {}, "actions": [{
            "operation": "prune", "object": object("StatefulSet.apps", "db"), "forecasts": [],
            "destroys": [lost], "retains": [{"name": "pv-2", "namespace": "shop", "claim": "data-db-1"}],
            "takes": [object("Secret", "s")], "uncounted": true,
            "takesOver": [{"field": "spec.replicas", "manager": "hpa"}],
            "migration": {"managers": [{"manager": "kubectl"}]},
        }]});
        let text = plan_document_text(&plan, Palette::plain());
        for want in [
            "altogether deletes 1 object; destroys 1 volume; what 1 deletion would take along could not be counted",
            "DESTROYS DATA: the volume pv-1 of PersistentVolumeClaim shop/data-db-0",
            "sets to Retain: the volume pv-2 of PersistentVolumeClaim shop/data-db-1",
            "takes along Secret shop/s",
            "takes along what could not be counted",
            "takes over spec.replicas from hpa",
            "moves the fields of kubectl to Windlass first",
        ] {
            assert!(text.contains(want), "{text} lacks {want}");
        }
        assert!(!text.contains("forecast"), "{text}");
    }
}
