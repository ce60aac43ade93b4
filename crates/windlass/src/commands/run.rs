//! `windlass run`: deliver a commit.

use windlass_model::ExitCode;
use windlass_source::Wanted;

use crate::args::RunArguments;
use crate::error::CommandError;
use crate::executor::delivery::{Order, deliver};
use crate::executor::desired::From;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn run(
    arguments: &RunArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let from = match &arguments.dir {
        Some(directory) => From::Directory(directory.clone()),
        None => From::Commit { wanted: wanted(arguments.commit.as_deref())?, rollback: false },
    };
    let session = Session::open(&arguments.delivery.environment.env, "run", shell, surroundings).await?;
    let session = session.remembering(arguments.delivery.no_memo);
    deliver(&session, &arguments.delivery, Order { from, rollback: None, digest: None }).await
}

/// Reads a commit as it was typed; without one, the branch's tip is wanted.
pub(crate) fn wanted(commit: Option<&str>) -> Result<Wanted, CommandError> {
    match commit {
        None => Ok(Wanted::Tip),
        Some(text) => Ok(Wanted::Commit(text.parse()?)),
    }
}
