//! Turns events and plans into text, Markdown and JSON: the only code that formats for people.
