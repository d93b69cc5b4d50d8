//! Runs `sluicegate streaming`.

use crate::job::cli::StreamingVerb;
use crate::operations::streaming::{
    create_stream, print_status, print_stream, send_command, wait_for_status,
};
use crate::session::{CommandResult, Session};
use sluicegate_platform::api::StreamingCommand;

/// Runs `sluicegate streaming`: creates, shows, starts and stops streaming pipelines.
pub(crate) fn run(session: &Session, verb: StreamingVerb) -> CommandResult {
    match verb {
        StreamingVerb::Create {
            file,
            key_vault,
            output,
        } => create_stream(session, &file, key_vault, output),
        StreamingVerb::Show(args) => print_stream(session, &args),
        StreamingVerb::Start(args) => send_command(session, &args, StreamingCommand::Start),
        StreamingVerb::Stop(args) => send_command(session, &args, StreamingCommand::Stop),
        StreamingVerb::Status {
            id,
            wait: Some(state),
            pace,
            output,
        } => wait_for_status(session, &id, &state, &pace, output),
        StreamingVerb::Status { id, output, .. } => print_status(session, &id, output),
    }
}
