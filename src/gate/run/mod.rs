//! One run of the gate: the values that its steps fill, and the steps in their order.
//!
//! A command opens the workspace, which reads the policy, resolves the settings, and finds the commit and its base.
//! Then it calls the steps of [`GateRun`] in this order: `select_pipelines`, `complete_selection`,
//! `set_change_baseline`, `evaluate`. Each step fills its part of the run; causes, notes and limits go to the
//! [`Evaluation`]. The last step makes the report, which `delivery` sends to its destinations. A run over reports of
//! earlier runs has one step instead of these: `evaluate_reports`.

mod finding_collection;
mod published_selection;
pub(crate) mod report_subject;
pub(crate) mod review_context;
pub(crate) mod review_description;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::baseline::Baseline;
use crate::gate::changes::background_comparison::BackgroundComparison;
use crate::gate::evaluation::Evaluation;
use crate::gate::run::report_subject::ReviewedFiles;
use crate::gate::selection::{SelectionRequest, SelectionResult, explain_empty_selection};
use crate::gate::shard_selection::{EMPTY_SHARD_REASON, format_empty_run_note};
use crate::gate::{
    BasePaths, ComparedChanges, ProjectFindings, RunFindings, ShardSelection, explain_partial_review,
};
use crate::job::settings::Connection;
use crate::session::Run;
use crate::workspace::team_rules::TeamRulesInForce;
use crate::workspace::unusable_gate_files::ResolveSelection;
use sluicegate_base::text::format_count;
use sluicegate_git::CommitId;
use sluicegate_pipelines::findings::{Engine, Report, Shard};
use sluicegate_pipelines::rules::RuleSet;
use std::mem;

/// Evaluates pipelines: on this machine, or by the platform.
pub(crate) trait ReviewEngine {
    /// Returns the name of the engine in reports.
    fn name(&self) -> Engine;

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
    /// same files.
    fn evaluate_head(&mut self, run: &GateRun<'_>) -> Result<(RunFindings, ProjectFindings), Failure>;

    /// Evaluates the base versions of the reviewed pipelines, at least of those with findings in `head_findings`. Returns
    /// their paths at the base, and the results.
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

/// One run: its subject, and the results of its steps. A step that does not apply to the subject leaves its result
/// empty.
pub(crate) struct GateRun<'a, S = ReviewedFiles<'a>> {
    pub(crate) session: &'a Run,
    pub(crate) subject: S,
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
    pub(crate) evaluation: Evaluation,
    /// The changes that the selection found, for the list of changes in the reports.
    pub(crate) compared_changes: Option<ComparedChanges>,
    /// The report; `None` until the run is evaluated, and in a dry run.
    pub(crate) report: Option<Report>,
    /// The exit status, undecided until the run has a verdict.
    pub(crate) status: ExitStatus,
    /// Notes about the subject of the run.
    notes: Vec<String>,
}

impl<'a, S> GateRun<'a, S> {
    /// Creates a run that has not selected or evaluated any pipeline yet.
    pub(crate) fn new(session: &'a Run, subject: S) -> Self {
        Self {
            session,
            subject,
            selection: SelectionResult::default(),
            shard_selection: ShardSelection::default(),
            empty_reason: None,
            baseline: None,
            is_before_publish: false,
            background_comparison: None,
            team_rules: TeamRulesInForce::default(),
            evaluation: Evaluation::default(),
            compared_changes: None,
            report: None,
            status: ExitStatus::Undecided,
            notes: Vec::new(),
        }
    }

    /// Returns whether the newest commit of the target is stricter than the change, or has other rules.
    pub(crate) const fn has_stricter_target(&self) -> bool {
        self.selection.stricter_target.is_some()
    }
}

impl GateRun<'_> {
    /// Adds notes about the subject of the run.
    pub(crate) fn add_notes(&mut self, notes: impl IntoIterator<Item = String>) {
        self.notes.extend(notes);
    }

    /// Selects the pipelines to review. The stored selection also has the changes to the gate configuration.
    /// `resolve` resolves the selection settings from another version of the configuration file, and fails if that
    /// version cannot be used.
    pub(crate) fn select_pipelines(&mut self, resolve: &ResolveSelection<'_>) -> Result<(), Failure> {
        let restricting_paths = self.subject.paths.list_restricting_paths();
        let request = SelectionRequest {
            selection: &self.subject.settings.selection,
            paths: &restricting_paths,
            named_files: &self.subject.paths.named_files,
            revisions: &self.subject.settings.revisions,
            resolve,
        };
        let workspace = self.subject.workspace;
        self.selection = workspace.select_pipelines(
            self.session,
            &self.subject.snapshot,
            &self.subject.comparison,
            &request,
        )?;
        Ok(())
    }

    /// Prints why all pipelines are selected, unless the job requested that or a warning already explains it.
    pub(crate) fn report_reason_for_all(&self) {
        self.selection
            .report_reason_for_all(self.session, &self.subject.settings.revisions);
    }

    /// Completes the selection before the evaluation. If a publish follows, adds the pipelines that it would publish,
    /// changed or not. Then keeps only the pipelines of the requested shard. Notes named files that are not checked,
    /// and records the reason if there is no pipeline to review.
    pub(crate) fn complete_selection(
        &mut self,
        published_pipelines: Option<&[String]>,
    ) -> Result<(), Failure> {
        if let Some(pipelines) = published_pipelines {
            self.is_before_publish = true;
            self.add_published_pipelines(pipelines);
        }
        let shared_file = self.subject.find_examined_shared_file()?;
        let unchecked_notes = self
            .subject
            .paths
            .describe_unchecked_files(&self.selection.pipelines, shared_file.as_deref());
        self.add_notes(unchecked_notes);
        self.keep_shard()?;
        self.empty_reason = self.explain_empty_run()?;
        Ok(())
    }

    /// Keeps only the pipelines of the requested shard, and prints their number. Without a shard, keeps all.
    fn keep_shard(&mut self) -> Result<(), Failure> {
        let shard = match &self.subject.settings.verdict.shard {
            Some(text) => Some(text.parse::<Shard>().map_err(|error| {
                Failure::usage(format!(
                    "invalid shard {text:?} (--shard, SLUICEGATE_SHARD): {error}"
                ))
            })?),
            None => None,
        };
        let pipelines = &mut self.selection.pipelines;
        self.shard_selection.keep_shard(shard, pipelines);
        if let Some(shard) = self.shard_selection.shard {
            let kept_count = pipelines.files.len();
            let total = format_count(kept_count + self.shard_selection.left_out_count, "pipeline");
            self.session
                .ui
                .say(&format!("shard {shard}: {kept_count} of {total}"));
        }
        Ok(())
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
        explain_partial_review(
            self.shard_selection.shard,
            &subject.paths.list_paths(),
            subject.settings.verdict.fail_on,
        )
    }

    /// Returns the reason why there is no pipeline to review. Returns `None` if there is one.
    fn explain_empty_run(&self) -> Result<Option<String>, Failure> {
        match &self.subject.comparison.idle_reason {
            Some(reason) => Ok(Some(reason.clone())),
            None if !self.selection.pipelines.files.is_empty() => Ok(None),
            None if self.shard_selection.left_out_count > 0 => Ok(Some(EMPTY_SHARD_REASON.to_owned())),
            None => {
                let reason = explain_empty_selection(
                    &self.subject.snapshot,
                    &self.subject.settings.selection,
                    &self.subject.paths.list_restricting_paths(),
                    &self.selection.pipelines,
                )?;
                Ok(Some(reason))
            }
        }
    }

    /// Sets the base of the change as the baseline, if only new findings fail the gate.
    pub(crate) fn set_change_baseline(&mut self) -> Result<(), Failure> {
        if self.needs_baseline() {
            let pipelines = &self.selection.pipelines;
            let baseline = Baseline::for_change(
                self.subject.workspace,
                &self.subject.settings.revisions,
                &self.subject.change,
                pipelines,
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
    /// on the platform's response. Does nothing if the reviewed files are not those of a commit, or if no pipeline is
    /// selected. Also does nothing if the selection has other bases than the run, because the report lists the changes
    /// since the bases of the run.
    pub(crate) fn start_background_comparison(&mut self) {
        let pipelines = &self.selection.pipelines;
        let is_comparable = pipelines.bases == self.subject.comparison.bases && !pipelines.files.is_empty();
        if let Some(head) = self.subject.snapshot.commit().filter(|_| is_comparable) {
            let (session, workspace, settings) =
                (self.session, self.subject.workspace, self.subject.settings);
            self.background_comparison = BackgroundComparison::start_if_needed(
                session,
                workspace,
                head,
                settings,
                pipelines,
                &self.subject.paths.list_paths(),
                &self.shard_selection,
            );
        }
    }

    /// Evaluates the pipelines, or only runs the project checks if there is no pipeline to review. Then adds the other
    /// causes of the verdict: those of the selection, of the team's rules and of the changes for consumers. `action` is
    /// the verb for messages. If a breaking change would fail the run, `accept_break` may return a reason to accept the
    /// change, for example that the planned publish accepts it.
    pub(crate) fn evaluate(
        &mut self,
        engine: &mut dyn ReviewEngine,
        action: &str,
        accept_break: &AcceptBreak<'_>,
    ) -> Result<(), Failure> {
        self.add_team_rules()?;
        self.evaluation = match &self.empty_reason {
            Some(reason) => self.evaluate_project_checks(format_empty_run_note(action, reason))?,
            None => self.evaluate_pipelines(engine)?,
        };
        if let Some(limit) = self.subject.workspace.build_unused_settings_limit() {
            self.evaluation.add_limit(limit);
        }
        // Where nothing is to be done, the age of the target's commit decides nothing.
        if self.subject.change.idle_reason.is_none() {
            self.evaluation
                .add_notes(self.subject.workspace.target_age_note.clone());
        }
        let unused_files_note = self
            .subject
            .workspace
            .describe_unused_files_of_bare_repository(&self.subject.snapshot)?;
        self.evaluation.add_notes(unused_files_note);
        self.evaluation.add_notes(mem::take(&mut self.notes));
        self.add_selection_results();
        self.add_team_rule_limit();
        self.add_unmatched_rule_notes()?;
        self.add_example_causes();
        self.add_interface_changes(accept_break)?;
        self.status = self.evaluation.status();
        self.evaluation.add_excuse_note(self.status);
        self.report = Some(self.build_report(engine));
        Ok(())
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
    fn add_selection_results(&mut self) {
        let evaluation = &mut self.evaluation;
        for warning in self.selection.pipelines.warnings() {
            self.session.defer_warning(warning.clone());
            evaluation.add_notes([warning]);
        }
        self.selection.add_causes(evaluation);
        // A partial review does not find all known findings, so it cannot show that the limit may be lowered.
        let is_complete = self.selects_all_pipelines();
        let evaluation = &mut self.evaluation;
        evaluation.add_known_count_cause(self.subject.settings.verdict.max_known, is_complete);
    }

    /// Builds the report of the run. The evaluation and the selection move to the report.
    fn build_report(&mut self, engine: &dyn ReviewEngine) -> Report {
        self.compared_changes = Some(self.selection.pipelines.take_changes());
        let mut context = self.review_context(engine.connection());
        context.rules = engine.named_rules_path().map(str::to_owned);
        mem::take(&mut self.evaluation).into_report(
            engine.name(),
            context,
            mem::take(&mut self.selection.pipelines),
            self.session.started_at,
            self.session.clock.elapsed(),
        )
    }
}

/// Returns why a break of consumers is accepted although the job gives no reason; `None` if it is not.
pub(crate) type AcceptBreak<'f> = dyn Fn() -> Result<Option<String>, Failure> + 'f;
