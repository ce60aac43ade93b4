//! Names with `*` in them.

/// Says whether a text fits a pattern in which each `*` stands for any run of characters.
pub fn fits(pattern: &str, text: &str) -> bool {
    let Some((head, tail)) = pattern.split_once('*') else { return pattern == text };
    let Some(rest) = text.strip_prefix(head) else { return false };
    let mut starts = rest.char_indices().map(|(at, _)| at).chain([rest.len()]);
    starts.any(|at| rest.get(at..).is_some_and(|rest| fits(tail, rest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text, want) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("*", "", true),
            ("kubectl-*", "kubectl-edit", true),
            ("kubectl-*", "kubectl", false),
            ("*-operator", "keda-operator", true),
            ("a*b*c", "a1b2c", true),
            ("a*b*c", "a1c2b", false),
            ("*é", "caf\u{e9}", true),
        ] {
            assert_eq!(fits(pattern, text), want, "{pattern} {text}");
        }
    }
}
