//! Everything that a command on an environment needs, opened and checked once.

use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rand::RngExt as _;
use tokio_util::sync::CancellationToken;
use windlass_cluster::{Cluster, Target};
use windlass_model::EnvironmentName;
use windlass_model::{Clock, ClusterId, Event, ExitCode, Level, RunId, Sink as _};
use windlass_record::{Journal, Store};
use windlass_settings::Environment;

use crate::error::CommandError;
use crate::executor::memory::MemoryFile;
use crate::reporter::Reporter;
use crate::shell::Shell;
use crate::signals::stop_on_signal;
use crate::surroundings::Surroundings;

/// The tool and its version, as plans and ApplySets name it.
pub(crate) const TOOL: &str = concat!("windlass ", env!("CARGO_PKG_VERSION"));
/// The version alone.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Commands that go through stages, and say so first.
const STAGED: [&str; 6] = ["run", "apply", "rollback", "plan", "drift", "gate"];
/// Requests in flight at most; the connection finds out how many the server copes with.
const CONCURRENCY: usize = 16;

/// An open environment.
pub(crate) struct Session {
    pub(crate) surroundings: Surroundings,
    pub(crate) shell: Shell,
    pub(crate) settings: Environment,
    pub(crate) name: EnvironmentName,
    pub(crate) cluster: Cluster,
    pub(crate) cluster_id: ClusterId,
    pub(crate) store: Store,
    pub(crate) reporter: Arc<Reporter>,
    pub(crate) stop: CancellationToken,
    pub(crate) clock: Clock,
    pub(crate) run: RunId,
    pub(crate) started: jiff::Timestamp,
    pub(crate) command: &'static str,
    /// Where answers of earlier plans are kept, if they may be used.
    pub(crate) memory: Option<MemoryFile>,
}

impl Session {
    /// Reads the environment file, connects to its cluster and checks that it is the one that is meant.
    pub(crate) async fn open(
        file: &Path,
        command: &'static str,
        shell: Shell,
        surroundings: &Surroundings,
    ) -> Result<Self, CommandError> {
        let settings = read_environment(file)?;
        let clock = surroundings.clock();
        let started = clock.now();
        let run = RunId::new(started, &random_suffix());
        let stop = stop_on_signal();
        let reporter = Arc::new(Reporter::new(shell.terminal(), stop.clone()));
        if STAGED.contains(&command) {
            let environment = Some(settings.environment.clone());
            reporter.emit(Event::RunStarted { run: run.clone(), command: command.to_owned(), environment });
        }
        for warning in settings.warnings(started) {
            reporter.say(Level::Warning, warning);
        }
        let name = EnvironmentName::new(&settings.environment).ok_or_else(|| {
            CommandError::new(
                ExitCode::BadInput,
                "the environment has no usable name",
                "use a DNS label such as `prd`",
            )
        })?;
        let access = &settings.cluster;
        let timeout = settings.timeouts.request.get();
        let opened = async {
            let cluster = connect(&access.kubeconfig, &access.context, timeout, &run, surroundings).await?;
            let identity = cluster.identity().await?;
            Ok::<_, CommandError>((cluster, identity))
        };
        let (cluster, cluster_id) = tokio::select! {
            opened = opened => opened?,
            () = stop.cancelled() => return Err(CommandError::interrupted()),
        };
        check_cluster(&cluster_id, access.uid.as_deref())?;
        // The lock is renewed in time however many requests of the run wait for a slow server.
        let store = Store::new(cluster.apart(), &settings.record.namespace, name.clone());
        Ok(Self {
            surroundings: surroundings.clone(),
            shell,
            settings,
            name,
            cluster,
            cluster_id,
            store,
            reporter,
            stop,
            clock,
            run,
            started,
            command,
            memory: None,
        })
    }

    /// Uses the answers of earlier plans, unless the caller wants to ask for everything.
    #[must_use]
    pub(crate) fn remembering(mut self, no_memo: bool) -> Self {
        let cache = self.surroundings.private_cache().filter(|_| !no_memo);
        self.memory = cache.map(|cache| MemoryFile::new(&cache, &self.cluster_id, Some(&self.name)));
        self
    }

    /// Sends nothing but GETs from now on.
    #[must_use]
    pub(crate) fn reading_only(mut self) -> Self {
        self.cluster = self.cluster.read_only();
        self.store = Store::new(self.cluster.clone(), &self.settings.record.namespace, self.name.clone());
        self
    }

    /// Returns the folder of this run's reports.
    pub(crate) fn report_folder(&self, out: Option<&Path>) -> PathBuf {
        out.map_or_else(|| self.settings.record.reports.join(self.run.as_str()), Path::to_path_buf)
    }

    /// Returns the folder of this run's reports, and makes it for the own user alone.
    pub(crate) fn reports(&self, out: Option<&Path>) -> Result<PathBuf, CommandError> {
        let folder = self.report_folder(out);
        private_folder(&folder).map_err(|error| CommandError::file(&folder, &error))?;
        Ok(folder)
    }

    /// Journals everything from now on.
    pub(crate) fn open_journal(&self, folder: &Path) -> Result<(), CommandError> {
        let journal = Journal::create(folder, &self.run, self.clock)
            .map_err(|error| CommandError::file(folder, &error))?;
        self.reporter.journal_to(journal);
        Ok(())
    }

    /// Does work that writes nothing, until it is done or a signal arrives.
    pub(crate) async fn unless_stopped<T, E>(
        &self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, CommandError>
    where
        CommandError: From<E>,
    {
        tokio::select! {
            result = work => Ok(result?),
            () = self.stop.cancelled() => Err(CommandError::interrupted()),
        }
    }

    /// Fails if a signal arrived.
    pub(crate) fn check_stop(&self) -> Result<(), CommandError> {
        if self.stop.is_cancelled() { Err(CommandError::interrupted()) } else { Ok(()) }
    }
}

/// Makes a folder, and those above it that are missing, for the own user alone.
pub(crate) fn private_folder(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Reads an environment file; relative paths in it become relative to its folder.
pub(crate) fn read_environment(file: &Path) -> Result<Environment, CommandError> {
    let text = std::fs::read_to_string(file).map_err(|error| CommandError::file(file, &error))?;
    let mut settings = Environment::parse(&text, &file.display().to_string())
        .map_err(|errors| CommandError::settings(&errors, &text, &file.display().to_string()))?;
    let folder = std::path::absolute(file).map_err(|error| CommandError::file(file, &error))?;
    settings.resolve_paths(folder.parent().unwrap_or(Path::new("/")));
    Ok(settings)
}

/// Connects to a cluster under this run's name.
pub(crate) async fn connect(
    kubeconfig: &Path,
    context: &str,
    request_timeout: Duration,
    run: &RunId,
    surroundings: &Surroundings,
) -> Result<Cluster, CommandError> {
    let target = Target {
        kubeconfig: kubeconfig.to_path_buf(),
        context: context.to_owned(),
        proxy: surroundings.variable("WINDLASS_PROXY").map(str::to_owned),
        user_agent: format!("windlass/{VERSION} ({run})"),
        request_timeout,
        concurrency: CONCURRENCY,
    };
    Ok(Cluster::connect(&target).await?)
}

fn check_cluster(found: &ClusterId, expected: Option<&str>) -> Result<(), CommandError> {
    match expected {
        Some(expected) if expected != found.uid => Err(windlass_cluster::ClusterError::OtherCluster {
            found: found.uid.clone(),
            expected: expected.to_owned(),
        }
        .into()),
        _ => Ok(()),
    }
}

/// Returns four random characters that are hard to confuse.
pub(crate) fn random_suffix() -> String {
    const LETTERS: &[u8] = b"23456789abcdefghjkmnpqrstvwxyz";
    let mut random = rand::rng();
    (0..4).map(|_| char::from(LETTERS[random.random_range(0..LETTERS.len())])).collect()
}
