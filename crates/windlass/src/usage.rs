//! A command line that cannot be read, and requests for help.

use std::ffi::OsString;

use clap::error::ErrorKind;
use windlass_model::ExitCode;
use windlass_report::Report;

use crate::args::{Output, Talk};
use crate::error::CommandError;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

/// Prints help, or what is wrong with the command line. clap would exit with 2, which means drift here.
pub(crate) fn explain(
    error: &clap::Error,
    arguments: impl Iterator<Item = OsString>,
    surroundings: &Surroundings,
) -> ExitCode {
    let output = if asks_for_json(arguments) { Output::Json } else { Output::Text };
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let help = asked || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if help && (asked || output == Output::Text) {
        error.print().ok();
        return if asked { ExitCode::Ok } else { ExitCode::Usage };
    }
    Shell::new(surroundings, Talk { output, no_color: false, verbose: false }).problem(&of(error));
    ExitCode::Usage
}

/// Reads clap's text: the mistake, then tips and the usage.
fn of(error: &clap::Error) -> CommandError {
    let text = if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        "error: no command is given".to_owned()
    } else {
        error.render().to_string()
    };
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let what = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let details = lines.filter(|line| !line.starts_with("For more information")).map(str::to_owned).collect();
    let hints = vec!["`windlass COMMAND --help` describes every argument, with examples".to_owned()];
    CommandError { code: ExitCode::Usage, report: Report { what, details, hints, ..Report::default() } }
}

/// Says whether a command line asks for JSON, although it cannot be read as a whole.
fn asks_for_json(arguments: impl Iterator<Item = OsString>) -> bool {
    let arguments: Vec<OsString> = arguments.collect();
    let apart =
        arguments.windows(2).any(|pair| matches!(pair, [key, value] if key == "--output" && value == "json"));
    apart || arguments.iter().any(|argument| argument == "--output=json")
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::*;
    use crate::args::Arguments;

    fn check(line: &[&str], what: &str, json: bool) {
        let arguments = || ["windlass"].iter().chain(line).map(OsString::from);
        let error = Arguments::try_parse_from(arguments()).unwrap_err();
        assert_eq!(of(&error).report.what, what);
        assert_eq!(asks_for_json(arguments()), json);
    }

    #[test]
    fn mistakes_are_told_in_a_line() {
        check(&["plan", "--nope", "--output", "json"], "unexpected argument '--nope' found", true);
        check(&["--output=json", "deliver"], "unrecognized subcommand 'deliver'", true);
        check(&["run", "--output", "text"], "the following required arguments were not provided:", false);
        check(&[], "no command is given", false);
    }
}
