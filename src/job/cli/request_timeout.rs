//! The meaning of `--timeout` for a command that could wait but was not told to.

use super::{Command, ExecutionsVerb, PipelinesVerb, StreamingVerb, TasksVerb};

impl Command {
    /// Returns the value of `--timeout` if the command could wait but does not: the flag then limits each request, as
    /// in the commands that never wait.
    pub(crate) fn request_timeout_without_wait(&self) -> Option<u64> {
        let (pace, is_waiting) = match self {
            Self::Pipelines(args) => match &args.verb {
                PipelinesVerb::Run(args) => (&args.pace, args.wait),
                PipelinesVerb::List { .. } => return None,
            },
            Self::Executions(args) => match &args.verb {
                ExecutionsVerb::Show { pace, wait, .. } | ExecutionsVerb::Cancel { pace, wait, .. } => {
                    (pace, *wait)
                }
            },
            Self::Streaming(args) => match &args.verb {
                StreamingVerb::Status { pace, wait, .. } => (pace, wait.is_some()),
                _ => return None,
            },
            Self::Tasks(args) => match &args.verb {
                TasksVerb::Create(args) => (&args.wait.pace, args.wait.wait),
                TasksVerb::Send { wait, .. } => (&wait.pace, wait.wait),
                TasksVerb::Decide(args) => (&args.pace, args.wait),
                TasksVerb::Messages { pace, follow, .. } => (pace, *follow),
                _ => return None,
            },
            _ => return None,
        };
        pace.timeout.filter(|_| !is_waiting)
    }
}
