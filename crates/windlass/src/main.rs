//! The binary: arguments → validated settings → executor → exit code.

mod args;
mod ci;
mod commands;
mod error;
mod executor;
#[cfg(test)]
mod reference;
mod reporter;
mod session;
mod shell;
mod signals;
mod surroundings;
mod usage;

use std::process::ExitCode as ProcessExit;

use clap::Parser as _;
use windlass_model::ExitCode;

use args::Arguments;
use shell::Shell;
use surroundings::Surroundings;

fn main() -> ProcessExit {
    quieten_caught_panics();
    // Before anything makes a client: with two providers in one process, the first client would panic.
    drop(rustls::crypto::ring::default_provider().install_default());
    let surroundings = Surroundings::read();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            let code = usage::explain(&error, std::env::args_os(), &surroundings);
            return ProcessExit::from(code.code());
        }
    };
    start_log(&surroundings);
    let shell = Shell::new(&surroundings, arguments.talk);
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            shell.problem(&error::CommandError::new(
                ExitCode::Error,
                format!("no threads: {error}"),
                "free some memory",
            ));
            return ProcessExit::from(ExitCode::Error.code());
        }
    };
    let result = runtime.block_on(commands::dispatch(arguments.command, shell, &surroundings));
    // Threads that still wait for a server must not hold the process back.
    runtime.shutdown_background();
    let code = result.unwrap_or_else(|error| {
        shell.problem(&error);
        error.code
    });
    ProcessExit::from(code.code())
}

/// The YAML parser panics on a malformed tag; the reader catches that and reports the place. The message that
/// the runtime would print before is left out; those of other panics stay.
fn quieten_caught_panics() {
    let print = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !panic.location().is_some_and(|place| place.file().contains("libyaml-safer")) {
            print(panic);
        }
    }));
}

/// Writes the libraries' trace to standard error where `WINDLASS_LOG` asks for it.
fn start_log(surroundings: &Surroundings) {
    if let Some(filter) = surroundings.variable("WINDLASS_LOG") {
        let filter = tracing_subscriber::EnvFilter::builder().parse_lossy(filter);
        tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).init();
    }
}
