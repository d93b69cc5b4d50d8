//! One run of the gate, and its steps in their order.
//!
//! A command opens the workspace, which reads the policy, resolves the settings, and finds the commit and its base.
//! [`SelectedRun::select_pipelines`] creates the run, and each stage consumes the previous one:
//! [`SelectedRun::complete`] returns a [`GateRun`], and [`GateRun::evaluate`] an [`EvaluatedRun`] with the report,
//! which `delivery` sends to its destinations. For reports of earlier runs, `SavedReports::evaluate_reports` returns it
//! instead.

mod evaluated_run;
mod finding_collection;
pub(crate) mod report_subject;
pub(crate) mod review_context;
pub(crate) mod review_description;
mod selected_run;

pub(crate) use evaluated_run::{EvaluatedRun, EvaluationFacts};
pub(crate) use selected_run::SelectedRun;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::baseline::Baseline;
use crate::gate::changes::background_comparison::BackgroundComparison;
use crate::gate::changes::change_list::{is_included, needs_change_list};
use crate::gate::evaluation::Evaluation;
use crate::gate::project_checks::facts_cache::FactsCache;
use crate::gate::project_checks::project_fixes::FixScope;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::gate::selection::SelectionResult;
use crate::gate::shard_selection::format_empty_run_note;
use crate::gate::{
    BasePaths, GateAction, ProjectFindings, RunFindings, ShardSelection, describe_partial_coverage,
};
use crate::job::settings::Connection;
use crate::session::Session;
use crate::workspace::team_rules::TeamRulesInForce;
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{Engine, LimitKind, VerdictLimit};
use sluicegate_pipelines::rules::RuleSet;

/// The note about a change with more files than are compared with each other.
const LIMITED_RENAMES_NOTE: &str = "The change adds and deletes so many files that not all of them were compared with \
                                    each other. A file that was renamed and edited may be listed as new, and its \
                                    findings may be new.";

/// Evaluates pipelines: on this machine, or by the platform.
pub(crate) trait ReviewEngine {
    /// Returns the name of the engine in reports.
    fn name(&self) -> Engine;

    /// Returns the action of a run with this engine, for messages.
    fn action(&self) -> GateAction;

    /// Returns the connection to the platform that evaluates; `None` for an evaluation on this machine.
    fn connection(&self) -> Option<&Connection>;

    /// Reads the rules, and checks that the engine can review the change.
    fn prepare(&mut self, run: &GateRun<'_>) -> Result<(), Failure>;

    /// Returns the rules file of the reviewed files; `None` if it is missing.
    fn rules(&self) -> Option<&RuleSet>;

    /// Returns the path of the rules file that the job named to replace that of the reviewed files. By default, the
    /// rules of the reviewed files are evaluated.
    fn named_rules_path(&self) -> Option<&str> {
        None
    }

    /// Evaluates the selected pipelines. Returns the results, and the findings of the project checks, which read the
    /// same files. While an engine waits, it may also prove the fixes in `fix_scope`, which is `None` in a run with
    /// waivers.
    fn evaluate_head(
        &mut self,
        run: &GateRun<'_>,
        fix_scope: Option<&FixScope<'_>>,
    ) -> Result<(RunFindings, ProjectFindings), Failure>;

    /// Evaluates the base versions of the reviewed pipelines, at least of those with findings in `head_findings`.
    /// Returns their paths at the base, and the results.
    fn evaluate_base(
        &mut self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head_findings: &mut RunFindings,
    ) -> Result<(BasePaths, RunFindings), Failure>;

    /// Adds notes about the rules that were evaluated.
    fn add_notes(&self, run: &GateRun<'_>, head_findings: &mut RunFindings);

    /// Builds the evaluation from the results: the causes of the verdict, and the notes about how it was done.
    fn conclude(&mut self, run: &GateRun<'_>, head_findings: RunFindings) -> Result<Evaluation, Failure>;
}

/// A run with the pipelines to evaluate, and what they are compared with.
pub(crate) struct GateRun<'a> {
    pub(crate) session: &'a Session,
    pub(crate) subject: ReviewedFiles<'a>,
    /// The selected pipelines, and the changes to the gate configuration.
    pub(crate) selection: SelectionResult,
    /// The shard of the selected pipelines.
    pub(crate) shard_selection: ShardSelection,
    /// The reason why there is no pipeline to review.
    pub(crate) empty_reason: Option<String>,
    /// The baseline that findings are compared with, if only new ones fail the gate.
    pub(crate) baseline: Option<Baseline>,
    /// True if unchanged pipelines are reviewed, too, because a publish follows.
    pub(crate) is_before_publish: bool,
    /// The list of changes, if it is compared while the platform responds.
    pub(crate) background_comparison: Option<BackgroundComparison>,
    /// The rules of the team that apply to this run.
    pub(crate) team_rules: TeamRulesInForce,
    pub(crate) facts_cache: FactsCache,
    /// Notes about the subject of the run.
    notes: Vec<String>,
    /// A note for a run that does not pass: a run that passes reports the same fact as the failure of a later step.
    pub(crate) failure_note: Option<String>,
}

impl<'a> GateRun<'a> {
    /// Adds notes about the subject of the run.
    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Returns whether the run selects all pipelines, except those that the settings exclude.
    pub(super) fn selects_all_pipelines(&self) -> bool {
        let is_all_selected = self.selection.pipelines.reason_for_all.is_some();
        is_all_selected && self.shard_selection.shard.is_none() && self.subject.paths.is_empty()
    }

    /// Returns the reason why this run covers only a part of the pipelines, or could not fail. Returns `None` for a
    /// complete review.
    pub(crate) fn explain_partial_review(&self) -> Option<String> {
        let subject = &self.subject;
        describe_partial_coverage(
            self.shard_selection.shard,
            &subject.paths.list_paths(),
            subject.settings.verdict.fail_on,
        )
    }

    /// Sets the base of the change as the baseline, if only new findings fail the gate.
    pub(crate) fn set_change_baseline(&mut self) -> Result<(), Failure> {
        if self.needs_baseline() {
            let baseline = Baseline::for_change(
                &self.subject.settings.revisions,
                &self.subject.change,
                &self.selection,
            )?;
            self.baseline = Some(baseline.with_selection(&self.subject.settings.selection));
        }
        Ok(())
    }

    /// Sets the published version as the baseline of a review before a publish, if only new findings fail the gate.
    /// `head` is the reviewed commit.
    pub(crate) fn set_published_baseline(
        &mut self,
        connection: &Connection,
        prefix: &str,
        head: &CommitId,
    ) -> Result<(), Failure> {
        if self.needs_baseline() {
            let baseline = Baseline::at_published_version(
                self.session,
                self.subject.workspace,
                connection,
                prefix,
                head,
            )?;
            self.baseline = Some(baseline.with_selection(&self.subject.settings.selection));
        }
        Ok(())
    }

    /// Returns whether findings must be compared with a base: only new findings fail the gate, and the event has
    /// something to review.
    const fn needs_baseline(&self) -> bool {
        self.subject.settings.verdict.new_only && self.subject.comparison.idle_reason.is_none()
    }

    /// Starts to compare the changed pipelines with the bases on another thread, because the comparison does not depend
    /// on the platform's response. Does nothing if no output shows the changes, if there is no base, if the reviewed
    /// files are not those of a commit, or if no pipeline is selected. Also does nothing if the selection has other
    /// bases than the run, because the report lists the changes since the bases of the run.
    pub(crate) fn start_background_comparison(&mut self) {
        let subject = &self.subject;
        let (workspace, settings) = (subject.workspace, subject.settings);
        let pipelines = &self.selection.pipelines;
        let is_comparable = pipelines.bases == subject.comparison.bases
            && !pipelines.bases.is_empty()
            && !pipelines.files.is_empty()
            && needs_change_list(self.session, workspace.ci.host, &settings.verdict.destinations);
        let Some(head) = subject.snapshot.commit().filter(|_| is_comparable) else {
            return;
        };
        let paths = subject.paths.list_paths();
        let shard = self.shard_selection.shard;
        let candidates = pipelines.candidates.iter().map(|candidate| &candidate.change);
        let changes = candidates
            .filter(|change| is_included(change, &|path| settings.selection.selects(path), &paths, shard))
            .cloned()
            .collect();
        let root = workspace.repo.root();
        self.background_comparison = Some(BackgroundComparison::start(root, head, &pipelines.bases, changes));
    }

    /// Evaluates the pipelines, or only runs the project checks if there is no pipeline to review. Then adds the other
    /// causes of the verdict: those of the selection, of the team's rules and of the changes for consumers. If a
    /// breaking change would fail the run, `accept_break` may return a reason to accept the change, for example that
    /// the planned publish accepts it.
    pub(crate) fn evaluate(
        mut self,
        engine: &mut dyn ReviewEngine,
        accept_break: &AcceptBreak<'_>,
    ) -> Result<EvaluatedRun<'a>, Failure> {
        self.add_team_rules()?;
        let mut evaluation = match &self.empty_reason {
            Some(reason) => self.evaluate_project_checks(format_empty_run_note(engine.action(), reason))?,
            None => self.evaluate_pipelines(engine)?,
        };
        if let Some(limit) = self.subject.workspace.build_unused_settings_limit() {
            evaluation.add_limit(limit);
        }
        // Where nothing is to be done, the age of the target's commit decides nothing.
        if self.subject.change.idle_reason.is_none() {
            evaluation.add_notes(self.subject.workspace.target_age_note.clone());
        }
        let unused_files_note = self
            .subject
            .workspace
            .describe_unused_files_of_bare_repository(&self.subject.snapshot)?;
        evaluation.add_notes(unused_files_note);
        evaluation.add_notes(self.notes.drain(..));
        let has_limited_renames = self.subject.workspace.repo.has_limited_renames();
        evaluation.add_notes(has_limited_renames.then(|| LIMITED_RENAMES_NOTE.to_owned()));
        self.add_selection_results(&mut evaluation);
        self.add_team_rule_limit(&mut evaluation);
        self.add_unmatched_rule_notes(&mut evaluation)?;
        self.add_example_causes(&mut evaluation);
        self.add_interface_changes(&mut evaluation, accept_break)?;
        Ok(self.build_report(evaluation, engine))
    }

    /// Evaluates only the project checks, because there is no pipeline to review. `note` states the reason. If the
    /// event has nothing to review, the project checks do not run either.
    fn evaluate_project_checks(&self, note: String) -> Result<Evaluation, Failure> {
        if self.subject.comparison.idle_reason.is_none() {
            let run_findings = self.run_project_checks_alone(&self.choose_fix_scope())?;
            if !run_findings.project_files.is_empty() {
                let mut evaluation = Evaluation::new(run_findings, self.subject.settings.verdict.fail_on);
                evaluation.add_notes([note]);
                return Ok(evaluation);
            }
        }
        Ok(Evaluation::without_files(note))
    }

    /// Adds the effects of the selection on the verdict: warnings about files without a review, the causes found in the
    /// gate configuration, and the limit on known findings.
    fn add_selection_results(&self, evaluation: &mut Evaluation) {
        for warning in self.selection.pipelines.warnings() {
            self.session.defer_warning(warning.clone());
            evaluation.add_limit(VerdictLimit {
                kind: LimitKind::OutsideReview,
                path: None,
                text: warning,
            });
        }
        self.selection.add_causes(evaluation);
        // A partial review does not find all known findings, so it cannot show that the limit may be lowered.
        let is_complete = self.selects_all_pipelines();
        evaluation.add_known_count_cause(self.subject.settings.verdict.max_known, is_complete);
    }

    /// Ends the run: builds its report from the evaluation and the selection.
    fn build_report(mut self, mut evaluation: Evaluation, engine: &dyn ReviewEngine) -> EvaluatedRun<'a> {
        let status = evaluation.status();
        evaluation.add_excuse_note(status);
        if status != ExitStatus::Success {
            evaluation.add_notes(self.failure_note.take());
        }
        let mut context = self.review_context(engine.connection());
        context.rules = engine.named_rules_path().map(str::to_owned);
        let facts = EvaluationFacts {
            compared_changes: Some(self.selection.pipelines.take_changes()),
            background_comparison: self.background_comparison,
            baseline_commits: self.baseline.map(|baseline| baseline.bases).unwrap_or_default(),
            has_stricter_target: self.selection.stricter_target.is_some(),
            is_before_publish: self.is_before_publish,
            is_refused_only_in_ci: self.selection.is_refused_only_in_ci(),
        };
        EvaluatedRun {
            session: self.session,
            report: evaluation.into_report(
                engine.name(),
                context,
                self.selection.pipelines,
                self.session.started_at,
                self.session.clock.elapsed(),
            ),
            status,
            subject: self.subject,
            team_rules: self.team_rules.rules,
            facts,
        }
    }
}

/// Returns why a break of consumers is accepted although the job gives no reason; `None` if it is not.
pub(crate) type AcceptBreak<'f> = dyn Fn() -> Result<Option<String>, Failure> + 'f;
