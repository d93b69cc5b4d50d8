//! CircleCI.
//!
//! Variables: <https://circleci.com/docs/reference/variables/>. They do not include the target of a pull request, so
//! the default branch is used. There is no variable for the event. Pipelines of the GitHub App and of GitLab have neither
//! the variables of a fork nor the URL of the repository.

use super::{CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const COMMIT: &str = "CIRCLE_SHA1";

/// The variables that CircleCI sets only for a pull request from a fork, with GitHub OAuth and Bitbucket.
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
    let commit = Host::CircleCi.require_variable(env, COMMIT)?;
    // The number is the last part of the URL.
    let number = find_pull_request_url(env).and_then(|url| url.rsplit('/').next());
    let context = CiContext {
        trigger: Trigger::for_commit_or_change(is_change(env)),
        branch: env.get_owned("CIRCLE_BRANCH"),
        commit: Some(commit.to_owned()),
        pull_request: number.and_then(|number| number.parse().ok()),
        fork: is_fork(env),
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

fn find_pull_request_url(env: &Env) -> Option<&str> {
    env.get("CIRCLE_PULL_REQUEST").or(env.get("CIRCLE_PULL_REQUESTS"))
}

fn is_change(env: &Env) -> bool {
    find_pull_request_url(env).is_some() || has_fork_variable(env) || is_fork(env)
}

fn has_fork_variable(env: &Env) -> bool {
    FORK_VARIABLES.into_iter().any(|name| env.get(name).is_some())
}

/// Returns whether the pull request is from a fork. Its branch is then `pull/N`, also if the variables are not set.
fn is_fork(env: &Env) -> bool {
    env.get("CIRCLE_PR_REPONAME").is_some() || env.get("CIRCLE_BRANCH").is_some_and(is_fork_branch)
}

/// Returns whether CircleCI uses this name for a pull request from a fork: `pull/N`, `pull/N/head` or
/// `pull/N/merge`.
fn is_fork_branch(branch: &str) -> bool {
    let Some(number) = branch.strip_prefix("pull/") else {
        return false;
    };
    let number = number
        .strip_suffix("/head")
        .or_else(|| number.strip_suffix("/merge"))
        .unwrap_or(number);
    number.parse::<u64>().is_ok()
}

/// Returns the repository of the project. A project builds its own repository, and a pull request from a fork has the
/// fork variables or the branch of a fork; without them, the change comes from the project's own repository.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let has_change = !has_fork_variable(env) && !is_fork(env);
    TargetRepository::new([env.get_owned("CIRCLE_REPOSITORY_URL")], has_change)
}
