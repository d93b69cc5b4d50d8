//! A token from a shell command, bounded in output and time. Its output is never shown, on neither of its streams: a
//! script that traces itself (`set -x`) or fails half-way may print the secret anywhere.

use super::{LIMIT, SECRETS};
use crate::http::bearer::TokenError;
use secrecy::SecretString;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};

/// Time limit of the command, which may prompt a person or query a vault over a slow network.
const TIME_LIMIT: Duration = Duration::from_secs(60);

pub(super) async fn run(line: &str) -> Result<SecretString, TokenError> {
    run_within(line, TIME_LIMIT).await
}

async fn run_within(line: &str, limit: Duration) -> Result<SecretString, TokenError> {
    let mut command = shell(line);
    for name in SECRETS {
        command.env_remove(name);
    }
    let child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|why| broken(&format!("could not be started: {why}")))?;
    // When the time is over, the child is dropped, which kills it.
    tokio::time::timeout(limit, finish(child))
        .await
        .map_err(|_| broken(&format!("did not finish within {} s", limit.as_secs())))?
}

async fn finish(mut child: Child) -> Result<SecretString, TokenError> {
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (out, err) = tokio::join!(read(out), read(err));
    if out.len() as u64 > LIMIT {
        return Err(broken(&format!("printed more than {LIMIT} bytes")));
    }
    let status = child
        .wait()
        .await
        .map_err(|why| broken(&format!("could not be waited for: {why}")))?;
    let Ok(text) = String::from_utf8(out) else {
        return Err(broken(&"printed something that is not UTF-8 text"));
    };
    let token = SecretString::from(text.trim());
    if status.success() {
        return Ok(token);
    }
    Err(failed(status, err.len()))
}

/// Reads up to one byte more than the limit; the rest stays unread and the writer gets a closed pipe.
async fn read(stream: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut content = Vec::new();
    if let Some(stream) = stream {
        // The exit status reports a stream that cannot be read.
        let _ = stream.take(LIMIT + 1).read_to_end(&mut content).await;
    }
    content
}

fn failed(status: ExitStatus, printed: usize) -> TokenError {
    let printed = match printed as u64 {
        0 => "nothing".to_owned(),
        size if size > LIMIT => format!("more than {LIMIT} bytes"),
        size => format!("{size} bytes"),
    };
    broken(&format!(
        "failed ({status}); it printed {printed} on standard error, which may contain a secret and is not shown: run the command by hand to read it"
    ))
}

fn broken(why: &dyn std::fmt::Display) -> TokenError {
    TokenError::Configuration(format!("the token command {why}"))
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.arg("-c").arg(line);
    command
}

#[cfg(windows)]
fn shell(line: &str) -> Command {
    let mut command = Command::new("cmd");
    // `raw_arg`: cmd has its own quoting rules, and the line is already written for them.
    command.arg("/C").raw_arg(line);
    command
}

#[cfg(all(test, unix))]
mod tests {
    use super::{run, run_within};
    use secrecy::ExposeSecret;
    use std::time::{Duration, Instant};

    async fn refused(line: &str) -> String {
        run(line)
            .await
            .map_or_else(|error| error.to_string(), |_| "accepted".to_owned())
    }

    #[tokio::test]
    async fn output_is_token() {
        assert_eq!(run("printf ' abc\\n'").await.unwrap().expose_secret(), "abc");
    }

    #[tokio::test]
    async fn failures_name_the_status_and_hide_the_output() {
        let failed = refused("echo s3cret; echo no luck with tok-secret-123 >&2; exit 3").await;
        insta::assert_snapshot!(failed, @"no token: the token command failed (exit status: 3); it printed 28 bytes on standard error, which may contain a secret and is not shown: run the command by hand to read it");
        insta::assert_snapshot!(refused("exit 4").await, @"no token: the token command failed (exit status: 4); it printed nothing on standard error, which may contain a secret and is not shown: run the command by hand to read it");
        insta::assert_snapshot!(refused("yes s3cret | head -c 70000").await, @"no token: the token command printed more than 65536 bytes");
        insta::assert_snapshot!(refused("printf '\\377'").await, @"no token: the token command printed something that is not UTF-8 text");
    }

    #[tokio::test]
    async fn command_that_hangs_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let pid = folder.path().join("pid");
        let line = format!("echo $$ > '{}'; exec sleep 600", pid.display());
        let started = Instant::now();
        let error = run_within(&line, Duration::from_millis(500)).await.unwrap_err();
        assert!(started.elapsed() < Duration::from_secs(30));
        insta::assert_snapshot!(error, @"no token: the token command did not finish within 0 s");
        let gone = || {
            let pid = std::fs::read_to_string(&pid).unwrap();
            let state = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
            state.is_empty() || state.contains(") Z ")
        };
        let has_proc = std::path::Path::new("/proc/self/stat").exists();
        while has_proc && !gone() {
            assert!(started.elapsed() < Duration::from_secs(30), "it still runs");
            tokio::task::yield_now().await;
        }
    }
}
