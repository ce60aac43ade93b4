//! Untrusted text in Markdown: always code or escaped HTML, so that it neither links nor pings nor ends a block.

/// Sets text as a code span that it cannot break out of.
pub(super) fn code(text: &str) -> String {
    let ticks = "`".repeat(longest_run(text) + 1);
    let pad = if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Returns a fence that is longer than any run of backticks in the text.
pub(super) fn fence_for(text: &str) -> String {
    "`".repeat(longest_run(text).max(2) + 1)
}

/// Escapes text between the tags of an HTML block, which Markdown leaves alone.
pub(super) fn html(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn longest_run(text: &str) -> usize {
    text.split(|character| character != '`').map(str::len).max().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn untrusted_text_cannot_break_out() {
        assert_eq!(code("a|b"), "`a|b`");
        assert_eq!(code("a`b``c"), "```a`b``c```");
        assert_eq!(code("`"), "`` ` ``");
        assert_eq!(fence_for("x\n````\ny"), "`````");
        assert_eq!(html("<img src=\"x\">&"), "&lt;img src=&quot;x&quot;&gt;&amp;");
    }
}
