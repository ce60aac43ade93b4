//! What a program costs: time, processor, memory, requests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::audit::Mark;

/// The cost of one call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    /// Of the program and of what it started.
    pub(crate) processor: Duration,
    /// Of the API server and its store meanwhile.
    pub(crate) server: Duration,
    /// The largest resident size of the program itself, in KiB.
    pub(crate) peak: u64,
    pub(crate) requests: BTreeMap<String, usize>,
    /// The exit code.
    pub(crate) code: Option<i32>,
}

/// How often the size of a running program is read. Linux keeps the largest, so only the last moment can be missed.
const POLL: Duration = Duration::from_millis(5);

/// Runs a program to its end, with its output in a file.
pub(crate) fn cost(command: &mut Command, output: &Path, bed: &Path, agent: &str) -> io::Result<Cost> {
    let file = fs::File::create(output)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mark = Mark::new(bed)?;
    let (before, server_before) = (of_children()?, of_server(bed)?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let mut peak = 0;
    let status = loop {
        peak = peak.max(peak_of(child.id()).unwrap_or_default());
        if let Some(status) = child.try_wait()? {
            break status;
        }
        thread::sleep(POLL);
    };
    let wall = start.elapsed();
    Ok(Cost {
        wall,
        processor: of_children()?.saturating_sub(before),
        server: of_server(bed)?.saturating_sub(server_before),
        peak,
        requests: mark.requests(agent)?,
        code: status.code(),
    })
}

fn peak_of(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the processor time of all children that ended.
fn of_children() -> io::Result<Duration> {
    times("/proc/self/stat", [13, 14])
}

fn of_server(bed: &Path) -> io::Result<Duration> {
    let state: Value = serde_json::from_str(&fs::read_to_string(bed.join("state.json"))?)?;
    let mut sum = Duration::ZERO;
    for role in ["apiserver", "etcd"] {
        let pid = state["processes"][role]["pid"].as_u64().unwrap_or_default();
        sum += times(&format!("/proc/{pid}/stat"), [11, 12])?;
    }
    Ok(sum)
}

/// Adds up two fields of `stat`, counted after the name, in the kernel's ticks of 10 ms.
fn times(stat: &str, fields: [usize; 2]) -> io::Result<Duration> {
    let text = fs::read_to_string(stat)?;
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |field| after_name.split_whitespace().nth(field).and_then(|text| text.parse::<u64>().ok());
    Ok(Duration::from_millis(fields.into_iter().filter_map(ticks).sum::<u64>() * 10))
}
