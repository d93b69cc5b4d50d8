//! What a host left out or garbled.

/// The host's words about this run cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CiError {
    /// The event needs its payload, and the host names no file.
    #[error("the event `{event}` needs its payload, and GITHUB_EVENT_PATH names no file")]
    NoPayload { event: String },
    /// The payload's file could not be read.
    #[error("the event payload cannot be read: {why}")]
    Payload { why: String },
    /// A field of the payload that the event always has.
    #[error("the event payload {file} has no usable `{field}`, which `{event}` always has")]
    Field {
        file: String,
        /// The path of the field in the JSON document.
        field: String,
        event: String,
    },
    /// A variable that the host always sets for such a run.
    #[error("{host} sets the variable {variable} for such a run, and here it is not set")]
    Variable {
        host: &'static str,
        variable: &'static str,
    },
}

impl CiError {
    pub fn hint(&self) -> String {
        match self {
            Self::NoPayload { .. } | Self::Payload { .. } | Self::Field { .. } => {
                "hand GITHUB_EVENT_PATH and its file into the container that this runs in, or say which commits with \
                 --head, --branch and --base together with `--ci none`"
            }
            Self::Variable { .. } => {
                "hand the host's variables into the container that this runs in, or use `--ci none` with --head, \
                 --branch and --base"
            }
        }
        .to_owned()
    }
}
