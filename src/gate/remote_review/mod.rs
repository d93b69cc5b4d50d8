//! The platform as the engine: requests the review in batches, and evaluates the files without a response locally.

pub(crate) mod batch;
mod batch_sender;
pub(crate) mod failed_batch;
pub(crate) mod failed_requests;
mod head_review;
pub(crate) mod local_fallback;
pub(crate) mod positions;
pub(crate) mod requested_paths;
mod required_settings;
pub(crate) mod response_gaps;
pub(crate) mod response_merge;

use crate::error::Failure;
use crate::gate::baseline::{Baseline, has_same_rules};
use crate::gate::evaluation::Evaluation;
use crate::gate::local_review;
use crate::gate::project_checks::project_fixes::FixScope;
use crate::gate::remote_review::batch_sender::BatchSender;
use crate::gate::remote_review::failed_requests::FailedRequests;
use crate::gate::remote_review::local_fallback::{LocalFallback, evaluate_fallback_base};
use crate::gate::remote_review::required_settings::require_file_settings;
use crate::gate::run::{GateRun, ReviewEngine};
use crate::gate::{
    self, BasePaths, Batching, GateAction, Positions, ProjectFindings, ReviewParameters, RunFindings,
};
use crate::job::cli::OnUnavailable;
use crate::job::context::Target;
use crate::job::settings::{Connection, ReviewSettings};
use crate::session::resource::find_unknown_project_hint;
use sluicegate_base::text::format_count;
use sluicegate_git::{CommitId, SnapshotFile};
use sluicegate_pipelines::findings::{Engine, FileResults, FindingState};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_platform::api::{Platform, ReviewFields};
use std::mem;

/// Note in the reports if the base was evaluated locally, because its rules file differs.
const RULES_DIFFER_NOTE: &str = "the rules differ between head and base, so the base was checked locally \
                            with the rules of the head (--new-only)";

/// Note in the reports if `--on-unavailable pass` has no effect.
const AVAILABLE_NOTE: &str =
    "--on-unavailable pass does not apply, because the platform responded to other requests";

/// A review that the platform evaluates, in batches of files.
pub(crate) struct RemoteReview<'a> {
    settings: &'a ReviewSettings,
    connection: &'a Connection,
    target: &'a Target,
    fields: ReviewFields,
    rules_file: Option<SnapshotFile>,
    rules: Option<RuleSet>,
    /// The client that reviewed head, to be reused for the bases.
    platform: Option<Platform>,
    fallback: LocalFallback,
    failed_requests: FailedRequests,
}

impl<'a> RemoteReview<'a> {
    /// Creates the engine that requests the review from the platform.
    pub(crate) fn new(settings: &'a ReviewSettings, connection: &'a Connection, target: &'a Target) -> Self {
        Self {
            fields: settings.request_fields.clone(),
            settings,
            connection,
            target,
            rules_file: None,
            rules: None,
            platform: None,
            fallback: LocalFallback::default(),
            failed_requests: FailedRequests::default(),
        }
    }

    /// Returns the parameters that all requests for a review of this commit share.
    fn review_parameters<'r>(&'r self, commit: &'r CommitId) -> Result<ReviewParameters<'r>, Failure> {
        Ok(ReviewParameters {
            project: self.connection.require_project_id()?,
            agent_version: self.connection.require_agent_version()?,
            branch: self.target.require_branch()?,
            commit: commit.as_str(),
            fields: &self.fields,
        })
    }

    /// Creates the sender of batches with the settings of the review.
    fn batch_sender<'r>(&self, run: &'r GateRun<'_>, platform: &'r Platform) -> BatchSender<'r> {
        BatchSender {
            session: run.session,
            platform,
            batching: Batching {
                size: self.settings.batch_size,
                concurrency: self.settings.concurrency,
            },
        }
    }

    /// Fails if the branch is unknown, or if the branch on the remote lacks the commit. Only warns if an incomplete
    /// clone in CI cannot show whether the branch has the commit.
    fn check_commit_on_remote(&self, run: &GateRun<'_>) -> Result<(), Failure> {
        if let Some(warning) = self.target.check_head_on_remote(&run.subject.workspace.repo)? {
            run.session.ui.warn(&warning);
        }
        self.target.require_branch()?;
        Ok(())
    }

    /// Requests a review of the base, and records the requests that failed. `files` are paths at the base. Reuses the
    /// client that reviewed head, if there is one.
    fn review_base(
        &mut self,
        run: &GateRun<'_>,
        base: &CommitId,
        files: &[String],
    ) -> Result<RunFindings, Failure> {
        let repo = &run.subject.workspace.repo;
        run.session.ui.say(&format!(
            "comparing {} with base {}",
            format_count(files.len(), "pipeline"),
            base.short()
        ));
        let platform = match self.platform.take() {
            Some(platform) => platform,
            None => run.session.create_platform_client(self.connection)?,
        };
        let responses = self
            .batch_sender(run, &platform)
            .send_all(&self.review_parameters(base)?, files)?;
        self.platform = Some(platform);
        for response in &responses {
            self.failed_requests.record(response);
        }
        let mut positions = Positions::new(repo, base);
        Ok(gate::merge_responses(
            responses,
            files,
            self.rules.as_ref(),
            &mut positions,
        ))
    }

    /// Evaluates the base of the files that are clean in head (without findings that are not waived), to count fixed
    /// findings. Adds the results to `base_findings` and their paths to `base_paths`. This needs no request, because
    /// the count does not affect the verdict. Does nothing without a rules file.
    fn evaluate_base_of_clean_files(
        &self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head: &RunFindings,
        base_paths: &mut BasePaths,
        base_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        let Some(rules) = &self.rules else {
            return Ok(());
        };
        let clean_files = head.files.iter().filter(|file| !has_unwaived_findings(file));
        let clean_base_paths = baseline.find_changed_paths_at_base(
            base,
            &run.subject.snapshot,
            clean_files.map(|file| file.path.as_str()),
        )?;
        let mut clean_findings =
            local_review::evaluate_at_base(&run.subject.workspace.repo, rules, base, &clean_base_paths)?;
        base_paths.add_evaluated_paths(clean_base_paths, &clean_findings.files);
        base_findings.files.append(&mut clean_findings.files);
        Ok(())
    }

    /// Returns the number of requests that a review would send. Fails for a change from a fork, or if the branch is
    /// unknown. Only warns about a commit that is not pushed yet, because a dry run is useful before the push.
    pub(crate) fn check_and_count_requests(&self, run: &GateRun<'_>) -> Result<usize, Failure> {
        if run.empty_reason.is_none() {
            self.target.reject_fork()?;
            self.target.require_branch()?;
            if let Err(failure) = self.check_commit_on_remote(run) {
                run.session
                    .ui
                    .warn_of_failure("the review would fail: ", &failure);
            }
        }
        let files = &run.selection.pipelines.files;
        Ok(files.len().div_ceil(self.settings.batch_size))
    }
}

impl ReviewEngine for RemoteReview<'_> {
    /// Names the engine in reports: the platform evaluates the rules.
    fn name(&self) -> Engine {
        Engine::Remote
    }

    /// Returns the review: the platform evaluates a commit.
    fn action(&self) -> GateAction {
        GateAction::Review
    }

    /// Returns the connection to the platform that evaluates.
    fn connection(&self) -> Option<&Connection> {
        Some(self.connection)
    }

    /// Fails for a change from a fork. Reads the rules file of the reviewed commit, to know which results the platform
    /// must return.
    fn prepare(&mut self, run: &GateRun<'_>) -> Result<(), Failure> {
        self.target.reject_fork()?;
        self.rules_file = run.subject.workspace.find_rules_file(&run.subject.snapshot)?;
        self.rules = run.subject.workspace.read_rules(self.rules_file.as_ref())?;
        Ok(())
    }

    /// Returns the rules file of the reviewed commit. Returns `None` if it is missing.
    fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref()
    }

    /// Requests the review of head, and locally evaluates the files that got no usable response. Returns the results,
    /// and the findings of the project checks.
    fn evaluate_head(
        &mut self,
        run: &GateRun<'_>,
        fix_scope: Option<&FixScope<'_>>,
    ) -> Result<(RunFindings, ProjectFindings), Failure> {
        require_file_settings(self.connection, &run.selection.unusable_files)?;
        self.check_commit_on_remote(run)?;
        let platform = run.session.create_platform_client(self.connection)?;
        run.session.ui.say(&format!(
            "reviewing {} of branch {} at {}",
            run.selection.pipelines.describe_file_count(),
            self.target.require_branch()?,
            self.target.head.short()
        ));
        let (mut run_findings, mut failed_requests, project_findings) =
            self.review_head(run, &platform, fix_scope)?;
        if failed_requests.has_missing_resource() {
            let hint_request = find_unknown_project_hint(&platform, self.connection.require_project_id()?);
            if let Some(hint) = run.session.block_on(hint_request)? {
                failed_requests.replace_not_found_hint(&hint);
            }
        }
        // The review of the base uses the same client.
        self.platform = Some(platform);
        self.failed_requests = failed_requests;
        if let Some(paths) = self.failed_requests.find_fallback_paths() {
            let rules = self.rules.as_ref();
            self.fallback = LocalFallback::evaluate_unreviewed_files(
                run.subject.workspace,
                &run.subject.snapshot,
                rules,
                paths,
                &mut run_findings,
            )?;
        }
        Ok((run_findings, project_findings))
    }

    /// Evaluates the base versions of the reviewed files. The platform reviews the files with findings in head that are
    /// not waived. If the base does not have the rules file of head, these files are evaluated locally instead, because
    /// the platform would not apply the rules of head.
    ///
    /// Two kinds of files are always evaluated locally: those that were evaluated locally in head, and changed files
    /// without such findings.
    fn evaluate_base(
        &mut self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head_findings: &mut RunFindings,
    ) -> Result<(BasePaths, RunFindings), Failure> {
        let repo = &run.subject.workspace.repo;
        let files_with_findings = head_findings
            .files
            .iter()
            .filter(|file| has_unwaived_findings(file));
        let (fallback_paths, reviewed_paths): (Vec<_>, Vec<_>) = files_with_findings
            .map(|file| file.path.as_str())
            .partition(|path| self.fallback.contains(path));
        let mut base_paths =
            baseline.find_paths_at_base(base, &run.subject.snapshot, reviewed_paths.into_iter())?;
        let fallback_base_paths =
            baseline.find_paths_at_base(base, &run.subject.snapshot, fallback_paths.into_iter())?;
        let requested_paths: Vec<String> = base_paths
            .collect_base_paths()
            .into_iter()
            .map(str::to_owned)
            .collect();
        let is_same_rules_file = match &self.rules_file {
            Some(file) => has_same_rules(repo, base, file)?,
            None => false,
        };
        // First the files that the platform reviewed in head.
        let mut base_findings = match &self.rules {
            _ if requested_paths.is_empty() => RunFindings::default(),
            Some(rules) if !is_same_rules_file => {
                if !head_findings.notes.iter().any(|note| note == RULES_DIFFER_NOTE) {
                    head_findings.notes.push(RULES_DIFFER_NOTE.to_owned());
                }
                local_review::evaluate_at_base(repo, rules, base, &base_paths)?
            }
            _ => self.review_base(run, base, &requested_paths)?,
        };
        // Then the files that are always evaluated locally.
        base_findings.add_results(evaluate_fallback_base(
            run.subject.workspace,
            &run.subject.snapshot,
            self.rules.as_ref(),
            base,
            &fallback_base_paths,
        )?);
        base_paths.add(fallback_base_paths);
        self.evaluate_base_of_clean_files(
            run,
            baseline,
            base,
            head_findings,
            &mut base_paths,
            &mut base_findings,
        )?;
        Ok((base_paths, base_findings))
    }

    /// Does nothing, because the platform always evaluates the rules file of the reviewed commit.
    fn add_notes(&self, _: &GateRun<'_>, _: &mut RunFindings) {}

    /// Builds the evaluation. With `--on-unavailable pass`, the run may pass if the platform never responded and failed
    /// requests are the only gaps. If the platform responded to other requests, a note reports that the option does not
    /// apply.
    fn conclude(&mut self, run: &GateRun<'_>, mut head_findings: RunFindings) -> Result<Evaluation, Failure> {
        let failed_requests = mem::take(&mut self.failed_requests);
        let is_lenient = self.settings.on_unavailable == OnUnavailable::Pass;
        let has_responded = run.session.has_platform_responded();
        if is_lenient && has_responded && failed_requests.find_fallback_paths().is_some() {
            head_findings.notes.push(AVAILABLE_NOTE.to_owned());
        }
        let may_pass = is_lenient && !has_responded && head_findings.lacks_only_responses();
        let mut evaluation = Evaluation::new(head_findings, run.subject.settings.verdict.fail_on);
        evaluation.set_failed_requests(failed_requests);
        if may_pass {
            evaluation.excuse_unavailable_platform();
        }
        evaluation.print_failed_requests(run.session)?;
        Ok(evaluation)
    }
}

/// Returns whether the file has findings that are not waived.
fn has_unwaived_findings(file: &FileResults) -> bool {
    let mut findings = file.results.iter().flat_map(|result| result.findings(&file.path));
    findings.any(|finding| finding.state != Some(FindingState::Waived))
}
