//! Who may approve a plan, and how.

use windlass_model::Approvals;

use crate::clean;

/// How many names are listed before they are only counted.
const NAMES: usize = 12;

const HOW: &str = "An approval names the change digest. `windlass approve --help` shows how one is signed.";

/// Says whose approvals count, and how one is given.
pub(super) fn sentence(approvals: Option<&Approvals>) -> String {
    let Some(Approvals { count, approvers, terminal }) = approvals else { return HOW.to_owned() };
    let typed = "whoever runs this at a terminal and types the digest";
    let mut people: Vec<String> = approvers.iter().take(NAMES).map(|name| clean(name)).collect();
    if let more @ 1.. = approvers.len().saturating_sub(NAMES) {
        people.push(format!("{more} more"));
    }
    if *terminal {
        people.push(typed.to_owned());
    }
    let who = match (people.as_slice(), *count) {
        ([], _) => {
            "Nobody may: `approval.approvers` of the environment file lists no one but the author".to_owned()
        }
        ([one], 1) => format!("One approval is needed, by {one}"),
        (_, 1) => format!("One approval is needed, by {}", either(&people)),
        (_, count) => format!("{count} different people must approve, of: {}", people.join(", ")),
    };
    format!("{who}. {HOW}")
}

fn either(people: &[String]) -> String {
    match people {
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
        [] => String::new(),
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
        check(1, &["alice"], false, "One approval is needed, by alice");
        check(1, &["alice", "bob", "eve"], false, "One approval is needed, by alice, bob or eve");
        check(2, &["alice", "bob"], false, "2 different people must approve, of: alice, bob");
        let typed = "whoever runs this at a terminal and types the digest";
        check(1, &["alice"], true, &format!("One approval is needed, by alice or {typed}"));
        let nobody = "Nobody may: `approval.approvers` of the environment file lists no one but the author";
        check(1, &[], false, nobody);
        assert_eq!(sentence(None), HOW);
    }
}
