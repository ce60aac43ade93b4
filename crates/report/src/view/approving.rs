//! Who may approve a plan, and how.

use windlass_model::Approvals;

use crate::clean;

/// How many names are listed before they are only counted.
const NAMES: usize = 12;

const TYPED: &str = "in its place, this environment takes the digest, typed by the person who starts the delivery at a terminal";
const NOBODY: &str = "`approval.approvers` of the environment file lists no one but the author";
const HOW: &str = "An approval names the change digest. `windlass approve --help` shows how one is signed.";

/// Says whose approvals count, and how one is given.
pub(super) fn sentence(approvals: Option<&Approvals>) -> String {
    let Some(Approvals { count, approvers, terminal }) = approvals else { return HOW.to_owned() };
    let mut people: Vec<String> = approvers.iter().take(NAMES).map(|name| clean(name)).collect();
    if let more @ 1.. = approvers.len().saturating_sub(NAMES) {
        people.push(format!("{more} more"));
    }
    let signed = match (people.as_slice(), *count) {
        ([], _) => None,
        (_, 1) => Some(format!("One approval is needed, signed by {}", either(&people))),
        (_, count) => Some(format!("{count} different people must sign, of: {}", people.join(", "))),
    };
    let who = match (signed, *terminal) {
        (Some(signed), true) => format!("{signed}; {TYPED}"),
        (Some(signed), false) => signed,
        (None, true) => format!("Nobody may sign: {NOBODY}; {TYPED}"),
        (None, false) => format!("Nobody may approve: {NOBODY}"),
    };
    format!("{who}. {HOW}")
}

fn either(people: &[String]) -> String {
    match people {
        [first @ .., last] if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        people => people.join(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_approve() {
        let check = |count, approvers: &[&str], terminal, want: &str| {
            let approvers = approvers.iter().map(|name| (*name).to_owned()).collect();
            let got = sentence(Some(&Approvals { count, approvers, terminal }));
            assert_eq!(got, format!("{want}. {HOW}"));
        };
        check(1, &["alice"], false, "One approval is needed, signed by alice");
        check(1, &["alice", "bob", "eve"], false, "One approval is needed, signed by alice, bob or eve");
        check(2, &["alice", "bob"], false, "2 different people must sign, of: alice, bob");
        check(1, &["alice"], true, &format!("One approval is needed, signed by alice; {TYPED}"));
        check(1, &[], false, &format!("Nobody may approve: {NOBODY}"));
        check(1, &[], true, &format!("Nobody may sign: {NOBODY}; {TYPED}"));
        assert_eq!(sentence(None), HOW);
    }
}
