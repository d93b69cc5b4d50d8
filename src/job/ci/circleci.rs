//! CircleCI.
//!
//! Variables: <https://circleci.com/docs/reference/variables/>. They do not include the target of a pull request, so
//! the default branch is used; `CIRCLE_PR_REPONAME` is set only for forks. There is no variable for the event.

use super::{CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const COMMIT: &str = "CIRCLE_SHA1";

/// The variables that CircleCI sets only for a pull request from a fork.
const FORK_VARIABLES: [&str; 3] = ["CIRCLE_PR_NUMBER", "CIRCLE_PR_REPONAME", "CIRCLE_PR_USERNAME"];

/// CircleCI fetches the full history by default:
/// <https://circleci.com/docs/reference/configuration-reference/#checkout>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("run `git fetch --unshallow` after the step `checkout`");

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("CIRCLECI") == Some("true")
}

/// Reads the context of a CircleCI job. No variable names the target branch of a pull request, so the base remains the
/// default branch.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let commit = env.get(COMMIT).ok_or(CiError::Variable {
        host: "CircleCI",
        variable: COMMIT,
    })?;
    let url = env.get("CIRCLE_PULL_REQUEST").or(env.get("CIRCLE_PULL_REQUESTS"));
    // The number is the last part of the URL.
    let number = url.and_then(|url| url.rsplit('/').next());
    let is_change = url.is_some() || FORK_VARIABLES.into_iter().any(|name| env.get(name).is_some());
    let context = CiContext {
        trigger: Trigger::for_commit_or_change(is_change),
        branch: env.get_owned("CIRCLE_BRANCH"),
        commit: Some(commit.to_owned()),
        pull_request: number.and_then(|number| number.parse().ok()),
        fork: env.get("CIRCLE_PR_REPONAME").is_some(),
        run_number: env.get_owned("CIRCLE_BUILD_NUM"),
        ..CiContext::new(
            Host::CircleCi,
            if env.get("CIRCLE_TAG").is_some() {
                "tag"
            } else {
                "branch"
            },
        )
    };
    Ok(match env.get("CIRCLE_TAG") {
        Some(tag) => context.for_tag(tag),
        None => context,
    })
}

/// Returns the repository of the project. For a pull request from a fork, CircleCI always sets the fork variables;
/// without them, the change comes from the project's own repository.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let has_change = FORK_VARIABLES.into_iter().all(|name| env.get(name).is_none());
    TargetRepository::new([env.get_owned("CIRCLE_REPOSITORY_URL")], has_change)
}
