//! Checks the timeouts of the requests of a command.

use crate::error::Failure;

/// Fails if a command that does not wait has both timeouts for each request: `--timeout` and `--request-timeout`.
pub(crate) fn reject_two_timeouts(timeout: Option<u64>, request_timeout: Option<u64>) -> Result<(), Failure> {
    if timeout.is_none() || request_timeout.is_none() {
        return Ok(());
    }
    let message = "--timeout and --request-timeout both set the timeout for each request, because the command does \
                   not wait";
    Err(Failure::usage(message).with_hint("remove one of the two flags"))
}
