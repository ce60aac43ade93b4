//! What a program costs: time, processor, memory, requests.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::audit::Mark;
use crate::plane::ControlPlane;
use crate::ticks;

/// The cost of one call. Times are in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Cost {
    pub(crate) wall: f64,
    /// The part of it in which objects were applied, for a tool that does more and tells.
    #[serde(default)]
    pub(crate) applying: Option<f64>,
    /// Processor time of the program and of what it started.
    pub(crate) own: f64,
    /// Processor time of the API server and its store meanwhile.
    pub(crate) server: f64,
    /// Processor time of everything else on the machine, the controllers included.
    pub(crate) others: f64,
    /// The largest resident size of the program itself, in KiB.
    pub(crate) peak: u64,
    /// Requests by verb.
    pub(crate) requests: BTreeMap<String, usize>,
    /// Requests that changed objects of the set.
    pub(crate) writes: usize,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) enum End {
    /// By itself.
    Exit(ExitStatus, Cost),
    /// It took too long.
    Stopped,
}

/// How often the size of a running program is read. Linux keeps the largest, so only the last moment can be missed.
const POLL: Duration = Duration::from_millis(5);

/// Lines of the audit log follow their answers; this long after the last answer all are there.
const AUDIT_LAG: Duration = Duration::from_millis(300);

/// Runs a program to its end, or to the end of its time, with its output in a file.
pub(crate) fn measure(
    command: &mut Command,
    output: &Path,
    plane: &ControlPlane,
    limit: Duration,
) -> io::Result<End> {
    let file = fs::File::create(output)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    let mark = Mark::new(plane.audit_log())?;
    let before = Spent::until_now(plane)?;
    let start = Instant::now();
    let mut child = command.spawn()?;
    let Some((status, peak)) = watch(&mut child, start + limit)? else { return Ok(End::Stopped) };
    let wall = start.elapsed();
    let after = Spent::until_now(plane)?;
    thread::sleep(AUDIT_LAG);
    let requests = mark.requests()?;
    let since = |of: fn(&Spent) -> Duration| of(&after).saturating_sub(of(&before));
    let (own, server) = (since(|spent| spent.children), since(|spent| spent.server));
    let cost = Cost {
        wall: wall.as_secs_f64(),
        applying: None,
        own: own.as_secs_f64(),
        server: server.as_secs_f64(),
        others: since(|spent| spent.machine).saturating_sub(own + server).as_secs_f64(),
        peak,
        requests: requests.verbs,
        writes: requests.writes,
    };
    Ok(End::Exit(status, cost))
}

/// Processor times at one moment.
struct Spent {
    children: Duration,
    server: Duration,
    machine: Duration,
}

impl Spent {
    fn until_now(plane: &ControlPlane) -> io::Result<Self> {
        Ok(Self {
            children: ticks::of_children()?,
            server: plane.processor()?,
            machine: ticks::of_machine()?,
        })
    }
}

/// Waits for a program. Returns how it ended and its largest size, or nothing if it had to be killed.
fn watch(child: &mut Child, until: Instant) -> io::Result<Option<(ExitStatus, u64)>> {
    let mut peak = 0;
    loop {
        peak = peak.max(peak_of(child.id()).unwrap_or_default());
        if let Some(status) = child.try_wait()? {
            return Ok(Some((status, peak)));
        }
        if Instant::now() > until {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

fn peak_of(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
