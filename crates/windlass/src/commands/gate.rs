//! `windlass gate`: is every expected policy enforced right now?

use std::fmt::Write as _;

use serde_json::json;
use windlass_model::ExitCode;

use crate::args::EnvironmentArguments;
use crate::error::CommandError;
use crate::executor::planning;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn gate(
    arguments: &EnvironmentArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let session = Session::open(&arguments.env, "gate", shell, surroundings).await?;
    let passed = session.unless_stopped(planning::gate(&session)).await?;
    let mut text = String::new();
    for name in passed.names() {
        let _ = writeln!(text, "enforced: {}", windlass_report::clean(name));
    }
    let _ = writeln!(text, "policies {}", passed.policies());
    shell.result(&text, || json!({"enforced": passed.names(), "policies": passed.policies()}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}
