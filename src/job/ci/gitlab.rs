//! GitLab CI/CD.
//!
//! Variables: <https://docs.gitlab.com/ci/variables/predefined_variables/>, kinds of merge request pipelines:
//! <https://docs.gitlab.com/ci/pipelines/merge_request_pipelines/>.

use super::ci_context::is_null_id;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const PROJECT: &str = "CI_PROJECT_ID";
const SHA: &str = "CI_COMMIT_SHA";
const SOURCE_BRANCH: &str = "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME";
const SOURCE_PROJECT: &str = "CI_MERGE_REQUEST_SOURCE_PROJECT_ID";
const TARGET_PROJECT: &str = "CI_MERGE_REQUEST_PROJECT_ID";
const DIFF_BASE: &str = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
const TARGET_SHA: &str = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA";
pub(super) const TARGET_BRANCH: &str = "CI_MERGE_REQUEST_TARGET_BRANCH_NAME";
const NUMBER: &str = "CI_MERGE_REQUEST_IID";
const EXTERNAL_EVENT: &str = "external_pull_request_event";
const EXTERNAL_NUMBER: &str = "CI_EXTERNAL_PULL_REQUEST_IID";
const EXTERNAL_SOURCE_BRANCH: &str = "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME";
const EXTERNAL_SOURCE_REPOSITORY: &str = "CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY";
const EXTERNAL_TARGET_REPOSITORY: &str = "CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY";
pub(super) const EXTERNAL_TARGET_BRANCH: &str = "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME";
const EXTERNAL_TARGET_SHA: &str = "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA";

/// GitLab fetches 20 commits by default: <https://docs.gitlab.com/ci/runners/configure_runners/#shallow-cloning>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("set `GIT_DEPTH: 0` in the `variables:` of the job");

/// The sources of pipelines for a commit
/// (<https://docs.gitlab.com/ci/jobs/job_rules/#ci_pipeline_source-predefined-variable>). Other sources are schedules,
/// manual runs and triggers.
const COMMIT_SOURCES: [&str; 4] = ["push", "parent_pipeline", "external", "unknown"];

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("GITLAB_CI") == Some("true")
}

/// Reads the context of a GitLab job: of a merge request, a pull request on an external host, a tag or a branch. Each
/// variable of a request identifies it, because the number may be missing.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let source = env.get("CI_PIPELINE_SOURCE").unwrap_or("unknown");
    let has_any = |names: [&str; 3]| names.into_iter().any(|name| env.get(name).is_some());
    let is_merge_request = source == "merge_request_event" || has_any([NUMBER, TARGET_BRANCH, SOURCE_BRANCH]);
    let is_external = source == EXTERNAL_EVENT
        || has_any([EXTERNAL_NUMBER, EXTERNAL_TARGET_BRANCH, EXTERNAL_SOURCE_BRANCH]);
    let context = CiContext {
        commit: Some(Host::GitLab.require_variable(env, SHA)?.to_owned()),
        run_number: env.get_owned("CI_PIPELINE_IID"),
        default_branch: env.get_owned("CI_DEFAULT_BRANCH"),
        trigger: match source {
            _ if is_merge_request || is_external => Trigger::Change,
            source if COMMIT_SOURCES.contains(&source) => Trigger::Commit,
            _ => Trigger::Any,
        },
        ..CiContext::new(Host::GitLab, source)
    };
    if is_merge_request {
        return read_merge_request(env, context);
    }
    if is_external {
        return read_external_pull_request(env, context);
    }
    if let Some(tag) = env.get("CI_COMMIT_TAG") {
        return Ok(context.for_tag(tag));
    }
    Ok(CiContext {
        branch: env.get_owned("CI_COMMIT_BRANCH"),
        base: read_push_base(env, source),
        ..context
    })
}

/// Reads the base of a push. `CI_COMMIT_BEFORE_SHA` is all zeros for the first push of a branch, but also for scheduled
/// and manual pipelines, whose base is the default branch.
fn read_push_base(env: &Env, source: &str) -> BaseHint {
    match env.get("CI_COMMIT_BEFORE_SHA") {
        Some(previous) if !is_null_id(previous) => BaseHint::PushedFrom {
            previous: previous.to_owned(),
            source: "CI_COMMIT_BEFORE_SHA",
        },
        Some(_) if source == "push" => BaseHint::CreatedBranch,
        _ => BaseHint::DefaultBranch,
    }
}

/// Reads a merge request. A merged-result pipeline and a merge train run on a merge that is in neither the source nor
/// the target branch (<https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/>). The variable for the source
/// branch's SHA is then the head of the source. In a detached pipeline, that variable is empty, and `CI_COMMIT_SHA` is
/// the head. In a merge train, the variable for the target branch's SHA is the merge request before this one in the
/// train, which is not merged yet.
fn read_merge_request(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let is_queued = env.get("CI_MERGE_REQUEST_EVENT_TYPE") == Some("merge_train");
    let target_tip = env.get_owned(TARGET_SHA).filter(|_| !is_queued);
    Ok(CiContext {
        base: read_merge_request_base(env, target_tip.clone())?,
        target_tip: target_tip.map(|id| (id, TARGET_SHA)),
        branch: Some(Host::GitLab.require_variable(env, SOURCE_BRANCH)?.to_owned()),
        commit: env
            .get_owned("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA")
            .or_else(|| context.commit.clone()),
        checkout: context.commit.clone(),
        pull_request: env.get(NUMBER).and_then(|number| number.parse().ok()),
        fork: is_fork(env),
        is_queued,
        ..context
    })
}

/// Reads a pull request on another host whose repository GitLab mirrors
/// (<https://docs.gitlab.com/ci/ci_cd_for_external_repos/#pipelines-for-external-pull-requests>). It has a number on
/// that host only, so `pull_request` stays `None` and no merge request gets a comment.
fn read_external_pull_request(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let target_sha = env.get_owned(EXTERNAL_TARGET_SHA);
    let source = env.get(EXTERNAL_SOURCE_REPOSITORY);
    let target = env.get(EXTERNAL_TARGET_REPOSITORY);
    Ok(CiContext {
        target_tip: target_sha.clone().map(|id| (id, EXTERNAL_TARGET_SHA)),
        branch: Some(
            Host::GitLab
                .require_variable(env, EXTERNAL_SOURCE_BRANCH)?
                .to_owned(),
        ),
        commit: env
            .get_owned("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA")
            .or_else(|| context.commit.clone()),
        checkout: context.commit.clone(),
        // Without both names, nothing shows that the change comes from the same repository.
        fork: match (source, target) {
            (Some(source), Some(target)) => !source.eq_ignore_ascii_case(target),
            _ => true,
        },
        base: BaseHint::MergeBaseWith {
            branch: Host::GitLab
                .require_variable(env, EXTERNAL_TARGET_BRANCH)?
                .to_owned(),
            seen_commit: target_sha,
        },
        ..context
    })
}

/// Reads the base of a merge request: the commit that GitLab names, otherwise the merge-base with the target branch,
/// which GitLab saw at `seen_commit`.
fn read_merge_request_base(env: &Env, seen_commit: Option<String>) -> Result<BaseHint, CiError> {
    let target = Host::GitLab.require_variable(env, TARGET_BRANCH)?.to_owned();
    Ok(match env.get_owned(DIFF_BASE) {
        Some(id) => BaseHint::Commit {
            id,
            source: DIFF_BASE,
            target,
        },
        None => BaseHint::MergeBaseWith {
            branch: target,
            seen_commit,
        },
    })
}

/// Returns whether the merge request is from a fork: its source project is not the project that runs the pipeline, or
/// not the target's project. The pipeline runs in the fork or, if a member of the target's project starts it, in
/// that project
/// (<https://docs.gitlab.com/ci/pipelines/merge_request_pipelines/#use-with-forked-projects>). If GitLab does not name
/// the source project, nothing shows a fork, and the result is false.
fn is_fork(env: &Env) -> bool {
    let Some(source) = env.get(SOURCE_PROJECT) else {
        return false;
    };
    [PROJECT, TARGET_PROJECT]
        .iter()
        .any(|name| env.get(name).is_some_and(|id| id != source))
}

/// Returns the repository of the target's project. If the pipeline of a fork's merge request runs in the fork,
/// `CI_PROJECT_URL` and `CI_REPOSITORY_URL` are the fork's and are skipped. The change comes from the target's
/// repository if source and target are the same project, or the same external repository.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let (source, project) = (env.get(SOURCE_PROJECT), env.get(PROJECT));
    let target = env.get(TARGET_PROJECT).or(project);
    let runs_in_target = project.is_none() || project == target;
    let external_source = env.get(EXTERNAL_SOURCE_REPOSITORY);
    let external_target = env.get(EXTERNAL_TARGET_REPOSITORY);
    let is_from_external_target = external_source.is_some() && external_source == external_target;
    let is_from_target = source.is_some() && source == target && runs_in_target;
    TargetRepository::new(
        [
            env.get_owned("CI_MERGE_REQUEST_PROJECT_URL"),
            env.get_owned("CI_PROJECT_URL").filter(|_| runs_in_target),
            env.get_owned("CI_REPOSITORY_URL").filter(|_| runs_in_target),
        ],
        is_from_target || is_from_external_target,
    )
}
