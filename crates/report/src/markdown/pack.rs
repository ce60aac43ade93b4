//! Fitting a report into a budget: whole pieces or names, never half of one.

use std::fmt::Write as _;

/// Something that is shown whole or only named.
pub(super) struct Piece {
    /// The whole text.
    pub(super) whole: String,
    /// One line with its name.
    pub(super) named: String,
    /// Whether it must be named at least.
    pub(super) grave: bool,
    /// Whether its name stands where the whole text would stand, instead of in a list at the end.
    pub(super) in_place: bool,
}

impl Piece {
    /// Makes a piece that has one form only, and is always shown.
    pub(super) fn fixed(text: String) -> Self {
        Self { named: text.clone(), whole: text, grave: true, in_place: true }
    }
}

/// Pieces that fit.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Packed {
    /// The text.
    pub(super) text: String,
    /// How many are whole; what is named in place does not count here.
    pub(super) whole: usize,
    /// How many are only named.
    pub(super) named: usize,
    /// How many are not even named.
    pub(super) left_out: usize,
}

/// How a piece is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    Named,
    LeftOut,
}

/// Shows as much as fits into `budget` bytes: first the names of everything grave, then the other names, then whole
/// pieces in their order. What is grave is named even where that exceeds the budget.
pub(super) fn pack(pieces: &[Piece], budget: usize) -> Packed {
    let mut forms = vec![Form::LeftOut; pieces.len()];
    let mut room = budget;
    let mut upgrade = |grave: Option<bool>, form: Form| {
        for (piece, have) in pieces.iter().zip(&mut forms) {
            if grave.is_some_and(|grave| grave != piece.grave)
                || (form == Form::Whole && *have == Form::LeftOut)
            {
                continue;
            }
            let spent = if *have == Form::Named { piece.named.len() } else { 0 };
            let cost = if form == Form::Whole { piece.whole.len() } else { piece.named.len() };
            if cost <= room + spent || (form == Form::Named && piece.grave) {
                room = (room + spent).saturating_sub(cost);
                *have = form;
            }
        }
    };
    upgrade(Some(true), Form::Named);
    upgrade(Some(false), Form::Named);
    upgrade(None, Form::Whole);
    lay_out(pieces, &forms)
}

/// Pieces in their order, then the list of names.
fn lay_out(pieces: &[Piece], forms: &[Form]) -> Packed {
    let (mut text, mut names) = (String::new(), String::new());
    for (piece, form) in pieces.iter().zip(forms) {
        match form {
            Form::Whole => text.push_str(&piece.whole),
            Form::Named if piece.in_place => text.push_str(&piece.named),
            Form::Named => names.push_str(&piece.named),
            Form::LeftOut => {}
        }
    }
    if !names.is_empty() {
        let _ = write!(text, "\n**Only named**\n\n{names}");
    }
    let count = |wanted: Form| {
        pieces.iter().zip(forms).filter(|(piece, form)| !piece.in_place && **form == wanted).count()
    };
    Packed { text, whole: count(Form::Whole), named: count(Form::Named), left_out: count(Form::LeftOut) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(budget: usize, want: (usize, usize, usize), text: &str) {
        let piece = |name: &str, size: usize, grave: bool| Piece {
            whole: format!("<{name}{}>", name.repeat(size)),
            named: format!("{name}\n"),
            grave,
            in_place: false,
        };
        let pieces = [
            Piece::fixed("#\n".to_owned()),
            piece("a", 40, true),
            piece("b", 200, true),
            piece("c", 10, false),
            piece("d", 10, false),
        ];
        let packed = pack(&pieces, budget);
        assert_eq!((packed.whole, packed.named, packed.left_out), want, "{}", packed.text);
        assert!(packed.text.ends_with(text), "{}", packed.text);
    }

    #[test]
    fn pieces_are_shown_whole_or_named_and_grave_ones_never_left_out() {
        check(1000, (4, 0, 0), "<ddddddddddd>");
        check(100, (3, 1, 0), "<ddddddddddd>\n**Only named**\n\nb\n");
        check(24, (1, 3, 0), "<ccccccccccc>\n**Only named**\n\na\nb\nd\n");
        check(8, (0, 3, 1), "\n**Only named**\n\na\nb\nc\n");
        check(0, (0, 2, 2), "\n**Only named**\n\na\nb\n");
    }
}
