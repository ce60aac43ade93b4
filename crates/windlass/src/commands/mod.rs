//! One module a command: resolve inputs, call, report.

mod accept_rewrite;
mod apply;
mod approve;
mod check;
mod doctor;
mod drift;
mod gate;
mod history;
mod lock;
mod plan;
mod render;
mod rollback;
mod run;
mod self_description;
mod show;
mod status;
mod verify;

use windlass_model::ExitCode;

use crate::args::Command;
use crate::error::CommandError;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

/// Carries out a command.
pub(crate) async fn dispatch(
    command: Command,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    match command {
        Command::Run(arguments) => run::run(&arguments, shell, surroundings).await,
        Command::Plan(arguments) => plan::plan(&arguments, shell, surroundings).await,
        Command::Approve(arguments) => approve::approve(&arguments, shell, surroundings),
        Command::Apply(arguments) => apply::apply(&arguments, shell, surroundings).await,
        Command::Drift(arguments) => drift::drift(&arguments, shell, surroundings).await,
        Command::Rollback(arguments) => rollback::rollback(&arguments, shell, surroundings).await,
        Command::Verify(arguments) => verify::verify(&arguments, shell, surroundings).await,
        Command::Gate(arguments) => gate::gate(&arguments, shell, surroundings).await,
        Command::Render(arguments) => render::render(&arguments, shell, surroundings).await,
        Command::Check(arguments) => check::check(&arguments, shell, surroundings).await,
        Command::Status(arguments) => status::status(&arguments, shell, surroundings).await,
        Command::History(arguments) => history::history(&arguments, shell, surroundings).await,
        Command::Show(arguments) => show::show(&arguments, shell, surroundings).await,
        Command::Lock(arguments) => lock::lock(&arguments, shell, surroundings).await,
        Command::Unlock(arguments) => lock::unlock(&arguments, shell, surroundings).await,
        Command::AcceptRewrite(arguments) => {
            accept_rewrite::accept_rewrite(&arguments, shell, surroundings).await
        }
        Command::Doctor(arguments) => doctor::doctor(&arguments, shell, surroundings).await,
        Command::Completions { shell: kind } => Ok(self_description::completions(kind, shell)),
        Command::Man { out } => self_description::manual(&out),
    }
}
