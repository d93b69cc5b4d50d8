//! Runs `sluicegate streaming`.

use crate::job::cli::StreamingVerb;
use crate::operations::streaming::{
    create_stream, print_status, print_stream, send_command, wait_for_status,
};
use crate::session::{CommandResult, Run};
use sluicegate_platform::api::StreamingCommand;

/// Runs `sluicegate streaming`: creates, shows, starts and stops streaming pipelines.
pub(crate) fn run(run: &Run, verb: StreamingVerb) -> CommandResult {
    match verb {
        StreamingVerb::Create {
            file,
            key_vault,
            output,
        } => create_stream(run, &file, key_vault, output),
        StreamingVerb::Show(args) => print_stream(run, &args),
        StreamingVerb::Start(args) => send_command(run, &args, StreamingCommand::Start),
        StreamingVerb::Stop(args) => send_command(run, &args, StreamingCommand::Stop),
        StreamingVerb::Status {
            id,
            wait: Some(state),
            pace,
            output,
        } => wait_for_status(run, &id, &state, &pace, output),
        StreamingVerb::Status { id, output, .. } => print_status(run, &id, output),
    }
}
