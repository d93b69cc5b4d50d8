//! Errors in the context that a CI host provides.

use super::Host;

/// The context of this run is missing or invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CiError {
    /// The event needs its payload, but the host does not set the path of the payload file.
    #[error("the event `{event}` needs its payload, but GITHUB_EVENT_PATH does not name a file")]
    NoPayload { event: String },
    /// The payload's file could not be read.
    #[error("could not read the event payload: {reason}")]
    Payload { reason: String },
    /// A field that the payload of this event always has is missing.
    #[error("the event payload {file} has no usable `{field}`, which `{event}` always has")]
    Field {
        file: String,
        /// The path of the field in the JSON document.
        field: String,
        event: String,
    },
    /// A variable that the host always sets for this kind of run is missing.
    #[error("the variable {variable} is not set, although {label} sets it for this kind of run", label = .host.label())]
    Variable { host: Host, variable: &'static str },
    /// The variable that identifies the host is missing, although another one names the target of a change there.
    #[error(
        "the variable {variable} is not set, although {label} sets it, and another variable names a change there",
        label = .host.label()
    )]
    HostVariable { host: Host, variable: &'static str },
}

impl CiError {
    /// Returns what the user can do about the error. The hint names variables and not flags, because few commands have
    /// all of these flags.
    pub fn hint(&self) -> String {
        match self {
            Self::NoPayload { .. } | Self::Payload { .. } | Self::Field { .. } => {
                "pass GITHUB_EVENT_PATH and its file into the container, or set SLUICEGATE_CI=unknown, \
                 SLUICEGATE_HEAD, SLUICEGATE_BRANCH and SLUICEGATE_BASE"
            }
            Self::Variable { .. } => {
                "pass the host's variables into the container, or set SLUICEGATE_CI=unknown, SLUICEGATE_HEAD, \
                 SLUICEGATE_BRANCH and SLUICEGATE_BASE"
            }
            Self::HostVariable { host, .. } => {
                return format!(
                    "pass the host's variables into the container, or name the host with SLUICEGATE_CI={host}"
                );
            }
        }
        .to_owned()
    }
}
