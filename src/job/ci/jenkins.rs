//! Jenkins: multibranch pipelines, other jobs with the git plugin, and plugins that start builds for changes.
//!
//! Variables: <https://www.jenkins.io/doc/book/pipeline/multibranch/>, <https://plugins.jenkins.io/git/>; only
//! `JENKINS_URL` and `BUILD_ID` identify it. There is no variable for the event.

use super::ci_context::{is_same_repository, read_earlier_commits};
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

/// A branch source clones the full history by default:
/// <https://plugins.jenkins.io/git/#plugin-content-advanced-clone-behaviours>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> = Some(
    "turn off `Shallow clone` in the job's advanced clone behaviours, or run `git fetch --unshallow` after \
     `checkout scm`",
);

/// The commits of earlier builds of the same branch, which the git plugin sets: of the last successful build, and of
/// the last build.
const EARLIER_COMMITS: [&str; 2] = ["GIT_PREVIOUS_SUCCESSFUL_COMMIT", "GIT_PREVIOUS_COMMIT"];

/// The variables of one plugin that starts builds for changes.
struct ChangeVariables {
    number: &'static str,
    target: &'static str,
    /// The source branch, if the change has one.
    branch: Option<&'static str>,
    /// The newest commit of the change.
    commit: Option<&'static str>,
    /// The repositories of the change and of its target, as URLs or names. If they differ, the change is from a fork.
    repositories: Option<(&'static str, &'static str)>,
}

/// The plugins, the branch sources of multibranch jobs first: <https://plugins.jenkins.io/branch-api/>,
/// <https://plugins.jenkins.io/gitlab-plugin/>, <https://plugins.jenkins.io/ghprb/>,
/// <https://plugins.jenkins.io/github-pullrequest/>, <https://plugins.jenkins.io/bitbucket-push-and-pull-request/>,
/// <https://plugins.jenkins.io/stash-pullrequest-builder/>, <https://plugins.jenkins.io/gerrit-trigger/>. A change in
/// Gerrit is on no branch.
const PLUGINS: [ChangeVariables; 7] = [
    ChangeVariables {
        number: "CHANGE_ID",
        target: "CHANGE_TARGET",
        branch: Some("CHANGE_BRANCH"),
        commit: None,
        repositories: None,
    },
    ChangeVariables {
        number: "gitlabMergeRequestIid",
        target: "gitlabTargetBranch",
        branch: Some("gitlabSourceBranch"),
        commit: Some("gitlabMergeRequestLastCommit"),
        repositories: Some(("gitlabSourceRepoHttpUrl", "gitlabTargetRepoHttpUrl")),
    },
    ChangeVariables {
        number: "ghprbPullId",
        target: "ghprbTargetBranch",
        branch: Some("ghprbSourceBranch"),
        commit: Some("ghprbActualCommit"),
        repositories: Some(("ghprbAuthorRepoGitUrl", "ghprbGhRepository")),
    },
    ChangeVariables {
        number: "GITHUB_PR_NUMBER",
        target: "GITHUB_PR_TARGET_BRANCH",
        branch: Some("GITHUB_PR_SOURCE_BRANCH"),
        commit: Some("GITHUB_PR_HEAD_SHA"),
        repositories: None,
    },
    ChangeVariables {
        number: "BITBUCKET_PULL_REQUEST_ID",
        target: "BITBUCKET_TARGET_BRANCH",
        branch: Some("BITBUCKET_SOURCE_BRANCH"),
        commit: Some("BITBUCKET_PULL_REQUEST_LATEST_COMMIT_FROM_SOURCE_BRANCH"),
        repositories: None,
    },
    ChangeVariables {
        number: "pullRequestId",
        target: "targetBranch",
        branch: Some("sourceBranch"),
        commit: Some("sourceCommitHash"),
        repositories: None,
    },
    ChangeVariables {
        number: "GERRIT_CHANGE_NUMBER",
        target: "GERRIT_BRANCH",
        branch: None,
        commit: Some("GERRIT_PATCHSET_REVISION"),
        repositories: None,
    },
];

/// Returns whether a plugin started this build for an unmerged change.
pub(super) fn is_change(env: &Env) -> bool {
    PLUGINS.iter().any(|plugin| plugin.is_detected(env))
}

impl ChangeVariables {
    /// Returns whether the plugin of these variables started this build for an unmerged change. One of its variables is
    /// usually enough; the Gerrit plugin also starts builds after a merge.
    fn is_detected(&self, env: &Env) -> bool {
        match self.number {
            "gitlabMergeRequestIid" => {
                env.get(self.number).is_some() || env.get("gitlabActionType") == Some("MERGE")
            }
            "GERRIT_CHANGE_NUMBER" => {
                let event = env.get("GERRIT_EVENT_TYPE");
                // The name of the branch alone may be a parameter of the job.
                env.get(self.number)
                    .or(env.get("GERRIT_PATCHSET_REVISION"))
                    .is_some()
                    && !matches!(event, Some("change-merged" | "ref-updated"))
            }
            // The names of this plugin are common, so one alone may be a parameter of the job.
            "pullRequestId" => env.get(self.number).and(env.get(self.target)).is_some(),
            // This plugin may also name the target of a push.
            "BITBUCKET_PULL_REQUEST_ID" => env.get(self.number).is_some(),
            _ => env.get(self.number).or(env.get(self.target)).is_some(),
        }
    }

    /// Returns whether the change comes from another repository than its target. Without variables that name the
    /// repositories, only `CHANGE_FORK` shows a fork.
    fn is_fork(&self, env: &Env) -> bool {
        let (source, target) = match self.repositories {
            Some((source, target)) => (env.get(source), env.get(target)),
            None => return env.get("CHANGE_FORK").is_some(),
        };
        source.is_some_and(|source| !target.is_some_and(|target| is_same_repository(source, target)))
    }
}

/// Returns whether Jenkins runs the job. Both variables are required, because other hosts also set `BUILD_ID`.
pub(super) fn is_detected(env: &Env) -> bool {
    env.get("JENKINS_URL").is_some() && env.get("BUILD_ID").is_some()
}

/// Reads the context of a Jenkins build. Without `GIT_COMMIT`, which only the git plugin sets, the checked-out commit
/// is reviewed. `BRANCH_IS_PRIMARY` is set if the branch source knows the default branch:
/// <https://javadoc.jenkins.io/plugin/branch-api/>.
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let context = CiContext {
        commit: env.get_owned("GIT_COMMIT"),
        branch: env.get_owned("BRANCH_NAME"),
        run_number: env.get_owned("BUILD_NUMBER"),
        earlier_commits: read_earlier_commits(env, &EARLIER_COMMITS),
        default_branch: env
            .get_owned("BRANCH_NAME")
            .filter(|_| env.get("BRANCH_IS_PRIMARY") == Some("true")),
        ..CiContext::new(Host::Jenkins, "branch")
    };
    if let Some(plugin) = PLUGINS.iter().find(|plugin| plugin.is_detected(env)) {
        return read_change(env, plugin, context);
    }
    // Only a multibranch job sets `BRANCH_NAME`. In other jobs, `GIT_BRANCH` names the branch or the tag.
    let reference = env.get("GIT_BRANCH").filter(|_| context.branch.is_none());
    let tag = env.get("TAG_NAME").or_else(|| reference.and_then(parse_tag_name));
    Ok(match tag {
        Some(tag) => CiContext {
            event: "tag".to_owned(),
            ..context.for_tag(tag)
        },
        None => CiContext {
            branch: context
                .branch
                .or_else(|| parse_branch_name(reference?, env.get("GIT_LOCAL_BRANCH"))),
            ..context
        },
    })
}

/// Reads a build for an unmerged change. The job may have checked out the head of the change, or a merge with the
/// target that exists only in the clone (<https://plugins.jenkins.io/github-branch-source/>, "Discover pull requests").
/// The branch in `context` is replaced, because `BRANCH_NAME` is `PR-N` for a change.
fn read_change(env: &Env, plugin: &ChangeVariables, context: CiContext) -> Result<CiContext, CiError> {
    let target = Host::Jenkins.require_variable(env, plugin.target)?.to_owned();
    let commit = plugin.commit.and_then(|name| env.get_owned(name));
    Ok(CiContext {
        event: "change".to_owned(),
        trigger: Trigger::Change,
        branch: plugin.branch.and_then(|name| env.get_owned(name)),
        // Without a commit from the plugin, the commit is the checked-out one, which may be such a merge.
        may_be_local_merge: commit.is_none(),
        commit: commit.or(context.commit),
        pull_request: env.get(plugin.number).and_then(|number| number.parse().ok()),
        fork: plugin.is_fork(env),
        base: BaseHint::MergeBaseWith {
            branch: target,
            seen_commit: None,
        },
        ..context
    })
}

/// Returns the tag that the reference names, or `None` for another reference.
fn parse_tag_name(reference: &str) -> Option<&str> {
    reference
        .strip_prefix("refs/tags/")
        .or_else(|| reference.strip_prefix("tags/"))
}

/// Returns the branch in `GIT_BRANCH`, which contains the name of the remote, such as `origin/develop`. Returns `None`
/// for values that do not name a branch of the remote: `detached` is a commit that the job selects without a branch,
/// and pull requests are often fetched as `origin/pr/N`.
fn parse_branch_name(reference: &str, local: Option<&str>) -> Option<String> {
    let name = strip_remote(reference, local)?;
    let is_change_ref = [
        "pr/",
        "pull/",
        "merge-requests/",
        "pull-requests/",
        "changes/",
        "refs/",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix));
    let is_branch = !is_change_ref && !matches!(name, "" | "detached" | "HEAD" | "FETCH_HEAD");
    is_branch.then(|| name.to_owned())
}

/// Returns the branch in Jenkins' name of it: `develop` for `refs/heads/develop`, `origin/develop` and `develop`. In
/// another name with a slash, such as `a/b`, the first part may be a remote or a part of the branch: it is removed only
/// if the rest is the name of the local branch. Otherwise, the result is `None`, because a wrong branch is worse than
/// none.
fn strip_remote<'a>(reference: &'a str, local: Option<&'a str>) -> Option<&'a str> {
    if let Some(name) = reference.strip_prefix("refs/heads/") {
        return Some(name);
    }
    let name = reference.strip_prefix("refs/remotes/").unwrap_or(reference);
    if let Some(branch) = name.strip_prefix("origin/") {
        return Some(branch);
    }
    if !name.contains('/') {
        return Some(name);
    }
    let remote = name.strip_suffix(local?)?.strip_suffix('/')?;
    local.filter(|_| !remote.is_empty() && !remote.contains('/'))
}

/// Returns the target's repository, whose URL may have to be derived from the web page of the change. The change comes
/// from this repository if a branch source does not set `CHANGE_FORK`, if it is a change in Gerrit, or if the plugin
/// names the same repository for source and target.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let has_change = PLUGINS
        .iter()
        .find(|plugin| plugin.is_detected(env))
        .is_some_and(|plugin| match (plugin.number, plugin.repositories) {
            ("CHANGE_ID", _) => !plugin.is_fork(env),
            // Gerrit stores a change in the target's repository, under `refs/changes/`.
            ("GERRIT_CHANGE_NUMBER", _) => true,
            (_, Some((source, _))) => env.get(source).is_some() && !plugin.is_fork(env),
            (_, None) => false,
        });
    TargetRepository::new(
        [
            env.get("CHANGE_URL").and_then(repository_url_from_page),
            env.get_owned("gitlabTargetRepoHttpUrl"),
            env.get_owned("gitlabTargetRepoSshUrl"),
            env.get("ghprbPullLink").and_then(repository_url_from_page),
            env.get("GITHUB_PR_URL").and_then(repository_url_from_page),
        ],
        has_change,
    )
}

/// Derives the repository's URL from the URL of a change's web page on GitHub, Gitea, GitLab or Bitbucket.
fn repository_url_from_page(page: &str) -> Option<String> {
    let change_paths = ["/-/merge_requests/", "/pull/", "/pulls/", "/pull-requests/"];
    let (repository, _) = change_paths.iter().find_map(|path| page.split_once(path))?;
    // Bitbucket Data Center shows `/projects/KEY/repos/NAME`, but clones from `/scm/key/name`.
    Some(match repository.split_once("/projects/") {
        Some((server, path)) => format!("{server}/scm/{}", path.replacen("/repos/", "/", 1).to_lowercase()),
        None => repository.to_owned(),
    })
}
