//! The publish that follows a review: its pipelines are reviewed too, changed or not.

use super::build_target_plan;
use super::compared_offer::compare_plan_with_version;
use super::merged_commit::{MergedCommit, describe_change_job, require_merged};
use super::policy_guard::{check_stricter_gate, reject_unusable_policy, reject_unusable_team_rules};
use super::required_review::{pipeline_paths, reject_review_of_worktree};
use crate::error::{Failure, join_details};
use crate::gate::run::{GateRun, SelectedRun};
use crate::job::cli::{CiArgs, PublishArgs};
use crate::job::context::{BranchOrigin, ContextError, Target};
use crate::job::settings::{Connection, PublishOn, PublishSettings};
use crate::publish::{Plan, PublishError, is_same_commit, version_name::needs_next_version};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_git::CommitId;
use sluicegate_pipelines::interface::{ComparedVersion, Compatibility, find_acceptance_by_version_names};
use sluicegate_platform::api::ArtifactDetails;

/// A publish that would follow a passed review.
pub(crate) struct PlannedPublish {
    pub(crate) merged_commit: MergedCommit,
    pub(crate) settings: PublishSettings,
    /// The publish plan, or why it could not be made; made once, so that the reviewed files are those published.
    pub(crate) plan: Result<Plan, PublishError>,
    /// Pipelines reviewed even if they did not change.
    pub(crate) reviewed_pipelines: Vec<String>,
}

impl PlannedPublish {
    /// Plans the publish that follows a passed review. Returns `None` if the event does not request a publish. A commit
    /// that is not merged is rejected before any request is sent, and so is a prefix or version name that cannot be
    /// sent. Any other error in the plan is stored, so that the review runs first; the publish then fails with it.
    pub(crate) fn prepare(
        session: &Session,
        args: &CiArgs,
        workspace: &Workspace<'_>,
        target: &Target,
    ) -> Result<Option<Self>, Failure> {
        let publish_on = workspace.sources.resolve_publish_on(args)?;
        require_named_branch(workspace, target, &publish_on)?;
        if explain_no_publish(target, &publish_on).is_some() {
            return Ok(None);
        }
        reject_unusable_policy(session, workspace)?;
        reject_unusable_team_rules(workspace)?;
        let merged_commit = require_merged(workspace, target, &publish_on)?;
        let settings = workspace
            .sources
            .resolve_publish_settings(&build_publish_args(args))?;
        // The review of any other run finds a stricter gate configuration.
        if settings.dry_run {
            check_stricter_gate(session, workspace, target)?;
        }
        // The publish requires the review before it.
        reject_review_of_worktree(&settings)?;
        let plan = match build_target_plan(workspace, &settings, target) {
            // No review can change this.
            Err(error @ PublishError::Version(_)) => return Err(error.into()),
            plan => plan,
        };
        let unreviewed_selection = workspace
            .sources
            .compile_review_exclusions(&args.review.selection.globs)?;
        // A plan with an error has no paths.
        let reviewed_paths = plan
            .iter()
            .flat_map(pipeline_paths)
            .filter(|path| !unreviewed_selection.contains(path));
        Ok(Some(Self {
            merged_commit,
            reviewed_pipelines: reviewed_paths.map(str::to_owned).collect(),
            settings,
            plan,
        }))
    }

    /// Returns why the publish would accept breaking changes, so that the review before it accepts them, too; `None` if
    /// it would not. It accepts them if no version is enabled, the compared version (`--against`, otherwise the latest)
    /// was published from `head`, nothing breaks for its consumers, or the version name announces them.
    pub(crate) fn find_acceptance_reason(
        &self,
        session: &Session,
        workspace: &Workspace<'_>,
        connection: &Connection,
        head: &CommitId,
    ) -> Result<Option<String>, Failure> {
        let prefix = &self.settings.prefix;
        let against = self.settings.against.as_deref();
        let platform = session.create_platform_client(connection)?;
        let compared_details = match against {
            Some(_) => Some(session.block_on(platform.fetch_artifact_details(prefix, against))??),
            None => session.block_on(platform.find_latest_artifact(prefix))??,
        };
        let Some(compared_details) = compared_details else {
            return Ok(Some(format!(
                "no version of {prefix} is enabled, so it has no consumers"
            )));
        };
        let compared_version = &compared_details.artifact;
        let old_name = compared_version.version_name.as_deref();
        let version = old_name.unwrap_or("(no name)");
        if is_same_commit(compared_version.commit_hash.as_deref(), head.as_str()) {
            return Ok(Some(format!(
                "this commit is already published as version {version}"
            )));
        }
        if against.is_none()
            && self.is_compatible_with_version(session, workspace, head, &compared_details)?
        {
            return Ok(Some(format!(
                "nothing breaks for consumers of version {version}, the latest version of {prefix}"
            )));
        }
        // A name with `{next}` announces nothing, because no user chose it.
        if needs_next_version(&self.settings.version_name) {
            return Ok(None);
        }
        // A plan with an error has no version name. The publish fails with that error anyway.
        let Ok(plan) = &self.plan else {
            return Ok(None);
        };
        Ok(find_acceptance_by_version_names(old_name, &plan.version_name))
    }

    /// Returns whether the plan certainly breaks nothing for consumers of this version, whose commit is an ancestor of
    /// `head`. For example, a revert of an unpublished break breaks consumers of its base, but the base has none.
    fn is_compatible_with_version(
        &self,
        session: &Session,
        workspace: &Workspace<'_>,
        head: &CommitId,
        details: &ArtifactDetails,
    ) -> Result<bool, Failure> {
        let (Ok(plan), Some(id)) = (&self.plan, &details.artifact.commit_hash) else {
            return Ok(false);
        };
        let Some(commit) = workspace.repo.find_commit_with_id(id)? else {
            return Ok(false);
        };
        if !workspace.repo.contains_commit(head, &commit)? {
            return Ok(false);
        }
        let can_fetch = false;
        let (_, offer_changes) = compare_plan_with_version(session, workspace, plan, details, can_fetch)?;
        Ok(offer_changes.is_some_and(|offer_changes| {
            let compat = Compatibility::new(ComparedVersion::default(), offer_changes.changes);
            offer_changes.doubt.is_none() && !compat.is_breaking()
        }))
    }
}

/// Completes the selection of a review of `head`, and finds its baseline. If a publish follows, adds the pipelines that
/// it would upload, and `--new-only` compares with the published version. If the publish cannot be planned, the review
/// is that of a run that does not publish, with a note if it fails.
pub(crate) fn complete_run<'a>(
    selected_run: SelectedRun<'a>,
    publish: Option<&PlannedPublish>,
    connection: &Connection,
    head: &CommitId,
) -> Result<GateRun<'a>, Failure> {
    let plan_error = publish.and_then(|publish| publish.plan.as_ref().err());
    let Some(publish) = publish.filter(|_| plan_error.is_none()) else {
        let mut gate = selected_run.complete(None)?;
        gate.failure_note = plan_error.map(|error| {
            let reason = join_details(&error.to_string(), &error.list_details());
            format!("this run cannot publish: {reason}")
        });
        gate.set_change_baseline()?;
        return Ok(gate);
    };
    let mut gate = selected_run.complete(Some(&publish.reviewed_pipelines))?;
    gate.set_published_baseline(connection, &publish.settings.prefix, head)?;
    Ok(gate)
}

/// Returns why a planned publish would accept breaking changes, see [`PlannedPublish::find_acceptance_reason`].
/// Returns `None` without a planned publish.
pub(crate) fn find_acceptance_reason(
    publish: Option<&PlannedPublish>,
    session: &Session,
    workspace: &Workspace<'_>,
    connection: &Connection,
    head: &CommitId,
) -> Result<Option<String>, Failure> {
    match publish {
        Some(publish) => publish.find_acceptance_reason(session, workspace, connection, head),
        None => Ok(None),
    }
}

/// Fails in a CI job if the publish depends on the branch of the run, but neither the host nor the job names it. A
/// branch that was only found because it contains the commit is not enough: several branches may contain the commit,
/// and the run publishes if it belongs to one of those in `publish-on`.
fn require_named_branch(
    workspace: &Workspace<'_>,
    target: &Target,
    publish_on: &PublishOn,
) -> Result<(), ContextError> {
    let is_branch_irrelevant =
        target.idle_reason.is_some() || target.is_change || target.fork || target.tag.is_some();
    if target.host.is_local() || is_branch_irrelevant || publish_on.explain_no_publish().is_some() {
        return Ok(());
    }
    if target.branch.is_none() {
        return target.require_branch().map(|_| ());
    }
    if target.branch_origin != BranchOrigin::Inferred {
        return Ok(());
    }
    let branches = workspace.repo.find_remote_branches_with_commit(&target.head)?;
    if branches
        .iter()
        .any(|branch| publish_on.has_branch(&branch.branch))
    {
        return Err(ContextError::BranchNotNamed { host: target.host });
    }
    // Whatever the branch is, the run does not publish.
    Ok(())
}

/// Returns the arguments of the publish that follows a review in `sluicegate ci`. A flag of the review that also exists
/// for a publish applies to both.
fn build_publish_args(args: &CiArgs) -> PublishArgs {
    let (review, selection) = (&args.review, &args.review.selection);
    PublishArgs {
        flags: args.publish.clone(),
        compat: args.review.gate.compat.clone(),
        head: selection.range.head.clone(),
        branch: review.branch.clone(),
        deepen: selection.range.deepen,
        globs: selection.globs.clone(),
        dry_run: review.dry_run,
        ..PublishArgs::default()
    }
}

/// Fails if the configuration file cannot be used and lists the branch or tag of the run: without this defect, the run
/// would publish.
pub(crate) fn reject_lost_publish_on(
    session: &Session,
    args: &CiArgs,
    workspace: &Workspace<'_>,
    target: &Target,
) -> Result<(), Failure> {
    match workspace.sources.find_unusable_publish_on(args) {
        Some(publish_on) if explain_no_publish(target, &publish_on).is_none() => {
            reject_unusable_policy(session, workspace)
        }
        _ => Ok(()),
    }
}

/// Returns why the event does not request a publish, or `None` if it does. The job of a pull or merge request never
/// requests one, because the change could edit the configuration itself.
pub(crate) fn explain_no_publish(target: &Target, publish_on: &PublishOn) -> Option<String> {
    if let Some(reason) = &target.idle_reason {
        return Some(reason.clone());
    }
    if let Some(job) = describe_change_job(target) {
        return Some(format!("this is {job}"));
    }
    if let Some(reason) = publish_on.explain_no_publish() {
        return Some(reason.to_owned());
    }
    match (&target.tag, &target.branch) {
        (Some(tag), _) if publish_on.has_tag(tag) => None,
        (Some(tag), _) => Some(format!("tag {tag} does not match `publish-on`")),
        (None, Some(branch)) if publish_on.has_branch(branch) => None,
        (None, Some(branch)) => Some(format!("branch {branch} does not match `publish-on`")),
        (None, None) => Some("the branch is unknown".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::cli::{self, Command};
    use clap::Arg;
    use std::collections::BTreeSet;

    /// Parses the command with one flag and its value, if it has one.
    fn parse_command(command: &str, flag: &Arg) -> Command {
        let name = flag.get_long().unwrap();
        let values = flag.get_possible_values();
        let value = values.first().map_or("1", |value| value.get_name());
        let flag_text = if flag.get_action().takes_values() {
            format!("--{name}={value}")
        } else {
            format!("--{name}")
        };
        let args = ["sluicegate".into(), command.into(), flag_text.into()];
        cli::parse(args.to_vec()).unwrap().command
    }

    #[test]
    fn flag_that_review_and_publish_have_applies_to_publish_of_ci() {
        let program = cli::build_complete_tree();
        let flags_of = |name: &str| program.find_subcommand(name).unwrap().get_arguments();
        let ci_flags: BTreeSet<&str> = flags_of("ci").filter_map(Arg::get_long).collect();
        let mut compared_flags = Vec::new();
        for flag in flags_of("publish") {
            let Some(name) = flag.get_long().filter(|name| ci_flags.contains(name)) else {
                continue;
            };
            // `ci` prints both results itself, and its statement of the publication has other flags.
            let is_different =
                ["output", "json", "help", "attestation", "attestation-predicate"].contains(&name);
            if is_different || flag.is_global_set() {
                continue;
            }
            let (Command::Publish(publish), Command::Ci(ci)) =
                (parse_command("publish", flag), parse_command("ci", flag))
            else {
                panic!("--{name} is parsed as another command");
            };
            assert_eq!(
                format!("{:?}", build_publish_args(&ci)),
                format!("{publish:?}"),
                "--{name}"
            );
            compared_flags.push(name);
        }
        assert!(
            [
                "head", "branch", "deepen", "include", "compat", "dry-run", "prefix"
            ]
            .iter()
            .all(|name| compared_flags.contains(name)),
            "{compared_flags:?}"
        );
    }
}
