//! The page `docs/reference/commands.md`, generated from the help texts so that both say the same.

use std::fmt::Write as _;
use std::path::Path;

use clap::{Command, CommandFactory as _};

use crate::args::Arguments;

fn page() -> String {
    let mut page = String::from(
        "# Commands\n\nGenerated from the help texts: `make reference` writes this page again.\n",
    );
    let mut root = Arguments::command().term_width(100);
    root.build();
    section(&mut page, &mut root, "windlass");
    for command in root.get_subcommands_mut().filter(|command| command.get_name() != "help") {
        let title = format!("windlass {}", command.get_name());
        section(&mut page, command, &title);
    }
    page
}

fn section(page: &mut String, command: &mut Command, title: &str) {
    let help = command.render_long_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(page, "\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end());
}

#[test]
fn the_command_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
    #[expect(clippy::disallowed_methods, reason = "`make reference` asks for the page by the environment")]
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        std::fs::write(&file, page()).unwrap();
    }
    let written = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == page(),
        "docs/reference/commands.md is not what the help texts say: run `make reference`"
    );
}

#[test]
fn the_command_line_is_consistent() {
    Arguments::command().debug_assert();
}

#[test]
fn every_command_shows_an_example() {
    for command in Arguments::command().get_subcommands() {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(
            help.contains(&format!("windlass {}", command.get_name())),
            "{} shows no example",
            command.get_name()
        );
    }
}
