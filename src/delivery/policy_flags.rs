//! The flags with which the command that reproduces a review has the job's policy on another machine.

use super::Delivery;
use crate::job::cli::CompatMode;
use crate::workspace::Workspace;

/// Returns the flags for the stricter rules of the job. On another machine, the policy of the target and the settings
/// of the job apply only if they are passed as flags. `head` is the commit that the command checks.
pub(super) fn list_policy_flags(delivery: &Delivery<'_>, head: Option<&str>) -> Vec<String> {
    let report = delivery.report;
    let is_policy_elsewhere = delivery
        .workspace
        .map_or(report.context.policy.is_some(), Workspace::has_separate_policy);
    // If the gate configuration was read from another commit, `--policy base` is needed only if the files of head
    // differ from it.
    let needs_base_policy = delivery.has_stricter_target
        || ignores_checkout_config(delivery)
        || (is_policy_elsewhere && !report.gate_changes.is_empty())
        || head.is_some_and(|head| may_policy_differ_from(delivery, head));
    let lenient_mode = find_lenient_compat_mode(delivery);
    [
        (needs_base_policy, "--policy base"),
        (report.gate_refused, "--gate-changes fail"),
        (report.breaks_consumers(), "--compat fail"),
        (lenient_mode == Some(CompatMode::Warn), "--compat warn"),
        (lenient_mode == Some(CompatMode::Off), "--compat off"),
    ]
    .into_iter()
    .filter(|(is_needed, _)| *is_needed)
    .map(|(_, flag)| flag.to_owned())
    .collect()
}

/// Returns whether the policy revision is unknown, so that the run ignores the configuration or waivers of the
/// checkout.
pub(super) fn ignores_checkout_config(delivery: &Delivery<'_>) -> bool {
    delivery
        .policy_workspace
        .zip(delivery.files)
        .is_some_and(|(workspace, (_, snapshot))| workspace.ignores_config_in(snapshot))
}

/// Returns whether the gate configuration that the run used may differ from that of the commit that the command checks.
/// A merge contains the configuration of the target, and a saved report does not show the files of its policy, so the
/// commit is then only known to have the same files if it contains the policy's commit.
fn may_policy_differ_from(delivery: &Delivery<'_>, head: &str) -> bool {
    let context = &delivery.report.context;
    let is_reviewed_commit = context.head.as_deref() == Some(head);
    let (Some(policy), Some((repo, _))) = (&context.policy, delivery.files) else {
        return context.policy.is_some() && !is_reviewed_commit;
    };
    let find_commit = |id: &str| repo.find_commit_with_id(id).ok().flatten();
    match (find_commit(head), find_commit(policy), delivery.workspace) {
        (Some(head), Some(policy), Some(workspace)) if is_reviewed_commit => {
            workspace.has_other_settings(&repo.snapshot(policy), &repo.snapshot(head))
        }
        (Some(head), Some(policy), _) => !repo.contains_commit(&head, &policy).unwrap_or(false),
        _ => true,
    }
}

/// Returns the level of `--compat` that keeps the command from failing for a break that the job does not refuse,
/// although the configuration file does.
fn find_lenient_compat_mode(delivery: &Delivery<'_>) -> Option<CompatMode> {
    if delivery.file_verdict_settings.compat != Some(CompatMode::Fail) {
        return None;
    }
    // Such a job compares nothing, so its report does not show whether there is a break.
    if delivery.compat_mode == Some(CompatMode::Off) {
        return Some(CompatMode::Off);
    }
    let compat = delivery.report.compat.as_ref();
    compat
        .is_some_and(|compat| compat.is_breaking() && !compat.refused)
        .then_some(CompatMode::Warn)
}
