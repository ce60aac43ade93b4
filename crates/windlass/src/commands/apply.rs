//! `windlass apply`: deliver a commit whose plan has a known digest.

use windlass_model::{Digest, ExitCode};

use crate::args::ApplyArguments;
use crate::commands::run::wanted;
use crate::error::CommandError;
use crate::executor::delivery::{Order, deliver};
use crate::executor::desired::From;
use crate::session::Session;
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn apply(
    arguments: &ApplyArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let digest: Digest = arguments.digest.parse().map_err(|error: windlass_model::DigestError| {
        CommandError::new(
            ExitCode::Usage,
            error.to_string(),
            "copy the change digest that `windlass plan` printed",
        )
    })?;
    let from = From::Commit { wanted: wanted(arguments.commit.as_deref())?, rollback: false };
    let session = Session::open(&arguments.delivery.environment.env, "apply", shell, surroundings).await?;
    let session = session.remembering(arguments.delivery.no_memo);
    deliver(&session, &arguments.delivery, Order { from, rollback: None, digest: Some(digest) }).await
}
