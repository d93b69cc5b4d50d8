//! The local engine: evaluates the rules on this machine.

pub(crate) mod evaluate;

use crate::error::Failure;
use crate::gate::baseline::Baseline;
use crate::gate::check_subject::check_rules::CheckRules;
use crate::gate::evaluation::Evaluation;
use crate::gate::project_checks::ProjectChecks;
use crate::gate::run::{GateRun, ReviewEngine};
use crate::gate::{Places, SeenFacts, Tally, evaluate, list_failed_files};
use crate::job::cli::GlobArgs;
use crate::job::settings::{Connection, SelectionPurpose};
use crate::workspace::Workspace;
use sluicegate_base::text::count;
use sluicegate_git::{CommitId, Repository, Snapshot};
use sluicegate_pipelines::findings::{Engine, FileResults};
use sluicegate_pipelines::pipelines::{Pipeline, RULES_FILE};
use sluicegate_pipelines::rules::RuleSet;
use std::collections::HashSet;

/// Note in the reports if the platform was not asked for a review.
const FORK_NOTE: &str = "the change comes from a fork, which the platform cannot read, so it was checked \
                         locally with the rules file of its commit, not by the platform (--fork check)";

/// A review that evaluates the rules on this machine.
pub(crate) struct LocalReview {
    rules: Option<CheckRules>,
    /// The rule set of files without a rules file.
    missing_rules: RuleSet,
    is_of_fork: bool,
}

impl LocalReview {
    /// Returns a review that evaluates these rules.
    pub(crate) fn with_rules(rules: CheckRules) -> Self {
        Self::new(Some(rules), false)
    }

    /// Returns a review of the change of a fork, by the rules file of its commit; every report gets a note about it.
    pub(crate) fn of_fork() -> Self {
        Self::new(None, true)
    }

    fn new(rules: Option<CheckRules>, is_of_fork: bool) -> Self {
        Self {
            rules,
            missing_rules: RuleSet::missing(),
            is_of_fork,
        }
    }

    /// Returns the rules that the review evaluates.
    fn evaluated_rules(&self) -> &RuleSet {
        self.rules().unwrap_or(&self.missing_rules)
    }
}

impl ReviewEngine for LocalReview {
    fn name(&self) -> Engine {
        Engine::Local
    }

    fn connection(&self) -> Option<&Connection> {
        None
    }

    fn prepare(&mut self, run: &GateRun<'_>) -> Result<(), Failure> {
        let what = count(run.selection.selected.files.len(), "pipeline");
        run.session
            .ui
            .say(&format!("checking {what} of {}", run.subject.snapshot.name()));
        if self.rules.is_none() {
            self.rules = Some(CheckRules::Project(
                run.subject.workspace.rules(&run.subject.snapshot)?,
            ));
        }
        if self.rules().is_none() {
            self.missing_rules = run.subject.workspace.missing_rules(&run.subject.snapshot)?;
        }
        Ok(())
    }

    fn rules(&self) -> Option<&RuleSet> {
        self.rules.as_ref().and_then(CheckRules::rule_set)
    }

    fn evaluate_head(&mut self, run: &GateRun<'_>) -> Result<(Tally, Vec<FileResults>), Failure> {
        let wanted: HashSet<&str> = run.selection.selected.files.iter().map(String::as_str).collect();
        let files = run.subject.snapshot.files(&|path| wanted.contains(path))?;
        let seen = SeenFacts::default();
        let see = |path: &str, pipeline: &Pipeline| seen.see(path, pipeline);
        let tally = evaluate(&run.subject.workspace.repo, self.evaluated_rules(), files, &see)?;
        Ok((tally, run.find_project_findings(seen)?))
    }

    fn evaluate_base(
        &mut self,
        run: &GateRun<'_>,
        baseline: &Baseline,
        base: &CommitId,
        head: &mut Tally,
    ) -> Result<(Places, Tally), Failure> {
        let reviewed = head.files.iter().map(|file| file.path.as_str());
        let places = baseline.places(base, &run.subject.snapshot, reviewed)?;
        let before = at_base(&run.subject.workspace.repo, self.evaluated_rules(), base, &places)?;
        Ok((places, before))
    }

    fn add_notes(&self, run: &GateRun<'_>, head: &mut Tally) {
        head.notes.extend(self.rules.as_ref().and_then(CheckRules::note));
        let missing = run.subject.workspace.named_config_dir.as_ref();
        head.notes
            .extend(missing.filter(|_| self.rules().is_none()).map(|folder| {
                let place = run.subject.snapshot.name();
                format!(
                    "`{folder}/{RULES_FILE}` is missing in {place}; `{folder}` is the configured directory"
                )
            }));
    }

    fn conclude(&mut self, run: &GateRun<'_>, head: Tally) -> Result<Evaluation, Failure> {
        let mut evaluation = Evaluation::new(head, run.subject.settings.verdict.fail_on);
        evaluation.note(self.is_of_fork.then(|| FORK_NOTE.to_owned()));
        Ok(evaluation)
    }
}

/// Evaluates these rules on all pipelines that the settings of a review select, and checks the project.
pub(crate) fn evaluate_all(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    rules: &RuleSet,
) -> Result<Tally, Failure> {
    let selection = workspace
        .sources
        .selection(&GlobArgs::default(), SelectionPurpose::Review)?;
    let files = snapshot.files(&|path| selection.selects(path))?;
    let seen = SeenFacts::default();
    let see = |path: &str, pipeline: &Pipeline| seen.see(path, pipeline);
    let mut tally = evaluate(&workspace.repo, rules, files, &see)?;
    let settings = workspace.sources.project_checks(None)?;
    let checks = ProjectChecks {
        workspace,
        settings: &settings,
        snapshot,
    };
    tally.project = checks.all(seen)?;
    tally.checked = Some(settings.levels);
    Ok(tally)
}

/// Evaluates the files with these rules, at their paths in the base.
pub(crate) fn at_base(
    repo: &Repository,
    rules: &RuleSet,
    base: &CommitId,
    places: &Places,
) -> Result<Tally, Failure> {
    let wanted = places.at_base();
    let files = repo.snapshot(base.clone()).files(&|path| wanted.contains(path))?;
    let mut tally = evaluate(repo, rules, files, &|_, _| {})?;
    tally.failed_batches = list_failed_files(&tally.files);
    Ok(tally)
}
