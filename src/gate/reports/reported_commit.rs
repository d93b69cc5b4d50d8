//! Checks in CI that a report belongs to the commit of the event, because a report of another commit proves nothing
//! about the commit of the event.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::reports::SavedReports;
use crate::job::ci::Trigger;
use crate::job::cli::CiArgs;
use crate::job::context::{self, CommitSource, ContextError, PolicyRevision, RequestedRevisions};
use crate::job::settings::variable;
use crate::session::Session;
use sluicegate_base::text::{format_path, join_with_or};
use sluicegate_git::{CommitId, GitError, Repository, is_full_id};
use sluicegate_pipelines::findings::Report;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Hint for a report with which the change cannot be compared, because its commit is not an earlier one.
const EARLIER_REPORT_HINT: &str = "compare with a report of an earlier commit of the target branch";

/// Hint for a change whose target is unknown in this clone.
const UNKNOWN_TARGET_HINT: &str = "if this clone does not know the remote's default branch, run `git remote set-head \
                                   origin BRANCH` first";

impl SavedReports<'_> {
    /// Fails unless every report is of the commit of this job. `files` are the files of the reports, in the same order;
    /// the error names the file.
    pub(super) fn require_job_commits(&self, reports: &[Report], files: &[PathBuf]) -> Result<(), Failure> {
        for (report, file) in reports.iter().zip(files) {
            self.require_job_commit(report, &format_path(file))?;
        }
        Ok(())
    }

    /// Fails unless the report is of the commit of this job. `report_name` names the report in errors.
    fn require_job_commit(&self, report: &Report, report_name: &str) -> Result<(), Failure> {
        let commits = self.list_expected_commits()?;
        let Some(head) = &report.context.head else {
            return Err(missing_commit_failure(report, report_name));
        };
        if commits.contains(head) || self.is_merge_of_host_commit(head) {
            return Ok(());
        }
        let message = format!(
            "the report {report_name} describes commit {head}, but this job is for commit {}",
            join_with_or(commits)
        );
        Err(Failure::usage(message).with_hint(format!(
            "pass the report of this commit; a job that renders the reports of another run must name their commit with \
             --head ({})",
            variable::HEAD
        )))
    }

    /// Returns whether the commit is a merge of the event's commit that the host created in this clone, so that a check
    /// of the merge checks the event's commit. False if the job names another commit.
    fn is_merge_of_host_commit(&self, id: &str) -> bool {
        let names_commit = self.head.is_some();
        let repo = self.repo.filter(|_| !names_commit);
        repo.is_some_and(|repo| context::is_merge_of_host_commit(repo, self.ci, id))
    }

    /// Finds the commit with this full id in the clone. Returns it with the clone's repository.
    fn find_commit(&self, id: &str) -> Result<Option<(&Repository, CommitId)>, GitError> {
        let Some(repo) = self.repo else {
            return Ok(None);
        };
        Ok(repo.find_commit_with_id(id)?.map(|commit| (repo, commit)))
    }

    /// Fails unless `head`, the commit of the new report, descends from the commit of the older report. Except in a run
    /// on a merged branch, the older commit must also be merged. In a run for a change, it must not be `head` itself.
    /// Returns a note if the clone cannot show whether the older commit is merged.
    pub(super) fn require_ancestor(
        &self,
        older: &Report,
        report_name: &str,
        head: &str,
    ) -> Result<Option<String>, Failure> {
        let Some(older_id) = &older.context.head else {
            return Err(missing_commit_failure(older, report_name));
        };
        let (Some((repo, older_commit)), Some((_, head_commit))) =
            (self.find_commit(older_id)?, self.find_commit(head)?)
        else {
            let message = format!(
                "cannot compare with the report {report_name}: this clone cannot show that commit {head} descends from \
                 the report's commit {older_id}"
            );
            return Err(Failure::usage(message).with_hint(self.history_hint()));
        };
        let is_own_commit = self.ci.trigger == Trigger::Change && older_id == head;
        if repo.contains_commit(&head_commit, &older_commit)? && !is_own_commit {
            if self.ci.trigger == Trigger::Change {
                self.require_commit_of_bases(repo, &older_commit, report_name)?;
                return Ok(None);
            }
            if self.is_on_merged_branch(repo, &head_commit)? {
                return Ok(None);
            }
            return self.require_merged_commit(repo, &older_commit, report_name);
        }
        let message = if is_own_commit {
            format!(
                "cannot compare with the report {report_name}: the report describes the reviewed commit {head} itself"
            )
        } else {
            format!(
                "cannot compare with the report {report_name}: commit {head} does not descend from the report's commit \
                 {older_id}"
            )
        };
        Err(Failure::usage(message).with_hint(EARLIER_REPORT_HINT))
    }

    /// Returns the hint for a clone that lacks the history of the commit.
    fn history_hint(&self) -> String {
        self.ci.host.full_history_setting().map_or_else(
            || "fetch the history of the commit".to_owned(),
            |setting| format!("fetch the history of the commit: {setting}"),
        )
    }

    /// Fails if git tracks the file, because a change could then provide the report that it is compared with. A run on
    /// a merged branch is not checked, because that branch contains only merged files. `head` is the commit of the new
    /// report.
    pub(super) fn reject_tracked_file(
        &self,
        session: &Session,
        file: &Path,
        report_name: &str,
        head: &str,
    ) -> Result<(), Failure> {
        let Some(repo) = self.repo else {
            return Ok(());
        };
        let is_tracked = session.is_tracked_path(repo, file);
        let is_merged = match self.find_commit(head)? {
            Some((repo, head_commit)) if is_tracked => self.is_on_merged_branch(repo, &head_commit)?,
            _ => false,
        };
        if !is_tracked || is_merged {
            return Ok(());
        }
        let message = format!(
            "cannot compare with the report {report_name}: git tracks the report, so the change controls \
             the report"
        );
        Err(Failure::usage(message)
            .with_hint("compare with a report that the job fetched from an earlier run"))
    }

    /// Returns whether this run is on a branch whose commits are all merged: the default branch, or one that
    /// `publish-on` lists. An unmerged change is not, even if its branch has the same name. `head` is the commit of the
    /// new report.
    fn is_on_merged_branch(&self, repo: &Repository, head: &CommitId) -> Result<bool, Failure> {
        if self.ci.trigger == Trigger::Change {
            return Ok(false);
        }
        if matches!(self.find_target_revision(repo)?, PolicyRevision::Head { .. }) {
            return Ok(true);
        }
        let run_branch = self.ci.branch.as_deref().filter(|_| self.ci.tag.is_none());
        Ok(match run_branch {
            Some(branch) if self.is_published_branch(branch) && self.find_commit_source(repo)?.is_host() => {
                context::may_be_on_branch(repo, self.ci, branch, head, CommitSource::Host)?
            }
            _ => false,
        })
    }

    /// Fails if the older commit may be one of the change itself: neither the default branch nor a branch that
    /// `publish-on` lists contains it. The author of the change could push findings with such a commit, and after the
    /// next push, the gate would treat them as known. If the clone lacks the default branch, returns a note instead.
    fn require_merged_commit(
        &self,
        repo: &Repository,
        older_commit: &CommitId,
        report_name: &str,
    ) -> Result<Option<String>, Failure> {
        let (commit, branch) = match self.find_target_revision(repo)? {
            PolicyRevision::Head { .. } => return Ok(None),
            PolicyRevision::Commit { commit, branch, .. } => (commit, branch),
            PolicyRevision::Unknown { reason } => {
                return Ok(Some(self.describe_unproven_commit(older_commit, &reason)));
            }
        };
        if repo.contains_commit(&commit, older_commit)? || self.is_merged(repo, older_commit)? {
            return Ok(None);
        }
        let message = format!(
            "cannot compare with the report {report_name}: the report's commit {older_commit} is not in the branch \
             `{branch}`, so the report may be one of this change"
        );
        let hint = if repo.is_shallow() {
            self.history_hint()
        } else {
            format!(
                "{EARLIER_REPORT_HINT}; if this run is on a branch of merged changes, list it in `publish-on`"
            )
        };
        Err(Failure::usage(message).with_hint(hint))
    }

    /// Returns whether a branch of the remote shows that the commit is merged, as for a publish.
    fn is_merged(&self, repo: &Repository, commit: &CommitId) -> Result<bool, Failure> {
        let commit_source = self.find_commit_source(repo)?;
        let is_published = |branch: &str| self.is_published_branch(branch);
        match context::require_merged(repo, self.ci, commit, commit_source, &is_published) {
            Ok(()) => Ok(true),
            Err(
                ContextError::NotMerged { .. }
                | ContextError::MergeUnknown { .. }
                | ContextError::TargetNotProven { .. },
            ) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether `publish-on` in the gate configuration of the run lists the branch.
    fn is_published_branch(&self, branch: &str) -> bool {
        self.policy_workspace
            .as_ref()
            .and_then(|workspace| workspace.sources.resolve_publish_on(&CiArgs::default()).ok())
            .is_some_and(|publish_on| publish_on.has_branch(branch))
    }

    /// Describes that nothing shows whether the older commit is merged. `reason` states why the default branch is
    /// unknown.
    fn describe_unproven_commit(&self, older_commit: &CommitId, reason: &str) -> String {
        let command = match &self.ci.default_branch {
            Some(name) => format!(" (`git fetch origin {name}:refs/remotes/origin/{name}` fetches it)"),
            None => String::new(),
        };
        format!(
            "the older report may be one of this change: nothing shows whether its commit {} is in the default branch, \
             because {reason}{command}",
            older_commit.short()
        )
    }

    /// Returns the newest commit of the branch that this run is compared with, as for the gate configuration: head
    /// itself on the default branch.
    fn find_target_revision(&self, repo: &Repository) -> Result<PolicyRevision, Failure> {
        let commit_source = self.find_commit_source(repo)?;
        Ok(context::find_target_policy_revision(
            repo,
            self.ci,
            commit_source,
        )?)
    }

    /// Returns who selects the commit of this run: the host, unless another commit is checked out or the job names
    /// another one.
    fn find_commit_source(&self, repo: &Repository) -> Result<CommitSource, Failure> {
        let revisions = RequestedRevisions {
            head: self.head.map(str::to_owned),
            ..RequestedRevisions::default()
        };
        Ok(context::find_commit_source(repo, self.ci, &revisions)?)
    }

    /// Fails unless a base of the change or the newest commit of its target branch contains the older commit. A trial
    /// merge descends from commits of the target that no base contains.
    fn require_commit_of_bases(
        &self,
        repo: &Repository,
        older_commit: &CommitId,
        report_name: &str,
    ) -> Result<(), Failure> {
        let target = context::resolve_target(repo, self.ci, &RequestedRevisions::default())?;
        for base in &target.bases {
            if repo.contains_commit(base, older_commit)? {
                return Ok(());
            }
        }
        if let PolicyRevision::Commit { commit, .. } = self.find_target_revision(repo)?
            && repo.contains_commit(&commit, older_commit)?
        {
            return Ok(());
        }
        if target.bases.is_empty() {
            let message = format!(
                "cannot compare with the report {report_name}: nothing shows that the report's commit {older_commit} \
                 belongs to the target branch, because the change has no base: {}",
                target.base_source
            );
            return Err(Failure::usage(message).with_hint(UNKNOWN_TARGET_HINT));
        }
        let message = format!(
            "cannot compare with the report {report_name}: the report's commit {older_commit} belongs to the change, \
             not to the target branch"
        );
        Err(Failure::usage(message).with_hint(EARLIER_REPORT_HINT))
    }

    /// Returns the id of the commit that the job names with `--head`. Without a clone that has the commit, only a full
    /// id is accepted.
    fn find_named_commit(&self, revision: &str) -> Result<String, Failure> {
        if let Some(commit) = self.repo.and_then(|repo| repo.resolve(revision).ok()) {
            return Ok(commit.to_string());
        }
        if is_full_id(revision) {
            return Ok(revision.to_ascii_lowercase());
        }
        let message = format!("this clone has no commit {revision:?} (--head)");
        Err(Failure::usage(message).with_hint("pass the full id of the commit"))
    }

    /// Returns the ids of the commits that a report may be of: only the commit that the job names with `--head`, or
    /// otherwise the commit of the event, the host's trial merge of the change with its target, and the commit to
    /// review.
    fn list_expected_commits(&self) -> Result<BTreeSet<String>, Failure> {
        if let Some(revision) = self.head {
            return Ok(BTreeSet::from([self.find_named_commit(revision)?]));
        }
        let mut commits: BTreeSet<String> = BTreeSet::new();
        for id in self.ci.commit.iter().chain(&self.ci.checkout) {
            if is_full_id(id) {
                commits.insert(id.to_ascii_lowercase());
            }
        }
        if let Some(repo) = self.repo {
            let request = RequestedRevisions::for_head_only();
            // If the event names a merge or a tag object, this adds the commit to review. If the clone lacks that
            // commit, nothing is added.
            if let Ok(target) = context::resolve_target(repo, self.ci, &request) {
                commits.insert(target.head.to_string());
            }
        }
        if commits.is_empty() {
            let message = "the event does not name a commit, and there is no clone to read it from";
            return Err(
                Failure::from_message(ExitStatus::Context, message).with_hint(format!(
                    "pass the commit of the reports with --head ({})",
                    variable::HEAD
                )),
            );
        }
        Ok(commits)
    }
}

/// Fails if a report is that of a run that did not finish: without its results, there is nothing to merge. `files` are
/// the files of the reports, in the same order.
pub(super) fn reject_unfinished_runs(reports: &[Report], files: &[PathBuf]) -> Result<(), Failure> {
    for (report, file) in reports.iter().zip(files) {
        if let Some(failure) = find_unfinished_run_failure(report, &format_path(file)) {
            return Err(failure);
        }
    }
    Ok(())
}

/// Returns the error that the run of the report did not finish, with the reason; `None` for any other report.
fn find_unfinished_run_failure(report: &Report, report_name: &str) -> Option<Failure> {
    let details = report.unfinished_details()?;
    let (run, hint) = match report.context.shard {
        Some(shard) => (format!("the run of shard {shard}"), "run this shard again"),
        None => ("the run".to_owned(), "run it again"),
    };
    let message = format!("the report {report_name} has no results, because {run} did not finish{details}");
    Some(Failure::usage(message).with_hint(hint))
}

/// Builds the error for a report without a commit, which cannot be verified: a report of a run that did not finish, or
/// of a working tree.
fn missing_commit_failure(report: &Report, report_name: &str) -> Failure {
    if let Some(failure) = find_unfinished_run_failure(report, report_name) {
        return failure;
    }
    Failure::usage(format!(
        "the report {report_name} does not belong to a commit: the report describes a working tree"
    ))
    .with_hint("write the report with `sluicegate review`, or with `sluicegate check --head HEAD`")
}
