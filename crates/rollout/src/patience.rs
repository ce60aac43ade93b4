//! How long each cause has lasted.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::{Ailment, Cause, Grace, Verdict};

/// Remembers since when each ailment has been there without a break.
#[derive(Debug, Default)]
pub(crate) struct Patience {
    since: HashMap<Key, Instant>,
}

type Key = (usize, Cause, Option<String>);

impl Patience {
    /// Takes the verdicts of one moment and returns, for each target, the ailment that has lasted too long.
    pub(crate) fn overdue<'v>(
        &mut self,
        verdicts: &'v [Verdict],
        grace: &Grace,
        now: Instant,
    ) -> HashMap<usize, &'v Ailment> {
        let mut present = HashMap::new();
        let mut overdue = HashMap::new();
        for (target, verdict) in verdicts.iter().enumerate() {
            let Verdict::Ailing { ailments } = verdict else { continue };
            for ailment in ailments {
                let key = (target, ailment.cause, ailment.pod.clone());
                let since = self.since.get(&key).copied().unwrap_or(now);
                if now.duration_since(since) >= grace.of(ailment.cause) {
                    overdue.entry(target).or_insert(ailment);
                }
                present.insert(key, since);
            }
        }
        self.since = present;
        overdue
    }

    /// Says whether an ailment has been there for so long already.
    pub(crate) fn has_lasted(&self, target: usize, ailment: &Ailment, time: Duration, now: Instant) -> bool {
        let since = self.since.get(&(target, ailment.cause, ailment.pod.clone()));
        since.is_some_and(|since| now.duration_since(*since) >= time)
    }

    /// Returns when the next ailment will have lasted too long.
    pub(crate) fn next(&self, grace: &Grace) -> Option<Instant> {
        self.since.iter().map(|((_, cause, _), since)| *since + grace.of(*cause)).min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cause_counts_after_it_has_lasted_without_a_break() {
        let grace = Grace::default();
        let start = Instant::now();
        let mut patience = Patience::default();
        let ailing = |pod: &str| Verdict::Ailing {
            ailments: vec![Ailment { cause: Cause::Image, reason: "x".into(), pod: Some(pod.into()) }],
        };
        let mut check = |verdict: Verdict, second: u64, want: bool| {
            let got = !patience.overdue(&[verdict], &grace, start + Duration::from_secs(second)).is_empty();
            assert_eq!(got, want, "second {second}");
        };
        check(ailing("a"), 0, false);
        check(ailing("a"), 19, false);
        check(ailing("a"), 20, true);
        check(Verdict::waiting("well"), 21, false);
        check(ailing("a"), 22, false);
        check(ailing("a"), 41, false);
        check(ailing("b"), 42, false);
    }
}
