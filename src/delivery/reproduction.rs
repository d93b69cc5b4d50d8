//! Builds the command that reproduces a failed review of a CI job on another machine, without the platform.

use super::policy_flags::{ignores_checkout_config, list_policy_flags};
use super::{Delivery, GateRefusal, ReviewScope};
use crate::gate::{Cause, find_report_causes};
use crate::job::ci::BaseHint;
use crate::job::context::{self, RequestedRevisions};
use crate::job::policy;
use crate::job::settings::{self, variable};
use crate::session::Session;
use sluicegate_base::text::{self, unique_short_id};
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{FailOn, GateFault, Origin, Verdict};
use sluicegate_pipelines::pipelines::is_rules_path;
use std::collections::BTreeSet;

/// Maximum number of characters for the job's options: a longer line cannot be copied well.
const MAX_OPTION_CHARS: usize = 1_000;

/// Returns the shell command that repeats a failed review of a CI job on another machine. Returns `None` for a local
/// run, for a comparison of two reports, and if the review did not fail or would not fail on that machine.
pub(super) fn build_reproduction_command(session: &Session, delivery: &Delivery<'_>) -> Option<String> {
    let (ci, report) = (delivery.ci, delivery.report);
    let context = &report.context;
    if !is_failed_review_in_ci(delivery) || fails_only_in_ci(delivery) {
        return None;
    }
    if has_uncommitted_files(delivery) || has_unusable_policy_file(delivery) {
        return None;
    }
    // A report of a plain directory does not name a commit, so the commit that the CI host states is used.
    let reviewed_head = context
        .head
        .as_deref()
        .or(ci.commit.as_deref())
        .filter(|id| is_id(id));
    let head = reviewed_head.map(|head| find_commit_for_other_clones(delivery, head));
    let merged_target = reviewed_head
        .zip(head.as_deref())
        .and_then(|(merge, head)| find_merged_target(delivery, merge, head));
    let mut words = Vec::new();
    if let Some((target, head)) = merged_target.as_ref().zip(head.as_deref()) {
        let (target, head) = (unique_short_id(target.as_str()), unique_short_id(head));
        words.push(format!(
            "git switch -q --detach {target} && git merge -q --no-edit {head} &&"
        ));
    }
    // No flag turns this setting of the configuration file off.
    let may_file_set_new_only =
        delivery.file_verdict_settings.new_only == Some(true) || ignores_checkout_config(delivery);
    let program = if !context.new_only && may_file_set_new_only {
        format!("{}=false sluicegate check", variable::NEW_ONLY)
    } else {
        "sluicegate check".to_owned()
    };
    let mut options = Vec::new();
    // After the merge, the checkout is the head.
    if let Some(head) = head.as_ref().filter(|_| merged_target.is_none()) {
        options.push(format!("--head {}", unique_short_id(head)));
    }
    options.extend(list_verdict_options(delivery));
    options.extend(list_policy_flags(delivery, head.as_deref()));
    let mut job_options = list_job_options(session, delivery);
    if !context.paths.is_empty() {
        let paths: Vec<String> = context
            .paths
            .iter()
            .map(|path| text::quote_shell_word(path))
            .collect();
        job_options.push(("the paths", format!("-- {}", paths.join(" "))));
    }
    let comment = push_fitting_options(&mut options, job_options);
    let options = options.join(" ");
    // A finding is new if one of the bases lacks it, so a check with one of the bases fails, too.
    let checks: Vec<String> = list_selections(delivery, &ci.base)
        .iter()
        .map(|selection| format!("{program} {selection} {options}").trim_end().to_owned())
        .collect();
    words.push(checks.join(" && "));
    words.extend(comment);
    Some(words.join(" "))
}

/// Returns whether a review in CI failed. A comparison of two reports is no review: it cannot be repeated, because the
/// command reviews the files of a repository.
pub(super) fn is_failed_review_in_ci(delivery: &Delivery<'_>) -> bool {
    let is_comparison_of_reports = delivery.report.context.compared_with.is_some();
    !delivery.ci.host.is_local() && delivery.report.verdict == Verdict::Failed && !is_comparison_of_reports
}

/// Returns the id of the commit to check on another machine: the reviewed commit. If that is a merge of the change that
/// the host created, it is the commit that a review by the platform would review in this job.
fn find_commit_for_other_clones(delivery: &Delivery<'_>, head: &str) -> String {
    let ci = delivery.ci;
    let is_trial_merge = ci.checkout.as_deref() == Some(head) && ci.commit.as_deref() != Some(head);
    if !is_trial_merge && !may_be_local_merge(delivery, head) && !delivery.is_merge_of_host_commit(head) {
        return head.to_owned();
    }
    let request = RequestedRevisions::for_head_only();
    let target = delivery
        .files
        .and_then(|(repo, _)| context::resolve_target(repo, ci, &request).ok());
    target
        .map(|target| target.head.to_string())
        .or_else(|| ci.commit.clone())
        .filter(|id| is_id(id))
        .unwrap_or_else(|| head.to_owned())
}

/// Returns the commit of the target that the host merged with `head`. Returns `None` if the job did not evaluate a
/// merge, or if a check of `head` finds the same: the rules file and each file with a finding are equal in the merge. A
/// finding about consumers or about references depends on other files, too.
fn find_merged_target(delivery: &Delivery<'_>, merge: &str, head: &str) -> Option<CommitId> {
    let report = delivery.report;
    let (repo, _) = delivery.files.filter(|_| merge != head)?;
    let merge = repo.find_commit_with_id(merge).ok().flatten()?;
    let head = repo.find_commit_with_id(head).ok().flatten()?;
    let parents = repo.parents(&merge).ok()?;
    if parents.len() != 2 || !parents.contains(&head) {
        return None;
    }
    let findings = report.findings();
    let depends_on_all_files =
        report.breaks_consumers() || findings.iter().any(|finding| finding.origin == Origin::Project);
    let paths: BTreeSet<&str> = findings.iter().map(|finding| finding.path).collect();
    // The rules of the target can cause findings in files that it did not change.
    let is_relevant = |path: &str| depends_on_all_files || paths.contains(path) || is_rules_path(path);
    let snapshot = repo.snapshot(merge);
    let differences = snapshot
        .compare_with_bases(std::slice::from_ref(&head), &is_relevant)
        .ok()?;
    let has_differences =
        !differences.list_removed_paths().is_empty() || !differences.list_changed_regular_paths().is_empty();
    parents
        .into_iter()
        .find(|parent| *parent != head && has_differences)
}

/// Returns whether the commit may be a merge that the host created only in the clone. The host checks out such a merge,
/// so a commit that the job selects is none.
fn may_be_local_merge(delivery: &Delivery<'_>, commit: &str) -> bool {
    let checked_out = delivery
        .files
        .and_then(|(repo, _)| repo.head().ok())
        .map(|head| head.commit);
    delivery.ci.may_be_local_merge && checked_out.is_some_and(|checked_out| checked_out.as_str() == commit)
}

/// Returns whether the review failed only because the change makes a file of the gate configuration unusable, which
/// only runs in CI refuse.
fn fails_only_in_ci(delivery: &Delivery<'_>) -> bool {
    let unusable_file = Cause::GateFault(GateFault::UnusableFile);
    delivery.gate_refusal == GateRefusal::OnlyInCi
        && find_report_causes(delivery.report)
            .iter()
            .all(|cause| *cause == unusable_file || cause.verdict() != Verdict::Failed)
}

/// Returns whether the run evaluated other files than those of a commit: standard input or staged files. A directory
/// without git has no commit either, but a clone has its files.
fn has_uncommitted_files(delivery: &Delivery<'_>) -> bool {
    let is_plain_directory = delivery.files.is_some_and(|(repo, _)| repo.is_plain_directory());
    delivery.report.context.head.is_none() && !is_plain_directory
}

/// Returns whether a file of the gate configuration that applies to the run cannot be used. Only a run in CI treats such
/// a file as missing; on another machine, the command would fail.
fn has_unusable_policy_file(delivery: &Delivery<'_>) -> bool {
    let (Some(workspace), Some((_, snapshot))) = (delivery.policy_workspace, delivery.files) else {
        return false;
    };
    let has_unusable_team_rules = workspace
        .read_team_rules()
        .is_ok_and(|team_rules| !team_rules.unusable_files.is_empty());
    workspace.sources.unusable_reason().is_some()
        || has_unusable_team_rules
        || workspace.has_unusable_waivers(snapshot)
}

/// Returns the options that say which findings fail the review, and which shard of the pipelines it covers.
fn list_verdict_options(delivery: &Delivery<'_>) -> Vec<String> {
    let (report, context) = (delivery.report, &delivery.report.context);
    let file_level = delivery.file_verdict_settings.fail_on.unwrap_or_default();
    let mut options = Vec::new();
    if let Some(fail_on) = context.fail_on
        && (fail_on != FailOn::default() || fail_on != file_level || ignores_checkout_config(delivery))
    {
        options.push(format!("--fail-on {fail_on}"));
    }
    // Only a review with `--new-only` has the number of fixed findings.
    if report.fixed_count.is_some() {
        options.push("--new-only".to_owned());
        options.extend(
            context
                .max_known
                .map(|max_known| format!("--max-known {max_known}")),
        );
    }
    if let Some(shard) = context.shard {
        options.push(format!("--shard {shard}"));
    }
    options
}

/// Returns the commits that a review of all pipelines was compared with: those whose findings are known, otherwise the
/// one whose consumers the change breaks. If only a break fails the review, the commit of the break comes first.
fn list_bases_of_all<'d>(delivery: &'d Delivery<'_>) -> Vec<&'d str> {
    let report = delivery.report;
    // Without `--new-only`, the report has no number of fixed findings, and no finding is known.
    let has_baseline = report.fixed_count.is_some() && !delivery.baseline_commits.is_empty();
    let break_base = report
        .compat
        .as_ref()
        .filter(|compat| compat.refused)
        .and_then(|compat| compat.against_commit.as_deref())
        .filter(|commit| is_id(commit));
    let fails_only_by_break = find_report_causes(report)
        .iter()
        .all(|cause| *cause == Cause::BreakingChange || cause.verdict() != Verdict::Failed);
    if has_baseline && (break_base.is_none() || !fails_only_by_break) {
        return delivery.baseline_commits.iter().map(CommitId::as_str).collect();
    }
    break_base.into_iter().collect()
}

/// Returns the options that select the pipelines, for each check of the command: `--base` for the changed ones, or
/// `--all`. If all pipelines are reviewed, for example before a publish, `--base` only names the commit to compare
/// with.
fn list_selections(delivery: &Delivery<'_>, base_hint: &BaseHint) -> Vec<String> {
    let context = &delivery.report.context;
    if delivery.scope == ReviewScope::WithPublish {
        return list_selections_of_all(delivery);
    }
    match (&context.base, base_hint) {
        // With several merge bases, `--base` must name the branch, because one of the merge bases would not be enough.
        (Some(_), BaseHint::MergeBaseWith { branch, .. } | BaseHint::Commit { target: branch, .. })
            if !context.other_bases.is_empty() =>
        {
            let branch = text::quote_shell_word(&format!("origin/{branch}"));
            vec![format!("--base {branch}")]
        }
        (Some(base), _) if is_id(base) => vec![format!("--base {}", unique_short_id(base))],
        _ => list_selections_of_all(delivery),
    }
}

/// Returns the options that select all pipelines, for each commit that they are compared with.
fn list_selections_of_all(delivery: &Delivery<'_>) -> Vec<String> {
    let selections: Vec<String> = list_bases_of_all(delivery)
        .into_iter()
        .map(|commit| format!("--all --base {}", unique_short_id(commit)))
        .collect();
    if selections.is_empty() {
        vec!["--all".to_owned()]
    } else {
        selections
    }
}

/// Returns whether the text of a saved report is a commit id. Other text is omitted, because the command does not quote
/// it for the shell.
fn is_id(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_hexdigit())
}

/// Returns the options that repeat the job's settings for files and the gate configuration, each with the name of its
/// flag. Settings in the repository's configuration file apply everywhere, so options for them are unnecessary.
fn list_job_options(session: &Session, delivery: &Delivery<'_>) -> Vec<(&'static str, String)> {
    let (include, exclude) = delivery
        .selection
        .map(settings::Selection::job_patterns)
        .unwrap_or_default();
    let config_file = find_config_path(session, delivery);
    let config_dir = settings::requested_config_dir(&session.global, &session.env);
    let context = &delivery.report.context;
    let off_value = || "off".to_owned();
    let team_rules = context
        .team_rules
        .clone()
        .or_else(|| context.team_rules_off.then(off_value));
    let rules = find_rules_path(session, delivery);
    let project_checks = context.project_checks_off.then(off_value);
    let flags = [
        ("--config", config_file.as_slice()),
        ("--config-dir", config_dir.as_slice()),
        ("--rules", rules.as_slice()),
        ("--team-rules", team_rules.as_slice()),
        ("--project-checks", project_checks.as_slice()),
        ("--include", include),
        ("--exclude", exclude),
    ];
    flags
        .into_iter()
        .filter(|(_, values)| !values.is_empty())
        .map(|(flag, values)| {
            let words: Vec<String> = values
                .iter()
                .map(|value| text::format_shell_option(flag, value))
                .collect();
            (flag, words.join(" "))
        })
        .collect()
}

/// Returns the path of the configuration file that the job sets. If the file is in the repository, the path is relative
/// to the repository root, like all paths in the command.
fn find_config_path(session: &Session, delivery: &Delivery<'_>) -> Option<String> {
    let file = settings::requested_config_file(&session.global, &session.env)?;
    let repository_path = delivery
        .files
        .and_then(|(repo, _)| policy::find_path_in_repository(repo.root(), &file));
    Some(repository_path.unwrap_or_else(|| file.display().to_string()))
}

/// Returns the path of the rules file that the job names in place of the project's. A job can only name a file outside
/// the checkout, so the path of this run's file does not depend on the current directory of the other machine. The path
/// in a report of an earlier run may be relative to another directory than the current one.
fn find_rules_path(session: &Session, delivery: &Delivery<'_>) -> Option<String> {
    let typed_path = delivery.report.context.rules.as_ref()?;
    let file = policy::normalize_path(&session.env.current_dir().join(typed_path));
    Some(file.display().to_string())
}

/// Adds the options to the command if they fit into [`MAX_OPTION_CHARS`] characters and contain no control characters.
/// Returns a shell comment with the names of the other options; `None` if there are none.
fn push_fitting_options(words: &mut Vec<String>, options: Vec<(&'static str, String)>) -> Option<String> {
    let mut remaining_chars = MAX_OPTION_CHARS;
    let mut omitted_names = Vec::new();
    for (name, option) in options {
        let length = option.chars().count();
        let is_plain = text::escape_line(&option) == option && !option.contains('\t');
        if is_plain && length <= remaining_chars {
            remaining_chars -= length;
            words.push(option);
        } else {
            omitted_names.push(name);
        }
    }
    let name_list = omitted_names.join(", ");
    (!name_list.is_empty()).then(|| format!("# add these options from the job: {name_list}"))
}
