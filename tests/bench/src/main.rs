//! Benchmarks: Windlass beside kubectl, on the same generated objects and the same server.
//!
//! `make bench` builds what is needed, starts a control plane of its own and prints a table in Markdown.
#![expect(clippy::print_stdout, reason = "the table is the result")]

mod audit;
mod cases;
mod generate;
mod kinds;
mod measure;
mod table;

use std::io;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::cases::Bench;
use crate::generate::Set;

/// Measures Windlass beside kubectl.
#[derive(Debug, Parser)]
#[command(name = "windlass-bench")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write a repository with objects of many kinds; the same for the same arguments.
    Generate {
        /// How many objects.
        #[arg(long, default_value_t = 1000)]
        objects: usize,
        /// How many of them differ from a set that was generated with 0.
        #[arg(long, default_value_t = 0)]
        changed: usize,
        /// The beginning of all names.
        #[arg(long, default_value = "bench")]
        prefix: String,
        /// The folder.
        #[arg(long)]
        out: PathBuf,
    },
    /// Apply and plan generated sets with both tools, and print what it cost.
    Run {
        /// How many objects.
        #[arg(long, default_value_t = 1000)]
        objects: usize,
        /// The folder of a running control plane without other load.
        #[arg(long)]
        bed: PathBuf,
        /// The `windlass` to measure.
        #[arg(long)]
        windlass: PathBuf,
        /// The `kubectl` to measure.
        #[arg(long)]
        kubectl: PathBuf,
        /// A folder for sets, settings and output; it must be empty or missing.
        #[arg(long)]
        work: PathBuf,
    },
}

fn main() -> io::Result<()> {
    match Arguments::parse().command {
        Command::Generate { objects, changed, prefix, out } => {
            let count = Set { prefix: &prefix, objects, changed }.write(&out)?;
            println!("{count} objects in {}", out.display());
            Ok(())
        }
        Command::Run { objects, bed, windlass, kubectl, work } => {
            let rows = Bench { objects, bed, windlass, kubectl, work }.run()?;
            println!("{}", table::markdown(objects, &rows));
            Ok(())
        }
    }
}
