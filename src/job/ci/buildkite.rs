//! Buildkite.
//!
//! Variables: <https://buildkite.com/docs/pipelines/configure/environment-variables>, GitHub merge queues:
//! <https://buildkite.com/docs/tutorials/github-merge-queue>.

use super::ci_context::is_same_repository;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

pub(super) const TARGET: &str = "BUILDKITE_PULL_REQUEST_BASE_BRANCH";
const SOURCE_REPOSITORY: &str = "BUILDKITE_PULL_REQUEST_REPO";
const MERGE_CHECKOUT: &str = "BUILDKITE_PULL_REQUEST_USING_MERGE_REFSPEC";
pub(super) const QUEUE_TARGET: &str = "BUILDKITE_MERGE_QUEUE_BASE_BRANCH";
const QUEUE_BASE: &str = "BUILDKITE_MERGE_QUEUE_BASE_COMMIT";

/// Buildkite fetches the full history by default:
/// <https://buildkite.com/docs/pipelines/configure/environment-variables>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("remove `--depth` from BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS");

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("BUILDKITE") == Some("true")
}

/// Reads the context of a Buildkite build. `BUILDKITE_COMMIT` may be `HEAD` for a build that was started manually: the
/// checked-out commit is then reviewed. `BUILDKITE_PULL_REQUEST` is `false` or a number. The other variables of a pull
/// request or of a merge queue identify it, too, and the variable of the base branch is then required. An agent that
/// builds the test merge commit of a pull request checks out `refs/pull/N/merge`, which is on no branch of the remote
/// (<https://github.com/buildkite/agent/blob/main/internal/job/checkout.go>).
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let number = env
        .get("BUILDKITE_PULL_REQUEST")
        .filter(|number| *number != "false");
    let is_pull_request =
        number.is_some() || env.get(TARGET).is_some() || env.get(SOURCE_REPOSITORY).is_some();
    let is_queued = is_queued(env);
    let source = env.get("BUILDKITE_SOURCE").unwrap_or("unknown");
    let context = CiContext {
        trigger: match source {
            _ if is_queued || is_pull_request => Trigger::Change,
            "webhook" | "unknown" => Trigger::Commit,
            _ => Trigger::Any,
        },
        branch: env.get_owned("BUILDKITE_BRANCH"),
        commit: env
            .get_owned("BUILDKITE_COMMIT")
            .filter(|commit| commit != "HEAD"),
        pull_request: number.and_then(|number| number.parse().ok()),
        may_be_local_merge: is_pull_request && env.get(MERGE_CHECKOUT) == Some("true"),
        fork: is_pull_request && is_fork(env),
        is_queued,
        run_number: env.get_owned("BUILDKITE_BUILD_NUMBER"),
        default_branch: env.get_owned("BUILDKITE_PIPELINE_DEFAULT_BRANCH"),
        ..CiContext::new(Host::Buildkite, source)
    };
    let base = match env.get("BUILDKITE_TAG") {
        _ if is_queued => BaseHint::Commit {
            id: Host::Buildkite.require_variable(env, QUEUE_BASE)?.to_owned(),
            source: QUEUE_BASE,
            target: Host::Buildkite.require_variable(env, QUEUE_TARGET)?.to_owned(),
        },
        _ if is_pull_request => BaseHint::MergeBaseWith {
            branch: Host::Buildkite.require_variable(env, TARGET)?.to_owned(),
            seen_commit: None,
        },
        Some(tag) => return Ok(context.for_tag(tag)),
        None => return Ok(context),
    };
    Ok(CiContext { base, ..context })
}

/// Returns whether the build is for GitHub's merge queue. Its branch `gh-readonly-queue/…` belongs to the repository
/// itself, and its base may be another queued change.
fn is_queued(env: &Env) -> bool {
    env.get(QUEUE_TARGET).or(env.get(QUEUE_BASE)).is_some()
}

/// Returns whether the pull request is from a fork. Without the URL of its target, it is treated as one.
fn is_fork(env: &Env) -> bool {
    let Some(source) = env.get(SOURCE_REPOSITORY) else {
        return false;
    };
    !env.get("BUILDKITE_REPO")
        .is_some_and(|target| is_same_repository(source, target))
}

/// Returns the repository of the pipeline, which is the target of a pull request. Buildkite names the source repository
/// of a pull request; without that name, nothing shows that the change comes from the target repository. A queued
/// change comes from the target repository.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let url = env.get("BUILDKITE_REPO");
    let names_source = env.get(SOURCE_REPOSITORY).is_some();
    let has_change = url.is_some() && (is_queued(env) || names_source && !is_fork(env));
    TargetRepository::new([url.map(str::to_owned)], has_change)
}
