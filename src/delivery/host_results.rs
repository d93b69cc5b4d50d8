//! Sends results to the CI host: the comment on the change, Bitbucket's Code Insights, Buildkite's annotation.
//!
//! These deliveries do not affect the verdict, so a failure is only a warning.

use super::Delivery;
use super::buildkite_annotation::send_buildkite_annotation;
use crate::error::Failure;
use crate::hosts::{self, CodeInsights, CommentChange, MissingResult, Thread};
use crate::job::ci::{CiContext, Host};
use crate::job::cli::Annotations;
use crate::job::settings::variable;
use crate::session::Session;
use secrecy::SecretString;
use serde_json::Value;
use sluicegate_pipelines::pipelines::{is_pipeline, is_rules_path};
use sluicegate_platform::http::{CaFile, HostClient, HostSettings, HttpError, Url};
use sluicegate_reports::{ReportContext, UnfinishedReport, bitbucket};
use std::time::Duration;

/// Timeout for a request to a CI host.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_RETRIES: u32 = 2;

/// Address of Bitbucket's proxy in a pipeline, and the API requested through it.
const BITBUCKET_PROXY: &str = "http://localhost:29418";
const BITBUCKET_API: &str = "http://api.bitbucket.org";

/// Sends the result to the host: to Code Insights on Bitbucket and into an annotation on Buildkite, unless annotations
/// are turned off, and into a comment on the change if requested. A failure is only a warning.
pub(super) fn send_results(session: &Session, delivery: &Delivery<'_>, context: &ReportContext) {
    let shows_annotations = delivery.destinations.annotations != Annotations::None;
    let result_outcome = match delivery.host() {
        Host::Bitbucket if shows_annotations => {
            send_code_insights(session, delivery, context).map_err(|failure| ("Code Insights", failure))
        }
        Host::Buildkite if shows_annotations => send_buildkite_annotation(session, delivery, context)
            .map_err(|failure| ("the annotation", failure)),
        _ => Ok(()),
    };
    let comment_outcome = if delivery.destinations.comment {
        send_comment(session, delivery, context).map_err(|failure| ("the comment", failure))
    } else {
        Ok(())
    };
    for (destination, failure) in [result_outcome, comment_outcome]
        .into_iter()
        .filter_map(Result::err)
    {
        session
            .ui
            .warn_of_failure(&format!("could not send {destination}: "), &failure);
    }
}

/// Replaces the results that earlier runs sent to the host, because this run ended before it had a result: the comment,
/// if the run keeps one, and the report in Code Insights, unless annotations are turned off. Does not create results. A
/// failure is only a warning.
pub(super) fn replace_results_of_earlier_runs(
    session: &Session,
    unfinished_report: &UnfinishedReport,
    has_comment: bool,
    reason: &str,
) {
    let Ok(ci) = session.read_ci_context() else {
        return;
    };
    if has_comment && ci.pull_request.is_some() {
        let body = unfinished_report.render_comment(reason, ci.commit.as_deref());
        if let Err(failure) = write_comment(session, &ci, &body, MissingResult::Omission) {
            session
                .ui
                .warn_of_failure("could not update the comment of an earlier run: ", &failure);
        }
    }
    let shows_annotations = session.chosen_annotations() != Annotations::None;
    if let Some(commit) = ci
        .commit
        .filter(|_| shows_annotations && ci.host == Host::Bitbucket)
    {
        let (report_id, body) = unfinished_report.build_code_insights(reason);
        let outcome = send_insights_report(session, &commit, &report_id, &body, &[], MissingResult::Omission);
        if let Err(failure) = outcome {
            session
                .ui
                .warn_of_failure("could not update Code Insights of an earlier run: ", &failure);
        }
    }
}

/// Posts the result as a comment on the pull or merge request. If a comment of an earlier run begins with the same
/// line, a hidden marker, updates that comment instead. Does nothing in a run that plainly belongs to no request, so
/// that one job can serve all events.
fn send_comment(session: &Session, delivery: &Delivery<'_>, context: &ReportContext) -> Result<(), Failure> {
    if !may_have_pull_request(delivery.ci) {
        return Ok(());
    }
    let body = sluicegate_reports::render_comment(delivery.report, context);
    write_comment(session, delivery.ci, &body, MissingResult::Creation)
}

/// Returns whether the run may belong to a pull or merge request. It does not after a push, for a tag, on a schedule,
/// and in a merge queue. On a host without support for comments, it always may, because the setting is then a mistake.
fn may_have_pull_request(ci: &CiContext) -> bool {
    let has_comments = matches!(ci.host, Host::GitHub | Host::GitLab | Host::Azure);
    let is_scheduled = ci.event.eq_ignore_ascii_case("schedule");
    let is_other_event = ci.is_push() || ci.tag.is_some() || is_scheduled || ci.is_queued;
    ci.pull_request.is_some() || !has_comments || !is_other_event
}

/// Writes the comment on the pull or merge request, whose first line is the marker by which it is found again.
fn write_comment(
    session: &Session,
    ci: &CiContext,
    body: &str,
    on_missing: MissingResult,
) -> Result<(), Failure> {
    let marker = body.lines().next().unwrap_or_default();
    let (thread, settings) = find_comment_thread(session, ci)?;
    let client = HostClient::new(&settings)?;
    let change = session.block_on(hosts::write_comment(&client, &thread, marker, body, on_missing))??;
    match change {
        CommentChange::Posted => session.ui.say("posted a comment with the result"),
        CommentChange::Updated => session.ui.say("updated the comment with the result"),
        CommentChange::Unchanged => session.ui.say("the comment with the result is up to date"),
        CommentChange::NotFound => {}
    }
    Ok(())
}

/// Returns the pull or merge request to comment on and the settings for the host's API, from the host's variables.
/// Fails on a host without support for comments, and if the run does not belong to a pull or merge request.
fn find_comment_thread(session: &Session, ci: &CiContext) -> Result<(Thread, HostSettings), Failure> {
    match ci.host {
        Host::GitHub => {
            let name = require_variable(session, "GITHUB_REPOSITORY")?;
            let (owner, repository) = name.split_once('/').unwrap_or((name, ""));
            let thread = Thread::GitHub {
                owner: owner.to_owned(),
                repository: repository.to_owned(),
                number: require_pull_request_number(ci)?,
            };
            let root = session
                .env
                .get("GITHUB_API_URL")
                .unwrap_or("https://api.github.com");
            let token = require_token(session, "GITHUB_TOKEN")?;
            let ca_cert = None;
            Ok((thread, build_host_settings(session, root, token, ca_cert)?))
        }
        Host::GitLab => {
            // In a pipeline of a fork, the merge request belongs to the target project.
            let project = session.env.get("CI_MERGE_REQUEST_PROJECT_ID");
            let thread = Thread::GitLab {
                project: project
                    .map_or_else(|| require_variable(session, "CI_PROJECT_ID"), Ok)?
                    .to_owned(),
                number: require_pull_request_number(ci)?,
            };
            // The token of a job may not write notes, so a separate token is required:
            // <https://docs.gitlab.com/ci/jobs/ci_job_token/#job-token-access>.
            let token = require_token(session, "GITLAB_TOKEN")?;
            let ca_file_variable = "CI_SERVER_TLS_CA_FILE";
            let ca_path = session.env.get(ca_file_variable);
            let ca_cert = ca_path.map(|path| CaFile::from_setting(path, ca_file_variable));
            let root = require_variable(session, "CI_API_V4_URL")?;
            Ok((thread, build_host_settings(session, root, token, ca_cert)?))
        }
        Host::Azure => find_azure_thread(session, ci),
        Host::None => Err(Failure::usage("a local run has no pull or merge request")),
        host => Err(Failure::usage(format!(
            "comments are not supported on the host {host}"
        ))),
    }
}

/// Returns the pull request in Azure Repos and the settings for its API. Fails if Azure Pipelines runs for a repository
/// on another host, such as GitHub.
fn find_azure_thread(session: &Session, ci: &CiContext) -> Result<(Thread, HostSettings), Failure> {
    let number = require_pull_request_number(ci)?;
    let provider = require_variable(session, "BUILD_REPOSITORY_PROVIDER")?;
    if provider != "TfsGit" {
        let message = format!("comments are supported for Azure Repos, not for the provider {provider}");
        return Err(Failure::usage(message));
    }
    let thread = Thread::Azure {
        project: require_variable(session, "SYSTEM_TEAMPROJECTID")?.to_owned(),
        repository: require_variable(session, "BUILD_REPOSITORY_ID")?.to_owned(),
        number,
    };
    let token = require_token(session, "SYSTEM_ACCESSTOKEN").map_err(|failure| {
        failure.with_hint("add `SYSTEM_ACCESSTOKEN: $(System.AccessToken)` to the env of the step")
    })?;
    let root = require_variable(session, "SYSTEM_COLLECTIONURI")?;
    let ca_cert = None;
    Ok((thread, build_host_settings(session, root, token, ca_cert)?))
}

/// Returns the number of the pull or merge request to which the run belongs.
fn require_pull_request_number(ci: &CiContext) -> Result<u64, Failure> {
    ci.pull_request
        .ok_or_else(|| Failure::usage("this run does not belong to a pull or merge request"))
}

/// Returns the value of a variable that the host must have set.
fn require_variable<'a>(session: &'a Session, variable: &str) -> Result<&'a str, Failure> {
    let not_set = || Failure::usage(format!("the variable {variable} is not set"));
    session.env.get(variable).ok_or_else(not_set)
}

/// Returns the token in a variable that the host or the pipeline must have set.
fn require_token(session: &Session, variable: &str) -> Result<SecretString, Failure> {
    let not_set = || Failure::usage(format!("the variable {variable} is not set"));
    session.env.secret(variable).ok_or_else(not_set)
}

/// Creates the settings for requests to the host's API at the URL `root`. Fails if the URL is invalid, or if the proxy
/// variables for it cannot be used.
fn build_host_settings(
    session: &Session,
    root: &str,
    token: SecretString,
    ca_cert: Option<CaFile>,
) -> Result<HostSettings, Failure> {
    let root = parse_url(root)?;
    session.check_proxy_variables(&root)?;
    Ok(HostSettings {
        root,
        token: Some(token),
        proxy: None,
        timeout: REQUEST_TIMEOUT,
        retries: MAX_RETRIES,
        ca_cert,
        observer: session.create_observer(),
    })
}

fn parse_url(text: &str) -> Result<Url, Failure> {
    Url::parse(text).map_err(|error| Failure::usage(format!("{text:?} is not a URL: {error}")))
}

/// Sends the report and its annotations to Bitbucket for the reviewed commit. If the host does not have that commit,
/// uses the commit of the build; fails unless the pipelines and rules there are the reviewed ones.
fn send_code_insights(
    session: &Session,
    delivery: &Delivery<'_>,
    context: &ReportContext,
) -> Result<(), Failure> {
    let head = delivery.report.context.head.clone();
    let commit = match head.filter(|head| delivery.is_known_to_host(head)) {
        Some(head) => head,
        None => find_built_commit(session, delivery)?,
    };
    let report_id = context.review_id(delivery.report);
    let body = bitbucket::build_report(delivery.report);
    let annotations = bitbucket::build_annotation_requests(delivery.report, context);
    send_insights_report(
        session,
        &commit,
        &report_id,
        &body,
        &annotations,
        MissingResult::Creation,
    )
}

/// Sends a report on the commit and the batches of its annotations. The requests do not need a token, because they go
/// through the proxy of the runner.
fn send_insights_report(
    session: &Session,
    commit: &str,
    report_id: &str,
    body: &Value,
    annotation_batches: &[Value],
    on_missing: MissingResult,
) -> Result<(), Failure> {
    let name = require_variable(session, "BITBUCKET_REPO_FULL_NAME")?;
    let (workspace, repository) = name.split_once('/').unwrap_or((name, ""));
    let proxy = session
        .env
        .get(variable::BITBUCKET_PROXY)
        .unwrap_or(BITBUCKET_PROXY);
    let client = HostClient::new(&HostSettings {
        root: parse_url(BITBUCKET_API)?,
        token: None,
        proxy: Some(parse_proxy_url(proxy)?),
        timeout: REQUEST_TIMEOUT,
        retries: MAX_RETRIES,
        ca_cert: None,
        observer: session.create_observer(),
    })?;
    let insights = CodeInsights {
        workspace,
        repository,
        commit,
        report_id,
    };
    let response = session.block_on(insights.send_report(&client, body, annotation_batches, on_missing))?;
    if response.map_err(explain_insights_error)? {
        session.ui.say("sent the result to Code Insights");
    }
    Ok(())
}

/// Parses the address of Bitbucket's proxy. An error does not show the value, which may be a secret.
fn parse_proxy_url(text: &str) -> Result<Url, Failure> {
    Url::parse(text)
        .map_err(|error| Failure::usage(format!("{} is not a URL: {error}", variable::BITBUCKET_PROXY)))
}

/// Explains an error of Code Insights. Without a response, the address of Bitbucket's proxy is probably wrong, which the
/// proxy variables of the job do not set.
fn explain_insights_error(error: HttpError) -> Failure {
    if error.status().is_some() {
        return error.into();
    }
    Failure::from(error).with_hint(format!(
        "{} is the URL of Bitbucket's proxy for Code Insights, by default {BITBUCKET_PROXY}; check that the step can \
         reach it",
        variable::BITBUCKET_PROXY
    ))
}

/// Returns the commit of the build if the reviewed working tree has the same pipelines and rules, so that the result
/// applies to that commit, too. The host may have checked out a merge of that commit. Fails if another commit is
/// checked out, or if the files differ or cannot be compared.
fn find_built_commit(session: &Session, delivery: &Delivery<'_>) -> Result<String, Failure> {
    let built_id = require_variable(session, "BITBUCKET_COMMIT")?;
    let Some((repo, snapshot)) = delivery.files else {
        return Err(Failure::usage("the report does not name a commit"));
    };
    let head = repo.head()?.commit;
    if head.as_str() != built_id && !delivery.is_merge_of_host_commit(head.as_str()) {
        let message = "the reviewed commit is not on Bitbucket, and the built commit (BITBUCKET_COMMIT) is not \
                       checked out";
        return Err(Failure::usage(message));
    }
    let is_reviewed_file = |path: &str| is_pipeline(path) || is_rules_path(path);
    let changes = snapshot.find_changes(std::slice::from_ref(&head), &is_reviewed_file)?;
    if !changes.is_empty() {
        let message = "the reviewed files differ from those in the built commit (BITBUCKET_COMMIT)";
        return Err(Failure::usage(message));
    }
    Ok(built_id.to_owned())
}
