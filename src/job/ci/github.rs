//! GitHub Actions.
//!
//! Variables: <https://docs.github.com/actions/reference/workflows-and-actions/variables>, events:
//! <https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows>, payloads:
//! <https://docs.github.com/webhooks/webhook-events-and-payloads>.

use super::ci_context::{is_null_id, strip_branch_prefix};
use super::{BaseHint, CiContext, CiError, Host, TargetRepository, Trigger, payload::Payload};
use crate::env::Env;

const SHA: &str = "GITHUB_SHA";
const REF: &str = "GITHUB_REF";
const EVENT: &str = "GITHUB_EVENT_NAME";

/// The events that are about a commit. Other events run on the default branch, or on a branch that a user selected,
/// regardless of their subject.
const COMMIT_EVENTS: [&str; 4] = ["push", "create", "delete", "release"];

/// actions/checkout fetches one commit by default: <https://github.com/actions/checkout#usage>.
pub(super) const FULL_HISTORY_SETTING: Option<&str> =
    Some("set `fetch-depth: 0` in the `with:` of actions/checkout");

pub(super) fn is_detected(env: &Env) -> bool {
    env.get("GITHUB_ACTIONS") == Some("true")
}

pub(super) fn read_context(env: &Env) -> Result<CiContext, CiError> {
    read_context_as(Host::GitHub, env)
}

/// Reads the context of a job from GitHub's variables for `host`, which is GitHub or a compatible host. For events
/// whose head, base or deleted branch is only in the payload, a missing payload is an error.
pub(super) fn read_context_as(host: Host, env: &Env) -> Result<CiContext, CiError> {
    let event = host.require_variable(env, EVENT)?;
    let default_branch =
        Payload::read(env, event)?.and_then(|payload| payload.find_text("repository.default_branch"));
    let run_number = env.get_owned("GITHUB_RUN_NUMBER");
    let is_change = event.starts_with("pull_request") || event == "merge_group";
    let context = CiContext {
        run_number,
        default_branch,
        trigger: match event {
            _ if is_change => Trigger::Change,
            event if COMMIT_EVENTS.contains(&event) => Trigger::Commit,
            _ => Trigger::Any,
        },
        ..CiContext::new(host, event)
    };
    match event {
        "merge_group" => read_merge_group(&Payload::read_required(env, event)?, context),
        "push" => read_push_event(env, context),
        "delete" => read_deletion(&Payload::read_required(env, event)?, context),
        _ if event.starts_with("pull_request") => {
            read_pull_request(env, &Payload::read_required(env, event)?, context)
        }
        _ => read_ref_event(env, context),
    }
}

/// Reads a pull request. `GITHUB_SHA` is not its head: for `pull_request`, it is a trial merge, `refs/pull/N/merge`,
/// which is in no branch; for `pull_request_target`, it is the tip of the base branch. Only the payload contains the
/// head (<https://docs.github.com/actions/reference/workflows-and-actions/events-that-trigger-workflows#pull_request>).
/// `base.sha` is the base branch at the last update of the pull request, so the branch itself is tried first. If the
/// event is the change to another base branch, the trial merge and `base.sha` may still be those of the earlier base
/// (<https://github.com/actions/checkout/issues/919>), so neither is used.
fn read_pull_request(env: &Env, payload: &Payload<'_>, context: CiContext) -> Result<CiContext, CiError> {
    let is_retargeted = is_retargeted(payload);
    let target_sha = payload
        .find_text("pull_request.base.sha")
        .filter(|_| !is_retargeted);
    Ok(CiContext {
        branch: Some(payload.require_text("pull_request.head.ref")?),
        commit: Some(payload.require_text("pull_request.head.sha")?),
        checkout: env
            .get(SHA)
            .filter(|_| context.event != "pull_request_target" && !is_retargeted)
            .map(str::to_owned),
        pull_request: payload
            .get("pull_request.number")
            .and_then(serde_json::Value::as_u64),
        fork: is_fork(env, payload),
        target_tip: target_sha.clone().map(|id| (id, "pull_request.base.sha")),
        base: BaseHint::MergeBaseWith {
            branch: payload.require_text("pull_request.base.ref")?,
            seen_commit: target_sha,
        },
        ..context
    })
}

/// Returns whether the event changed the base branch of the pull request. GitHub names the earlier branch in
/// `changes.base` (<https://docs.github.com/webhooks/webhook-events-and-payloads?actionType=edited#pull_request>),
/// Gitea and Forgejo in `changes.ref` (`ChangesPayload` in <https://pkg.go.dev/code.gitea.io/gitea/modules/structs>).
fn is_retargeted(payload: &Payload<'_>) -> bool {
    payload.get("changes.base").is_some() || payload.get("changes.ref").is_some()
}

/// Returns whether the pull request is from a fork. If a repository is not named, the result is true, because
/// `head.repo` is null after the fork was deleted.
fn is_fork(env: &Env, payload: &Payload<'_>) -> bool {
    let head = payload.find_text("pull_request.head.repo.full_name");
    let target = payload
        .find_text("pull_request.base.repo.full_name")
        .or_else(|| payload.find_text("repository.full_name"))
        .or_else(|| env.get_owned("GITHUB_REPOSITORY"));
    match (head, target) {
        (Some(head), Some(target)) => !head.eq_ignore_ascii_case(&target),
        _ => true,
    }
}

/// Reads a merge group, whose commit is on the separate branch `gh-readonly-queue/…` of the remote. The base may be
/// another group of the queue, so it is no commit of the target
/// (<https://docs.github.com/webhooks/webhook-events-and-payloads#merge_group>).
fn read_merge_group(payload: &Payload<'_>, context: CiContext) -> Result<CiContext, CiError> {
    Ok(CiContext {
        branch: Some(strip_branch_prefix(
            &payload.require_text("merge_group.head_ref")?,
        )),
        commit: Some(payload.require_text("merge_group.head_sha")?),
        is_queued: true,
        base: BaseHint::Commit {
            id: payload.require_text("merge_group.base_sha")?,
            source: "merge_group.base_sha",
            target: strip_branch_prefix(&payload.require_text("merge_group.base_ref")?),
        },
        ..context
    })
}

/// Reads a push. In the payload, `before` is all zeros if the push created the branch, and `after` is all zeros if it
/// deleted the branch; `GITHUB_SHA` is then the tip of the default branch, and nothing is reviewed
/// (<https://docs.github.com/webhooks/webhook-events-and-payloads#push>).
fn read_push_event(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let payload = Payload::read(env, "push")?;
    let mut context = read_ref_event(env, context)?;
    let pushed_commit = find_text(payload.as_ref(), "after");
    if pushed_commit.is_some_and(|commit| is_null_id(&commit)) {
        let reference = find_text(payload.as_ref(), "ref").or_else(|| env.get_owned(REF));
        context.idle_reason = Some(describe_deletion(&reference.unwrap_or_default()));
    }
    if let (Some(previous), None) = (find_text(payload.as_ref(), "before"), &context.tag) {
        context.base = if is_null_id(&previous) {
            BaseHint::CreatedBranch
        } else {
            BaseHint::PushedFrom {
                previous,
                source: "the push event's `before`",
            }
        };
    }
    Ok(context)
}

/// Reads the deletion of a branch or tag, after which nothing is reviewed. The payload contains the name without
/// `refs/heads/` or `refs/tags/` (<https://docs.github.com/webhooks/webhook-events-and-payloads#delete>).
fn read_deletion(payload: &Payload<'_>, context: CiContext) -> Result<CiContext, CiError> {
    let name = payload.require_text("ref")?;
    let is_tag = payload.find_text("ref_type").as_deref() == Some("tag");
    let namespace = if is_tag { "refs/tags" } else { "refs/heads" };
    Ok(CiContext {
        idle_reason: Some(describe_deletion(&format!("{namespace}/{name}"))),
        ..context
    })
}

/// Returns the reason why a run has nothing to review: the branch or tag of this full reference was deleted.
fn describe_deletion(reference: &str) -> String {
    match reference.strip_prefix("refs/tags/") {
        Some(tag) => format!("the tag `{tag}` was deleted"),
        None => format!("the branch `{}` was deleted", strip_branch_prefix(reference)),
    }
}

/// Reads an event whose `GITHUB_SHA` is the tip of `GITHUB_REF`, such as `push`, `workflow_dispatch` or `schedule`. A
/// schedule always runs on the default branch, so its branch is the default branch if the payload does not name that.
fn read_ref_event(env: &Env, context: CiContext) -> Result<CiContext, CiError> {
    let commit = context.host.require_variable(env, SHA)?;
    let context = CiContext {
        commit: Some(commit.to_owned()),
        ..context
    };
    let reference = env.get(REF).unwrap_or_default();
    if let Some(tag) = reference.strip_prefix("refs/tags/") {
        return Ok(context.for_tag(tag));
    }
    let branch = reference.strip_prefix("refs/heads/").map(str::to_owned);
    let schedule_branch = branch.clone().filter(|_| context.event == "schedule");
    Ok(CiContext {
        branch,
        default_branch: context.default_branch.or(schedule_branch),
        ..context
    })
}

/// Returns the repository of the run, which is also the target of pull requests from forks. The payload contains
/// several URLs of it, and the clone may have any of them as its remote.
pub(super) fn read_target_repository(env: &Env) -> TargetRepository {
    // `read_context_as` reports an unreadable payload. The name of the event, which is only for that error, is empty
    // here.
    let payload = Payload::read(env, "").ok().flatten();
    let base = "pull_request.base.repo";
    let repository = if find_text(payload.as_ref(), &format!("{base}.full_name")).is_some() {
        base
    } else {
        "repository"
    };
    let mut urls: Vec<Option<String>> = ["clone_url", "ssh_url", "html_url"]
        .map(|field| find_text(payload.as_ref(), &format!("{repository}.{field}")))
        .to_vec();
    let server = env.get("GITHUB_SERVER_URL").unwrap_or("https://github.com");
    let name = find_text(payload.as_ref(), &format!("{repository}.full_name"))
        .or_else(|| env.get_owned("GITHUB_REPOSITORY"));
    urls.push(name.map(|name| format!("{}/{name}", server.trim_end_matches('/'))));
    // Whether the change comes from this repository, not from a fork.
    let contains_change = match &payload {
        Some(payload) if payload.get("pull_request").is_some() => !is_fork(env, payload),
        // The branch of a merge group belongs to the repository itself. The remaining events have no change.
        Some(payload) => payload.get("merge_group").is_some(),
        None => false,
    };
    TargetRepository::new(urls, contains_change)
}

/// Returns the string at a path of the payload, if the host has a payload.
fn find_text(payload: Option<&Payload<'_>>, path: &str) -> Option<String> {
    payload?.find_text(path)
}
