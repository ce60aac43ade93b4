//! What can be typed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::{Args, Parser, Subcommand, ValueEnum as _};

use crate::bench::Bench;
use crate::case::Case;
use crate::tools::Tool;

/// Measures Windlass beside other tools.
#[derive(Debug, Parser)]
#[command(name = "windlass-bench")]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Write a set of objects of many kinds; the same for the same arguments.
    Generate {
        /// How many objects, not counting their namespaces.
        #[arg(long, default_value_t = 1000)]
        objects: usize,
        /// How many of them differ from a set that was generated with 0.
        #[arg(long, default_value_t = 0)]
        changed: usize,
        /// The folder.
        #[arg(long)]
        out: PathBuf,
    },
    /// Measure what the results lack.
    Run(RunArguments),
    /// Print the results as Markdown.
    Report {
        /// The file of the results.
        #[arg(long)]
        results: PathBuf,
    },
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// How many objects, not counting their namespaces.
    #[arg(long, default_value_t = 1000)]
    objects: usize,
    /// The tools; all without it.
    #[arg(long, value_enum, value_delimiter = ',')]
    tools: Vec<Tool>,
    /// The cases; all without it.
    #[arg(long, value_enum, value_delimiter = ',')]
    cases: Vec<Case>,
    /// Calls that take long and are left out: TOOL/STEP.
    #[arg(long, value_delimiter = ',')]
    skip: Vec<String>,
    /// How often each call but the first apply is repeated.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// After so many seconds nothing more is started, and what runs is stopped.
    #[arg(long, value_name = "SECONDS", default_value_t = 1200)]
    budget: u64,
    /// The folder of the binaries, named as the tools.
    #[arg(long)]
    programs: PathBuf,
    /// The program of the control plane.
    #[arg(long)]
    testbed: PathBuf,
    /// The folder of Windlass' own roles and bindings.
    #[arg(long)]
    rights: PathBuf,
    /// A folder for sets, settings and output.
    #[arg(long)]
    work: PathBuf,
    /// The file of the results: what it holds is not measured again.
    #[arg(long)]
    pub(crate) results: PathBuf,
}

impl RunArguments {
    /// Returns the benchmark, whose time begins now.
    pub(crate) fn bench(self) -> Bench {
        let mut cases = if self.cases.is_empty() { Case::value_variants().to_vec() } else { self.cases };
        let earlier: Vec<Case> = cases.iter().filter_map(|case| case.stands_on()).collect();
        cases.extend(earlier);
        Bench {
            objects: self.objects,
            tools: if self.tools.is_empty() { Tool::value_variants().to_vec() } else { self.tools },
            cases,
            skip: self.skip,
            repeat: self.repeat.into(),
            deadline: Instant::now() + Duration::from_secs(self.budget),
            programs: self.programs,
            testbed: self.testbed,
            rights: self.rights,
            work: self.work,
        }
    }
}
