//! Rules on the ownership of fields, of both files.

use windlass_model::FieldPattern;

use super::Findings;
use crate::ignore::IgnoreRule;
use crate::ownership::Ownership;
use crate::tree::quoted;

/// Fields without which an object is another object, or none.
const IDENTITY: [&str; 4] = ["apiVersion", "kind", "metadata.name", "metadata.namespace"];

pub(super) fn ownership(ownership: &Ownership, found: &mut Findings<'_>) {
    for (index, rule) in ownership.conflicts.iter().enumerate() {
        let path = format!("ownership.conflicts[{index}]");
        field(&format!("{path}.field"), &rule.field, found);
        found.want_text(&format!("{path}.manager"), &rule.manager);
        for (position, kind) in rule.kinds.iter().enumerate() {
            found.want_kind(&format!("{path}.kinds[{position}]"), kind);
        }
        for (position, name) in rule.names.iter().enumerate() {
            found.want_text(&format!("{path}.names[{position}]"), name);
        }
    }
    for (index, manager) in ownership.migrate.iter().enumerate() {
        let path = format!("ownership.migrate[{index}]");
        found.want_text(&path, manager);
        if manager.contains('*') {
            let what = format!("{} stands for many managers", quoted(manager));
            found.rule(
                &path,
                what,
                "name each manager: a controller's fields must not be migrated by accident",
            );
        }
    }
    found.want_once("manager", ownership.migrate.iter().map(String::as_str), |index| {
        format!("ownership.migrate[{index}]")
    });
}

pub(super) fn ignore(rules: &[IgnoreRule], found: &mut Findings<'_>) {
    for (index, rule) in rules.iter().enumerate() {
        let path = format!("ignore[{index}]");
        found.want_kind(&format!("{path}.kind"), &rule.kind);
        found.want_text(&format!("{path}.name"), &rule.name);
        field(&format!("{path}.field"), &rule.field, found);
        if let Some(manager) = &rule.manager {
            found.want_text(&format!("{path}.manager"), manager);
        }
        found.want_day(&format!("{path}.until"), &rule.until);
        found.want_text(&format!("{path}.reason"), &rule.reason);
        found.want_environments(&format!("{path}.environments"), &rule.environments);
    }
}

fn field(path: &str, text: &str, found: &mut Findings<'_>) {
    const HINT: &str = "write it as plans print it, such as `spec.template.spec.containers[name=web].image`";
    let pattern = match FieldPattern::parse(text) {
        Ok(pattern) => pattern,
        Err(error) => return found.rule(path, format!("{} {error}", quoted(text)), HINT),
    };
    let identity =
        IDENTITY.iter().find(|name| FieldPattern::parse(name).is_ok_and(|name| pattern.meets(&name)));
    if let Some(identity) = identity {
        let what =
            format!("{} includes `{identity}`, which makes the object the one that it is", quoted(text));
        found.rule(
            path,
            what,
            "name a field below `spec`, `data`, `metadata.labels` or `metadata.annotations`",
        );
    }
}
