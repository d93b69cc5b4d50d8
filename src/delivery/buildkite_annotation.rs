//! Buildkite's annotation of the build with the result.

use super::Delivery;
use crate::error::Failure;
use crate::session::Session;
use sluicegate_pipelines::findings::Verdict;
use sluicegate_platform::http::WITHHELD_VARIABLES;
use sluicegate_reports::ReportContext;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Timeout for the command of the host's agent.
const AGENT_TIMEOUT: Duration = Duration::from_secs(30);

/// Creates a Buildkite annotation with the agent's own command, `buildkite-agent annotate`
/// (<https://buildkite.com/docs/agent/v3/cli-annotate>). The command does not get the secrets of the platform and of
/// the code hosts. If the command is not installed, as in some containers, nothing happens.
pub(super) fn send_buildkite_annotation(
    session: &Session,
    delivery: &Delivery<'_>,
    context: &ReportContext,
) -> Result<(), Failure> {
    let style = match delivery.report.verdict {
        Verdict::Passed => "success",
        Verdict::Failed => "error",
        Verdict::Undecided => "warning",
    };
    // An annotation replaces the earlier annotation of the same build with the same context.
    let annotation_context = context.review_id(delivery.report);
    let mut command = Command::new("buildkite-agent");
    command
        .args(["annotate", "--style", style, "--context", &annotation_context])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    for name in WITHHELD_VARIABLES {
        command.env_remove(name);
    }
    let body = sluicegate_reports::render_comment(delivery.report, context);
    let result = session.block_on(async {
        let agent_run = tokio::time::timeout(AGENT_TIMEOUT, run_with_stdin(command, body));
        session
            .create_observer()
            .await_with_report(agent_run, || {
                format!(
                    "waiting up to {} s for `buildkite-agent annotate`",
                    AGENT_TIMEOUT.as_secs()
                )
            })
            .await
    })?;
    match result {
        Ok(Ok(())) => Ok(()),
        // The command is not installed.
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) => Err(Failure::usage(format!("buildkite-agent annotate: {error}"))),
        Err(_) => Err(Failure::usage("`buildkite-agent annotate` timed out")),
    }
}

/// Runs the command with `body` as its standard input. A status other than 0 is an error. A command that ends before it
/// reads all of its input is no error by itself, because its status says more.
async fn run_with_stdin(mut command: Command, body: String) -> io::Result<()> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        match input.write_all(body.as_bytes()).await {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => return Err(error),
            _ => {}
        }
        // The end of the input.
        drop(input);
    }
    let status = child.wait().await?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(status.to_string()))
    }
}
