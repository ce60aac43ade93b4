//! Fields that other managers own.

use schemars::JsonSchema;
use serde::Serialize;

/// A field that another manager owns.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
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
    /// When the manager last wrote anything of the object, if that is recorded: the server keeps no time a field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_write: Option<String>,
    /// How long before the plan that was, such as `3 days`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_write_age: Option<String>,
}

impl Conflict {
    /// Says whether another conflict is about the same field and manager.
    pub fn is_of(&self, other: &Self) -> bool {
        self.manager == other.manager && is_same_field(&self.field, &other.field)
    }

    /// Returns `spec.replicas is owned by kubectl-edit (Update), which last wrote this object 3 days ago (2026-…)`.
    pub fn owner(&self) -> String {
        let how = match (&self.operation, &self.subresource) {
            (Some(operation), Some(subresource)) => format!(" ({operation} of {subresource})"),
            (Some(operation), None) => format!(" ({operation})"),
            (None, Some(subresource)) => format!(" ({subresource})"),
            (None, None) => String::new(),
        };
        format!("{} is owned by {}{how}, {}", self.field, self.manager, self.last_written())
    }

    /// Returns `which last wrote this object 3 days ago (2026-…)`, or that nothing tells when.
    pub fn last_written(&self) -> String {
        match (&self.last_write, &self.last_write_age) {
            (Some(time), Some(age)) => format!("which last wrote this object {age} ago ({time})"),
            (Some(time), None) => format!("which last wrote this object on {time}"),
            (None, _) => "and when it last wrote is not recorded".to_owned(),
        }
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
        let check = |subresource: Option<&str>, time: Option<&str>, age: Option<&str>, want: &str| {
            let conflict = Conflict {
                field: "spec.replicas".into(),
                manager: "hpa".into(),
                operation: Some("Update".into()),
                subresource: subresource.map(str::to_owned),
                last_write: time.map(str::to_owned),
                last_write_age: age.map(str::to_owned),
            };
            assert_eq!(conflict.owner(), format!("spec.replicas is owned by hpa {want}"));
        };
        let time = Some("2026-01-01T00:00:00Z");
        check(
            None,
            time,
            Some("3 days"),
            "(Update), which last wrote this object 3 days ago (2026-01-01T00:00:00Z)",
        );
        check(None, time, None, "(Update), which last wrote this object on 2026-01-01T00:00:00Z");
        check(Some("scale"), None, None, "(Update of scale), and when it last wrote is not recorded");
    }
}
