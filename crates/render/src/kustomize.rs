//! Rendering with a `kubectl` or `kustomize` binary.

use std::path::Path;

use windlass_model::SourceTree;

use crate::jail::{Cell, Jail, RunError, Tools, Walls, system};
use crate::{Limits, RenderError};

/// A renderer that is known to work, with its version.
pub(crate) struct Kustomize {
    cell: Cell,
    standalone: bool,
    /// The version, such as `v5.8.1`.
    pub(crate) version: String,
    /// What to tell the user about the jail.
    pub(crate) warning: Option<String>,
}

fn failed(path: &str, message: String, hint: &str) -> RenderError {
    RenderError::Renderer { path: path.to_owned(), message, hint: hint.to_owned() }
}

impl Kustomize {
    /// Puts the tree and the binary into the best jail that can be made here.
    pub(crate) async fn start(
        tree: &SourceTree,
        tools: &Tools,
        limits: &Limits,
    ) -> Result<Self, RenderError> {
        let hint = "install kubectl on the agent, or name the binary";
        let binary = tools.kustomize.as_deref().ok_or_else(|| {
            failed("", "there are kustomizations, but no kubectl and no kustomize".to_owned(), hint)
        })?;
        let mut cell = Cell::new(tree, binary, limits)
            .map_err(|error| failed("", format!("{}: {error}", binary.display()), hint))?;
        let mut reasons = Vec::new();
        for (walls, program) in WALLS {
            cell.walls = *walls;
            if *walls == Walls::Open && tools.jail == Jail::Required {
                break;
            }
            if let Some(missing) = program.iter().find(|program| system(program).is_none()) {
                reasons.push(format!("{missing} is not installed"));
                continue;
            }
            match ask_version(&cell, binary).await {
                Ok((standalone, version)) if version == "v5.8.0" => {
                    let hint = "kustomize 5.8.0 loses namespaces (kustomize issue 6031): use another version";
                    let program = if standalone { "kustomize" } else { "kubectl" };
                    return Err(failed("", format!("{program} holds kustomize {version}"), hint));
                }
                Ok((standalone, version)) => {
                    let warning = (*walls == Walls::Open)
                        .then(|| format!("kustomize runs without a jail: {}", reasons.join("; ")));
                    return Ok(Self { cell, standalone, version, warning });
                }
                Err(error) => reasons.push(format!("{walls:?}: {error}")),
            }
        }
        let hint =
            "install bubblewrap and util-linux and allow user namespaces, or allow rendering without a jail";
        Err(failed("", format!("kustomize cannot be run in a jail: {}", reasons.join("; ")), hint))
    }

    /// Renders a directory of the tree; returns the YAML and the renderer's warnings.
    pub(crate) async fn build(&self, directory: &str) -> Result<(Vec<u8>, Vec<String>), RenderError> {
        let verb = if self.standalone { "build" } else { "kustomize" };
        let output = self.cell.run(directory, &[verb, "."]).await.map_err(|error| {
            let hint = match error {
                RunError::Start(_) => "check the agent",
                RunError::Time(_) => "simplify the kustomization, or raise the time limit",
                RunError::Output(_) => "cut the directory into several units",
                RunError::Failed(_) => "run `kubectl kustomize` on the directory to see all of the message",
            };
            failed(directory, format!("kustomize: {error}"), hint)
        })?;
        let notes = output.stderr.lines().filter(|line| line.starts_with("# Warning"));
        let warnings =
            notes.map(|line| format!("{directory}: {}", line.chars().take(300).collect::<String>()));
        Ok((output.stdout, warnings.collect()))
    }
}

const WALLS: &[(Walls, &[&str])] = &[
    (Walls::Bubblewrap, &["prlimit", "bwrap"]),
    (Walls::BubblewrapWithLibraries, &["prlimit", "bwrap"]),
    (Walls::Unshare, &["prlimit", "unshare"]),
    (Walls::Open, &[]),
];

/// Finds out whether the binary is a `kustomize`, and which version it has.
async fn ask_version(cell: &Cell, binary: &Path) -> Result<(bool, String), RunError> {
    let called = binary.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let standalone = called.starts_with("kustomize");
    let arguments: &[&str] = if standalone { &["version"] } else { &["version", "--client"] };
    let output = cell.run("", arguments).await?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = if standalone {
        text.split_whitespace().find(|word| word.starts_with('v')).map(str::to_owned)
    } else {
        text.lines()
            .find_map(|line| line.strip_prefix("Kustomize Version: "))
            .map(|line| line.trim().to_owned())
    };
    let version = version.ok_or_else(|| RunError::Failed("says no kustomize version".to_owned()))?;
    Ok((standalone, version))
}
