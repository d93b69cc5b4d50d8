//! Buildkite.
//!
//! Variables: <https://buildkite.com/docs/pipelines/configure/environment-variables>.

use super::ci_context::is_same_repository;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const TARGET: &str = "BUILDKITE_PULL_REQUEST_BASE_BRANCH";

/// Buildkite fetches the full history by default:
/// <https://buildkite.com/docs/pipelines/configure/environment-variables>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("remove `--depth` from BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS");

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("BUILDKITE") == Some("true")
}

/// Reads the context of a Buildkite build. `BUILDKITE_COMMIT` may be `HEAD` for a build that was started manually: the
/// checked-out commit is then reviewed. `BUILDKITE_PULL_REQUEST` is `false` or a number, and with a number, the
/// variable of the base branch is required.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let number = env
        .get("BUILDKITE_PULL_REQUEST")
        .filter(|number| *number != "false");
    let pull_request = number.and_then(|number| number.parse().ok());
    let source = env.get("BUILDKITE_SOURCE").unwrap_or("unknown");
    let context = CiContext {
        trigger: match source {
            _ if number.is_some() => Trigger::Change,
            "webhook" | "unknown" => Trigger::Commit,
            _ => Trigger::Any,
        },
        branch: env.get_owned("BUILDKITE_BRANCH"),
        commit: env
            .get_owned("BUILDKITE_COMMIT")
            .filter(|commit| commit != "HEAD"),
        pull_request,
        fork: number.is_some() && is_fork(env),
        run_number: env.get_owned("BUILDKITE_BUILD_NUMBER"),
        default_branch: env.get_owned("BUILDKITE_PIPELINE_DEFAULT_BRANCH"),
        ..CiContext::new(Host::Buildkite, source)
    };
    let target = match number {
        Some(_) => Some(env.get_owned(TARGET).ok_or(CiError::Variable {
            host: "Buildkite",
            variable: TARGET,
        })?),
        None => None,
    };
    Ok(match (target, env.get("BUILDKITE_TAG")) {
        (Some(branch), _) => CiContext {
            base: BaseHint::MergeBaseWith {
                branch,
                seen_commit: None,
            },
            ..context
        },
        (None, Some(tag)) => context.for_tag(tag),
        (None, None) => context,
    })
}

/// Returns whether the pull request is from a fork. Without the URL of its target, it is treated as one.
fn is_fork(env: &Env) -> bool {
    let Some(source) = env.get("BUILDKITE_PULL_REQUEST_REPO") else {
        return false;
    };
    !env.get("BUILDKITE_REPO")
        .is_some_and(|target| is_same_repository(source, target))
}

/// Returns the repository of the pipeline, which is the target of a pull request. Buildkite names the source repository
/// of a pull request; without that name, nothing shows that the change comes from the target repository.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let url = env.get("BUILDKITE_REPO");
    let names_source = env.get("BUILDKITE_PULL_REQUEST_REPO").is_some();
    let has_change = url.is_some() && names_source && !is_fork(env);
    TargetRepository::new([url.map(str::to_owned)], has_change)
}
