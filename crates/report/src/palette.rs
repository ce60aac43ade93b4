//! Colour, where it is wanted. Colour never carries meaning alone.

use anstyle::{AnsiColor, Style};

/// Paints words, or leaves them as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    colour: bool,
}

impl Palette {
    /// Paints if `colour` is set.
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Leaves every word as it is.
    pub fn plain() -> Self {
        Self::new(false)
    }

    fn paint(self, style: Style, text: &str) -> String {
        if self.colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }

    /// Marks success.
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }

    /// Marks failure and danger.
    pub fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// Marks what should be looked at.
    pub fn warn(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// Marks hints and names of files.
    pub fn hint(self, text: &str) -> String {
        self.paint(AnsiColor::Cyan.on_default(), text)
    }

    /// Marks what matters less.
    pub fn dim(self, text: &str) -> String {
        self.paint(Style::new().dimmed(), text)
    }

    /// Marks what matters most.
    pub fn strong(self, text: &str) -> String {
        self.paint(Style::new().bold(), text)
    }
}
