//! Reviews the branch before and after the fix, with the same settings and the same policy.

use crate::error::Failure;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::remote_review::RemoteReview;
use crate::gate::reports::saved_report::{add_finding_subjects, read_report};
use crate::gate::run::SelectedRun;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::job::cli::{ReviewArgs, SelectionArgs};
use crate::job::context::{Comparison, DeepenSubject, Target};
use crate::job::settings::{Connection, ReviewSettings, SettingSources};
use crate::session::Session;
use crate::session::resource::RemoteProject;
use crate::workspace::{WarningTiming, Workspace};
use sluicegate_base::text::format_path;
use sluicegate_git::short_id;
use sluicegate_pipelines::findings::{Engine, Report};
use std::path::Path;

/// The repository, the settings of its reviews, and the reviewed commit.
pub(super) struct BranchReview<'a> {
    session: &'a Session,
    args: ReviewArgs,
    pub(super) workspace: Workspace<'a>,
    settings: ReviewSettings,
    connection: Connection,
    pub(super) target: Target,
}

impl<'a> BranchReview<'a> {
    /// Opens the repository, reads the settings and resolves the commit to review, as `review` does. Fails for a dry
    /// run. A shard setting is ignored, because the fix needs all findings.
    pub(super) fn open(
        session: &'a Session,
        selection: &SelectionArgs,
        branch: Option<String>,
    ) -> Result<Self, Failure> {
        let args = build_review_args(selection, branch);
        let mut workspace = session.open_workspace()?;
        let revisions = workspace
            .sources
            .resolve_revisions(&args.selection, args.branch.clone())?;
        workspace.deepen(session, &revisions, DeepenSubject::Commit)?;
        workspace.warn_of_config_files(session, WarningTiming::AtOnce);
        let (mut settings, connection) = workspace.resolve_settings(
            session,
            |sources| {
                Ok((
                    sources.resolve_review_settings(&args)?,
                    sources.resolve_connection(&session.global)?,
                ))
            },
            // The selection, which is checked against the files of the policy revision.
            |(review, _)| &review.gate.selection,
        )?;
        if settings.dry_run {
            return Err(
                Failure::usage("`fix --agent` has no dry run, because it reviews the branch first")
                    .with_hint("pass --plan for a plan without changes, and unset SLUICEGATE_DRY_RUN"),
            );
        }
        // A shard of the change has only some of its findings.
        settings.gate.verdict.shard = None;
        let target = workspace.resolve_target(session, &settings.gate.revisions)?;
        Ok(Self {
            session,
            args,
            workspace,
            settings,
            connection,
            target,
        })
    }

    /// Returns a client of the platform, with the id of the project on it.
    pub(super) fn create_project_client(&self) -> Result<RemoteProject, Failure> {
        Ok(RemoteProject {
            platform: self.session.create_platform_client(&self.connection)?,
            id: self.connection.require_project_id()?,
        })
    }

    /// Reviews the target's commit on the platform, and returns the report. `added_files` are reviewed even if they
    /// equal those of the base.
    pub(super) fn request_review(&self, target: &Target, added_files: &[&str]) -> Result<Report, Failure> {
        let workspace = &self.workspace;
        let change = Comparison::from(target.clone());
        let files = ReviewedFiles {
            workspace,
            settings: &self.settings.gate,
            snapshot: workspace.repo.snapshot(target.head.clone()),
            paths: CheckPaths::default(),
            comparison: change.clone(),
            change,
        };
        let mut selected_run =
            SelectedRun::select_pipelines(self.session, files, &|sources: &SettingSources<'_>| {
                Ok(sources.resolve_review_settings(&self.args)?.gate.selection)
            })?;
        let selected_files = &mut selected_run.selection.pipelines.files;
        for path in added_files {
            if !selected_files.iter().any(|file| file == path) {
                selected_files.push((*path).to_owned());
            }
        }
        selected_files.sort();
        let published_pipelines = None;
        let mut gate = selected_run.complete(published_pipelines)?;
        gate.set_change_baseline()?;
        gate.start_background_comparison();
        let mut engine = RemoteReview::new(&self.settings, &self.connection, target);
        // No publish follows that could accept a breaking change, so the closure does not return a reason to accept it.
        Ok(gate.evaluate(&mut engine, &|| Ok(None))?.report)
    }

    /// Reads the report of an earlier review of the commit to fix. Adds to each finding the component that it is about,
    /// because reports of older versions lack it, and findings are matched by it. Rejects a report that cannot be
    /// compared with the later review of the fix: of a local check, of another commit, of a part of the change, or of
    /// two reports.
    pub(super) fn read_report(&self, file: &Path) -> Result<Report, Failure> {
        let mut report = read_report(self.session, file)?;
        if let Some(reason) = describe_report_mismatch(&report, self.target.head.as_str()) {
            let message = format!("could not use the report {}: {reason}", format_path(file));
            return Err(Failure::usage(message)
                .with_hint("pass a report that `sluicegate review` wrote for this commit, or omit --from"));
        }
        add_finding_subjects(&self.workspace.repo, &mut report);
        Ok(report)
    }
}

/// Describes why the report of an earlier review cannot be compared with the later review of the fix. `head` is the
/// commit to fix. Returns `None` if the report is of a complete review of that commit by the platform.
fn describe_report_mismatch(report: &Report, head: &str) -> Option<String> {
    let context = &report.context;
    if report.engine == Engine::Local {
        return Some("a local check created the report, but the platform reviews the fix".to_owned());
    }
    if context.head.as_deref() != Some(head) {
        let commit = context.head.as_deref().map_or("a working tree", short_id);
        return Some(format!(
            "the report covers {commit}, but the commit to fix is {}",
            short_id(head)
        ));
    }
    if context.shard.is_some() || !context.paths.is_empty() {
        return Some("the report covers only part of the change".to_owned());
    }
    context
        .compared_with
        .is_some()
        .then(|| "the report is a comparison of two reports, not a review".to_owned())
}

/// Returns the arguments of a `review` of the selected revisions. The paths are omitted: they restrict the findings to
/// fix, not the review.
fn build_review_args(selection: &SelectionArgs, branch: Option<String>) -> ReviewArgs {
    ReviewArgs {
        selection: SelectionArgs {
            all: selection.all,
            range: selection.range.clone(),
            globs: selection.globs.clone(),
            ..SelectionArgs::default()
        },
        branch,
        ..ReviewArgs::default()
    }
}
