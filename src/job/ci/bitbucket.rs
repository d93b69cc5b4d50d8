//! Bitbucket Pipelines.
//!
//! Variables: <https://support.atlassian.com/bitbucket-cloud/docs/variables-and-secrets/>. There is no variable for the
//! event, so its name is that of the section in `bitbucket-pipelines.yml`. A pull request from a fork starts no
//! pipeline.

use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

const COMMIT: &str = "BITBUCKET_COMMIT";
const NUMBER: &str = "BITBUCKET_PR_ID";
pub(super) const TARGET: &str = "BITBUCKET_PR_DESTINATION_BRANCH";

/// Bitbucket fetches 50 commits by default, and the full history for pull requests:
/// <https://support.atlassian.com/bitbucket-cloud/docs/git-clone-behavior/>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("set `clone: { depth: full }` in bitbucket-pipelines.yml");

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("BITBUCKET_BUILD_NUMBER").is_some()
}

/// Reads the context of a Bitbucket build. For a pull request, Bitbucket merges the target into the checkout, but
/// `BITBUCKET_COMMIT` is still the newest commit of the source branch. A pull request without a target branch is an
/// error.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let commit = Host::Bitbucket.require_variable(env, COMMIT)?;
    let target = env.get_owned(TARGET);
    if target.is_none() && env.get(NUMBER).is_some() {
        Host::Bitbucket.require_variable(env, TARGET)?;
    }
    let event = match (&target, env.get("BITBUCKET_TAG")) {
        (Some(_), _) => "pull-requests",
        (None, Some(_)) => "tags",
        (None, None) => "branches",
    };
    let context = CiContext {
        trigger: Trigger::for_commit_or_change(target.is_some()),
        branch: env.get_owned("BITBUCKET_BRANCH"),
        commit: Some(commit.to_owned()),
        pull_request: env.get(NUMBER).and_then(|number| number.parse().ok()),
        run_number: env.get_owned("BITBUCKET_BUILD_NUMBER"),
        ..CiContext::new(Host::Bitbucket, event)
    };
    Ok(match (target, env.get("BITBUCKET_TAG")) {
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

/// Returns the repository of the pipeline. Every change comes from this repository, because Bitbucket does not start a
/// pipeline for a pull request from a fork.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let urls = ["BITBUCKET_GIT_HTTP_ORIGIN", "BITBUCKET_GIT_SSH_ORIGIN"];
    let has_change = true;
    TargetRepository::new(urls.map(|name| env.get_owned(name)), has_change)
}
