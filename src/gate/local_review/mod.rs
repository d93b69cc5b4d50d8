//! The local engine: evaluates the rules on this machine.

pub(crate) mod rule_evaluation;

use crate::error::Failure;
use crate::gate::baseline::Baseline;
use crate::gate::check_subject::check_rules::CheckRules;
use crate::gate::evaluation::Evaluation;
use crate::gate::project_checks::ProjectChecks;
use crate::gate::project_checks::facts_cache::FactsCache;
use crate::gate::project_checks::project_fixes::FixScope;
use crate::gate::run::{GateRun, ReviewEngine, SelectedRun};
use crate::gate::stricter_target::StricterTarget;
use crate::gate::team_review::TeamReview;
use crate::gate::{
    BasePaths, CollectedFacts, GateAction, ProjectFindings, RunFindings, build_failed_batches, evaluate_files,
};
use crate::job::cli::GlobArgs;
use crate::job::settings::{Connection, SelectionPurpose};
use crate::workspace::Workspace;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::Engine;
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::rules::RuleSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Note in the reports if the platform did not review the change.
const FORK_NOTE: &str = "the change comes from a fork, which the platform cannot read, so it was checked \
                         locally with the rules file of its commit, not by the platform (--fork check)";

/// A review that evaluates the rules on this machine.
pub(crate) struct LocalReview {
    rules: Option<CheckRules>,
    /// Reports for each pipeline why there are no rules; evaluated if the project has no rules file.
    missing_rules: RuleSet,
    is_for_fork: bool,
}

impl LocalReview {
    /// Creates the review of a local check. With `rules_file`, only that file is evaluated: neither the rules file of
    /// the project nor the stricter one of the target branch.
    pub(crate) fn for_check(run: &mut SelectedRun<'_>, rules_file: Option<&Path>) -> Result<Self, Failure> {
        if rules_file.is_some() {
            let target = run.selection.stricter_target.iter_mut();
            target.for_each(StricterTarget::skip_rules);
        }
        let subject = &run.subject;
        let bases = &subject.comparison.bases;
        let rules = subject
            .workspace
            .find_check_rules(run.session, &subject.snapshot, bases, rules_file)?;
        Ok(Self::new(Some(rules)))
    }

    /// Creates the local review of a change from a fork, which the platform cannot read. A note in the report states
    /// that the change was checked against the rules file of its own commit.
    pub(crate) fn for_fork() -> Self {
        let rules = None;
        Self {
            is_for_fork: true,
            ..Self::new(rules)
        }
    }

    /// Creates the engine that evaluates the rules in this process. Without `rules`, the project's rules are read when
    /// the review starts.
    fn new(rules: Option<CheckRules>) -> Self {
        Self {
            rules,
            missing_rules: RuleSet::without_file(),
            is_for_fork: false,
        }
    }

    /// Returns the rules that the review evaluates. Without a rules file, returns an empty rule set that contains the
    /// reason.
    fn evaluated_rules(&self) -> &RuleSet {
        self.rules().unwrap_or(&self.missing_rules)
    }
}

impl ReviewEngine for LocalReview {
    /// Names the engine in reports: the rules are evaluated on this machine.
    fn name(&self) -> Engine {
        Engine::Local
    }

    /// Returns the review of the change for a fork, otherwise the check.
    fn action(&self) -> GateAction {
        if self.is_for_fork {
            GateAction::Review
        } else {
            GateAction::Check
        }
    }

    /// Returns `None`, because a local review does not connect to the platform.
    fn connection(&self) -> Option<&Connection> {
        None
    }

    /// Prints how many pipelines are checked, and reads the project's rules unless other rules were chosen. Without a
    /// rules file, prepares the rule set that reports for each pipeline why there are no rules.
    fn prepare(&mut self, run: &GateRun<'_>) -> Result<(), Failure> {
        run.session.ui.say(&format!(
            "checking {} of {}",
            run.selection.pipelines.describe_file_count(),
            run.subject.snapshot.name()
        ));
        if self.rules.is_none() {
            self.rules = Some(CheckRules::Project(
                run.subject.workspace.read_rules_at(&run.subject.snapshot)?,
            ));
        }
        if self.rules().is_none() {
            self.missing_rules = run
                .subject
                .workspace
                .create_rule_set_without_file(&run.subject.snapshot)?;
        }
        Ok(())
    }

    /// Returns the rules to evaluate. Returns `None` before they are read, and if there is no rules file.
    fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref().and_then(CheckRules::rule_set)
    }

    /// Returns the path of the rules file that the job named with `--rules`.
    fn named_rules_path(&self) -> Option<&str> {
        self.rules.as_ref().and_then(CheckRules::named_path)
    }

    /// Evaluates the rules of the project and of the team on the selected pipelines. Then runs the project checks with
    /// the facts about these pipelines.
    fn evaluate_head(
        &mut self,
        run: &GateRun<'_>,
        _fix_scope: Option<&FixScope<'_>>,
    ) -> Result<(RunFindings, ProjectFindings), Failure> {
        let selected_paths = run.selection.pipelines.files.iter().map(String::as_str);
        let files = run.subject.snapshot.find_files(&selected_paths.collect())?;
        let facts = CollectedFacts::default();
        let team_review = TeamReview::for_snapshot(&run.team_rules.rules, &run.subject.snapshot)?;
        let pipeline_files = team_review.pipeline_files();
        // The pipelines are evaluated on several threads.
        let team_files = Mutex::new(Vec::new());
        let mut run_findings = evaluate_files(
            &run.subject.workspace.repo,
            self.evaluated_rules(),
            files,
            &|path, pipeline, tree| {
                facts.add(path, pipeline);
                let team_file = team_review.evaluate_pipeline(path, pipeline, tree, &pipeline_files);
                if let Some(team_file) = team_file {
                    let mut team_files = lock_mutex(&team_files);
                    team_files.push(team_file);
                }
            },
        )?;
        run_findings.team_files = team_files.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((run_findings, run.find_project_findings(facts)?))
    }

    /// Evaluates the rules of head on the reviewed files as they were at the base. Only a remote review adds notes to
    /// `head_findings` at this step.
    fn evaluate_base(
        &mut self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head_findings: &mut RunFindings,
    ) -> Result<(BasePaths, RunFindings), Failure> {
        let reviewed_paths = head_findings.files.iter().map(|file| file.path.as_str());
        let base_paths = baseline.find_paths_at_base(base, &run.subject.snapshot, reviewed_paths)?;
        let base_findings = evaluate_at_base(
            &run.subject.workspace.repo,
            self.evaluated_rules(),
            base,
            &base_paths,
        )?;
        Ok((base_paths, base_findings))
    }

    /// Adds a note if the evaluated rules are not those of the project, and a note if the hidden directory that the job
    /// sets has no rules file.
    fn add_notes(&self, run: &GateRun<'_>, head_findings: &mut RunFindings) {
        head_findings
            .notes
            .extend(self.rules.as_ref().and_then(CheckRules::describe_other_rules));
        let named_config_dir = run.subject.workspace.named_config_dir.as_ref();
        let missing_rules_note = named_config_dir.filter(|_| self.rules().is_none()).map(|config_dir| {
            let snapshot_name = run.subject.snapshot.name();
            format!(
                "`{config_dir}/{RULES_FILE}` is missing in {snapshot_name}; `{config_dir}` is the configured directory"
            )
        });
        head_findings.notes.extend(missing_rules_note);
    }

    /// Builds the evaluation. For a change from a fork, adds the note that the platform did not review the change.
    fn conclude(&mut self, run: &GateRun<'_>, head_findings: RunFindings) -> Result<Evaluation, Failure> {
        let mut evaluation = Evaluation::new(head_findings, run.subject.settings.verdict.fail_on);
        evaluation.add_notes(self.is_for_fork.then(|| FORK_NOTE.to_owned()));
        Ok(evaluation)
    }
}

/// Evaluates these rules and those of the team on all pipelines that the settings of a review select. Then runs the
/// project checks.
pub(crate) fn evaluate_all(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    rules: &RuleSet,
) -> Result<RunFindings, Failure> {
    let selection = workspace
        .sources
        .resolve_selection(&GlobArgs::default(), SelectionPurpose::Review)?;
    let files = snapshot.list_files(&|path| selection.selects(path))?;
    let selected_paths: Vec<String> = files.iter().map(|file| file.path.clone()).collect();
    let facts = CollectedFacts::default();
    let mut run_findings = evaluate_files(&workspace.repo, rules, files, &|path, pipeline, _| {
        facts.add(path, pipeline);
    })?;
    let team_rules = workspace.read_team_rules()?.rules;
    TeamReview::for_snapshot(&team_rules, snapshot)?.add_results(
        &workspace.repo,
        snapshot,
        &selected_paths.iter().map(String::as_str).collect(),
        &mut run_findings,
    )?;
    let no_flag = None;
    let settings = workspace.sources.resolve_project_checks(no_flag)?;
    let checks = ProjectChecks {
        workspace,
        settings: &settings,
        snapshot,
        facts_cache: &FactsCache::default(),
    };
    run_findings.project_files = checks.check_all(facts)?;
    run_findings.check_levels = Some(settings.levels);
    Ok(run_findings)
}

/// Evaluates the rules on these files as they were at the base. Adds a failed batch for each file with a finding of
/// level error, because the comparison with head expects one for each file that failed.
pub(crate) fn evaluate_at_base(
    repo: &Repository,
    rules: &RuleSet,
    base: &CommitId,
    base_paths: &BasePaths,
) -> Result<RunFindings, Failure> {
    let wanted_paths = base_paths.collect_base_paths();
    let files = repo.snapshot(base.clone()).find_files(&wanted_paths)?;
    // The parsed pipelines are not needed after the evaluation.
    let mut run_findings = evaluate_files(repo, rules, files, &|_, _, _| {})?;
    run_findings.failed_batches = build_failed_batches(&run_findings.files);
    Ok(run_findings)
}
