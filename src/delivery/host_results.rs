//! Sends results to the CI host: the comment on the change, Bitbucket's Code Insights, Buildkite's annotation.
//!
//! These deliveries do not affect the verdict, so a failure is only a warning.

use super::Delivery;
use crate::error::Failure;
use crate::hosts::{CodeInsights, Kept, Thread, keep_comment};
use crate::job::ci::Host;
use crate::job::cli::Annotations;
use crate::job::settings::variable;
use crate::report::{self, About, bitbucket};
use crate::session::Run;
use secrecy::SecretString;
use sluicegate_pipelines::findings::Verdict;
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_platform::http::{HostClient, HostSettings, SECRETS, Url};
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// Timeout of one request to a host, and of its agent.
const TIMEOUT: Duration = Duration::from_secs(30);
const RETRIES: u32 = 2;

/// Address of Bitbucket's proxy in a pipeline, and the API requested through it.
const BITBUCKET_PROXY: &str = "http://localhost:29418";
const BITBUCKET_API: &str = "http://api.bitbucket.org";

/// Sends the requested results in the forms that the host can show.
pub(super) fn send(run: &Run, delivery: &Delivery<'_>, about: &About) {
    let shows = delivery.to.annotations != Annotations::None;
    let sent = match delivery.host() {
        Host::Bitbucket if shows => code_insights(run, delivery, about).map_err(|why| ("Code Insights", why)),
        Host::Buildkite if shows => annotate(run, delivery, about).map_err(|why| ("the annotation", why)),
        _ => Ok(()),
    };
    let commented = if delivery.to.comment {
        comment(run, delivery, about).map_err(|why| ("the comment", why))
    } else {
        Ok(())
    };
    for (what, failure) in [sent, commented].into_iter().filter_map(Result::err) {
        run.ui
            .warn(&format!("could not send {what}: {}", failure.describe()));
    }
}

fn comment(run: &Run, delivery: &Delivery<'_>, about: &About) -> Result<(), Failure> {
    let (thread, settings) = thread(run, delivery)?;
    let client = HostClient::new(&settings)?;
    let body = report::comment(delivery.report, about);
    let marker = body.lines().next().unwrap_or_default();
    let kept = run.block_on(keep_comment(&client, &thread, marker, &body))??;
    run.ui.say(match kept {
        Kept::Posted => "posted a comment with the result",
        Kept::Updated => "updated the comment with the result",
        Kept::Unchanged => "the comment is up to date",
    });
    Ok(())
}

/// Returns the thread for the comment, from the host's variables.
fn thread(run: &Run, delivery: &Delivery<'_>) -> Result<(Thread, HostSettings), Failure> {
    let number = delivery.ci.pull_request;
    let number = number.ok_or_else(|| Failure::usage("this run does not belong to a pull or merge request"));
    match delivery.host() {
        Host::GitHub => {
            let name = need(run, "GITHUB_REPOSITORY")?;
            let (owner, repository) = name.split_once('/').unwrap_or((name, ""));
            let thread = Thread::GitHub {
                owner: owner.to_owned(),
                repository: repository.to_owned(),
                number: number?,
            };
            let root = run.env.get("GITHUB_API_URL").unwrap_or("https://api.github.com");
            Ok((thread, settings(run, root, token(run, "GITHUB_TOKEN")?, None)?))
        }
        Host::GitLab => {
            // In a pipeline of a fork, the merge request belongs to the target project.
            let project = run.env.get("CI_MERGE_REQUEST_PROJECT_ID");
            let thread = Thread::GitLab {
                project: project.map_or_else(|| need(run, "CI_PROJECT_ID"), Ok)?.to_owned(),
                number: number?,
            };
            // The token of a job may not write notes, so a separate token is required:
            // <https://docs.gitlab.com/ci/jobs/ci_job_token/#job-token-access>.
            let token = token(run, "GITLAB_TOKEN")?;
            let ca_cert = run.env.get("CI_SERVER_TLS_CA_FILE").map(PathBuf::from);
            let root = need(run, "CI_API_V4_URL")?;
            Ok((thread, settings(run, root, token, ca_cert)?))
        }
        host => Err(Failure::usage(format!(
            "comments are not supported on the host {host}"
        ))),
    }
}

fn need<'a>(run: &'a Run, variable: &str) -> Result<&'a str, Failure> {
    let missing = || Failure::usage(format!("the variable {variable} is not set"));
    run.env.get(variable).ok_or_else(missing)
}

fn token(run: &Run, variable: &str) -> Result<SecretString, Failure> {
    let missing = || Failure::usage(format!("the variable {variable} is not set"));
    run.env.secret(variable).ok_or_else(missing)
}

fn settings(
    run: &Run,
    root: &str,
    token: SecretString,
    ca_cert: Option<PathBuf>,
) -> Result<HostSettings, Failure> {
    let root = url(root)?;
    run.check_proxy_variables(&root)?;
    Ok(HostSettings {
        root,
        token: Some(token),
        proxy: None,
        timeout: TIMEOUT,
        retries: RETRIES,
        ca_cert,
        observer: run.observer(),
    })
}

fn url(text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|why| Failure::usage(format!("{text:?} is not a URL: {why}")))
}

fn code_insights(run: &Run, delivery: &Delivery<'_>, about: &About) -> Result<(), Failure> {
    let name = need(run, "BITBUCKET_REPO_FULL_NAME")?;
    let (workspace, repository) = name.split_once('/').unwrap_or((name, ""));
    let built = || built_commit(run, delivery);
    let head = delivery.report.context.head.clone();
    let commit = head.filter(|head| delivery.is_on_host(head)).or_else(built);
    let no_commit = || Failure::usage("the reviewed files differ from those of BITBUCKET_COMMIT");
    let commit = commit.ok_or_else(no_commit)?;
    let client = HostClient::new(&HostSettings {
        root: url(BITBUCKET_API)?,
        token: None,
        proxy: Some(url(run
            .env
            .get(variable::BITBUCKET_PROXY)
            .unwrap_or(BITBUCKET_PROXY))?),
        timeout: TIMEOUT,
        retries: RETRIES,
        ca_cert: None,
        observer: run.observer(),
    })?;
    let id = about.review_id(delivery.report);
    let insights = CodeInsights {
        workspace,
        repository,
        commit: &commit,
        report: &id,
    };
    let body = bitbucket::report(delivery.report);
    let annotations = bitbucket::annotations(delivery.report, about);
    run.block_on(insights.send(&client, &body, &annotations))??;
    run.ui.say("sent the result to Code Insights");
    Ok(())
}

/// Returns the commit of the build if the pipelines and rules of the working tree equal it.
fn built_commit(run: &Run, delivery: &Delivery<'_>) -> Option<String> {
    let built = run.env.get("BITBUCKET_COMMIT")?;
    let (repo, snapshot) = delivery.files?;
    let head = repo.head().ok()?.commit;
    let judged = |path: &str| is_pipeline(path) || path.ends_with(RULES_FILE);
    let is_clean = || {
        snapshot
            .changes(std::slice::from_ref(&head), &judged)
            .is_ok_and(|changes| changes.is_empty())
    };
    (head.to_string() == built && is_clean()).then(|| built.to_owned())
}

/// Creates an annotation with the agent's own command; a job in a container without the agent gets no annotation
/// (<https://buildkite.com/docs/agent/v3/cli-annotate>).
fn annotate(run: &Run, delivery: &Delivery<'_>, about: &About) -> Result<(), Failure> {
    let style = match delivery.report.verdict {
        Verdict::Passed => "success",
        Verdict::Failed => "error",
        Verdict::Undecided => "warning",
    };
    let context = about.review_id(delivery.report);
    let mut command = Command::new("buildkite-agent");
    command
        .args(["annotate", "--style", style, "--context", &context])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .kill_on_drop(true);
    for name in SECRETS {
        command.env_remove(name);
    }
    let body = report::comment(delivery.report, about);
    let waiting = || {
        format!(
            "waiting for buildkite-agent annotate; at most {} s",
            TIMEOUT.as_secs()
        )
    };
    let ended = run.block_on(async {
        let fed = tokio::time::timeout(TIMEOUT, feed(command, body));
        run.observer().waiting(fed, waiting).await
    })?;
    match ended {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Ok(Err(error)) => Err(Failure::usage(format!("buildkite-agent annotate: {error}"))),
        Err(_) => Err(Failure::usage("buildkite-agent annotate timed out")),
    }
}

async fn feed(mut command: Command, body: String) -> io::Result<()> {
    let mut child = command.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(body.as_bytes()).await?;
        input.shutdown().await?;
    }
    let status = child.wait().await?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(status.to_string()))
    }
}
