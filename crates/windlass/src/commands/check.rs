//! `windlass check`: what a pull request can be checked for without a cluster.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde_json::json;
use windlass_model::ExitCode;
use windlass_render::Limits;

use crate::args::CheckArguments;
use crate::error::CommandError;
use crate::executor::desired::{self, read_repository};
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn check(
    arguments: &CheckArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let tree = windlass_render::read_directory(&arguments.dir)?;
    let repository = read_repository(&tree)?;
    let mut text = String::new();
    let mut environments = Vec::new();
    for environment in &arguments.environment {
        let units = windlass_render::units(&tree, &repository, environment)?;
        let rendering =
            desired::render(&tree, &units, surroundings, &Limits::default(), &HashMap::new()).await?;
        for warning in &rendering.warnings {
            shell.talk(&format!("warning: {environment}: {}\n", windlass_report::clean(warning)));
        }
        let count = rendering.objects().count();
        let _ = writeln!(
            text,
            "{environment}: {count} objects in {} units, {}",
            rendering.units.len(),
            rendering.digest
        );
        environments.push(json!({"environment": environment, "objects": count, "digest": rendering.digest}));
    }
    shell.result(&text, || json!({"environments": environments}), ExitCode::Ok);
    Ok(ExitCode::Ok)
}
