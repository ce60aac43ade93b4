//! `windlass plan`: what would change? Writes nothing to the cluster.

use std::path::Path;
use std::time::Duration;

use windlass_model::{Event, ExitCode, Plan, Provenance, RunId, Sink as _, SourceTree, Stage};
use windlass_plan::{FieldRules, Inputs, Trials};
use windlass_render::{Limits, ResolvedUnit};
use windlass_report::{PlanText, plan_text};
use windlass_settings::Guards;
use windlass_source::Wanted;

use crate::args::PlanArguments;
use crate::ci;
use crate::commands::run::wanted;
use crate::error::CommandError;
use crate::executor::desired::{self, From};
use crate::executor::local::local_unit;
use crate::executor::memory::MemoryFile;
use crate::executor::papers;
use crate::executor::planning::{self, Purpose, Question};
use crate::executor::stage::stage;
use crate::reporter::Reporter;
use crate::session::{self, Session, TOOL};
use crate::shell::Shell;
use crate::signals::stop_on_signal;
use crate::surroundings::Surroundings;

pub(crate) async fn plan(
    arguments: &PlanArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<ExitCode, CommandError> {
    let plan = match (&arguments.env, &arguments.dir, &arguments.kubeconfig, &arguments.context) {
        (Some(env), ..) => of_environment(env, arguments, shell, surroundings).await?,
        (None, Some(dir), Some(kubeconfig), Some(context)) => {
            let (tree, unit) = local_unit(dir, arguments.root.as_deref())?;
            let local = Local { tree, unit, what: format!("directory {}", dir.display()) };
            let access = Access { kubeconfig, context, no_memo: arguments.no_memo };
            of_directory(local, access, shell, surroundings).await?
        }
        _ => {
            let what = "a directory needs --kubeconfig and --context";
            return Err(CommandError::new(ExitCode::Usage, what, "or name an environment file with --env"));
        }
    };
    if let Some(folder) = &arguments.out {
        papers::write_plan(folder, "plan", &plan)?;
    }
    ci::publish_plan(&plan, arguments.out.as_deref(), surroundings);
    Ok(conclude(&plan, arguments, shell))
}

/// Shows a plan and returns how the command ends.
fn conclude(plan: &Plan, arguments: &PlanArguments, shell: Shell) -> ExitCode {
    let refusal = planning::refusal(plan);
    let code = match &refusal {
        Some(error) => error.code,
        None if arguments.detailed_exitcode && plan.has_changes() => ExitCode::Changes,
        None => ExitCode::Ok,
    };
    let (palette, diff) = (shell.palette(), arguments.diff.into());
    let text = plan_text(plan, PlanText { drift: false, palette, diff, fields: 20, objects: 200 });
    shell.result(&text, || plan.to_json(), code);
    if let (Some(error), false) = (refusal, shell.is_json()) {
        shell.problem(&error);
    }
    code
}

async fn of_environment(
    env: &Path,
    arguments: &PlanArguments,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<Plan, CommandError> {
    let wanted = wanted(arguments.commit.as_deref())?;
    let session = Session::open(env, "plan", shell, surroundings).await?.remembering(arguments.no_memo);
    let mut plan = session.unless_stopped(made(&session, wanted)).await?;
    let freezes = windlass_plan::freezes(&plan, &session.settings.guards);
    plan.warnings
        .extend(freezes.into_iter().map(|freeze| format!("a run would be refused now: {}", freeze.message)));
    Ok(plan)
}

async fn made(session: &Session, wanted: Wanted) -> Result<Plan, CommandError> {
    let state = session.store.state().await?;
    let desired = desired::obtain(session, From::Commit { wanted, rollback: false }, &state).await?;
    let passed = planning::gate(session).await?;
    planning::plan(session, &desired, Some(passed.policies()), Purpose::Preview).await
}

/// A directory of this machine.
struct Local {
    tree: SourceTree,
    unit: ResolvedUnit,
    what: String,
}

/// The cluster that a directory is planned for.
struct Access<'a> {
    kubeconfig: &'a Path,
    context: &'a str,
    no_memo: bool,
}

async fn of_directory(
    local: Local,
    access: Access<'_>,
    shell: Shell,
    surroundings: &Surroundings,
) -> Result<Plan, CommandError> {
    let stop = stop_on_signal();
    let reporter = Reporter::new(shell.terminal(), stop.clone());
    tokio::select! {
        plan = made_of_directory(local, access, &reporter, surroundings) => plan,
        () = stop.cancelled() => Err(CommandError::interrupted()),
    }
}

async fn made_of_directory(
    local: Local,
    access: Access<'_>,
    reporter: &Reporter,
    surroundings: &Surroundings,
) -> Result<Plan, CommandError> {
    let clock = surroundings.clock();
    let run = RunId::new(clock.now(), &session::random_suffix());
    reporter.emit(Event::RunStarted { run: run.clone(), command: "plan".to_owned(), environment: None });
    let cluster =
        session::connect(access.kubeconfig, access.context, Duration::from_secs(30), &run, surroundings)
            .await?;
    let scopes = cluster.scopes().await?;
    let Local { tree, unit, what } = local;
    let rendering = desired::render(&tree, &[unit], surroundings, &Limits::default(), &scopes).await?;
    // From here on the objects are needed, and the files are not.
    drop(tree);
    stage(reporter, Stage::Plan, async {
        let fields = FieldRules::default();
        let cluster_id = cluster.identity().await?;
        let question = Question {
            cluster: &cluster,
            cluster_id: &cluster_id,
            environment: None,
            record_namespace: "",
            rendering: &rendering,
            rules: &fields,
            stand_in: "default",
            trials: Trials::Each,
        };
        let cache = surroundings.private_cache().filter(|_| !access.no_memo);
        let file = cache.map(|cache| MemoryFile::new(&cache, &cluster_id, None));
        let now = clock.now();
        let observation = planning::observe(question, file.as_ref(), now, reporter).await?;
        let inputs = Inputs {
            environment: None,
            cluster_id,
            source: Provenance::Unsigned { what, commit: None, author: None },
            rendering: &rendering,
            policies: None,
            rollback: None,
            guards: &Guards::default(),
            deletions: &[],
            fields: &fields,
            record_namespace: "",
            tool: TOOL,
            now,
        };
        let plan = windlass_plan::plan(inputs, &observation);
        let summary = windlass_report::plan_line(&plan);
        Ok((plan, summary))
    })
    .await
}
