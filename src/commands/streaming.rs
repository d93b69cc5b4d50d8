//! Runs `sluicegate streaming`.

use crate::job::cli::StreamingVerb;
use crate::operations::streaming::{command, create, show, status, wait};
use crate::session::{CommandResult, Run};
use sluicegate_platform::api::StreamingCommand;

pub(crate) fn run(run: &Run, verb: StreamingVerb) -> CommandResult {
    match verb {
        StreamingVerb::Create {
            file,
            key_vault,
            output,
        } => create(run, &file, key_vault, output),
        StreamingVerb::Show(args) => show(run, &args),
        StreamingVerb::Start(args) => command(run, &args, StreamingCommand::Start),
        StreamingVerb::Stop(args) => command(run, &args, StreamingCommand::Stop),
        StreamingVerb::Status {
            id,
            wait: Some(state),
            pace,
            output,
        } => wait(run, &id, &state, &pace, output),
        StreamingVerb::Status { id, output, .. } => status(run, &id, output),
    }
}
