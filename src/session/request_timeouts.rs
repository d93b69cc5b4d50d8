//! Checks the timeouts of the requests of a command.

use crate::error::Failure;

/// Fails if a command that does not wait has two timeouts for each request.
pub(crate) fn reject_two_timeouts(has_two_timeouts: bool) -> Result<(), Failure> {
    if !has_two_timeouts {
        return Ok(());
    }
    let message = "--timeout and --request-timeout both set the timeout for each request, because the command does \
                   not wait";
    Err(Failure::usage(message).with_hint("remove one of the two flags"))
}
