//! A CI host that has no file here. The run is not a local run: nobody watches it, and the checkout may be an unmerged
//! change.
//!
//! The host reports neither the event nor the target of a change. The gate configuration is therefore read from the
//! remote's default branch, and only commits of that branch are published.

use super::ci_context::read_earlier_commits;
use super::{CiContext, CiError, Host, TargetRepository, azure, bitbucket, buildkite, gitlab, jenkins};
use crate::env::Env;

/// No setting is known, because any host may run the job.
pub(super) const FULL_HISTORY_SETTING: Option<&str> = None;

/// Variables that a CI host sets in each job. Tekton and Concourse do not set such a variable in their tasks, so the
/// job has to set `CI`.
const HOST_VARIABLES: [&str; 56] = [
    // Names that several hosts use: <https://github.com/watson/ci-info#supported-ci-tools>.
    "BUILD_NUMBER",
    "CI_BUILD_ID",
    "CI_BUILD_NUMBER",
    "CI_NAME",
    "CI_PIPELINE_ID",
    "CI_SYSTEM_NAME",
    "CONTINUOUS_INTEGRATION",
    // Hosts with a file here, if the value is unusual or other variables are missing.
    "BITBUCKET_BUILD_NUMBER",
    "BUILDKITE",
    "CIRCLECI",
    "FORGEJO_ACTIONS",
    "GITEA_ACTIONS",
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "HUDSON_URL",
    "JENKINS_URL",
    "TF_BUILD",
    // Each host's own.
    "AC_APPCIRCLE",
    "AGOLA_GIT_REF",
    "APPCENTER_BUILD_ID",
    "APPVEYOR",
    "ARGO_CONTAINER_NAME",
    "BITRISE_IO",
    "BUDDY",
    "BUDDY_WORKSPACE_ID",
    "BUILDER_OUTPUT",
    "CF_BUILD_ID",
    "CIRRUS_CI",
    "CM_BUILD_ID",
    "CODEBUILD_BUILD_ARN",
    "CODEBUILD_BUILD_ID",
    "CODEBUILD_CI",
    "DRONE",
    "DRONE_BUILD_NUMBER",
    "DSARI",
    "EARTHLY_CI",
    "EAS_BUILD",
    "GO_PIPELINE_LABEL",
    "GO_PIPELINE_NAME",
    "HARNESS_BUILD_ID",
    "JB_SPACE_EXECUTION_NUMBER",
    "MAGNUM",
    "PROW_JOB_ID",
    "SAILCI",
    "SCREWDRIVER",
    "SEMAPHORE",
    "SHIPPABLE",
    "STRIDER",
    "TASKCLUSTER_ROOT_URL",
    "TEAMCITY_PROJECT_NAME",
    "TEAMCITY_VERSION",
    "TRAVIS",
    "VELA",
    "WERCKER",
    "XCS",
    "bamboo_planKey",
];

/// Prefixes of variable names, for a host that does not set the same variable in each job.
const HOST_VARIABLE_PREFIXES: [&str; 3] = ["TEKTON_", "CODEBUILD_", "bamboo_build"];

/// Returns whether the variables show that this job runs in CI, on a host that the program does not support by name.
pub(super) fn is_detected(env: &Env) -> bool {
    has_truthy_value(env, "CI")
        || HOST_VARIABLES.iter().any(|name| has_truthy_value(env, name))
        // Google Cloud Build: <https://cloud.google.com/build/docs/configuring-builds/substitute-variable-values>.
        || (has_truthy_value(env, "BUILD_ID") && has_truthy_value(env, "PROJECT_ID"))
        || env
            .variable_names()
            .any(|name| HOST_VARIABLE_PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
}

/// Returns whether the variable is set to a value other than `false`, `0` and the empty text.
fn has_truthy_value(env: &Env, variable: &str) -> bool {
    env.get(variable).is_some_and(is_truthy)
}

fn is_truthy(value: &str) -> bool {
    !matches!(value.trim(), "" | "0") && !value.trim().eq_ignore_ascii_case("false")
}

/// A known host, by the variables of its jobs.
struct KnownHost {
    host: Host,
    /// The variables that name the target of a change.
    targets: &'static [&'static str],
    /// The variables that identify the host.
    identifiers: &'static [&'static str],
}

const KNOWN_HOSTS: [KnownHost; 5] = [
    KnownHost {
        host: Host::GitHub,
        targets: &["GITHUB_BASE_REF"],
        identifiers: &["GITHUB_ACTIONS"],
    },
    KnownHost {
        host: Host::GitLab,
        targets: &[gitlab::TARGET_BRANCH, gitlab::EXTERNAL_TARGET_BRANCH],
        identifiers: &["GITLAB_CI"],
    },
    KnownHost {
        host: Host::Azure,
        targets: &[azure::TARGET],
        identifiers: &["TF_BUILD"],
    },
    KnownHost {
        host: Host::Bitbucket,
        targets: &[bitbucket::TARGET],
        identifiers: &["BITBUCKET_BUILD_NUMBER"],
    },
    KnownHost {
        host: Host::Buildkite,
        targets: &[buildkite::TARGET, buildkite::QUEUE_TARGET],
        identifiers: &["BUILDKITE"],
    },
];

/// Jenkins, whose plugins name the target of a change in different ways.
const JENKINS: KnownHost = KnownHost {
    host: Host::Jenkins,
    targets: &[],
    identifiers: &["JENKINS_URL", "BUILD_ID"],
};

impl KnownHost {
    /// Fails if a variable that identifies the host is missing. The job must be one for a change on this host.
    fn require_identifiers(&self, env: &Env) -> Result<(), CiError> {
        match self.identifiers.iter().find(|name| env.get(name).is_none()) {
            Some(variable) => Err(CiError::HostVariable {
                host: self.host,
                variable,
            }),
            None => Ok(()),
        }
    }
}

/// Fails if a variable names the target of a change on a known host, but the host's own variable is missing, for
/// example because the job passes variables into a container one by one. The gate configuration of the target would
/// otherwise not apply.
pub(super) fn reject_incomplete_host(env: &Env) -> Result<(), CiError> {
    for known_host in &KNOWN_HOSTS {
        if known_host.targets.iter().any(|name| env.get(name).is_some()) {
            known_host.require_identifiers(env)?;
        }
    }
    if jenkins::is_change(env) {
        JENKINS.require_identifiers(env)?;
    }
    Ok(())
}

/// The commits before a push, or of the last run of a branch: <https://docs.drone.io/pipeline/environment/reference/>,
/// <https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-env-vars.html>,
/// <https://woodpecker-ci.org/docs/usage/environment>,
/// <https://confluence.atlassian.com/bamboo/bamboo-variables-289277087.html>.
const EARLIER_COMMITS: [&str; 7] = [
    "DRONE_COMMIT_BEFORE",
    "CODEBUILD_WEBHOOK_PREV_COMMIT",
    "CI_PREV_COMMIT_SHA",
    "bamboo_planRepository_previousRevision",
    // Jenkins and GitLab, if the variable that identifies the host is missing.
    "GIT_PREVIOUS_SUCCESSFUL_COMMIT",
    "GIT_PREVIOUS_COMMIT",
    "CI_COMMIT_BEFORE_SHA",
];

/// Reads the context of a job on an unknown host: only the commits of earlier runs, if a variable names them.
#[expect(
    clippy::unnecessary_wraps,
    reason = "the functions of all hosts have the same signature"
)]
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    Ok(CiContext {
        earlier_commits: read_earlier_commits(env, &EARLIER_COMMITS),
        ..CiContext::new(Host::Unknown, "unknown")
    })
}

/// Returns a repository without URLs, because the program does not know which variables this host sets.
pub(super) fn read_target_repository(_: &Env) -> TargetRepository {
    TargetRepository::default()
}
