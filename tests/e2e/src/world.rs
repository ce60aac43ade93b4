//! Everything one test needs.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Bed, Change, Files, Keys, Kubectl, Outcome, Process, Repository, manifests};

/// How many tests may use the control plane at once: it shares two cores with them.
const AT_ONCE: usize = 4;

/// Everything one test needs, with names of its own. Dropping it cleans up.
#[derive(Debug)]
pub struct World {
    /// Part of every name that this test uses in the cluster.
    pub suffix: String,
    /// The environment's name.
    pub environment: String,
    /// The delivered repository.
    pub repository: Repository,
    /// The keys that sign commits and approvals.
    pub keys: Arc<Keys>,
    /// The administrator's kubectl.
    pub kubectl: Kubectl,
    folder: TempDir,
    settings: Value,
    variables: Vec<(String, OsString)>,
    namespaces: Mutex<BTreeSet<String>>,
    owned: Mutex<Vec<String>>,
    calls: Mutex<Vec<Outcome>>,
    _turn: Turn,
}

impl World {
    /// Makes a world, as soon as fewer than four others exist.
    pub fn new() -> Self {
        Self::named("e2e")
    }

    /// Makes a world whose environment's name begins with a word.
    pub fn named(prefix: &str) -> Self {
        let turn = Turn::take();
        let (bed, keys) = (Bed::get(), Keys::shared());
        let suffix = random();
        let repository = Repository::new(Arc::clone(&keys));
        let mut world = Self {
            environment: format!("{prefix}-{suffix}"),
            suffix,
            repository,
            kubectl: Kubectl::admin(bed),
            folder: tempfile::Builder::new().prefix("we").tempdir_in("/tmp").unwrap(),
            settings: Value::Null,
            variables: Vec::new(),
            namespaces: Mutex::default(),
            owned: Mutex::default(),
            calls: Mutex::default(),
            _turn: turn,
            keys,
        };
        for folder in ["home", "tmp", "approvals"] {
            std::fs::create_dir(world.path(folder)).unwrap();
        }
        world.settings = world.default_settings();
        world.write_settings();
        world
    }

    /// A development environment: nobody is asked, nothing is limited, and all waits are short.
    fn default_settings(&self) -> Value {
        let release = &self.keys.release;
        json!({
            "environment": self.environment,
            "cluster": {"kubeconfig": Bed::get().identity("windlass-run"), "context": "testbed"},
            "source": {
                "repository": self.repository.url(),
                "branch": "main",
                "keys": [{"fingerprint": release.fingerprint, "name": "release", "file": release.file}],
            },
            "policies": {"none": "a test"},
            "approval": {
                "required": "never",
                "directory": self.path("approvals"),
                "approvers": [
                    {"name": "alice", "key": self.keys.alice.public, "email": "alice@example.com"},
                    {"name": "bob", "key": self.keys.bob.public, "email": "bob@example.com"},
                ],
            },
            "guards": {"pruneBudget": {"count": 1000, "percent": 100}},
            "record": {"reports": self.path("reports")},
            "timeouts": {
                "request": "20s", "fetch": "30s", "render": "60s", "rollout": "90s", "smoke": "20s", "lease": "20s",
            },
        })
    }

    /// Changes the environment file.
    pub fn configure(&mut self, change: impl FnOnce(&mut Value)) {
        change(&mut self.settings);
        self.write_settings();
    }

    /// Sets a variable of the environment that the binary is called with.
    pub fn set_variable(&mut self, name: &str, value: &(impl AsRef<OsStr> + ?Sized)) {
        self.variables.push((name.to_owned(), value.as_ref().to_owned()));
    }

    /// Changes who signs in to the cluster, to one of the testbed's identities.
    pub fn sign_in_as(&mut self, identity: &str) {
        let kubeconfig = Bed::get().identity(identity);
        self.configure(|settings| settings["cluster"]["kubeconfig"] = json!(kubeconfig));
    }

    /// Replaces the environment file by a text.
    pub fn write_settings_text(&self, text: &str) {
        std::fs::write(self.settings_file(), text).unwrap();
    }

    fn write_settings(&self) {
        std::fs::write(self.settings_file(), serde_json::to_string_pretty(&self.settings).unwrap()).unwrap();
    }

    /// Returns the environment file.
    pub fn settings_file(&self) -> PathBuf {
        self.path("environment.yaml")
    }

    /// Returns a path inside the world's folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a namespace of this world's own, which is deleted in the end; whoever needs it makes it.
    pub fn namespace(&self, word: &str) -> String {
        let name = format!("{word}-{}", self.suffix);
        self.namespaces.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone());
        name
    }

    /// Takes down a cluster-scoped object, as `kind/name`, that is deleted in the end.
    pub fn owns(&self, object: &str) {
        self.owned.lock().unwrap_or_else(PoisonError::into_inner).push(object.to_owned());
    }

    /// Returns a repository of two units: the namespace `app-SUFFIX`, and a ConfigMap in it.
    pub fn small(&self) -> Files {
        let namespace = self.namespace("app");
        Files::new()
            .with("windlass.yaml", manifests::units(&[("base", "base", ""), ("app", "app", "base")]))
            .with("base/namespace.yaml", manifests::namespace(&namespace))
            .with("app/settings.yaml", manifests::config_map(&namespace, "settings", &[("colour", "blue")]))
    }

    /// Writes files into a folder, as a developer's checkout; returns the folder.
    pub fn checkout(&self, files: &Files) -> PathBuf {
        let folder = self.path("checkout").join(random());
        files.write_to(&folder);
        folder
    }

    /// Commits files as a signed merge on the protected branch; returns the commit's id.
    pub fn commit(&self, files: &Files) -> String {
        self.repository.commit(files, &self.repository.merged())
    }

    /// Commits files in another way.
    pub fn commit_as(&self, files: &Files, change: &Change<'_>) -> String {
        self.repository.commit(files, change)
    }

    /// Commits files and delivers them.
    #[track_caller]
    pub fn deliver(&self, files: &Files) -> String {
        let commit = self.commit(files);
        self.windlass(&["run"]).ok();
        commit
    }

    /// Calls the binary with this world's environment file.
    pub fn windlass(&self, arguments: &[&str]) -> Outcome {
        let file = self.settings_file();
        self.call(&[arguments, &["--env", file.to_str().unwrap()]].concat())
    }

    /// Calls the binary with exactly these arguments.
    pub fn call(&self, arguments: &[&str]) -> Outcome {
        let outcome = Process::start(&mut self.command(arguments)).wait();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(outcome.clone());
        outcome
    }

    /// Calls the binary with this world's environment file and one more variable.
    pub fn windlass_with(&self, (name, value): (&str, &str), arguments: &[&str]) -> Outcome {
        let file = self.settings_file();
        let mut command = self.command(&[arguments, &["--env", file.to_str().unwrap()]].concat());
        let outcome = Process::start(command.env(name, value)).wait();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(outcome.clone());
        outcome
    }

    /// Starts the binary with exactly these arguments.
    pub fn start_with(&self, arguments: &[&str]) -> Process {
        Process::start(&mut self.command(arguments))
    }

    /// Starts the binary with this world's environment file.
    pub fn start(&self, arguments: &[&str]) -> Process {
        let file = self.settings_file();
        Process::start(&mut self.command(&[arguments, &["--env", file.to_str().unwrap()]].concat()))
    }

    /// Calls the binary with this world's environment file at a terminal of its own, where a person types a line.
    /// Returns the exit code and what stood on the screen.
    pub fn at_terminal(&self, arguments: &[&str], line: &str) -> (Option<i32>, String) {
        let (binary, file) = (&Bed::get().binary, self.settings_file());
        let call = format!("{} {} --env {}", binary.display(), arguments.join(" "), file.display());
        let mut script = Command::new("script");
        script.args(["-q", "-e", "-c", &call, "/dev/null"]);
        self.surround(&mut script).env("TERM", "dumb").env("SHELL", "/bin/sh");
        let mut child = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        // Held open: the end of the input would be typed as well.
        let mut keyboard = child.stdin.take().unwrap();
        writeln!(keyboard, "{line}").unwrap();
        let output = child.wait_with_output().unwrap();
        drop(keyboard);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&Bed::get().binary);
        command.args(arguments);
        self.surround(&mut command);
        command
    }

    /// Gives a command the surroundings of a CI agent, and nothing of this process's own.
    fn surround<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        let bed = Bed::get();
        command.env_clear().current_dir(self.folder.path());
        command.env("PATH", &bed.path).env("HOME", self.path("home")).env("USER", "ci-agent");
        command.env("TMPDIR", self.path("tmp")).env("WINDLASS_CACHE", self.path("cache"));
        command.envs(self.variables.iter().map(|(name, value)| (name, value)))
    }

    /// Plans, and has an approver sign the plan; returns the plan.
    #[track_caller]
    pub fn plan_and_approve(&self, approver: &str) -> Value {
        let folder = self.path("plan");
        self.windlass(&["plan", "--out", folder.to_str().unwrap()]).ok();
        let file = folder.join("plan.json");
        self.approve(&file, approver, &[]).ok();
        serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Has an approver sign a plan.
    pub fn approve(&self, plan: &Path, approver: &str, more: &[&str]) -> Outcome {
        let key = if approver == "bob" { &self.keys.bob } else { &self.keys.alice };
        let (key, out) = (key.private.to_str().unwrap(), self.path("approvals"));
        let arguments = [
            "approve",
            plan.to_str().unwrap(),
            "--key",
            key,
            "--as",
            approver,
            "--yes",
            "--out",
            out.to_str().unwrap(),
        ];
        self.call(&[&arguments, more].concat())
    }

    /// Returns how often a text occurs in the journals of this world's runs.
    pub fn journalled(&self, text: &str) -> usize {
        let mut found = 0;
        each_file(&self.path("reports"), &mut |path, content| {
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                found += content.matches(text).count();
            }
        });
        found
    }

    /// Returns everything that Windlass has written so far, with the place: both streams of every call, every
    /// file on the agent, and its records in the cluster.
    pub fn everything_written(&self) -> Vec<(String, String)> {
        let mut written = Vec::new();
        for call in self.calls.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            written.push((call.command.clone(), call.all()));
        }
        let checkout = self.path("checkout");
        each_file(self.folder.path(), &mut |path, content| {
            if !path.starts_with(&checkout) {
                written.push((path.display().to_string(), content.to_owned()));
            }
        });
        for record in self.records() {
            let object = self.kubectl.run(&[
                "get",
                "-n",
                "windlass-system",
                "-o",
                "json",
                "--show-managed-fields",
                &record,
            ]);
            written.push((record, object));
        }
        written
    }

    /// Returns this world's objects in the record namespace, as `kind/name`.
    pub fn records(&self) -> Vec<String> {
        let listing = self.kubectl.run(&["get", "configmaps,leases", "-n", "windlass-system", "-o", "name"]);
        listing.lines().filter(|line| line.contains(&self.suffix)).map(str::to_owned).collect()
    }
}

impl Default for World {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for World {
    /// Deletes without waiting; what cannot be deleted is left to the control plane's end.
    fn drop(&mut self) {
        let namespaces = self.namespaces.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut groups = vec![namespaces.iter().map(|name| format!("namespace/{name}")).collect::<Vec<_>>()];
        groups.push(self.owned.lock().unwrap_or_else(PoisonError::into_inner).clone());
        groups.extend((!std::thread::panicking()).then(|| self.records()));
        for group in groups.iter().filter(|group| !group.is_empty()) {
            let names: Vec<&str> = group.iter().map(String::as_str).collect();
            let flags = ["delete", "-n", "windlass-system", "--wait=false", "--ignore-not-found"];
            self.kubectl.attempt(&[&flags, names.as_slice()].concat(), "");
        }
    }
}

fn each_file(folder: &Path, see: &mut impl FnMut(&Path, &str)) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        if path.is_dir() {
            each_file(&path, see);
        } else if let Ok(bytes) = std::fs::read(&path) {
            see(&path, &String::from_utf8_lossy(&bytes));
        }
    }
}

/// Returns six letters and digits.
fn random() -> String {
    let mut number = RandomState::new().build_hasher().finish();
    let mut out = String::new();
    for _ in 0..6 {
        out.push(char::from(b"abcdefghjkmnpqrstuvwxyz23456789"[usize::try_from(number % 31).unwrap()]));
        number /= 31;
    }
    out
}

/// The right to use the control plane.
#[derive(Debug)]
struct Turn;

static TAKEN: Mutex<usize> = Mutex::new(0);
static FREED: Condvar = Condvar::new();

impl Turn {
    fn take() -> Self {
        let taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        let mut taken =
            FREED.wait_while(taken, |taken| *taken >= AT_ONCE).unwrap_or_else(PoisonError::into_inner);
        *taken += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *TAKEN.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
        FREED.notify_one();
    }
}
