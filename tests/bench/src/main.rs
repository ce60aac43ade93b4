//! Benchmarks: Windlass beside other tools, on the same generated objects and the same server.
//!
//! `make bench` builds what is needed, measures, and prints the tables in Markdown.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "the tables are the result")]

mod arguments;
mod audit;
mod bench;
mod case;
mod journal;
mod kinds;
mod measure;
mod plane;
mod report;
mod results;
mod set;
mod step;
mod target;
mod ticks;
mod tools;
mod turn;

use std::io;

use clap::Parser as _;

use crate::arguments::{Arguments, Command};
use crate::results::Results;
use crate::set::Set;

fn main() -> io::Result<()> {
    match Arguments::parse().command {
        Command::Generate { objects, changed, out } => {
            let set = Set { objects, changed };
            set.write(&out)?;
            println!("{} objects in {}", set.len(), out.display());
        }
        Command::Run(run) => {
            let mut results = Results::open(run.results.clone())?;
            run.bench().run(&mut results, |text| eprintln!("{text}"))?;
        }
        Command::Report { results } => print!("{}", report::markdown(Results::open(results)?.rows())),
    }
    Ok(())
}
