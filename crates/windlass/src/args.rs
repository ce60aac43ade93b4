//! What can be typed. Nothing here is checked against the world yet.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use windlass_settings::Duration;

/// Delivers one signed Git commit to a Kubernetes cluster, in fixed stages.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, arg_required_else_help = true, after_help = EXAMPLES, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) talk: Talk,
}

const EXAMPLES: &str = "\
Examples:
  windlass run --env prd.yaml                  deliver the branch's tip
  windlass plan --env prd.yaml --out plan/     see what would change
  windlass drift --env prd.yaml                see what was changed by hand
  windlass rollback --env prd.yaml --reason 'orders time out'
                                               go back to the previous completed commit

Exit codes: 0 ok, 2 changes, 3 approval required, 4 refused, 5 stale, 6 locked, 7 apply failed,
8 rollout failed, 9 smoke failed, 10 interrupted, 64 usage, 65 bad input, 69 unreachable, 77 forbidden.";

/// How the command talks.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Talk {
    /// What is written to standard output.
    #[arg(long, global = true, value_enum, default_value_t = Output::Text)]
    pub(crate) output: Output,
    /// Never use colour.
    #[arg(long, global = true)]
    pub(crate) no_color: bool,
    /// Tell every write and every step of a rollout.
    #[arg(long, short, global = true)]
    pub(crate) verbose: bool,
}

/// The form of what is written to standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Output {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

/// How the changes of an object are shown as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Diff {
    /// Field by field, with paths.
    Fields,
    /// The whole object as YAML, line by line.
    Yaml,
}

impl From<Diff> for windlass_report::Diff {
    fn from(diff: Diff) -> Self {
        match diff {
            Diff::Fields => Self::Fields,
            Diff::Yaml => Self::Yaml,
        }
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Deliver a commit: verify, gate, plan, approve, apply, roll out, smoke-test, prune.
    #[command(after_help = "\
Examples:
  windlass run --env prd.yaml
  windlass run --env prd.yaml --commit 62bc080798ced7f198836a2a33ce522a55ebc7a9 --approvals approvals/")]
    Run(RunArguments),
    /// Show what would change, writing nothing.
    #[command(after_help = "\
Examples:
  windlass plan --env prd.yaml --out plan/
  windlass plan deploy/ --kubeconfig ~/.kube/config --context test --detailed-exitcode")]
    Plan(PlanArguments),
    /// Approve a plan: sign the digest of its effects.
    #[command(after_help = "\
Example:
  windlass approve plan/plan.json --key ~/.ssh/id_ed25519 --as alice --out approvals/")]
    Approve(ApproveArguments),
    /// Deliver a commit whose plan has this digest.
    #[command(after_help = "\
Example:
  windlass apply --env prd.yaml --digest sha256:… --approvals approvals/")]
    Apply(ApplyArguments),
    /// Compare the cluster with the commit that was delivered last, writing nothing.
    #[command(after_help = "\
Examples:
  windlass drift --env prd.yaml --out drift/       exit code 2 when anything differs
  windlass drift --env prd.yaml --read-only        with an identity that may only read")]
    Drift(DriftArguments),
    /// Deliver the previous completed commit again.
    #[command(after_help = "\
Examples:
  windlass rollback --env prd.yaml --reason 'orders time out since 14:05'
  windlass rollback --env prd.yaml --reason 'back to last week' --to 62bc080798ced7f198836a2a33ce522a55ebc7a9")]
    Rollback(RollbackArguments),
    /// Judge a commit: is it signed by a pinned key, and was it ever the branch's tip?
    #[command(after_help = "\
Examples:
  windlass verify --env prd.yaml --commit 62bc080798ced7f198836a2a33ce522a55ebc7a9
  windlass verify --repo https://git.example.com/platform.git --branch main --keys keys/release.asc \\
      --commit 62bc080798ced7f198836a2a33ce522a55ebc7a9")]
    Verify(VerifyArguments),
    /// Check that every expected policy is enforced right now.
    #[command(after_help = "\
Example:
  windlass gate --env prd.yaml")]
    Gate(EnvironmentArguments),
    /// Print the objects of a directory.
    #[command(after_help = "\
Examples:
  windlass render apps/shop/stateful/prd
  windlass render . --environment prd --output json")]
    Render(RenderArguments),
    /// Check a repository as a pull request would be checked, without a cluster.
    #[command(after_help = "\
Example:
  windlass check . --environment dev --environment prd")]
    Check(CheckArguments),
    /// Show what runs, and whether a run is under way.
    #[command(after_help = "\
Example:
  windlass status --env prd.yaml")]
    Status(EnvironmentArguments),
    /// List past runs, newest first.
    #[command(after_help = "\
Example:
  windlass history --env prd.yaml --limit 20")]
    History(HistoryArguments),
    /// Show one run.
    #[command(after_help = "\
Example:
  windlass show 20261130-164536-k3f9 --env prd.yaml")]
    Show(ShowArguments),
    /// Show who holds the lock.
    #[command(after_help = "\
Example:
  windlass lock --env prd.yaml")]
    Lock(EnvironmentArguments),
    /// Take the lock away from a run that is gone for good.
    #[command(after_help = "\
Example:
  windlass unlock --env prd.yaml --holder 20261130-164536-k3f9")]
    Unlock(UnlockArguments),
    /// Go on with a branch that was rewritten on purpose.
    #[command(after_help = "\
Example:
  windlass accept-rewrite --env prd.yaml --tip SHA --reason 'a leak was taken out (INC-4711)'")]
    AcceptRewrite(AcceptRewriteArguments),
    /// Check that this agent can do its job: settings, tools, keys, identity, rights.
    #[command(after_help = "\
Examples:
  windlass doctor --env prd.yaml
  windlass doctor --env plan-prd.yaml --expect-dry-run-only    try a real write, which must be refused")]
    Doctor(DoctorArguments),
    /// Print a completion script.
    #[command(after_help = "\
Example:
  windlass completions bash > /etc/bash_completion.d/windlass")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    #[command(after_help = "\
Example:
  windlass man --out /usr/local/share/man/man1")]
    Man {
        /// The folder.
        #[arg(long)]
        out: PathBuf,
    },
}

/// Which environment.
#[derive(Debug, Clone, Args)]
pub(crate) struct EnvironmentArguments {
    /// The environment file.
    #[arg(long, value_name = "FILE")]
    pub(crate) env: PathBuf,
}

/// What all deliveries take.
#[derive(Debug, Clone, Args)]
pub(crate) struct DeliveryArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// A folder with approval files, beside the one that the environment file names.
    #[arg(long, value_name = "DIR")]
    pub(crate) approvals: Option<PathBuf>,
    /// Where plan, journal and report are written, instead of a folder per run below `record.reports`.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How long to wait for another run's lock.
    #[arg(long, value_name = "DURATION")]
    pub(crate) lock_timeout: Option<Duration>,
    /// Ask the server about every object, even where nothing moved since it was asked last.
    #[arg(long)]
    pub(crate) no_memo: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RunArguments {
    #[command(flatten)]
    pub(crate) delivery: DeliveryArguments,
    /// The commit: 40 hex digits. Without it, the branch's tip.
    #[arg(long, value_name = "SHA", conflicts_with = "dir")]
    pub(crate) commit: Option<String>,
    /// Deliver a directory instead of a commit, where the environment file says `unsigned: allowed`.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<PathBuf>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApplyArguments {
    #[command(flatten)]
    pub(crate) delivery: DeliveryArguments,
    /// The commit: 40 hex digits. Without it, the branch's tip.
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// The change digest that `plan` printed.
    #[arg(long, value_name = "DIGEST")]
    pub(crate) digest: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RollbackArguments {
    #[command(flatten)]
    pub(crate) delivery: DeliveryArguments,
    /// Why; it is recorded.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
    /// The commit to go back to, instead of the previous completed one. It must have been completed here.
    #[arg(long, value_name = "SHA")]
    pub(crate) to: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PlanArguments {
    /// A directory to plan without an environment file.
    #[arg(value_name = "DIR", required_unless_present = "env", conflicts_with = "env")]
    pub(crate) dir: Option<PathBuf>,
    /// The repository that the directory belongs to, for kustomizations that use its other folders. Without
    /// it, the nearest folder above that holds `.git` or `windlass.yaml`.
    #[arg(long, value_name = "DIR", requires = "dir")]
    pub(crate) root: Option<PathBuf>,
    /// The environment file.
    #[arg(long, value_name = "FILE")]
    pub(crate) env: Option<PathBuf>,
    /// The commit: 40 hex digits. Without it, the branch's tip.
    #[arg(long, value_name = "SHA", requires = "env")]
    pub(crate) commit: Option<String>,
    /// The kubeconfig, for a directory.
    #[arg(long, value_name = "FILE", requires = "dir", required_unless_present = "env")]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context inside the kubeconfig, for a directory.
    #[arg(long, value_name = "NAME", requires = "dir", required_unless_present = "env")]
    pub(crate) context: Option<String>,
    /// Where `plan.json`, `plan.html`, `plan.md` and `plan.txt` are written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// How the changes of an object are shown as text.
    #[arg(long, value_enum, default_value_t = Diff::Fields)]
    pub(crate) diff: Diff,
    /// Exit with 2 when anything would change.
    #[arg(long)]
    pub(crate) detailed_exitcode: bool,
    /// Ask the server about every object, even where nothing moved since it was asked last.
    #[arg(long)]
    pub(crate) no_memo: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ApproveArguments {
    /// The file `plan.json` of the plan.
    #[arg(value_name = "PLAN")]
    pub(crate) plan: PathBuf,
    /// The approver's SSH private key.
    #[arg(long, value_name = "FILE")]
    pub(crate) key: PathBuf,
    /// The approver's name, as the environment file writes it.
    #[arg(long = "as", value_name = "NAME")]
    pub(crate) approver: String,
    /// Why it is approved.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,
    /// How long the approval counts; the environment file may allow less.
    #[arg(long, value_name = "DURATION", default_value = "4h")]
    pub(crate) valid_for: Duration,
    /// The folder for the approval file.
    #[arg(long, value_name = "DIR", default_value = "approvals")]
    pub(crate) out: PathBuf,
    /// Do not ask for the digest; for scripts that have shown the plan already.
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DriftArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// The commit to compare with. Without it, the one that was delivered last.
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
    /// Where `drift.json`, `drift.html`, `drift.md` and `drift.txt` are written.
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Ask the server about every object, even where nothing moved since it was asked last.
    #[arg(long, conflicts_with = "read_only")]
    pub(crate) no_memo: bool,
    /// Send nothing but GET and LIST: no dry-run, no review. Objects are compared here; the report says what that cannot see.
    #[arg(long)]
    pub(crate) read_only: bool,
    /// How the changes of an object are shown as text.
    #[arg(long, value_enum, default_value_t = Diff::Fields)]
    pub(crate) diff: Diff,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DoctorArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// The identity is meant to dry-run only: try a real write that changes nothing, and one that creates an empty
    /// ConfigMap in the record namespace. Both must be refused; what is created is deleted again.
    #[arg(long)]
    pub(crate) expect_dry_run_only: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct VerifyArguments {
    /// The environment file.
    #[arg(long, value_name = "FILE")]
    pub(crate) env: Option<PathBuf>,
    /// The repository, without an environment file.
    #[arg(long, value_name = "URL", conflicts_with = "env", required_unless_present = "env")]
    pub(crate) repo: Option<String>,
    /// The protected branch.
    #[arg(long, value_name = "NAME", requires = "repo", required_unless_present = "env")]
    pub(crate) branch: Option<String>,
    /// Armored public keys; every primary key in them counts.
    #[arg(long, value_name = "FILE", num_args = 1.., requires = "repo", required_unless_present = "env")]
    pub(crate) keys: Vec<PathBuf>,
    /// The commit: 40 hex digits. Without it, the branch's tip.
    #[arg(long, value_name = "SHA")]
    pub(crate) commit: Option<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct RenderArguments {
    /// The directory.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// The repository that the directory belongs to, for kustomizations that use its other folders. Without
    /// it, the nearest folder above that holds `.git` or `windlass.yaml`.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// Treat the directory as a repository and render every unit of this environment.
    #[arg(long, value_name = "NAME")]
    pub(crate) environment: Option<String>,
    /// Print Secret values too. Without it they are masked.
    #[arg(long)]
    pub(crate) show_secrets: bool,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct CheckArguments {
    /// The repository's directory.
    #[arg(value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// The environments to check.
    #[arg(long, value_name = "NAME", required = true)]
    pub(crate) environment: Vec<String>,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct HistoryArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// How many runs.
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct ShowArguments {
    /// The run's id.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct UnlockArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// The holder, as `windlass lock` shows it.
    #[arg(long, value_name = "ID")]
    pub(crate) holder: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct AcceptRewriteArguments {
    #[command(flatten)]
    pub(crate) environment: EnvironmentArguments,
    /// The branch's tip, as you have looked at it: 40 hex digits.
    #[arg(long, value_name = "SHA")]
    pub(crate) tip: String,
    /// Why it was rewritten; it is recorded.
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: String,
}
