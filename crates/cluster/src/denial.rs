//! Who refuses an object on its way in.

use crate::Failure;

/// Who refuses an object on its way in, as the server's words name it.
///
/// Whoever denies chooses the code, the reason and the causes of the answer, so none of them tells anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Denier<'a> {
    /// An admission webhook, by its name.
    Webhook(&'a str),
    /// A ValidatingAdmissionPolicy.
    Policy {
        /// Its name.
        name: &'a str,
        /// The name of the binding by which it applies.
        binding: &'a str,
    },
    /// PodSecurity, which goes by the labels of the namespace alone.
    PodSecurity,
}

impl Failure {
    /// Returns who denies the object; `None` if the failure is something else than a denial.
    pub fn denier(&self) -> Option<Denier<'_>> {
        denier(&self.message)
    }
}

/// Only the beginning of the message is the server's own: what follows is the denier's text, and may name others.
fn denier(message: &str) -> Option<Denier<'_>> {
    if let Some(rest) = message.strip_prefix("admission webhook \"") {
        let (name, rest) = rest.split_once('"')?;
        return rest.starts_with(" denied the request").then_some(Denier::Webhook(name));
    }
    let (_, why) = message.split_once(" is forbidden: ")?;
    if let Some(rest) = why.strip_prefix("ValidatingAdmissionPolicy '") {
        let (name, rest) = rest.split_once('\'')?;
        let binding = rest.strip_prefix(" with binding '").and_then(|rest| rest.split('\'').next());
        return Some(Denier::Policy { name, binding: binding.unwrap_or_default() });
    }
    why.starts_with("violates PodSecurity").then_some(Denier::PodSecurity)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deniers_are_told_by_the_servers_own_words() {
        let check = |message: &str, want: Option<Denier<'_>>| assert_eq!(denier(message), want, "{message}");
        let webhook = "admission webhook \"v.dev\" denied the request";
        check(webhook, Some(Denier::Webhook("v.dev")));
        check("admission webhook \"v.dev\" does not support dry run", None);
        let policy =
            "pods \"a\" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no";
        check(policy, Some(Denier::Policy { name: "p", binding: "b" }));
        check("pods \"a\" is forbidden: violates PodSecurity \"restricted\"", Some(Denier::PodSecurity));
        check("pods \"a\" is forbidden: exceeded quota: q", None);
        // The rest is whatever the denier says.
        check(&format!("{webhook}: {policy}"), Some(Denier::Webhook("v.dev")));
        check(&format!("{policy}; {webhook}"), Some(Denier::Policy { name: "p", binding: "b" }));
        check(&format!("Apply failed with 1 conflict: conflict with \"{webhook}\""), None);
    }
}
