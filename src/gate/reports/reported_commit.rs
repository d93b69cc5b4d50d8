//! Checks in CI that a report belongs to the commit of the event. A report of another commit proves nothing about this
//! one.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::reports::SavedReports;
use crate::job::ci::{Host, Trigger};
use crate::job::context::{self, RequestedRevisions};
use crate::job::policy;
use crate::job::settings::variable;
use sluicegate_git::{CommitId, Repository, is_full_id};
use sluicegate_pipelines::findings::Report;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The hint for a report that a change cannot be compared with.
const EARLIER_REPORT: &str = "compare with a report of an earlier commit of the target branch";

impl SavedReports<'_> {
    /// Fails unless all reports are of the commit that this job is for.
    pub(super) fn require_commits(&self, reports: &[Report], files: &[PathBuf]) -> Result<(), Failure> {
        for (report, file) in reports.iter().zip(files) {
            self.require_commit(report, &file.display().to_string())?;
        }
        Ok(())
    }

    /// Fails unless the report is of the commit that this job is for. `place` names its file in errors.
    fn require_commit(&self, report: &Report, place: &str) -> Result<(), Failure> {
        let commits = self.list_expected_commits()?;
        let Some(head) = &report.context.head else {
            return Err(reject_without_commit(place));
        };
        if commits.contains(head) {
            return Ok(());
        }
        let ids: Vec<String> = commits.into_iter().collect();
        let message = format!(
            "the report {place} is of the commit {head}, but this job is for the commit {}",
            ids.join(" or ")
        );
        Err(Failure::usage(message).with_hint(format!(
            "use the report of this commit; a job that renders the reports of another run names their commit with \
             --head ({})",
            variable::HEAD
        )))
    }

    /// Returns the commit with this full id if the clone has it, and the clone's repository.
    fn find_commit(&self, id: &str) -> Option<(&Repository, CommitId)> {
        let repo = self.repo?;
        Some((repo, repo.find_commit_with_id(id)?))
    }

    /// Fails unless `head`, the commit of the new report, descends from that of the older one. In a run for a change,
    /// the older commit must also belong to the target branch.
    pub(super) fn require_ancestor(&self, older: &Report, place: &str, head: &str) -> Result<(), Failure> {
        let Some(older_id) = &older.context.head else {
            return Err(reject_without_commit(place));
        };
        let hint = self.ci.host.full_history_setting().map_or_else(
            || "fetch the history of the commit".to_owned(),
            |setting| format!("fetch the history of the commit: set {setting}"),
        );
        let (Some((repo, old_commit)), Some((_, head_commit))) =
            (self.find_commit(older_id), self.find_commit(head))
        else {
            let message = format!(
                "cannot compare with the report {place}: this clone cannot show that the commit {head} descends from \
                 its commit {older_id}"
            );
            return Err(Failure::usage(message).with_hint(hint));
        };
        let is_own = self.ci.trigger == Trigger::Change && older_id == head;
        if repo.contains_commit(&head_commit, &old_commit)? && !is_own {
            return self.require_commit_of_target(repo, &old_commit, place);
        }
        let message = if is_own {
            format!("cannot compare with the report {place}: it describes the reviewed commit {head} itself")
        } else {
            format!(
                "cannot compare with the report {place}: the commit {head} does not descend from its commit {older_id}"
            )
        };
        Err(Failure::usage(message).with_hint(EARLIER_REPORT))
    }

    /// Fails if git tracks the file, because a change could then provide its own past. `full` is the absolute path.
    pub(super) fn require_file_of_job(&self, full: &Path, place: &str) -> Result<(), Failure> {
        // An unknown host does not report whether the run is for a change.
        let may_be_change = self.ci.trigger == Trigger::Change || self.ci.host == Host::Unknown;
        let Some(repo) = self.repo.filter(|_| may_be_change) else {
            return Ok(());
        };
        let names = policy::list_tracked_paths(repo.root(), full);
        // A file that git cannot look up may belong to the change.
        if !names
            .iter()
            .any(|name| repo.is_tracked(name, None).unwrap_or(true))
        {
            return Ok(());
        }
        let message =
            format!("cannot compare with the report {place}: git tracks it, so the change controls it");
        Err(Failure::usage(message)
            .with_hint("compare with a report that the job fetched from an earlier run"))
    }

    /// Fails if a change is compared with one of its own commits. Its author decides what those contain, so every
    /// finding would be known after one more push.
    fn require_commit_of_target(
        &self,
        repo: &Repository,
        old_commit: &CommitId,
        place: &str,
    ) -> Result<(), Failure> {
        if self.ci.trigger != Trigger::Change {
            return Ok(());
        }
        let target = context::resolve_target(repo, self.ci, &RequestedRevisions::default())?;
        for base in &target.bases {
            if repo.contains_commit(base, old_commit)? {
                return Ok(());
            }
        }
        let message = format!(
            "cannot compare with the report {place}: its commit {old_commit} belongs to the change, not to the target branch"
        );
        Err(Failure::usage(message).with_hint(EARLIER_REPORT))
    }

    /// Returns the ids of the commits that a report may be of: the one that the job names, otherwise that of the event
    /// and that of the trial merge.
    fn list_expected_commits(&self) -> Result<BTreeSet<String>, Failure> {
        if let Some(revision) = self.head {
            let resolved_commit = self.repo.and_then(|repo| repo.resolve(revision).ok());
            let full_id = is_full_id(revision).then(|| revision.to_ascii_lowercase());
            let commit = resolved_commit.map(|commit| commit.to_string()).or(full_id);
            return commit.map(|commit| BTreeSet::from([commit])).ok_or_else(|| {
                let message = format!("this clone has no commit {revision:?} (--head)");
                Failure::usage(message).with_hint("pass the full id of the commit")
            });
        }
        let mut commits: BTreeSet<String> = BTreeSet::new();
        for id in self.ci.commit.iter().chain(&self.ci.checkout) {
            if is_full_id(id) {
                commits.insert(id.to_ascii_lowercase());
            }
        }
        if let Some(repo) = self.repo {
            let request = RequestedRevisions {
                all: true,
                ..RequestedRevisions::default()
            };
            // A clone without the commit cannot show the head of a merge, or the commit of a tag object.
            if let Ok(target) = context::resolve_target(repo, self.ci, &request) {
                commits.insert(target.head.to_string());
            }
        }
        if commits.is_empty() {
            let message = "the event does not name a commit, and there is no clone to read it from";
            return Err(
                Failure::new(ExitStatus::Context, anyhow::Error::msg(message)).with_hint(format!(
                    "pass the commit of the reports with --head ({})",
                    variable::HEAD
                )),
            );
        }
        Ok(commits)
    }
}

/// Returns the error that the report is of a working tree, so its commit cannot be verified.
fn reject_without_commit(place: &str) -> Failure {
    Failure::usage(format!(
        "the report {place} does not belong to a commit: it describes a working tree"
    ))
    .with_hint("write it with `sluicegate review`, or with `sluicegate check --head HEAD`")
}
