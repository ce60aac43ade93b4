//! How many requests may be in flight: more while that helps, fewer when the server has had enough.
//!
//! The rule is that of congestion control: up by one a round, down by half when refused, and down by one a round
//! while requests queue at the server. Measured on two cores, throughput stops growing at four to eight in flight,
//! and at 32 the slowest answers take many times longer.

use std::pin::pin;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

/// Where a connection starts, and below what waiting alone never pushes it.
const USUAL: f64 = 4.0;
/// How many requests may queue at the server before there are fewer, and how many must for there to be no more.
const QUEUED: (f64, f64) = (2.0, 4.0);
/// The share of the latest answer in the average.
const WEIGHT: f64 = 0.125;
/// How fast the best time is forgotten: slow kinds may follow fast ones.
const FORGET: f64 = 1.0003;

/// The size of the window, as a pure state machine.
#[derive(Debug)]
pub(crate) struct Window {
    size: f64,
    most: f64,
    /// The average time of an answer, and the best such average; in seconds.
    recent: Option<f64>,
    best: f64,
    /// Answers still awaited from before the last cut: they tell nothing about the new size.
    stale: usize,
}

impl Window {
    /// Starts small; never more than `most` at once, and always at least one.
    pub(crate) fn new(most: usize) -> Self {
        let most = to_float(most.max(1));
        Self { size: USUAL.min(most), most, recent: None, best: f64::INFINITY, stale: 0 }
    }

    /// Returns how many requests may be in flight.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and `most`")]
    pub(crate) fn size(&self) -> usize {
        self.size as usize
    }

    /// Takes down an answer and how long it took.
    pub(crate) fn answered(&mut self, took: Duration) {
        let took = took.as_secs_f64();
        let recent = self.recent.map_or(took, |recent| recent + (took - recent) * WEIGHT);
        self.recent = Some(recent);
        self.best = (self.best * FORGET).min(recent);
        if self.stale > 0 {
            self.stale -= 1;
            return;
        }
        let queued = if recent > 0.0 { self.size * (1.0 - self.best / recent) } else { 0.0 };
        if queued < QUEUED.0 {
            self.size = (self.size + 1.0 / self.size).min(self.most);
        } else if queued > QUEUED.1 && self.size > USUAL {
            self.size = (self.size - 1.0 / self.size).max(USUAL);
        }
    }

    /// Takes down that the server refused a request because it has too many. Those that were in flight at the same
    /// time will be refused too, and count once.
    pub(crate) fn refused(&mut self) {
        if self.stale > 0 {
            self.stale -= 1;
            return;
        }
        self.stale = self.size() - 1;
        self.size = (self.size / 2.0).max(1.0);
    }
}

fn to_float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Lets as many requests through as the window allows.
#[derive(Debug)]
pub(crate) struct Gate {
    state: Mutex<State>,
    freed: Notify,
}

#[derive(Debug)]
struct State {
    window: Window,
    in_flight: usize,
}

/// The right to have one request in flight.
pub(crate) struct Slot<'a>(&'a Gate);

impl Gate {
    pub(crate) fn new(most: usize) -> Self {
        Self { state: Mutex::new(State { window: Window::new(most), in_flight: 0 }), freed: Notify::new() }
    }

    /// Waits for a slot. It is kept over pauses between attempts: a server that throttles must not get more callers.
    pub(crate) async fn enter(&self) -> Slot<'_> {
        loop {
            let mut freed = pin!(self.freed.notified());
            // Registered before looking: of two slots that become free in between, one would be missed.
            freed.as_mut().enable();
            if self.try_enter() {
                return Slot(self);
            }
            freed.await;
        }
    }

    fn try_enter(&self) -> bool {
        let mut state = self.state();
        let free = state.in_flight < state.window.size();
        state.in_flight += usize::from(free);
        free
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slot<'_> {
    /// Reports an answer.
    pub(crate) fn answered(&self, took: Duration) {
        self.0.state().window.answered(took);
        // There may be room for one more than the one that leaves.
        self.0.freed.notify_one();
    }

    /// Reports that the server had too many requests.
    pub(crate) fn refused(&self) {
        self.0.state().window.refused();
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.0.state().in_flight -= 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// Feeds the window with answers of a server that works on `cores` requests at once, 5 ms each.
    fn fed(window: &mut Window, cores: f64, answers: usize) -> usize {
        for _ in 0..answers {
            let load = (to_float(window.size()) / cores).max(1.0);
            window.answered(Duration::from_secs_f64(0.005 * load));
        }
        window.size()
    }

    #[test]
    fn grows_while_the_server_keeps_pace_and_no_further_than_allowed() {
        let mut window = Window::new(16);
        assert_eq!(window.size(), 4);
        assert_eq!(fed(&mut window, 64.0, 400), 16);
    }

    #[test]
    fn stops_growing_where_requests_only_queue() {
        let mut window = Window::new(64);
        let size = fed(&mut window, 4.0, 300);
        assert!((4..=12).contains(&size), "{size}");
    }

    #[test]
    fn a_refusal_halves_and_simultaneous_ones_count_once() {
        let mut window = Window::new(16);
        fed(&mut window, 64.0, 400);
        for _ in 0..16 {
            window.refused();
        }
        assert_eq!(window.size(), 8);
        for _ in 0..100 {
            window.refused();
        }
        assert_eq!(window.size(), 1);
        assert!(fed(&mut window, 64.0, 400) > 8, "it must recover");
    }

    #[test]
    fn one_is_always_allowed() {
        assert_eq!(Window::new(0).size(), 1);
    }

    #[tokio::test]
    async fn never_more_in_flight_than_the_window_and_nobody_is_forgotten() {
        let gate = Arc::new(Gate::new(3));
        let (now, peak) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = (0..200)
            .map(|_| {
                let (gate, now, peak) = (gate.clone(), now.clone(), peak.clone());
                tokio::spawn(async move {
                    let slot = gate.enter().await;
                    peak.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    tokio::task::yield_now().await;
                    now.fetch_sub(1, Ordering::SeqCst);
                    slot.answered(Duration::from_millis(1));
                })
            })
            .collect();
        for task in tasks {
            task.await.unwrap();
        }
        assert!((1..=3).contains(&peak.load(Ordering::SeqCst)));
    }
}
