//! Stage 1: from an address and a commit to verified objects.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use windlass_model::{
    Before, CommitId, CompletedRun, Digest, ExitCode, GroupKind, Level, Provenance, Rendering, SourceTree,
    Stage, UnfinishedRun,
};
use windlass_record::EnvironmentState;
use windlass_render::{Jail, Limits, ResolvedUnit, Tools};
use windlass_settings::{Environment, Repository, UnsignedRule};
use windlass_source::{Position, Request, SourceError, Wanted};
use windlass_trust::{Keyring, Pin};

use crate::error::CommandError;
use crate::executor::stage::stage;
use crate::session::Session;
use crate::surroundings::Surroundings;

/// What is to be delivered.
pub(crate) struct Desired {
    pub(crate) provenance: Provenance,
    pub(crate) tip: Option<CommitId>,
    pub(crate) tree: SourceTree,
    pub(crate) tree_id: String,
    pub(crate) repository: Repository,
    pub(crate) rendering: Rendering,
    /// What the environment was delivered before.
    pub(crate) before: Before,
}

/// Where the desired state is to be found.
#[derive(Debug, Clone)]
pub(crate) enum From {
    /// A commit of the environment's repository.
    Commit {
        /// Which one.
        wanted: Wanted,
        /// Whether it may be older than what runs.
        rollback: bool,
    },
    /// A directory of this machine.
    Directory(PathBuf),
}

/// Fetches, verifies, reads and renders.
pub(crate) async fn obtain(
    session: &Session,
    from: From,
    state: &EnvironmentState,
) -> Result<Desired, CommandError> {
    let sink = &*session.reporter;
    let (found, repository, units) = stage(sink, Stage::Verify, async {
        let found = match from {
            From::Commit { wanted, rollback } => fetch(session, &wanted, rollback, state).await?,
            From::Directory(path) => directory(session, &path)?,
        };
        let repository = read_repository(&found.tree)?;
        let units = windlass_render::units(&found.tree, &repository, session.name.as_str())?;
        let summary = found.summary.clone();
        Ok(((found, repository, units), summary))
    })
    .await?;
    let scopes = session.cluster.scopes().await?;
    let limits = Limits { time: session.settings.timeouts.render.get(), ..Limits::default() };
    let rendering = render(&found.tree, &units, &session.surroundings, &limits, &scopes).await?;
    for warning in &rendering.warnings {
        session.reporter.say(Level::Warning, warning.clone());
    }
    let Found { provenance, tip, tree, tree_id, .. } = found;
    Ok(Desired {
        provenance,
        tip,
        tree,
        tree_id,
        repository,
        rendering,
        before: before(session, state).await,
    })
}

/// Returns what was delivered before. Of a run that broke off its record names the commit, if it can be read.
async fn before(session: &Session, state: &EnvironmentState) -> Before {
    let completed = state.last_completed.as_ref().map(|last| CompletedRun {
        run: last.run.clone(),
        commit: last.commit.clone(),
        at: last.at,
    });
    let Some(run) = state.current.clone() else { return Before { completed, unfinished: None } };
    let record = session.store.load(&run).await.ok().flatten();
    let (commit, subject) = record.map(|record| (record.commit, record.subject)).unwrap_or_default();
    Before { completed, unfinished: Some(UnfinishedRun { run, commit, subject }) }
}

/// What was fetched, and judged as the environment demands.
pub(crate) struct Found {
    pub(crate) provenance: Provenance,
    /// The tip of the branch; `None` for a directory.
    pub(crate) tip: Option<CommitId>,
    tree: SourceTree,
    tree_id: String,
    summary: String,
}

/// Fetches and verifies a commit.
pub(crate) async fn fetch(
    session: &Session,
    wanted: &Wanted,
    rollback: bool,
    state: &EnvironmentState,
) -> Result<Found, CommandError> {
    let source = &session.settings.source;
    let cache = repository_cache(&source.repository, &session.surroundings);
    let git = git(&session.surroundings)?;
    let request = Request {
        repository: &source.repository,
        branch: &source.branch,
        wanted,
        running: state.running(),
        highest_tip: state.highest_tip.as_ref(),
        rewritten_to: state.rewritten_to.as_ref(),
        rollback,
        cache: &cache,
        git: &git,
        environment: session.surroundings.variables(),
        fetch_timeout: session.settings.timeouts.fetch.get(),
    };
    let unsigned_allowed = source.unsigned == UnsignedRule::Allowed;
    if source.keys.is_empty() && unsigned_allowed {
        return unsigned(&request).await;
    }
    let keyring = keyring(&session.settings)?;
    match windlass_source::fetch_and_verify(&request, &keyring, session.clock.now()).await {
        Ok(verified) => {
            let commit = verified.commit;
            let summary = format!(
                "{} \"{}\" signed by {} ({}), {}",
                commit.id().short(),
                commit.subject(),
                commit.signer().name,
                &commit.signer().fingerprint[24..],
                describe(&verified.position),
            );
            Ok(Found {
                tip: Some(commit.tip().clone()),
                tree_id: commit.tree().to_owned(),
                provenance: Provenance::Verified(commit),
                tree: verified.tree,
                summary,
            })
        }
        Err(SourceError::Refused(refusal)) if unsigned_allowed && refusal.code() == "unsigned" => {
            unsigned(&request).await
        }
        Err(error) => Err(error.into()),
    }
}

async fn unsigned(request: &Request<'_>) -> Result<Found, CommandError> {
    let found = windlass_source::fetch_unsigned(request).await?;
    let what = format!("commit {} of {}", found.commit.short(), request.branch);
    Ok(Found {
        summary: format!("UNSIGNED {what} \"{}\", allowed by the environment file", found.subject),
        provenance: Provenance::Unsigned { what, commit: Some(found.commit), author: Some(found.author) },
        tip: Some(found.tip),
        tree_id: found.tree.digest().to_string(),
        tree: found.tree,
    })
}

fn directory(session: &Session, path: &Path) -> Result<Found, CommandError> {
    if session.settings.source.unsigned != UnsignedRule::Allowed {
        let what = format!("{} is a directory, and only verified commits are delivered here", path.display());
        let hint = "commit, sign and merge it; or set `source.unsigned: allowed` where that is acceptable";
        return Err(CommandError::new(ExitCode::Refused, what, hint));
    }
    let tree = windlass_render::read_directory(path)?;
    let what = format!("directory {}", path.display());
    Ok(Found {
        summary: format!("UNSIGNED {what}, allowed by the environment file"),
        provenance: Provenance::Unsigned { what, commit: None, author: None },
        tip: None,
        tree_id: tree.digest().to_string(),
        tree,
    })
}

/// Says in words where a commit lies relative to what runs.
pub(crate) fn describe(position: &Position) -> String {
    match position {
        Position::First => "first delivery".to_owned(),
        Position::Same => "runs already".to_owned(),
        Position::Forward { commits } => format!("{commits} ahead of what runs"),
        Position::Rollback { commits } => format!("{commits} behind what runs"),
    }
}

/// Returns the private copy's folder for a repository: one per address, shared by all environments.
pub(crate) fn repository_cache(address: &str, surroundings: &Surroundings) -> PathBuf {
    surroundings.cache().join("repositories").join(Digest::of_bytes(address.as_bytes()).short())
}

/// Finds the `git` program.
pub(crate) fn git(surroundings: &Surroundings) -> Result<PathBuf, CommandError> {
    surroundings.program("git").ok_or_else(|| {
        CommandError::new(
            ExitCode::Error,
            "the program `git` is not on the search path",
            "install git on the agent",
        )
    })
}

/// Reads the pinned keys.
pub(crate) fn keyring(settings: &Environment) -> Result<Keyring, CommandError> {
    let mut pins = Vec::new();
    for key in &settings.source.keys {
        let armored = std::fs::read(&key.file).map_err(|error| CommandError::file(&key.file, &error))?;
        let mut pin = Pin::new(&key.fingerprint, &key.name, &armored);
        pin.not_before = key.not_before.as_deref().and_then(start_of_day);
        pin.not_after = key.not_after.as_deref().and_then(end_of_day);
        pin.committer.clone_from(&key.committer);
        pin.accept_expired = key.accept_expired;
        pins.push(pin);
    }
    Ok(Keyring::new(pins)?)
}

fn start_of_day(day: &str) -> Option<Timestamp> {
    Some(day.parse::<Date>().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

fn end_of_day(day: &str) -> Option<Timestamp> {
    let next = day.parse::<Date>().ok()?.tomorrow().ok()?.to_zoned(TimeZone::UTC).ok()?.timestamp();
    next.checked_sub(SignedDuration::from_secs(1)).ok()
}

/// Reads `windlass.yaml`, if there is one.
pub(crate) fn read_repository(tree: &SourceTree) -> Result<Repository, CommandError> {
    const FILE: &str = "windlass.yaml";
    let Some(bytes) = tree.read(FILE) else { return Ok(Repository::default()) };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        CommandError::new(
            ExitCode::BadInput,
            format!("{FILE} is not UTF-8: {error}"),
            "save the file as UTF-8",
        )
    })?;
    Repository::parse(text, FILE).map_err(|errors| CommandError::settings(&errors, text, FILE))
}

/// Finds the program that renders kustomizations.
pub(crate) fn renderer(surroundings: &Surroundings) -> Option<PathBuf> {
    let named = surroundings.variable("WINDLASS_KUSTOMIZE").map(PathBuf::from);
    named.or_else(|| surroundings.program("kustomize")).or_else(|| surroundings.program("kubectl"))
}

/// Renders units; what the cluster serves decides which kinds need a namespace.
pub(crate) async fn render(
    tree: &SourceTree,
    units: &[ResolvedUnit],
    surroundings: &Surroundings,
    limits: &Limits,
    scopes: &HashMap<GroupKind, bool>,
) -> Result<Rendering, CommandError> {
    let kustomize = renderer(surroundings);
    let jail = match surroundings.variable("WINDLASS_JAIL") {
        Some("best-effort") => Jail::BestEffort,
        _ => Jail::Required,
    };
    let tools = Tools { kustomize, jail };
    Ok(windlass_render::render(tree, units, &tools, limits, &|kind| scopes.get(kind).copied()).await?)
}
