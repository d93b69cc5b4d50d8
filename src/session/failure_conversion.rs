//! Converts the errors of all modules to failures, with an exit status and a hint.

use crate::error::{Detail, Failure};
use crate::exit::ExitStatus;
use crate::job::context::ContextError;
use crate::job::policy::PolicyError;
use crate::job::settings::SettingsError;
use crate::publish::PublishError;
use sluicegate_base::text::format_path;
use sluicegate_git::GitError;
use sluicegate_local_platform::ServiceError;
use sluicegate_platform::definitions::DefinitionError;
use sluicegate_platform::http::{ErrorKind, HttpError};
use std::io;
use std::path::Path;

/// Returns a failure with an optional hint.
fn failure_with_hint(
    status: ExitStatus,
    error: impl std::error::Error + Send + Sync + 'static,
    hint: Option<String>,
) -> Failure {
    let failure = Failure::new(status, error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Returns a function that converts the error of a write to this path to a failure. `description` precedes the path in
/// the message, for example "the receipt ".
pub(crate) fn to_write_failure(description: &str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
    let context = format!("could not write {description}{}", format_path(path));
    move |error| Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context))
}

impl From<SettingsError> for Failure {
    fn from(error: SettingsError) -> Self {
        let hint = error.hint().map(str::to_owned);
        failure_with_hint(ExitStatus::Usage, error, hint)
    }
}

impl From<GitError> for Failure {
    fn from(error: GitError) -> Self {
        let hint = error.hint();
        failure_with_hint(git_exit_status(&error), error, hint)
    }
}

/// Returns the exit status of a git error. If a tree is damaged or malicious, its files cannot be evaluated, so the
/// run is undecided.
const fn git_exit_status(error: &GitError) -> ExitStatus {
    match error {
        GitError::InvalidTree { .. } => ExitStatus::Undecided,
        GitError::TemporaryDirectory { .. } | GitError::TemporaryFile { .. } => ExitStatus::Usage,
        _ => ExitStatus::Context,
    }
}

impl From<ContextError> for Failure {
    fn from(error: ContextError) -> Self {
        let hint = error.hint();
        let status = match &error {
            ContextError::Git(error) => git_exit_status(error),
            _ => ExitStatus::Context,
        };
        failure_with_hint(status, error, hint)
    }
}

impl From<PolicyError> for Failure {
    fn from(error: PolicyError) -> Self {
        let hint = error.hint();
        let status = match &error {
            PolicyError::Unreadable { .. } | PolicyError::MissingFile { .. } => ExitStatus::Usage,
            PolicyError::Git(error) => git_exit_status(error),
        };
        failure_with_hint(status, error, hint)
    }
}

impl From<DefinitionError> for Failure {
    fn from(error: DefinitionError) -> Self {
        let hint = error.hint().map(str::to_owned);
        failure_with_hint(ExitStatus::Usage, error, hint)
    }
}

/// Returns the exit status for a failed request.
pub(crate) const fn http_exit_status(kind: ErrorKind) -> ExitStatus {
    match kind {
        kind if kind.is_denied() => ExitStatus::Denied,
        ErrorKind::Configuration | ErrorKind::InvalidName => ExitStatus::Usage,
        ErrorKind::Conflict => ExitStatus::AlreadyExists,
        _ => ExitStatus::Undecided,
    }
}

/// Returns the exit status for a failed request of an operation of several steps. This is exit code 8 if an earlier
/// step changed something or the request itself may have been processed, unless the token lacks the permission.
pub(crate) fn step_exit_status(error: &HttpError, has_finished_step: bool) -> ExitStatus {
    match http_exit_status(error.kind()) {
        ExitStatus::Denied => ExitStatus::Denied,
        _ if has_finished_step || error.is_maybe_processed() => ExitStatus::RemoteFailed,
        status => status,
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self::from_message(http_exit_status(error.kind()), error.summary())
            .with_details(error.list_violations().into_iter().map(Detail::Violation))
            .with_hint(error.hint())
    }
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        let hint = error.hint();
        let status = match &error {
            PublishError::Git(error) => git_exit_status(error),
            _ => ExitStatus::Usage,
        };
        let details = error.list_details();
        failure_with_hint(status, error, hint).with_entries(details)
    }
}

impl From<ServiceError> for Failure {
    fn from(error: ServiceError) -> Self {
        let status = match error {
            ServiceError::Repository { .. } => ExitStatus::Context,
            _ => ExitStatus::Usage,
        };
        let hint = error.hint();
        failure_with_hint(status, error, hint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_tree_leaves_the_run_undecided_wherever_it_is_read() {
        let damaged_tree = || GitError::InvalidTree {
            id: "1".repeat(40),
            reason: "duplicate entry",
        };
        let failures = [
            Failure::from(damaged_tree()),
            Failure::from(ContextError::Git(damaged_tree())),
            Failure::from(PolicyError::Git(damaged_tree())),
            Failure::from(PublishError::Git(damaged_tree())),
        ];
        for failure in failures {
            assert_eq!(failure.status(), ExitStatus::Undecided);
        }
    }
}
