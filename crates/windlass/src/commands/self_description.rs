//! `windlass completions` and `windlass man`: what the command line says of itself.

use std::path::Path;

use clap::CommandFactory as _;
use windlass_model::ExitCode;

use crate::args::Arguments;
use crate::error::CommandError;
use crate::shell::Shell;

pub(crate) fn completions(kind: clap_complete::Shell, shell: Shell) -> ExitCode {
    let mut script = Vec::new();
    clap_complete::generate(kind, &mut Arguments::command(), "windlass", &mut script);
    shell.data(&String::from_utf8_lossy(&script));
    ExitCode::Ok
}

pub(crate) fn manual(folder: &Path) -> Result<ExitCode, CommandError> {
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder))
        .map_err(|error| CommandError::file(folder, &error))?;
    Ok(ExitCode::Ok)
}
