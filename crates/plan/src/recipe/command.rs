//! Commands of a recipe, ready to be copied into a shell.

use std::borrow::Cow;

use windlass_model::{ObjectRef, is_built_in};

/// Returns `kubectl -n shop VERB job.batch/migrate`. The group tells the kind from others of its name.
pub(super) fn kubectl(verb: &str, object: &ObjectRef) -> String {
    format!("{} {verb} {}", prefix(object.namespace.as_deref()), target(object))
}

/// Returns `kubectl -n shop delete job.batch/migrate`.
pub(super) fn delete(object: &ObjectRef) -> String {
    kubectl("delete", object)
}

/// Returns the command that merges a patch, which is JSON, into an object.
pub(super) fn patch(object: &ObjectRef, patch: &str) -> String {
    format!("{} --type=merge -p '{patch}'", kubectl("patch", object))
}

pub(super) fn prefix(namespace: Option<&str>) -> String {
    namespace.map_or_else(|| "kubectl".to_owned(), |namespace| format!("kubectl -n {}", quoted(namespace)))
}

fn target(object: &ObjectRef) -> String {
    let kind = object.kind.to_string();
    // The plural of a custom kind can be any word; kubectl finds it by its kind.
    let kind = if is_built_in(&object.kind) { kind.to_lowercase() } else { kind };
    quoted(&format!("{kind}/{}", object.name)).into_owned()
}

/// Quotes what a POSIX shell would read as more than a word: names of roles and bindings may hold almost anything.
fn quoted(word: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._/:@".contains(letter);
    if word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    Cow::Owned(format!("'{}'", word.replace('\'', r"'\''")))
}

#[cfg(test)]
mod tests {
    use windlass_model::GroupKind;

    use super::*;

    #[test]
    fn a_name_stays_one_word_of_the_shell() {
        for (kind, namespace, name, want) in [
            ("Job.batch", Some("shop"), "migrate", "kubectl -n shop delete job.batch/migrate"),
            ("StorageClass.storage.k8s.io", None, "fast", "kubectl delete storageclass.storage.k8s.io/fast"),
            (
                "Database.example.com",
                Some("shop"),
                "main",
                "kubectl -n shop delete Database.example.com/main",
            ),
            (
                "ClusterRoleBinding.rbac.authorization.k8s.io",
                None,
                "it's $(rm)",
                r"kubectl delete 'clusterrolebinding.rbac.authorization.k8s.io/it'\''s $(rm)'",
            ),
        ] {
            let object = ObjectRef {
                kind: GroupKind::from(kind.to_owned()),
                version: "v1".into(),
                namespace: namespace.map(str::to_owned),
                name: name.into(),
            };
            assert_eq!(delete(&object), want);
        }
    }
}
