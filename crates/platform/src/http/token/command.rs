//! A token from a shell command, bounded in output and time. Its output is never shown, on neither of its streams: a
//! script that traces itself (`set -x`) or fails half-way may print the secret anywhere.

use super::{MAX_TOKEN_SIZE, SOURCE_TIMEOUT, WITHHELD_VARIABLES};
use crate::http::token_value::TokenError;
use secrecy::SecretString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// Runs the token command and returns its trimmed output. Fails if the command exceeds a fixed time limit.
pub(super) async fn run_token_command(line: &str) -> Result<SecretString, TokenError> {
    run_command_within(line, SOURCE_TIMEOUT).await
}

/// Runs the token command without the variables that contain this program's secrets. Kills it if it exceeds the
/// timeout.
async fn run_command_within(line: &str, timeout: Duration) -> Result<SecretString, TokenError> {
    let mut command = build_shell_command(line);
    for name in WITHHELD_VARIABLES {
        command.env_remove(name);
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| command_error(&format!("could not be started: {error}")))?;
    // After the timeout, the child is dropped, which kills it.
    tokio::time::timeout(timeout, read_token(child))
        .await
        .map_err(|_| command_error(&format!("did not finish within {} s", timeout.as_secs())))?
}

/// Reads the token that the command prints. Fails if the command fails or prints too much. Its standard error is not
/// shown, because it may contain a secret.
async fn read_token(mut child: Child) -> Result<SecretString, TokenError> {
    let (stdout, stderr) = tokio::join!(read_stream(child.stdout.take()), read_stream(child.stderr.take()));
    if stdout.len() as u64 > MAX_TOKEN_SIZE {
        return Err(command_error(&format!(
            "printed more than {MAX_TOKEN_SIZE} bytes"
        )));
    }
    let status = child
        .wait()
        .await
        .map_err(|error| command_error(&format!("could not be waited for: {error}")))?;
    let Ok(text) = String::from_utf8(stdout) else {
        return Err(command_error(&"printed something that is not UTF-8 text"));
    };
    let token = SecretString::from(text.trim());
    if status.success() {
        return Ok(token);
    }
    Err(exit_error(status, stderr.len()))
}

/// Reads up to one byte more than [`MAX_TOKEN_SIZE`], so that the caller can recognize an output that is too large. The
/// rest is not read, and the command gets a closed pipe.
async fn read_stream(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut content = Vec::new();
    if let Some(stream) = stream {
        // A read error is ignored; the caller examines the exit status of the command.
        let _ = stream.take(MAX_TOKEN_SIZE + 1).read_to_end(&mut content).await;
    }
    content
}

/// Creates the error for a command that failed, with the size of its hidden standard error.
fn exit_error(status: ExitStatus, stderr_size: usize) -> TokenError {
    let stderr_size = stderr_size as u64;
    if stderr_size == 0 {
        return command_error(&format!(
            "failed ({status}) and printed nothing on standard error: run the command in a terminal to see why"
        ));
    }
    let amount = if stderr_size > MAX_TOKEN_SIZE {
        format!("more than {MAX_TOKEN_SIZE} bytes")
    } else {
        format!("{stderr_size} bytes")
    };
    command_error(&format!(
        "failed ({status}); its {amount} of standard error are not shown because they may contain a secret: run the command in a terminal to read them"
    ))
}

fn command_error(reason: &dyn std::fmt::Display) -> TokenError {
    TokenError::configuration(
        format!("the token command {reason}"),
        "correct the command of --token-command (SLUICEGATE_TOKEN_COMMAND): it must print only the token",
    )
}

/// Returns the command that runs the line in a shell.
#[cfg(not(windows))]
fn build_shell_command(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

/// Returns the command that runs the line in the shell of Windows.
#[cfg(windows)]
fn build_shell_command(line: &str) -> Command {
    let mut command = Command::new("cmd");
    // `raw_arg`: cmd has its own quoting rules, and the line is already written for them.
    command.arg("/C").raw_arg(line);
    command
}

#[cfg(all(test, unix))]
mod tests {
    use super::{run_command_within, run_token_command};
    use secrecy::ExposeSecret;
    use std::time::{Duration, Instant};

    async fn refused(line: &str) -> String {
        run_token_command(line)
            .await
            .map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
    }

    #[tokio::test]
    async fn output_is_token() {
        assert_eq!(
            run_token_command("printf ' abc\\n'")
                .await
                .unwrap()
                .expose_secret(),
            "abc"
        );
    }

    #[tokio::test]
    async fn failures_name_the_status_and_hide_the_output() {
        let failed = refused("echo s3cret; echo no luck with tok-secret-123 >&2; exit 3").await;
        insta::assert_snapshot!(failed, @"no usable token: the token command failed (exit status: 3); its 28 bytes of standard error are not shown because they may contain a secret: run the command in a terminal to read them");
        insta::assert_snapshot!(refused("exit 4").await, @"no usable token: the token command failed (exit status: 4) and printed nothing on standard error: run the command in a terminal to see why");
        insta::assert_snapshot!(refused("yes s3cret | head -c 70000").await, @"no usable token: the token command printed more than 65536 bytes");
        insta::assert_snapshot!(refused("printf '\\377'").await, @"no usable token: the token command printed something that is not UTF-8 text");
    }

    #[tokio::test]
    async fn command_that_hangs_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let line = format!("echo $$ > '{}'; exec sleep 600", pid.display());
        let started = Instant::now();
        let error = run_command_within(&line, Duration::from_millis(500))
            .await
            .unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(30));
        insta::assert_snapshot!(error, @"no usable token: the token command did not finish within 0 s");
        let pid = std::fs::read_to_string(&pid).unwrap();
        let stat_path = format!("/proc/{}/stat", pid.trim());
        if !std::path::Path::new("/proc/self/stat").exists() {
            return;
        }
        loop {
            let state = std::fs::read_to_string(&stat_path).unwrap_or_default();
            if state.is_empty() || state.contains(") Z ") {
                break;
            }
            assert!(started.elapsed() < Duration::from_secs(30), "it still runs");
            tokio::task::yield_now().await;
        }
    }
}
