//! Processor time, as the kernel counts it.

use std::fs;
use std::io;
use std::time::Duration;

/// The kernel counts in these.
const TICK: Duration = Duration::from_millis(10);

/// Returns the time of a running process.
pub(crate) fn of_process(pid: u64) -> io::Result<Duration> {
    process_fields(&format!("/proc/{pid}/stat"), [11, 12])
}

/// Returns the time of all children that ended, and of theirs.
pub(crate) fn of_children() -> io::Result<Duration> {
    process_fields("/proc/self/stat", [13, 14])
}

/// Returns the time in which any processor was busy.
pub(crate) fn of_machine() -> io::Result<Duration> {
    let text = fs::read_to_string("/proc/stat")?;
    let fields: Vec<u32> =
        text.split_whitespace().skip(1).take(8).map_while(|text| text.parse().ok()).collect();
    // user, nice, system, idle, waiting for disks, two kinds of interrupts, stolen
    let busy = fields.iter().enumerate().filter(|(field, _)| ![3, 4].contains(field));
    Ok(TICK * busy.map(|(_, ticks)| ticks).sum::<u32>())
}

/// Adds up two fields, counted after the name, which may hold anything.
fn process_fields(file: &str, fields: [usize; 2]) -> io::Result<Duration> {
    let text = fs::read_to_string(file)?;
    let after_name = text.rsplit_once(')').map_or("", |(_, rest)| rest);
    let ticks = |field| after_name.split_whitespace().nth(field)?.parse::<u32>().ok();
    Ok(TICK * fields.into_iter().filter_map(ticks).sum::<u32>())
}
