//! Causes that do not go away by waiting, and how long each must last before it counts.

use std::time::Duration;

/// A cause that keeps an object from becoming ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ailment {
    /// The class of the cause.
    pub cause: Cause,
    /// What is wrong, in one line. May hold texts of the cluster.
    pub reason: String,
    /// The pod that shows it, if one does.
    pub pod: Option<String>,
}

/// The class of a cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// An image cannot be pulled.
    Image,
    /// A container cannot be configured: a key, a ConfigMap or a Secret is missing.
    Config,
    /// A container fails again and again.
    CrashLoop,
    /// No node takes the pod.
    Unschedulable,
    /// Pods, or names, are refused: quota, policy, pod security, names taken.
    Refused,
    /// The Deployment's own deadline for progress has passed.
    Deadline,
    /// The same, but reported before this run's change: it may be about the previous rollout.
    OldDeadline,
    /// A pod of an earlier revision blocks the rollout (kubernetes issue 67250).
    Blocked,
}

/// How long a cause must last without a break before it ends the wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// For images that cannot be pulled.
    pub image: Duration,
    /// For containers that cannot be configured.
    pub config: Duration,
    /// How many restarts make a crash loop.
    pub restarts: i64,
    /// For pods that no node takes; an autoscaler needs time to add one.
    pub unschedulable: Duration,
    /// For pods that are refused.
    pub refused: Duration,
    /// For a Deployment's deadline that has passed.
    pub deadline: Duration,
    /// For a Deployment's deadline that had passed before this run's change.
    pub old_deadline: Duration,
    /// For a pod of an earlier revision in the way.
    pub blocked: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self {
            image: Duration::from_secs(20),
            config: Duration::from_secs(20),
            restarts: 3,
            unschedulable: Duration::from_mins(1),
            refused: Duration::from_secs(20),
            deadline: Duration::from_secs(10),
            old_deadline: Duration::from_mins(1),
            blocked: Duration::from_secs(20),
        }
    }
}

impl Grace {
    /// Returns how long a cause must last.
    pub fn of(&self, cause: Cause) -> Duration {
        match cause {
            Cause::Image => self.image,
            Cause::Config => self.config,
            // Its patience is the number of restarts.
            Cause::CrashLoop => Duration::ZERO,
            Cause::Unschedulable => self.unschedulable,
            Cause::Refused => self.refused,
            Cause::Deadline => self.deadline,
            Cause::OldDeadline => self.old_deadline,
            Cause::Blocked => self.blocked,
        }
    }
}
