//! `windlass verify`: judge a commit of any repository.

use std::time::Duration;

use serde_json::json;
use windlass_model::ExitCode;
use windlass_record::EnvironmentState;
use windlass_source::Request;
use windlass_trust::{Keyring, Pin};

use crate::args::VerifyArguments;
use crate::commands::run::wanted;
use crate::error::CommandError;
use crate::executor::desired::{self, describe, git, repository_cache};
use crate::session::{self, Session};
use crate::shell::Shell;
use crate::surroundings::Surroundings;

pub(crate) async fn verify(
    arguments: &VerifyArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let wanted = wanted(arguments.commit.as_deref())?;
    let what = Subject::resolve(arguments, shell, surroundings).await?;
    let cache = repository_cache(&what.repository, surroundings);
    let git = git(surroundings)?;
    let request = Request {
        repository: &what.repository,
        branch: &what.branch,
        wanted: &wanted,
        running: what.state.running(),
        highest_tip: what.state.highest_tip.as_ref(),
        rewritten_to: what.state.rewritten_to.as_ref(),
        // Judging an old commit does not deliver it.
        rollback: true,
        cache: &cache,
        git: &git,
        environment: surroundings.variables(),
        fetch_timeout: what.fetch_timeout,
    };
    let verified =
        windlass_source::fetch_and_verify(&request, &what.keyring, surroundings.clock().now()).await?;
    let commit = &verified.commit;
    let clean = windlass_report::clean;
    let text = format!(
        "valid: commit {}\n  subject   {}\n  author    {}\n  signed by {} ({}) at {}\n  branch    {}, tip {}\n  position  {}\n  files     {} ({})\n",
        commit.id(),
        clean(commit.subject()),
        clean(commit.author()),
        clean(&commit.signer().name),
        commit.signer().fingerprint,
        commit.signer().signed_at,
        clean(commit.branch()),
        commit.tip().short(),
        describe(&verified.position),
        verified.tree.len(),
        verified.tree.digest(),
    );
    let document = || {
        json!({
            "commit": commit,
            "position": describe(&verified.position),
            "files": verified.tree.len(),
            "treeDigest": verified.tree.digest(),
        })
    };
    shell.result(&text, document, ExitCode::Ok);
    Ok(ExitCode::Ok)
}

/// What is judged, and against what.
struct Subject {
    repository: String,
    branch: String,
    keyring: Keyring,
    state: EnvironmentState,
    fetch_timeout: Duration,
}

impl Subject {
    async fn resolve(
        arguments: &VerifyArguments,
        shell: Shell,
        surroundings: &Surroundings,
    ) -> Result<Self, CommandError> {
        if let Some(env) = &arguments.env {
            let settings = session::read_environment(env)?;
            let keyring = desired::keyring(&settings)?;
            let session = Session::open(env, "verify", shell, surroundings).await?;
            return Ok(Self {
                repository: settings.source.repository,
                branch: settings.source.branch,
                keyring,
                state: session.store.state().await?,
                fetch_timeout: settings.timeouts.fetch.get(),
            });
        }
        let mut pins = Vec::new();
        for file in &arguments.keys {
            let bytes = std::fs::read(file).map_err(|error| CommandError::file(file, &error))?;
            let name = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            pins.extend(Pin::from_armored(&bytes, &name)?);
        }
        Ok(Self {
            repository: arguments.repo.clone().unwrap_or_default(),
            branch: arguments.branch.clone().unwrap_or_default(),
            keyring: Keyring::new(pins)?,
            state: EnvironmentState::default(),
            fetch_timeout: Duration::from_mins(2),
        })
    }
}
