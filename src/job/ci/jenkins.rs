//! Jenkins, multibranch pipelines.
//!
//! Variables: <https://www.jenkins.io/doc/book/pipeline/multibranch/>; only `JENKINS_URL` and `BUILD_ID` identify it.
//! There is no variable for the event.

use super::{BaseHint, CiContext, CiError, Host, Trigger};
use crate::base::env::Env;

/// A branch source clones the full history by default:
/// <https://plugins.jenkins.io/git/#plugin-content-advanced-clone-behaviours>.
pub(super) const WHOLE_HISTORY: Option<&str> = Some(
    "no `Shallow clone` among the job's advanced clone behaviours, or `git fetch --unshallow` after `checkout scm`",
);

pub(super) fn is_here(env: &Env) -> bool {
    env.get("JENKINS_URL").is_some() && env.get("BUILD_ID").is_some()
}

/// Reads a build. Without `GIT_COMMIT`, which only the git plugin sets, the checked-out commit is reviewed.
/// `BRANCH_IS_PRIMARY` is set if the branch source knows the default branch:
/// <https://javadoc.jenkins.io/plugin/branch-api/>.
#[expect(clippy::unnecessary_wraps, reason = "every host has this signature")]
pub(super) fn read(env: &Env) -> Result<CiContext, CiError> {
    let text = |name: &str| env.get(name).map(str::to_owned);
    let context = CiContext {
        commit: text("GIT_COMMIT"),
        branch: text("BRANCH_NAME"),
        run_number: text("BUILD_NUMBER"),
        default_branch: text("BRANCH_NAME").filter(|_| env.get("BRANCH_IS_PRIMARY") == Some("true")),
        trigger: Trigger::of_commit(is_change(env)),
        ..CiContext::new(Host::Jenkins, "branch")
    };
    Ok(match (text("CHANGE_TARGET"), env.get("TAG_NAME")) {
        (Some(target), _) => change(env, target, context),
        (None, Some(tag)) => CiContext {
            event: "tag".to_owned(),
            ..context.for_tag(tag)
        },
        (None, None) => context,
    })
}

/// Returns whether the build is for an unmerged change. Besides the branch source, the plugins for Gerrit, GitLab and
/// GitHub pull requests start builds with their own variables: <https://plugins.jenkins.io/gerrit-trigger/>,
/// <https://plugins.jenkins.io/gitlab-plugin/>, <https://plugins.jenkins.io/ghprb/>.
fn is_change(env: &Env) -> bool {
    let of_changes = [
        "CHANGE_ID",
        "CHANGE_TARGET",
        "ghprbPullId",
        "gitlabMergeRequestIid",
    ];
    let of_gerrit = env.get("GERRIT_CHANGE_NUMBER").is_some()
        && !matches!(
            env.get("GERRIT_EVENT_TYPE"),
            Some("change-merged" | "ref-updated")
        );
    of_gerrit
        || env.get("gitlabActionType") == Some("MERGE")
        || of_changes.into_iter().any(|name| env.get(name).is_some())
}

/// Reads a change. A job may build the head of the change, or a merge of the target into it that exists only in the
/// clone (<https://plugins.jenkins.io/github-branch-source/>, "Discover pull requests"). `BRANCH_NAME` is then `PR-N`.
fn change(env: &Env, branch: String, context: CiContext) -> CiContext {
    CiContext {
        event: "change".to_owned(),
        branch: env.get("CHANGE_BRANCH").map(str::to_owned),
        maybe_local_merge: true,
        pull_request: env.get("CHANGE_ID").and_then(|number| number.parse().ok()),
        fork: env.get("CHANGE_FORK").is_some(),
        base: BaseHint::MergeBaseWith {
            branch,
            seen_at: None,
        },
        ..context
    }
}
