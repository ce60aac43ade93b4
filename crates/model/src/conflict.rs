//! Fields that other managers own.

use schemars::JsonSchema;
use serde::Serialize;

/// A field that another manager owns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
pub struct Conflict {
    /// The field: as plans print paths where the plan knows it, else as the server writes it.
    pub field: String,
    /// The manager.
    pub manager: String,
    /// `Apply` or `Update`, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The subresource through which the manager wrote, such as `scale`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subresource: Option<String>,
    /// When the manager last wrote, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

impl Conflict {
    /// Says whether another conflict is about the same field and manager.
    pub fn is_of(&self, other: &Self) -> bool {
        self.manager == other.manager && is_same_field(&self.field, &other.field)
    }

    /// Returns `spec.replicas owned by kube-controller-manager (Update of scale) since 2026-01-01T00:00:00Z`.
    pub fn owner(&self) -> String {
        let how = match (&self.operation, &self.subresource) {
            (Some(operation), Some(subresource)) => format!(" ({operation} of {subresource})"),
            (Some(operation), None) => format!(" ({operation})"),
            (None, Some(subresource)) => format!(" ({subresource})"),
            (None, None) => String::new(),
        };
        let since = self.since.as_ref().map(|time| format!(" since {time}")).unwrap_or_default();
        format!("{} owned by {}{how}{since}", self.field, self.manager)
    }
}

/// Says whether two texts name the same field. The server writes `.spec.ports[name="web"]` and
/// `.metadata.labels.a.b/c` where plans print `spec.ports[name=web]` and `metadata.labels["a.b/c"]`.
pub fn is_same_field(one: &str, other: &str) -> bool {
    let plain = |text: &str| {
        text.trim_start_matches('.').replace("[\"", ".").replace("\"]", "]").replace(['"', ']'], "")
    };
    plain(one) == plain(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_server_and_plans_write_fields_differently() {
        for (one, other, want) in [
            (".spec.replicas", "spec.replicas", true),
            (".spec.ports[port=80,protocol=\"TCP\"].name", "spec.ports[port=80,protocol=TCP].name", true),
            (".metadata.labels.a.b/c", "metadata.labels[\"a.b/c\"]", true),
            (".metadata.finalizers[=\"a\"]", "metadata.finalizers[=a]", true),
            (".spec.replicas", "spec.paused", false),
        ] {
            assert_eq!(is_same_field(one, other), want, "{one} {other}");
        }
    }

    #[test]
    fn an_owner_is_told_with_how_and_when() {
        let conflict = Conflict {
            field: "spec.replicas".into(),
            manager: "hpa".into(),
            operation: Some("Update".into()),
            subresource: Some("scale".into()),
            since: Some("2026-01-01T00:00:00Z".into()),
        };
        assert_eq!(
            conflict.owner(),
            "spec.replicas owned by hpa (Update of scale) since 2026-01-01T00:00:00Z"
        );
    }
}
