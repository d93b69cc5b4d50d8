//! Reads reports of earlier runs: merges those of shards, and compares a report with an older one.

mod merged_reports;
mod report_comparison;
mod reported_commit;
mod reported_policy;
pub(crate) mod saved_report;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate;
use crate::gate::run::report_subject::ReportSubject;
use crate::gate::run::{EvaluatedRun, EvaluationFacts};
use crate::job::ci::CiContext;
use crate::job::settings::Selection;
use crate::session::Session;
use crate::workspace::Workspace;
use report_comparison::{compare_with_older_report, reject_incomparable_reports};
use reported_commit::reject_unfinished_runs;
use saved_report::{add_finding_subjects, read_report, reject_repeated_standard_input};
use sluicegate_base::text::format_path;
use sluicegate_git::{Repository, Snapshot};
use sluicegate_pipelines::findings::Report;
use sluicegate_pipelines::team_rules::TeamRuleSet;
use std::path::{Path, PathBuf};

/// Hint for reports that cannot be merged.
const MERGE_HINT: &str =
    "merge only reports of one review: run each shard once, on the same commit, with the same settings";

/// Reports of earlier runs, with the event and the clone that they are compared with.
pub(crate) struct SavedReports<'a> {
    pub(crate) ci: &'a CiContext,
    pub(crate) repo: Option<&'a Repository>,
    /// The commit that the job names in place of the commit of the event.
    pub(crate) head: Option<&'a str>,
    /// The selection of files by this job's settings, which are usually those of the job that wrote the reports.
    pub(crate) selection: Option<Selection>,
    /// The files of the reports' commit, if the clone has it.
    pub(crate) snapshot: Option<Snapshot<'a>>,
    /// The workspace of the job, for a statement about the reports and for the branches that the job may publish.
    pub(crate) policy_workspace: Option<Workspace<'a>>,
}

impl<'a> SavedReports<'a> {
    /// Creates the subject of a run that reads reports. No report is read yet.
    pub(crate) const fn new(ci: &'a CiContext, repo: Option<&'a Repository>) -> Self {
        Self {
            ci,
            repo,
            head: None,
            selection: None,
            snapshot: None,
            policy_workspace: None,
        }
    }
}

impl ReportSubject for SavedReports<'_> {
    fn ci(&self) -> &CiContext {
        self.ci
    }

    /// Returns the clone and the files of the reports' commit. Returns `None` if there is no clone, or it lacks the
    /// commit.
    fn files(&self) -> Option<(&Repository, &Snapshot<'_>)> {
        Some((self.repo?, self.snapshot.as_ref()?))
    }

    fn selection(&self) -> Option<&Selection> {
        self.selection.as_ref()
    }

    /// Returns `None`, because a run over saved reports has no reviewed files.
    fn workspace(&self) -> Option<&Workspace<'_>> {
        None
    }

    fn policy_workspace(&self) -> Option<&Workspace<'_>> {
        self.policy_workspace.as_ref()
    }

    /// Returns the reason why the event has nothing to review, for example a deleted branch.
    fn idle_reason(&self) -> Option<&str> {
        self.ci.idle_reason.as_deref()
    }
}

impl<'a> SavedReports<'a> {
    /// Reads the reports and merges them. If `compared_file` is given, marks the findings that its report lacks as new.
    /// In CI, or if the job names a commit, all reports must be of the job's commit. In CI, `compared_file` must
    /// also be the report of an ancestor and must not come from the change. `team_rules` explain their findings.
    pub(crate) fn evaluate_reports(
        mut self,
        session: &'a Session,
        team_rules: TeamRuleSet,
        files: &[PathBuf],
        compared_file: Option<&Path>,
    ) -> Result<EvaluatedRun<'a, Self>, Failure> {
        reject_repeated_standard_input(files.iter().map(PathBuf::as_path).chain(compared_file))?;
        let mut reports = Vec::new();
        for file in files {
            reports.push(read_report(session, file)?);
        }
        let older_report = compared_file.map(|file| read_report(session, file)).transpose()?;
        if let Some(older_report) = &older_report {
            reject_incomparable_reports(older_report, &reports)?;
        }
        if reports.len() > 1 {
            reject_unfinished_runs(&reports, files)?;
        }
        let is_ci_job = !self.ci.host.is_local();
        if is_ci_job || self.head.is_some() {
            self.require_job_commits(&reports, files)?;
        }
        if is_ci_job {
            self.require_same_policy(session, &reports, files)?;
        }
        let unproven_note = match (&older_report, compared_file) {
            (Some(older_report), Some(file)) if is_ci_job => {
                self.require_earlier_commit(session, older_report, file, &reports)?
            }
            _ => None,
        };
        let mut report = merged_reports::merge_reports(reports)
            .map_err(|error| Failure::new(ExitStatus::Usage, error).with_hint(MERGE_HINT))?;
        if let Some(older_report) = older_report {
            compare_with_older_report(&mut report, older_report);
            report.notes.extend(unproven_note);
        }
        self.open_reported_commit(&mut report);
        Ok(EvaluatedRun {
            session,
            status: gate::exit_status(report.verdict),
            subject: self,
            report,
            team_rules,
            facts: EvaluationFacts::default(),
        })
    }

    /// Fails unless the older report is of an ancestor of head, and its file does not come from the change. Otherwise,
    /// a change could provide the report that it is compared with. Returns a note if the clone cannot show that the
    /// report is not one of the change itself.
    fn require_earlier_commit(
        &self,
        session: &Session,
        older: &Report,
        file: &Path,
        reports: &[Report],
    ) -> Result<Option<String>, Failure> {
        let name = format_path(file);
        let head = reports
            .first()
            .and_then(|report| report.context.head.as_deref())
            .unwrap_or_default();
        self.reject_tracked_file(session, file, &name, head)?;
        self.require_ancestor(older, &name, head)
    }

    /// Opens the reported commit in the clone, to show the lines of its files. Also adds to each finding the component
    /// that it is about, which is read from these files. Without the commit in the clone, does nothing. Only a full
    /// commit id is accepted, because a report could contain any revision.
    fn open_reported_commit(&mut self, report: &mut Report) {
        let Some(repo) = self.repo else {
            return;
        };
        add_finding_subjects(repo, report);
        let head = report.context.head.as_deref().filter(|id| repo.has_commit(id));
        let commit = head.and_then(|id| repo.resolve(id).ok());
        self.snapshot = commit.map(|commit| repo.snapshot(commit));
    }
}
