//! Evaluates the rules of the team on this machine, in addition to the review by either engine. Runs the examples of
//! the rules if the change edits the file.

use crate::error::Failure;
use crate::gate::evaluation::Evaluation;
use crate::gate::local_review::rule_evaluation::evaluate_documents;
use crate::gate::run::GateRun;
use crate::gate::{BasePaths, Cause, RunFindings, merge_results};
use crate::job::policy::{self, GateFileVersion};
use crate::workspace::gate_file_problems::GatePart;
use crate::workspace::team_rules::{UnusableTeamRules, describe_first_problem};
use sluicegate_base::text::{List, format_count, shorten_name};
use sluicegate_git::{CommitId, GitError, Repository, Snapshot};
use sluicegate_pipelines::findings::{FileResults, GateFault};
use sluicegate_pipelines::pipelines::{Pipeline, PipelineFiles, is_pipeline};
use sluicegate_pipelines::team_rules::{MAX_TEAM_RULES_BYTES, TeamRuleSet, build_unusable_file_result};
use sluicegate_yaml::Tree;
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write as _;

/// Maximum number of rules that a note names.
const MAX_LISTED_RULES: usize = 20;

/// Maximum number of failed examples that are described one by one.
const MAX_LISTED_EXAMPLES: usize = 10;

/// The rules of the team, and the pipelines of the project that their conditions see.
pub(crate) struct TeamReview<'r> {
    rules: &'r TeamRuleSet,
    /// The paths of all pipelines of the snapshot; empty without rules.
    paths: Vec<String>,
}

impl<'r> TeamReview<'r> {
    /// Creates the review of a snapshot against the team's rules. Lists the pipelines of the snapshot, unless there are
    /// no rules.
    pub(crate) fn for_snapshot(rules: &'r TeamRuleSet, snapshot: &Snapshot<'_>) -> Result<Self, GitError> {
        let files = if rules.rules().is_empty() {
            Vec::new()
        } else {
            // A condition cannot name a file whose name is not UTF-8, and head cannot select one.
            snapshot.list_base_content_files(&|path| is_pipeline(path))?
        };
        Ok(Self {
            rules,
            paths: files.into_iter().map(|file| file.path).collect(),
        })
    }

    /// Returns the paths of the project's pipelines, for rules that look up other pipelines.
    pub(crate) fn pipeline_files(&self) -> PipelineFiles<'_> {
        PipelineFiles::new(self.paths.iter().map(String::as_str))
    }

    /// Evaluates the team's rules on a pipeline that was already read. Returns `None` if no rule applies to it.
    pub(crate) fn evaluate_pipeline(
        &self,
        path: &str,
        pipeline: &Pipeline,
        tree: &Tree<'_>,
        files: &PipelineFiles<'_>,
    ) -> Option<FileResults> {
        let is_affected = self.rules.applies_to(path);
        is_affected.then(|| self.rules.evaluate_pipeline(path, pipeline, tree, files))
    }

    /// Evaluates the team's rules on the reviewed pipelines, except for those already evaluated. Adds all results to
    /// those of the review.
    pub(crate) fn add_results(
        &self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        reviewed_paths: &BTreeSet<&str>,
        run_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        let mut results = std::mem::take(&mut run_findings.team_files);
        let evaluated_paths: HashSet<&str> = results.iter().map(|file| file.path.as_str()).collect();
        let mut unevaluated_paths = reviewed_paths.clone();
        unevaluated_paths.retain(|path| {
            self.rules.applies_to(path) && is_pipeline(path) && !evaluated_paths.contains(path)
        });
        let files = snapshot.find_files(&unevaluated_paths)?;
        let pipeline_files = self.pipeline_files();
        let (other_results, unread_files) = evaluate_documents(repo, files, &|path, document| {
            self.rules.evaluate(path, document, &pipeline_files)
        })?;
        results.extend(other_results);
        run_findings.add_unread_files(unread_files);
        results.retain(|file| !file.results.is_empty());
        merge_results(&mut run_findings.files, results);
        Ok(())
    }
}

impl GateRun<'_> {
    /// Evaluates the team's rules on the selected pipelines of head. If not all rules can be evaluated, each pipeline
    /// has an error.
    pub(crate) fn add_team_results(&self, run_findings: &mut RunFindings) -> Result<(), Failure> {
        let selected_paths: BTreeSet<&str> = self
            .selection
            .pipelines
            .files
            .iter()
            .map(String::as_str)
            .collect();
        TeamReview::for_snapshot(&self.team_rules.rules, &self.subject.snapshot)?.add_results(
            &self.subject.workspace.repo,
            &self.subject.snapshot,
            &selected_paths,
            run_findings,
        )?;
        if let Some(file) = self.find_unrepaired_team_rules() {
            let reason = format!("{}. A change that repairs the file can pass.", file.reason);
            let results = selected_paths.iter().map(|path| FileResults {
                path: (*path).to_owned(),
                results: vec![build_unusable_file_result(&reason)],
                is_reviewed: false,
            });
            merge_results(&mut run_findings.files, results.collect());
        }
        Ok(())
    }

    /// Reads the team's rules that apply to this run. If the change repairs an unusable file of them, adds the rules
    /// that can be evaluated only with its version, so that no pipeline of the change evades them.
    pub(crate) fn add_team_rules(&mut self) -> Result<(), Failure> {
        self.team_rules = self.subject.workspace.read_team_rules()?;
        let mut rules_of_repairs = Vec::new();
        for file in &self.team_rules.unusable_files {
            if self.repairs_file(file) {
                let (workspace, snapshot) = (self.subject.workspace, &self.subject.snapshot);
                rules_of_repairs.push(workspace.read_rules_of_repair(self.session, snapshot, file)?);
            }
        }
        let old_count = self.team_rules.rules.rules().len();
        for rules in rules_of_repairs {
            self.team_rules.rules.add_missing_rules(rules);
        }
        let new_count = self.team_rules.rules.rules().len() - old_count;
        if let Some(limit) = self.team_rules.limit.as_mut().filter(|_| new_count > 0) {
            let _ = write!(
                limit.text,
                ". The change repairs the file, so these are also evaluated: {}",
                format_count(new_count, "rule")
            );
        }
        Ok(())
    }

    /// Returns the first file because of which not all team rules can be evaluated, unless this change repairs it.
    fn find_unrepaired_team_rules(&self) -> Option<&UnusableTeamRules> {
        let mut files = self.team_rules.unusable_files.iter();
        files.find(|file| !self.repairs_file(file))
    }

    /// Returns whether the change repairs this file: it edits the file, which still exists at the same path, and its
    /// version can be used. A branch that only has an older version does not repair anything.
    fn repairs_file(&self, file: &UnusableTeamRules) -> bool {
        let is_usable = if file.is_configuration {
            let is_present = matches!(self.subject.snapshot.find_file(&file.path), Ok(Some(_)));
            is_present && !self.selection.unusable_files.has_problem(GatePart::Settings)
        } else {
            let workspace = self.subject.workspace;
            workspace.can_use_team_rules_at(&self.subject.snapshot, &file.path)
        };
        is_usable && self.edits_gate_file(&file.path)
    }

    /// Evaluates the team's rules of the run on the reviewed files as they were at the base.
    pub(crate) fn add_team_results_at_base(
        &self,
        base: &CommitId,
        base_paths: &BasePaths,
        base_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        let repo = &self.subject.workspace.repo;
        let snapshot = repo.snapshot(base.clone());
        let reviewed_paths = base_paths.collect_base_paths();
        TeamReview::for_snapshot(&self.team_rules.rules, &snapshot)?.add_results(
            repo,
            &snapshot,
            &reviewed_paths,
            base_findings,
        )
    }

    /// Adds a limit if the team's rules are not applied, unless the results of the pipelines contain the reason.
    pub(crate) fn add_team_rule_limit(&self, evaluation: &mut Evaluation) {
        let has_results =
            self.find_unrepaired_team_rules().is_some() && !self.selection.pipelines.files.is_empty();
        if let Some(limit) = self.team_rules.limit.clone().filter(|_| !has_results) {
            evaluation.add_limit(limit);
        }
    }

    /// Adds a note about each enforced rule of the team whose `paths` match none of the project's pipelines, if the run
    /// covers the whole project.
    pub(crate) fn add_unmatched_rule_notes(&self, evaluation: &mut Evaluation) -> Result<(), GitError> {
        if !self.is_whole_project() {
            return Ok(());
        }
        let paths = TeamReview::for_snapshot(&self.team_rules.rules, &self.subject.snapshot)?.paths;
        // A new project has no pipelines yet.
        if paths.is_empty() {
            return Ok(());
        }
        let rules = self.team_rules.rules.rules().iter();
        let unmatched_ids: Vec<String> = rules
            .filter(|rule| rule.matches_no_pipeline(&paths))
            .map(|rule| format!("`{}`", rule.full_id()))
            .collect();
        if !unmatched_ids.is_empty() {
            let list = List::with_limit(unmatched_ids, MAX_LISTED_RULES);
            let note = format!("`paths` of these team rules match no pipeline of the project: {list}");
            evaluation.add_notes([note]);
        }
        Ok(())
    }

    /// Runs the examples of the team's rules if the change edits their file or selects another one. An example with an
    /// unexpected outcome fails the gate, and so does, in a local run, a file with invalid rules.
    pub(crate) fn add_example_causes(&self, evaluation: &mut Evaluation) {
        // The selection has already failed if the settings cannot be read.
        let Ok(Some(path)) = self.find_changed_team_rules() else {
            return;
        };
        let (repo, snapshot) = (&self.subject.workspace.repo, &self.subject.snapshot);
        let version = policy::read_gate_file_version(repo, snapshot, &path, MAX_TEAM_RULES_BYTES);
        // A deleted or unreadable file has no examples.
        let Ok(GateFileVersion::Text(bytes)) = version else {
            return;
        };
        let rules = match TeamRuleSet::parse(&bytes) {
            Ok(rules) => rules,
            Err(problems) => {
                // In CI, the selection already adds a cause for the unusable file.
                if self.subject.workspace.ci.host.is_local() {
                    evaluation.add_faulty_gate_file(&path);
                    let reason = describe_first_problem(&path, &problems);
                    evaluation.add_cause(
                        Cause::GateFault(GateFault::UnusableFile),
                        format!("The change contains team rules that cannot be used: {reason}"),
                    );
                }
                return;
            }
        };
        let failures = rules.run_examples().failures;
        if !failures.is_empty() {
            evaluation.add_faulty_gate_file(&path);
        }
        for failure in failures.iter().take(MAX_LISTED_EXAMPLES) {
            evaluation.add_cause(
                Cause::GateFault(GateFault::FailedExample),
                format!(
                    "An example of `{}` in {path}:{} has an unexpected outcome: {}: {}.",
                    failure.rule,
                    failure.line,
                    shorten_name(&failure.path),
                    failure.reason
                ),
            );
        }
        if failures.len() > MAX_LISTED_EXAMPLES {
            let remark = format!(
                "{} of team rules; run `sluicegate rules test` to see them all",
                format_count(failures.len() - MAX_LISTED_EXAMPLES, "more failing example")
            );
            evaluation.add_notes([remark]);
        }
    }

    /// Returns the path of the team's rules file by the settings of the change, if the change edits this file or the
    /// target of its symbolic link, or if its settings select another file than those of each base. Returns `None` if
    /// there is no such file, it is unchanged, or the link cannot be followed.
    fn find_changed_team_rules(&self) -> Result<Option<String>, GitError> {
        let workspace = &self.subject.workspace;
        let Some(path) = workspace.find_rules_paths(&self.subject.snapshot)?.team else {
            return Ok(None);
        };
        if self.edits_gate_file(&path) {
            return Ok(Some(path));
        }
        let config_file = workspace.config_file.as_deref();
        if !config_file.is_some_and(|config_file| self.edits_gate_file(config_file)) {
            return Ok(None);
        }
        let (bases, _) = self.selection.pipelines.compared_changes();
        for base in bases {
            let base_snapshot = workspace.repo.snapshot(base.clone());
            if workspace.find_rules_paths(&base_snapshot)?.team.as_ref() == Some(&path) {
                return Ok(None);
            }
        }
        Ok(Some(path))
    }

    /// Returns whether the change edits this file of the gate configuration or the target of its symbolic link. Returns
    /// false if the link cannot be followed.
    fn edits_gate_file(&self, path: &str) -> bool {
        let repo = &self.subject.workspace.repo;
        let Ok(resolved_path) = policy::follow_links(repo, &self.subject.snapshot, path) else {
            return false;
        };
        let mut gate_changes = self.selection.pipelines.gate_changes.iter();
        gate_changes.any(|change| resolved_path.paths.contains(&change.path))
    }
}
