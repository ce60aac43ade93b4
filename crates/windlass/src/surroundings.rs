//! The only place that reads the process's environment, clock and terminal.

use std::ffi::OsString;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use jiff::Timestamp;
use windlass_model::Clock;

/// What the process was started with.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    variables: Vec<(OsString, OsString)>,
    /// Whether standard error is a terminal.
    pub(crate) terminal: bool,
    /// Whether a question can be asked: input and error are terminals, and this is no CI job.
    pub(crate) interactive: bool,
}

impl Surroundings {
    /// Reads them.
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the environment")]
    pub(crate) fn read() -> Self {
        let variables: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let terminal = std::io::stderr().is_terminal();
        let mut surroundings = Self { variables, terminal, interactive: false };
        surroundings.interactive = terminal
            && std::io::stdin().is_terminal()
            && surroundings.variable("CI").is_none_or(|ci| ci == "false");
        surroundings
    }

    /// Returns a variable that is set and not empty.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let (_, value) = self.variables.iter().find(|(key, _)| key == name)?;
        value.to_str().filter(|value| !value.is_empty())
    }

    /// Returns all variables, for programs that are started.
    pub(crate) fn variables(&self) -> &[(OsString, OsString)] {
        &self.variables
    }

    /// Says whether colour is wanted: a terminal, and nobody said no (<https://no-color.org>).
    pub(crate) fn colour(&self) -> bool {
        let forced = self.variable("CLICOLOR_FORCE").is_some_and(|value| value != "0");
        forced
            || self.terminal && self.variable("NO_COLOR").is_none() && self.variable("TERM") != Some("dumb")
    }

    /// Returns who started the run, as far as the CI system or the login tells.
    pub(crate) fn actor(&self) -> String {
        [
            "GITHUB_TRIGGERING_ACTOR",
            "GITHUB_ACTOR",
            "BUILD_REQUESTEDFOREMAIL",
            "BUILD_REQUESTEDFOR",
            "SUDO_USER",
            "USER",
            "LOGNAME",
        ]
        .iter()
        .find_map(|name| self.variable(name))
        .unwrap_or("unknown")
        .to_owned()
    }

    /// Returns the host's name.
    pub(crate) fn host(&self) -> String {
        let kernel = || std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
        self.variable("HOSTNAME").map(str::to_owned).or_else(kernel).unwrap_or_default().trim().to_owned()
    }

    /// Finds a program on the search path.
    pub(crate) fn program(&self, name: &str) -> Option<PathBuf> {
        let path = self.variable("PATH")?;
        path.split(':').map(|folder| PathBuf::from(folder).join(name)).find(|file| file.is_file())
    }

    /// Returns the folder for private copies of repositories.
    pub(crate) fn cache(&self) -> PathBuf {
        self.private_cache().unwrap_or_else(|| std::env::temp_dir().join("windlass"))
    }

    /// Returns the same folder if it is the user's own, not one that everybody can make.
    pub(crate) fn private_cache(&self) -> Option<PathBuf> {
        let home = || self.variable("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let root = self.variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
        let named = self.variable("WINDLASS_CACHE").map(PathBuf::from);
        named.or_else(|| root.map(|root| root.join("windlass")))
    }

    /// Returns the clock.
    #[expect(clippy::unused_self, reason = "time is one of the surroundings")]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub(crate) fn clock(&self) -> Clock {
        Clock::new(Timestamp::now)
    }
}
