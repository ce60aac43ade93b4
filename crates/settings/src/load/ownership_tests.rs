//! Every mistake in rules on the ownership of fields.

use super::tests::{check_environment, check_repository};

#[test]
fn rules_of_ownership() {
    let check = |rules: &str, want: &[&str]| {
        check_environment("approval:\n", &format!("ownership:\n{rules}\napproval:\n"), want);
    };
    let then = "manager: m, then: leave";
    check(&format!("  conflicts: [{{field: 'spec.ports[name=a].port', {then}}}]"), &[]);
    check(
        &format!("  conflicts: [{{field: spec..a, {then}, kinds: [apps], names: ['']}}]"),
        &[
            "15:23: ownership.conflicts[0].field: `spec..a` lacks a name between two dots or at its end",
            "15:65: ownership.conflicts[0].kinds[0]: `apps` is not a kind",
            "15:80: ownership.conflicts[0].names[0]: must not be empty",
        ],
    );
    check(
        &format!("  conflicts: [{{field: metadata, {then}}}]"),
        &[
            "15:23: ownership.conflicts[0].field: `metadata` includes `metadata.name`, which makes the object the one that it is",
        ],
    );
    check(
        "  conflicts: [{field: spec, manager: m, then: give}]",
        &["15:47: ownership.conflicts[0].then: expected one of `take`, `leave`, `fail`, found `give`"],
    );
    check(
        "  migrate: [a, 'b-*', a]",
        &[
            "15:16: ownership.migrate[1]: `b-*` stands for many managers",
            "15:23: ownership.migrate[2]: manager `a` is given twice",
        ],
    );
}

#[test]
fn rules_of_ignoring() {
    let check = |rule: &str, want: &[&str]| {
        check_repository("smoke:\n", &format!("ignore:\n  - {{{rule}}}\nsmoke:\n"), want);
    };
    check("kind: Deployment.apps, name: shop/*, field: spec.replicas, until: 2026-12-31, reason: r", &[]);
    check(
        "kind: apps/Deployment, name: '', field: kind, until: soon, reason: ''",
        &[
            "8:12: ignore[0].kind: `apps/Deployment` is not a kind",
            "8:35: ignore[0].name: must not be empty",
            "8:46: ignore[0].field: `kind` includes `kind`, which makes the object the one that it is",
            "8:59: ignore[0].until: `soon` is not a day",
            "8:73: ignore[0].reason: must not be empty",
        ],
    );
    check(
        "kind: ConfigMap, name: a, field: data",
        &["8:5: ignore[0]: missing key `reason`", "8:5: ignore[0]: missing key `until`"],
    );
}
