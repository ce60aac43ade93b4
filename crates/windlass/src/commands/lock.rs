//! `windlass lock` and `windlass unlock`.

use serde_json::json;
use windlass_model::ExitCode;
use windlass_record::Lock;

use crate::args::{EnvironmentArguments, UnlockArguments};
use crate::error::CommandError;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn lock(
    arguments: &EnvironmentArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.env, "lock", shell, surroundings).await?;
    let lock = Lock::status(&session.store).await?;
    let text = match &lock {
        Some(lock) => format!("held by {}\n", windlass_report::clean(&lock.to_string())),
        None => "free\n".to_owned(),
    };
    shell.result(&text, || json!({"lock": lock}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}

pub(crate) async fn unlock(
    arguments: &UnlockArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.environment.env, "unlock", shell, surroundings).await?;
    Lock::force_release(&session.store, &arguments.holder).await?;
    let text = format!("the lock of run {} is broken\n", windlass_report::clean(&arguments.holder));
    shell.result(&text, || json!({"broken": arguments.holder}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}
