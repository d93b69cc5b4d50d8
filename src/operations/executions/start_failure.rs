//! The failure of a request that starts an execution.

use crate::error::Failure;
use crate::session::resource_lookup::creation_failure;
use sluicegate_platform::http::HttpError;

/// Hint to check whether an execution was started.
pub(super) const EXECUTION_CHECK_INSTRUCTION: &str = "check the list of executions on the platform";

/// Returns the failure for a response other than 404, with the next step for each cause that is known: an execution
/// with the same tag, or a disabled pipeline.
pub(super) fn start_failure(error: HttpError, tag: Option<&str>) -> Failure {
    let hint = match (error.status(), tag) {
        // A proxy may send 429 for a request that the platform has processed, so each earlier try is a possible cause.
        (Some(409), Some(tag)) if error.tries() > 1 => Some(format!(
            "an execution with the tag {tag} is running, perhaps because of an earlier try of this command: \
             {EXECUTION_CHECK_INSTRUCTION}"
        )),
        (Some(409), Some(tag)) => Some(format!(
            "an execution with the tag {tag} is running: wait until it ends, or use another tag"
        )),
        (Some(409), None) => {
            Some("another operation may prevent this execution: try again when it has ended".to_owned())
        }
        (Some(410), _) => {
            Some("the pipeline is disabled on the platform: enable it there or publish it again".to_owned())
        }
        _ => None,
    };
    let failure = creation_failure(error, EXECUTION_CHECK_INSTRUCTION);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
