//! `windlass doctor`: can this agent do its job?

mod leash;

use std::fmt::Write as _;

use serde_json::json;
use windlass_model::{ExitCode, GroupKind};
use windlass_settings::{ApprovalRules, Environment};
use windlass_source::{Request, Wanted};

use crate::args::DoctorArguments;
use crate::error::CommandError;
use crate::executor::desired;
use crate::session::{self, Session};
use crate::shell::Shell;
use crate::surroundings::Surroundings;

/// One thing that was looked at.
struct Finding {
    what: String,
    problem: Option<String>,
}

impl Finding {
    fn of<T>(what: impl Into<String>, result: Result<T, String>) -> Self {
        Self { what: what.into(), problem: result.err() }
    }
}

/// Fetches the branch's tip: address, network, credentials and branch in one.
async fn repository(settings: &Environment, surroundings: &Surroundings) -> Finding {
    let source = &settings.source;
    let what = format!("repository {} branch {}", source.repository, source.branch);
    let git = match desired::git(surroundings) {
        Ok(git) => git,
        Err(error) => return Finding::of(what, Err::<(), _>(error.report.what)),
    };
    let request = Request {
        repository: &source.repository,
        branch: &source.branch,
        wanted: &Wanted::Tip,
        running: None,
        highest_tip: None,
        rewritten_to: None,
        rollback: false,
        cache: &desired::repository_cache(&source.repository, surroundings),
        git: &git,
        environment: surroundings.variables(),
        fetch_timeout: settings.timeouts.fetch.get(),
    };
    let tip = windlass_source::fetch_unsigned(&request).await.map_err(|error| error.to_string());
    Finding::of(what, tip)
}

fn approvers(rules: &ApprovalRules) -> Vec<Finding> {
    let unusable = windlass_approve::check_keys(rules);
    if unusable.is_empty() {
        return vec![Finding::of(format!("{} approver(s)", rules.approvers.len()), Ok(()))];
    }
    unusable.iter().map(|error| Finding::of("approver", Err::<(), _>(error.to_string()))).collect()
}

/// Rights that every delivery needs, whatever it delivers.
const RIGHTS: [(&str, &str, &str, bool); 9] = [
    ("get", "", "Namespace", false),
    ("create", "coordination.k8s.io", "Lease", true),
    ("update", "coordination.k8s.io", "Lease", true),
    ("list", "", "ConfigMap", true),
    ("create", "", "ConfigMap", true),
    ("update", "", "ConfigMap", true),
    ("patch", "", "ConfigMap", true),
    ("delete", "", "ConfigMap", true),
    ("list", "", "Pod", false),
];

/// Rights that a preview needs beside those on what is delivered.
const LOOKING: [(&str, &str, &str, bool); 3] =
    [("get", "", "Namespace", false), ("list", "", "ConfigMap", true), ("list", "", "Pod", false)];

/// The right that `guards.retainVolumes` needs: see `pipeline/rbac/optional`.
const RETAINING: (&str, &str, &str, bool) = ("patch", "", "PersistentVolume", false);

pub(crate) async fn doctor(
    arguments: &DoctorArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let file = &arguments.environment.env;
    let settings = session::read_environment(file)?;
    let mut findings = vec![Finding::of(format!("environment file {}", file.display()), Ok(()))];
    findings.extend(programs(surroundings));
    if !settings.source.keys.is_empty() {
        let keyring = desired::keyring(&settings).map(drop).map_err(|error| error.report.what);
        findings.push(Finding::of(format!("{} pinned key(s)", settings.source.keys.len()), keyring));
    }
    findings.extend(approvers(&settings.approval));
    let reports = session::private_folder(&settings.record.reports).map_err(|error| error.to_string());
    findings.push(Finding::of(format!("report folder {}", settings.record.reports.display()), reports));
    findings.push(repository(&settings, surroundings).await);
    match Session::open(file, "doctor", shell, surroundings).await {
        Ok(session) => {
            findings.extend(on_cluster(&session, arguments.expect_dry_run_only).await);
            if arguments.expect_dry_run_only {
                findings.extend(leash::try_out(&session).await);
            }
        }
        Err(error) => findings.push(Finding::of("cluster", Err::<(), _>(error.report.what))),
    }
    Ok(conclude(&findings, shell))
}

fn programs(surroundings: &Surroundings) -> Vec<Finding> {
    let present = |name: &str, why: &str| {
        let found = surroundings.program(name).ok_or_else(|| format!("not on the search path; {why}"));
        Finding::of(format!("program {name}"), found)
    };
    let renderer = desired::renderer(surroundings).ok_or_else(|| {
        "neither kustomize nor kubectl is on the search path; units with a kustomization need one".to_owned()
    });
    vec![
        present("git", "it fetches the commit"),
        present("gpg", "it checks signatures"),
        present("bwrap", "it locks the renderer up (package bubblewrap)"),
        Finding::of("renderer", renderer),
    ]
}

async fn on_cluster(session: &Session, looks_only: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    let identity = session.cluster.whoami().await;
    let name = identity
        .as_ref()
        .map_or_else(|_| String::new(), |(user, groups)| format!(" {user} ({})", groups.join(", ")));
    findings.push(Finding::of(format!("identity{name}"), identity.map_err(|error| error.to_string())));
    let id = &session.cluster_id;
    findings.push(Finding::of(format!("cluster {} {} uid {}", id.server, id.version, id.uid), Ok(())));
    let namespace = &session.settings.record.namespace;
    let check = session.store.check().await.map_err(|error| format!("{error}: {}", error.hint()));
    findings.push(Finding::of(format!("record namespace {namespace}"), check));
    let retaining = session.settings.guards.retain_volumes.then_some(RETAINING).filter(|_| !looks_only);
    let rights: &[_] = if looks_only { &LOOKING } else { &RIGHTS };
    for (verb, group, kind, in_records) in rights.iter().copied().chain(retaining) {
        let kind = GroupKind::new(group, kind);
        let place = in_records.then_some(namespace.as_str());
        let allowed = match session.cluster.may(verb, &kind, place).await {
            Ok(true) => Ok(()),
            Ok(false) => Err("not allowed: see pipeline/rbac".to_owned()),
            Err(error) => Err(error.to_string()),
        };
        findings.push(Finding::of(format!("right to {verb} {kind}"), allowed));
    }
    findings
}

fn conclude(findings: &[Finding], shell: Shell) -> ExitCode {
    let palette = shell.palette();
    let mut text = String::new();
    for finding in findings {
        let what = windlass_report::clean(&finding.what);
        let _ = match &finding.problem {
            None => writeln!(text, "{} {what}", palette.good("ok     ")),
            Some(problem) => {
                writeln!(text, "{} {what}: {}", palette.bad("problem"), windlass_report::clean(problem))
            }
        };
    }
    let healthy = findings.iter().all(|finding| finding.problem.is_none());
    let code = if healthy { ExitCode::Ok } else { ExitCode::Error };
    let list: Vec<_> =
        findings.iter().map(|finding| json!({"what": finding.what, "problem": finding.problem})).collect();
    shell.result(&text, || json!({"findings": list}), code);
    code
}
