//! Buildkite.
//!
//! Variables: <https://buildkite.com/docs/pipelines/configure/environment-variables>.

use super::context::owner_and_name;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const TARGET: &str = "BUILDKITE_PULL_REQUEST_BASE_BRANCH";

/// Buildkite fetches the full history by default:
/// <https://buildkite.com/docs/pipelines/configure/environment-variables>.
pub(super) const WHOLE_HISTORY: Option<&str> =
    Some("no `--depth` in BUILDKITE_GIT_CLONE_FLAGS and BUILDKITE_GIT_FETCH_FLAGS");

pub(super) fn is_here(env: &Env) -> bool {
    env.get("BUILDKITE") == Some("true")
}

/// Reads a build. `BUILDKITE_COMMIT` may be `HEAD` for a build that was started manually: the checked-out commit is
/// then reviewed. `BUILDKITE_PULL_REQUEST` is the number, or `false`; a number comes with the base branch.
pub(super) fn read(env: &Env) -> Result<CiContext, CiError> {
    let text = |name: &str| env.get(name).map(str::to_owned);
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
        branch: text("BUILDKITE_BRANCH"),
        commit: text("BUILDKITE_COMMIT").filter(|commit| commit != "HEAD"),
        pull_request,
        fork: number.is_some() && is_fork(env),
        run_number: text("BUILDKITE_BUILD_NUMBER"),
        default_branch: text("BUILDKITE_PIPELINE_DEFAULT_BRANCH"),
        ..CiContext::new(Host::Buildkite, source)
    };
    let target = match number {
        Some(_) => Some(text(TARGET).ok_or(CiError::Variable {
            host: "Buildkite",
            variable: TARGET,
        })?),
        None => None,
    };
    Ok(match (target, env.get("BUILDKITE_TAG")) {
        (Some(branch), _) => CiContext {
            base: BaseHint::MergeBaseWith {
                branch,
                seen_at: None,
            },
            ..context
        },
        (None, Some(tag)) => context.for_tag(tag),
        (None, None) => context,
    })
}

/// Returns whether the pull request is from a fork. The two URLs may use different protocols, so owner and name are
/// compared.
fn is_fork(env: &Env) -> bool {
    let repository = |variable| env.get(variable).map(owner_and_name);
    let (head, here) = (
        repository("BUILDKITE_PULL_REQUEST_REPO"),
        repository("BUILDKITE_REPO"),
    );
    head.is_some() && head != here
}

/// Returns the repository of the pipeline, which a pull request goes to.
pub(super) fn target_repository(env: &Env) -> TargetRepository {
    let url = env.get("BUILDKITE_REPO");
    let has_source = env.get("BUILDKITE_PULL_REQUEST_REPO").is_some();
    TargetRepository::new(
        [url.map(str::to_owned)],
        url.is_some() && has_source && !is_fork(env),
    )
}
