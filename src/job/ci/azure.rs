//! Azure Pipelines.
//!
//! Variables: <https://learn.microsoft.com/azure/devops/pipelines/build/variables>.

use super::ci_context::strip_branch_prefix;
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger};
use crate::env::Env;

pub(super) const TARGET: &str = "SYSTEM_PULLREQUEST_TARGETBRANCH";
const SOURCE: &str = "SYSTEM_PULLREQUEST_SOURCEBRANCH";
const VERSION: &str = "BUILD_SOURCEVERSION";

/// New pipelines fetch one commit by default:
/// <https://learn.microsoft.com/azure/devops/pipelines/yaml-schema/steps-checkout>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("set `fetchDepth: 0` on the step `checkout: self`");

/// Returns whether Azure Pipelines runs the job: it sets `TF_BUILD` in every job.
pub(super) fn is_detected(env: &Env) -> bool {
    env.get("TF_BUILD").is_some()
}

/// Reads the context of an Azure Pipelines job. A pull request is also recognized by its variables, in case the reason
/// is missing or names something else. A missing reason is treated as a push, and a schedule or a manual run as
/// [`Trigger::Any`].
pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    let commit = Host::Azure.require_variable(env, VERSION)?;
    let reason = env.get("BUILD_REASON").unwrap_or("unknown");
    let change_variables = [
        TARGET,
        "SYSTEM_PULLREQUEST_PULLREQUESTID",
        "SYSTEM_PULLREQUEST_PULLREQUESTNUMBER",
    ];
    let is_change =
        reason == "PullRequest" || change_variables.into_iter().any(|name| env.get(name).is_some());
    let context = CiContext {
        commit: Some(commit.to_owned()),
        trigger: match reason {
            _ if is_change => Trigger::Change,
            "IndividualCI" | "BatchedCI" | "unknown" => Trigger::Commit,
            _ => Trigger::Any,
        },
        run_number: env.get_owned("BUILD_BUILDNUMBER"),
        ..CiContext::new(Host::Azure, reason)
    };
    if is_change {
        return read_pull_request(env, context);
    }
    let reference = env.get("BUILD_SOURCEBRANCH").unwrap_or_default();
    if let Some(tag) = reference.strip_prefix("refs/tags/") {
        return Ok(context.for_tag(tag));
    }
    let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
    Ok(CiContext { branch, ..context })
}

/// Reads a pull request into `context`. The commit of `context`, `BUILD_SOURCEVERSION`, is then the checked-out trial
/// merge; the commit to review has another variable. The repository may be on Azure Repos, which writes branches as
/// `refs/heads/main`, or on GitHub, which writes them as `main`. Each has its own variable for the number.
fn read_pull_request(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let number = env
        .get("SYSTEM_PULLREQUEST_PULLREQUESTNUMBER")
        .or(env.get("SYSTEM_PULLREQUEST_PULLREQUESTID"));
    Ok(CiContext {
        branch: Some(strip_branch_prefix(Host::Azure.require_variable(env, SOURCE)?)),
        commit: Some(
            Host::Azure
                .require_variable(env, "SYSTEM_PULLREQUEST_SOURCECOMMITID")?
                .to_owned(),
        ),
        checkout: context.commit.clone(),
        pull_request: number.and_then(|number| number.parse().ok()),
        fork: env
            .get("SYSTEM_PULLREQUEST_ISFORK")
            .is_some_and(|fork| fork.eq_ignore_ascii_case("true")),
        base: BaseHint::MergeBaseWith {
            branch: strip_branch_prefix(Host::Azure.require_variable(env, TARGET)?),
            seen_commit: None,
        },
        ..context
    })
}

/// Returns the repository that started the run. The change comes from this repository if the variable for a fork is
/// `False`. Azure Pipelines sets that variable for every pull request.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    let fork_value = env.get("SYSTEM_PULLREQUEST_ISFORK");
    let has_change = fork_value.is_some_and(|fork| fork.eq_ignore_ascii_case("false"));
    TargetRepository::new([env.get_owned("BUILD_REPOSITORY_URI")], has_change)
}
