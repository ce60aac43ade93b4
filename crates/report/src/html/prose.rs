//! Sentences, in which names stand between backticks.

use maud::{Markup, html};

/// Sets what stands between backticks as code. A text in which they are not in pairs stays as it is.
pub(super) fn prose(text: &str) -> Markup {
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) { (text) } @else {
            @for (position, part) in parts.iter().enumerate() {
                @if position.is_multiple_of(2) { (part) } @else { code { (part) } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pairs_of_backticks_make_code() {
        for (text, want) in [
            ("unit `shop` <b>", "unit <code>shop</code> &lt;b&gt;"),
            ("a ` b", "a ` b"),
            ("`<i>`", "<code>&lt;i&gt;</code>"),
        ] {
            assert_eq!(prose(text).into_string(), want);
        }
    }
}
