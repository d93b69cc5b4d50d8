//! Runs `sluicegate review`: resolves the target, selects the pipelines, requests the review, delivers the reports.

use crate::delivery::{deliver_gate_report, report_statement_of_dry_run, run_opening::NamedDestinations};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::check_subject::check_paths::CheckPaths;
use crate::gate::local_review::LocalReview;
use crate::gate::remote_review::RemoteReview;
use crate::gate::run::{EvaluatedRun, GateRun, SelectedRun, report_subject::ReviewedFiles};
use crate::job::cli::{Fork, PublishFlags, ReviewArgs};
use crate::job::context::{Comparison, DeepenSubject, Target};
use crate::job::policy::CheckoutFiles;
use crate::job::settings::{Connection, ReviewSettings, SettingSources};
use crate::publication::{PlannedPublish, complete_run, find_acceptance_reason};
use crate::session::{CommandResult, Session};
use crate::workspace::Workspace;
use crate::workspace::checkout_files::is_reviewed_file;

/// Runs `sluicegate review`: requests a review of the change from the platform.
pub(crate) fn run(session: &Session, args: &ReviewArgs) -> CommandResult {
    // `None`: no publish follows.
    let subject = CommitReview::open(session, args, None)?;
    let selected_run = subject.start_run(session, args)?;
    let gate = complete_run(selected_run, None, &subject.connection, &subject.target.head)?;
    let evaluated_run = subject.review(gate, None)?;
    Ok(evaluated_run.map_or(ExitStatus::Success, |evaluated_run| evaluated_run.status))
}

/// The reviewed commit, and the settings of its review.
pub(super) struct CommitReview<'a> {
    pub(super) workspace: Workspace<'a>,
    pub(super) settings: ReviewSettings,
    pub(super) connection: Connection,
    pub(super) target: Target,
}

impl<'a> CommitReview<'a> {
    /// Opens the repository, reads the settings and resolves the target of the review. Also replaces the reports and
    /// receipts of an earlier run, which would look current if this run failed. With `publish`, a publish may follow.
    pub(super) fn open(
        session: &'a Session,
        args: &ReviewArgs,
        publish: Option<&PublishFlags>,
    ) -> Result<Self, Failure> {
        let destinations = NamedDestinations::for_review(args, publish);
        let repo = session.open_repository_for_paths(&args.selection.paths);
        let (mut workspace, _) =
            destinations.replace_reports_and_open(session, repo, CheckoutFiles::OnDisk, |workspace| {
                let branch = args.branch.clone();
                let revisions = workspace.sources.resolve_revisions(&args.selection, branch)?;
                Ok((revisions, DeepenSubject::Commit))
            })?;
        let (settings, connection) = workspace.resolve_settings(
            session,
            |sources| {
                Ok((
                    sources.resolve_review_settings(args)?,
                    sources.resolve_connection(&session.global)?,
                ))
            },
            |(review, _)| &review.gate.selection,
        )?;
        session.reject_linked_reports(&workspace.repo, &settings.gate.verdict.destinations)?;
        Ok(Self {
            target: workspace.resolve_target(session, &settings.gate.revisions)?,
            workspace,
            settings,
            connection,
        })
    }

    /// Starts a run of the gate: selects the pipelines of the reviewed commit. Prints the reason if all are selected.
    pub(super) fn start_run<'s>(
        &'s self,
        session: &'s Session,
        args: &ReviewArgs,
    ) -> Result<SelectedRun<'s>, Failure> {
        let workspace = &self.workspace;
        workspace.print_uncommitted_files_note(session, &self.target.head, "review", &is_reviewed_file);
        let snapshot = workspace.repo.snapshot(self.target.head.clone());
        let paths = CheckPaths::from_restrictions(
            session,
            workspace,
            &args.selection.paths,
            &snapshot,
            &self.target.bases,
        )?;
        let files = ReviewedFiles {
            workspace,
            settings: &self.settings.gate,
            snapshot,
            paths,
            comparison: Comparison::from(self.target.clone()),
            change: Comparison::from(self.target.clone()),
        };
        let other_checkout_note =
            workspace.describe_other_checkout(session, &self.settings.gate.revisions)?;
        let mut selected_run =
            SelectedRun::select_pipelines(session, files, &|sources: &SettingSources<'_>| {
                Ok(sources.resolve_review_settings(args)?.gate.selection)
            })?;
        selected_run.add_notes(other_checkout_note);
        selected_run.report_reason_for_all();
        Ok(selected_run)
    }

    /// Reviews the pipelines of the run, for a fork locally with `--fork check`, and delivers the report. Returns
    /// `None` for a dry run, which only prints its plan.
    pub(super) fn review<'s>(
        &'s self,
        mut gate: GateRun<'s>,
        publish: Option<&PlannedPublish>,
    ) -> Result<Option<EvaluatedRun<'s>>, Failure> {
        if self.settings.dry_run {
            self.print_plan(&gate)?;
            return Ok(None);
        }
        gate.start_background_comparison();
        let (session, workspace, head) = (gate.session, &self.workspace, &self.target.head);
        let accept_break = || find_acceptance_reason(publish, session, workspace, &self.connection, head);
        let mut evaluated_run = if self.is_local() {
            gate.evaluate(&mut LocalReview::for_fork(), &accept_break)?
        } else {
            gate.evaluate(&mut self.remote_review(), &accept_break)?
        };
        let delivery_status =
            deliver_gate_report(&mut evaluated_run, &self.settings.gate.verdict.destinations);
        evaluated_run.status = evaluated_run.status.worse(delivery_status);
        Ok(Some(evaluated_run))
    }

    /// Returns whether the review is local: a change from a fork is reviewed locally with `--fork check`.
    const fn is_local(&self) -> bool {
        matches!(self.settings.fork, Fork::Check) && self.target.fork
    }

    /// Creates the review by the platform, without sending a request.
    fn remote_review(&self) -> RemoteReview<'_> {
        RemoteReview::new(&self.settings, &self.connection, &self.target)
    }

    /// Prints what the review would request, for a dry run. A local review does not send requests.
    fn print_plan(&self, gate: &GateRun<'_>) -> Result<(), Failure> {
        report_statement_of_dry_run(gate.session, &self.settings.gate.verdict.destinations);
        let request_count = (!self.is_local())
            .then(|| self.remote_review().check_and_count_requests(gate))
            .transpose()?;
        gate.session.ui.print_result(&gate.render_plan(request_count))
    }
}
