//! GitLab CI/CD.
//!
//! Variables: <https://docs.gitlab.com/ci/variables/predefined_variables/>, kinds of merge request pipelines:
//! <https://docs.gitlab.com/ci/pipelines/merge_request_pipelines/>.

use super::context::is_zeros;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const SHA: &str = "CI_COMMIT_SHA";
const SOURCE_BRANCH: &str = "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME";
const SOURCE_PROJECT: &str = "CI_MERGE_REQUEST_SOURCE_PROJECT_ID";
const DIFF_BASE: &str = "CI_MERGE_REQUEST_DIFF_BASE_SHA";
const TARGET_SHA: &str = "CI_MERGE_REQUEST_TARGET_BRANCH_SHA";
const EXTERNAL_EVENT: &str = "external_pull_request_event";
const EXTERNAL_NUMBER: &str = "CI_EXTERNAL_PULL_REQUEST_IID";
const EXTERNAL_TARGET_SHA: &str = "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_SHA";

/// GitLab fetches 20 commits by default: <https://docs.gitlab.com/ci/runners/configure_runners/#shallow-cloning>.
pub(super) const WHOLE_HISTORY: Option<&str> = Some("`GIT_DEPTH: 0` in the `variables:` of the job");

/// The sources of pipelines for a commit
/// (<https://docs.gitlab.com/ci/jobs/job_rules/#ci_pipeline_source-predefined-variable>). Other sources are schedules,
/// manual runs and triggers.
const OF_COMMITS: [&str; 4] = ["push", "parent_pipeline", "external", "unknown"];

pub(super) fn is_here(env: &Env) -> bool {
    env.get("GITLAB_CI") == Some("true")
}

pub(super) fn read(env: &Env) -> Result<CiContext, CiError> {
    let text = |name: &str| env.get(name).map(str::to_owned);
    let source = env.get("CI_PIPELINE_SOURCE").unwrap_or("unknown");
    let is_external = source == EXTERNAL_EVENT || env.get(EXTERNAL_NUMBER).is_some();
    let is_change =
        source == "merge_request_event" || is_external || env.get("CI_MERGE_REQUEST_IID").is_some();
    let context = CiContext {
        commit: Some(need(env, SHA)?),
        run_number: text("CI_PIPELINE_IID"),
        default_branch: text("CI_DEFAULT_BRANCH"),
        trigger: match source {
            _ if is_change => Trigger::Change,
            source if OF_COMMITS.contains(&source) => Trigger::Commit,
            _ => Trigger::Any,
        },
        ..CiContext::new(Host::GitLab, source)
    };
    if env.get("CI_MERGE_REQUEST_IID").is_some() {
        return merge_request(env, context);
    }
    if is_external {
        return external_pull_request(env, context);
    }
    if let Some(tag) = env.get("CI_COMMIT_TAG") {
        return Ok(context.for_tag(tag));
    }
    Ok(CiContext {
        branch: text("CI_COMMIT_BRANCH"),
        base: pushed_from(env, source),
        ..context
    })
}

/// Returns the base of a push. The variable is zeros for the first push of a branch, and for scheduled and manual
/// pipelines.
fn pushed_from(env: &Env, source: &str) -> BaseHint {
    match env.get("CI_COMMIT_BEFORE_SHA") {
        Some(before) if !is_zeros(before) => BaseHint::PushedFrom {
            before: before.to_owned(),
            source: "CI_COMMIT_BEFORE_SHA",
        },
        Some(_) if source == "push" => BaseHint::CreatedBranch,
        _ => BaseHint::DefaultBranch,
    }
}

/// Reads a merge request. A merged-result pipeline and a merge train run on a merge that is in neither branch
/// (<https://docs.gitlab.com/ci/pipelines/merged_results_pipelines/>); the `…_BRANCH_SHA` variable is then the head of
/// the source. It is empty in a detached pipeline, where `CI_COMMIT_SHA` is that head.
fn merge_request(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let text = |name: &str| env.get(name).map(str::to_owned);
    Ok(CiContext {
        target_tip: text(TARGET_SHA).map(|id| (id, TARGET_SHA)),
        branch: Some(need(env, SOURCE_BRANCH)?),
        commit: text("CI_MERGE_REQUEST_SOURCE_BRANCH_SHA").or_else(|| context.commit.clone()),
        checkout: context.commit.clone(),
        pull_request: env
            .get("CI_MERGE_REQUEST_IID")
            .and_then(|number| number.parse().ok()),
        fork: is_fork(env),
        is_queued: env.get("CI_MERGE_REQUEST_EVENT_TYPE") == Some("merge_train"),
        base: merge_request_base(env)?,
        ..context
    })
}

/// Reads a pull request on another host whose repository GitLab mirrors
/// (<https://docs.gitlab.com/ci/ci_cd_for_external_repos/#pipelines-for-external-pull-requests>). It has a number on
/// that host only, so the run belongs to no merge request that could get a comment.
fn external_pull_request(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let text = |name: &str| env.get(name).map(str::to_owned);
    let target_sha = text(EXTERNAL_TARGET_SHA);
    let source = env.get("CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY");
    let target = env.get("CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY");
    Ok(CiContext {
        target_tip: target_sha.clone().map(|id| (id, EXTERNAL_TARGET_SHA)),
        branch: Some(need(env, "CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME")?),
        commit: text("CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA").or_else(|| context.commit.clone()),
        checkout: context.commit.clone(),
        // Without both names, nothing shows that the change comes from the same repository.
        fork: match (source, target) {
            (Some(source), Some(target)) => !source.eq_ignore_ascii_case(target),
            _ => true,
        },
        base: BaseHint::MergeBaseWith {
            branch: need(env, "CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME")?,
            seen_at: target_sha,
        },
        ..context
    })
}

fn merge_request_base(env: &Env) -> Result<BaseHint, CiError> {
    let target = env.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME").map(str::to_owned);
    if let Some(id) = env.get(DIFF_BASE) {
        return Ok(BaseHint::Commit {
            id: id.to_owned(),
            source: DIFF_BASE,
            target,
        });
    }
    let branch = target.ok_or(CiError::Variable {
        host: "GitLab",
        variable: DIFF_BASE,
    })?;
    let seen_at = env.get(TARGET_SHA).map(str::to_owned);
    Ok(BaseHint::MergeBaseWith { branch, seen_at })
}

/// Returns whether the change is from a fork. Its pipeline runs in the fork or, if a member starts it, in the target's
/// project
/// (<https://docs.gitlab.com/ci/pipelines/merge_request_pipelines/#use-with-forked-projects>).
fn is_fork(env: &Env) -> bool {
    let Some(source) = env.get(SOURCE_PROJECT) else {
        return false;
    };
    ["CI_PROJECT_ID", "CI_MERGE_REQUEST_PROJECT_ID"]
        .iter()
        .any(|name| env.get(name).is_some_and(|id| id != source))
}

fn need(env: &Env, variable: &'static str) -> Result<String, CiError> {
    env.get(variable).map(str::to_owned).ok_or(CiError::Variable {
        host: "GitLab",
        variable,
    })
}

/// Returns the target's project. The pipeline of a fork's merge request may run in the fork, whose URLs are then those of
/// `CI_PROJECT_URL` and `CI_REPOSITORY_URL`.
pub(super) fn target_repository(env: &Env) -> TargetRepository {
    let text = |name: &str| env.get(name).map(str::to_owned);
    let (source, project) = (env.get(SOURCE_PROJECT), env.get("CI_PROJECT_ID"));
    let target = env.get("CI_MERGE_REQUEST_PROJECT_ID").or(project);
    let is_here = project.is_none() || project == target;
    let own = |name: &str| text(name).filter(|_| is_here);
    let external_source = env.get("CI_EXTERNAL_PULL_REQUEST_SOURCE_REPOSITORY");
    let external_target = env.get("CI_EXTERNAL_PULL_REQUEST_TARGET_REPOSITORY");
    let is_external_same = external_source.is_some() && external_source == external_target;
    TargetRepository::new(
        [
            text("CI_MERGE_REQUEST_PROJECT_URL"),
            own("CI_PROJECT_URL"),
            own("CI_REPOSITORY_URL"),
        ],
        (source.is_some() && source == target && is_here) || is_external_same,
    )
}
