//! Tells what happens while it happens.

use std::io::Write;
use std::sync::Mutex;

use windlass_model::{Event, Level, MutationResult, Stage, StageOutcome};

use crate::{Palette, clean, without_commands};

/// How the narrator may write.
#[derive(Debug, Clone, Copy)]
pub struct Terminal {
    /// Colour.
    pub palette: Palette,
    /// Whether a line can be overwritten: progress is then shown in place, and only then.
    pub live: bool,
    /// Whether every write is told, not only the stages.
    pub verbose: bool,
}

/// Writes events as lines for people, to standard error or wherever the binary says.
pub struct Narrator<W: Write + Send> {
    out: Mutex<W>,
    terminal: Terminal,
}

const CLEAR_LINE: &str = "\r\u{1b}[2K";

impl<W: Write + Send> Narrator<W> {
    /// Writes to `out`.
    pub fn new(out: W, terminal: Terminal) -> Self {
        Self { out: Mutex::new(out), terminal }
    }

    /// Tells one event. Trouble with the terminal never stops a delivery.
    pub fn tell(&self, event: &Event) {
        if let Some(progress) = self.progress(event) {
            self.write(&progress);
        } else if let Some(line) = self.line(event) {
            let clear = if self.terminal.live { CLEAR_LINE } else { "" };
            self.write(&format!("{clear}{}\n", without_commands(&line)));
        }
    }

    fn write(&self, text: &str) {
        if let Ok(mut out) = self.out.lock() {
            out.write_all(text.as_bytes()).and_then(|()| out.flush()).ok();
        }
    }

    fn progress(&self, event: &Event) -> Option<String> {
        match event {
            Event::Progress { stage, done, total, text } if self.terminal.live => {
                let line: String = clean(text).chars().take(70).collect();
                Some(format!("{CLEAR_LINE}  … {:<8} {done}/{total}  {line}", stage.name()))
            }
            Event::StageStarted { stage } if self.terminal.live => {
                Some(format!("{CLEAR_LINE}  … {}", stage.name()))
            }
            _ => None,
        }
    }

    fn line(&self, event: &Event) -> Option<String> {
        let palette = self.terminal.palette;
        match event {
            Event::RunStarted { run, command, environment } => {
                let place = environment.as_ref().map(|name| format!(" {}", clean(name))).unwrap_or_default();
                Some(palette.strong(&format!("windlass {}{place} · run {run}", clean(command))))
            }
            Event::StageFinished { stage, outcome, milliseconds } => {
                Some(self.stage_line(*stage, outcome, *milliseconds))
            }
            Event::Progress { stage, done, total, text } if self.terminal.verbose => {
                Some(palette.dim(&format!("    {:<8} {done}/{total}  {}", stage.name(), clean(text))))
            }
            Event::Message { level, text } => Some(match level {
                Level::Info => format!("    {}", clean(text)),
                Level::Warning => format!("  {} {}", palette.warn("warning:"), clean(text)),
                Level::Error => format!("  {} {}", palette.bad("error:"), clean(text)),
            }),
            // An answer that matters ends the stage, which says so; others are attempts that go on.
            Event::Answered { .. } if !self.terminal.verbose => None,
            Event::Answered { mutation, result } => {
                let what = format!("    {} {}", mutation.verb, clean(&mutation.object.to_string()));
                Some(palette.dim(&match result {
                    MutationResult::Done => what,
                    MutationResult::Failed { message } => format!("{what}: refused: {}", clean(message)),
                    MutationResult::Unknown { message } => format!("{what}: no answer: {}", clean(message)),
                }))
            }
            Event::StageStarted { .. } | Event::Progress { .. } | Event::Sending { .. } => None,
            Event::RunFinished { outcome } => Some(if outcome == "ok" {
                palette.good("done: ok")
            } else {
                palette.bad(&format!("ended: {}", clean(outcome)))
            }),
        }
    }

    fn stage_line(&self, stage: Stage, outcome: &StageOutcome, milliseconds: u64) -> String {
        let palette = self.terminal.palette;
        let name = format!("{:<8}", stage.name());
        let (mark, text) = match outcome {
            StageOutcome::Passed { summary } => (palette.good("✓"), clean(summary)),
            StageOutcome::Skipped { reason } => (palette.dim("–"), palette.dim(&clean(reason))),
            StageOutcome::Failed { reason } => {
                (palette.bad("✗"), palette.bad(&format!("FAILED: {}", clean(reason))))
            }
        };
        let time = palette.dim(&format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100));
        format!("  {mark} {name} {text}  {time}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(live: bool, events: &[Event]) -> String {
        let narrator =
            Narrator::new(Vec::new(), Terminal { palette: Palette::plain(), live, verbose: false });
        for event in events {
            narrator.tell(event);
        }
        String::from_utf8(narrator.out.into_inner().unwrap()).unwrap()
    }

    #[test]
    fn progress_is_told_only_where_a_line_can_be_overwritten() {
        let progress = Event::Progress {
            stage: Stage::Rollout,
            done: 1,
            total: 3,
            text: "shop/db: 1 of 3 ready".into(),
        };
        assert_eq!(told(false, std::slice::from_ref(&progress)), "");
        assert!(told(true, &[progress]).contains("1/3"));
    }

    #[test]
    fn stages_are_told_with_outcome_and_time() {
        let finished = |outcome| Event::StageFinished { stage: Stage::Gate, outcome, milliseconds: 1234 };
        let text = told(
            false,
            &[
                finished(StageOutcome::Passed { summary: "2 policies enforced".into() }),
                finished(StageOutcome::Failed { reason: "::error::x".into() }),
            ],
        );
        assert_eq!(
            text,
            "  ✓ gate     2 policies enforced  1.2 s\n  ✗ gate     FAILED: : :error::x  1.2 s\n"
        );
    }
}
