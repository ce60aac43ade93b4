//! What can go wrong between Windlass and an API server.

use windlass_model::{ExitCode, GroupKind};

use crate::{Failure, FailureKind};

/// Says why a request brought no answer that can be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum ClusterError {
    /// The kubeconfig cannot be used.
    #[error("kubeconfig `{path}`: {reason}")]
    Kubeconfig {
        /// The file.
        path: String,
        /// What is wrong with it.
        reason: String,
    },
    /// No connection could be made, or it broke.
    #[error("the API server {server} cannot be reached: {reason}")]
    Unreachable {
        /// The server's address.
        server: String,
        /// The innermost cause.
        reason: String,
    },
    /// The server did not answer in time.
    #[error("no answer to {what} within {seconds} s")]
    Timeout {
        /// The request's verb and path.
        what: String,
        /// The limit.
        seconds: u64,
    },
    /// The server answered with a failure.
    #[error("{what}: {failure}")]
    Api {
        /// The request's verb and path.
        what: String,
        /// The failure.
        failure: Box<Failure>,
    },
    /// The server does not serve a kind.
    #[error("the cluster does not know the kind `{kind}` in version `{version}`")]
    UnknownKind {
        /// The kind.
        kind: GroupKind,
        /// The version.
        version: String,
        /// Whether the group is served by an aggregated API server that does not answer.
        stale: bool,
    },
    /// The server's answer is not what the API promises.
    #[error("the answer to {what} cannot be read: {reason}")]
    Answer {
        /// The request's verb and path.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The request was not sent: it would not do what it is meant to.
    #[error("{what} was not sent: {reason}")]
    NotSent {
        /// The request's verb and path.
        what: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The request was not sent: the run was told to stop while the request waited for its turn.
    #[error("{what} was not sent: the run was told to stop")]
    Stopped {
        /// The request's verb and path.
        what: String,
    },
    /// Another cluster answered than the environment file names.
    #[error("this is another cluster: `kube-system` has uid {found}, the environment file says {expected}")]
    OtherCluster {
        /// The uid that the cluster has.
        found: String,
        /// The uid that was expected.
        expected: String,
    },
}

impl ClusterError {
    /// Returns the server's failure, if it answered with one.
    pub fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Api { failure, .. } => Some(failure),
            _ => None,
        }
    }

    /// Says whether no path of the server serves the kind, whatever discovery says.
    pub fn is_not_served(&self) -> bool {
        self.failure().is_some_and(|failure| failure.kind() == FailureKind::KindNotServed)
    }

    /// Says whether the failure concerns everything, not just what was asked about.
    pub fn concerns_everything(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::Kubeconfig { .. }
            | Self::NotSent { .. }
            | Self::Stopped { .. }
            | Self::OtherCluster { .. } => true,
            Self::Api { failure, .. } => failure.kind() == FailureKind::Unauthorized,
            Self::Timeout { .. } | Self::UnknownKind { .. } | Self::Answer { .. } => false,
        }
    }

    /// Says whether the server has forgotten the place from which a list or a watch was to go on.
    pub fn is_expired(&self) -> bool {
        self.failure().is_some_and(|failure| failure.code == 410)
    }

    /// Says whether a write that ended so may nevertheless have been carried out.
    pub fn may_have_landed(&self) -> bool {
        match self {
            Self::Unreachable { .. } | Self::Timeout { .. } | Self::Answer { .. } => true,
            // Whoever denies chooses the code; what was denied did not land.
            Self::Api { failure, .. } if failure.denier().is_some() => false,
            // Who was not able to answer may have done what was asked.
            Self::Api { failure, .. } => {
                failure.kind() == FailureKind::Unavailable
                    || failure.code == 500 && failure.reason == "Timeout"
            }
            Self::Kubeconfig { .. }
            | Self::UnknownKind { .. }
            | Self::NotSent { .. }
            | Self::Stopped { .. }
            | Self::OtherCluster { .. } => false,
        }
    }

    /// Returns the exit code of a command that ends with this error, where the stage has no better one.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Kubeconfig { .. } => ExitCode::BadInput,
            Self::Unreachable { .. } | Self::Timeout { .. } => ExitCode::Unreachable,
            Self::OtherCluster { .. } => ExitCode::Refused,
            Self::Api { failure, .. } if failure.denier().is_some() => ExitCode::Refused,
            Self::Api { failure, .. } => match failure.code {
                401 | 403 => ExitCode::Forbidden,
                429 | 502..=504 => ExitCode::Unreachable,
                _ => ExitCode::Error,
            },
            Self::UnknownKind { stale, .. } => {
                if *stale {
                    ExitCode::Unreachable
                } else {
                    ExitCode::BadInput
                }
            }
            Self::Stopped { .. } => ExitCode::Interrupted,
            Self::Answer { .. } | Self::NotSent { .. } => ExitCode::Error,
        }
    }

    /// Returns what to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Kubeconfig { .. } => "correct `cluster` in the environment file, or --kubeconfig and --context".to_owned(),
            Self::Unreachable { .. } => {
                "check the address in the kubeconfig, the network and the proxy settings; then run the same command again".to_owned()
            }
            Self::Timeout { .. } => "run the same command again; raise `timeouts.request` if the server is slow".to_owned(),
            Self::Api { failure, .. } => failure.hint().to_owned(),
            Self::UnknownKind { stale: true, .. } => {
                "the API service that serves this group does not answer: `kubectl get apiservices` shows which".to_owned()
            }
            Self::UnknownKind { kind, .. } => {
                format!("install the CustomResourceDefinition that defines `{kind}`, or correct apiVersion and kind")
            }
            Self::Answer { .. } => "something between Windlass and the API server alters answers: look for a proxy".to_owned(),
            Self::NotSent { .. } => "this is a defect of Windlass: please report it".to_owned(),
            Self::Stopped { .. } => "run the same command again: it goes on from there".to_owned(),
            Self::OtherCluster { .. } => "check `cluster.context`, or correct `cluster.uid` in the environment file".to_owned(),
        }
    }
}
