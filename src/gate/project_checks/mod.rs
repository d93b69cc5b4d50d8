//! Runs the project checks: determines which of their findings are reported, and which are known.

pub(crate) mod collected_facts;
pub(crate) mod consequences;
pub(crate) mod earlier_callees;
pub(crate) mod facts_cache;
mod file_fix_proof;
mod finding_counts;
pub(crate) mod fix_destination;
mod fix_proof;
mod fixable_files;
pub(crate) mod fixed_file;
mod halving_search;
mod known_project_findings;
pub(crate) mod project_fixes;
pub(crate) mod project_scope;
mod removed_shared_file;
pub(crate) mod renamed_files;

use crate::document_content::read_document;
use crate::error::Failure;
use crate::gate::project_checks::earlier_callees::BasePipelines;
use crate::gate::project_checks::facts_cache::FactsCache;
use crate::gate::project_checks::finding_counts::count_findings;
use crate::gate::project_checks::project_fixes::FixProof;
use crate::gate::run::GateRun;
use crate::gate::{
    ChangedFacts, ChooseOtherFiles, CollectedFacts, OtherFiles, ProjectContents, ProjectFindings,
    ProjectScope, RunFindings, read_script,
};
use crate::job::settings::ProjectCheckSettings;
use crate::workspace::Workspace;
use rayon::prelude::*;
use sluicegate_base::file_defect::FileDefect;
use sluicegate_git::{Change, ChangeKind, CommitId, GitError, Snapshot};
use sluicegate_pipelines::findings::FileResults;
use sluicegate_pipelines::pipelines::{FileNameSearch, PipelineFacts, is_pipeline};
use sluicegate_pipelines::project::{FindEarlierCallee, PublishGlobs, Renames};
use std::collections::{BTreeSet, HashSet};

/// Maximum number of bytes of changed files that are examined for a script with a defect.
const MAX_EXAMINED_BYTES: u64 = 64 << 20;

/// The search for earlier callees in a check that compares no versions.
const NO_EARLIER_CALLEES: &FindEarlierCallee<'_> = &|_, _, _| None;

/// The project to check.
#[derive(Clone, Copy)]
pub(crate) struct ProjectChecks<'a> {
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a ProjectCheckSettings,
    pub(crate) snapshot: &'a Snapshot<'a>,
    pub(crate) facts_cache: &'a FactsCache,
}

impl ProjectChecks<'_> {
    /// Returns the findings of the project checks in all pipelines, changed or not. `known_facts` contains the facts
    /// that were already read.
    pub(crate) fn check_all(&self, known_facts: CollectedFacts) -> Result<Vec<FileResults>, Failure> {
        let (files, _) = self.run_checks(
            known_facts,
            &Renames::NONE,
            NO_EARLIER_CALLEES,
            &|_| true,
            &|_| Ok(OtherFiles::All),
        )?;
        Ok(files)
    }

    /// Runs the project checks unless all are off. `known_facts` contains the facts that were already read.
    /// `choose_others` chooses the unchanged pipelines to read.
    fn run_checks(
        &self,
        known_facts: CollectedFacts,
        renames: &Renames<'_>,
        find_earlier_callee: &FindEarlierCallee<'_>,
        is_changed: &dyn Fn(&str) -> bool,
        choose_others: &ChooseOtherFiles<'_>,
    ) -> Result<(Vec<FileResults>, ProjectContents), Failure> {
        if self.settings.levels.is_off() {
            return Ok((Vec::new(), ProjectContents::default()));
        }
        self.with_scope(self.snapshot, Some(renames), find_earlier_callee, |scope| {
            Ok(scope.check_project(self.snapshot, known_facts, is_changed, choose_others)?)
        })
    }

    /// Calls `check` with the inputs that the project checks need for this snapshot, and returns its result. Without
    /// `renames`, the findings have no hints at renamed files.
    fn with_scope<T>(
        &self,
        snapshot: &Snapshot<'_>,
        renames: Option<&Renames<'_>>,
        find_earlier_callee: &FindEarlierCallee<'_>,
        check: impl FnOnce(&ProjectScope<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let config_dir = self.workspace.find_shared_config_dir(snapshot)?;
        let selection = self.workspace.read_publish_selection(snapshot)?;
        check(&ProjectScope {
            repo: &self.workspace.repo,
            facts_cache: self.facts_cache,
            levels: self.settings.levels,
            config_dir: config_dir.as_deref(),
            is_external: &|reference| self.settings.is_external(reference),
            publish_globs: selection.as_ref().map(|selection| selection as &dyn PublishGlobs),
            renames,
            find_earlier_callee,
        })
    }
}

impl GateRun<'_> {
    /// Returns the project checks of the run, for the reviewed files.
    fn project_checks(&self) -> ProjectChecks<'_> {
        ProjectChecks {
            workspace: self.subject.workspace,
            settings: &self.subject.settings.verdict.project_checks,
            snapshot: &self.subject.snapshot,
            facts_cache: &self.facts_cache,
        }
    }

    /// Runs the project checks, and returns the files whose findings are reported. The contents of the project are kept
    /// only if a fix is proposed, because only the proof of a fix needs them.
    pub(crate) fn find_project_findings(
        &self,
        known_facts: CollectedFacts,
    ) -> Result<ProjectFindings, Failure> {
        let pipelines = &self.selection.pipelines;
        let selected_paths = self.selection.pipelines.collect_paths();
        // The selected pipelines are read like changed ones, because all their findings are reported.
        let mut changed_paths = selected_paths.clone();
        changed_paths.extend(
            pipelines
                .candidates
                .iter()
                .map(|candidate| candidate.change.path.as_str()),
        );
        let components = self.renamed_components();
        let renamed_files = self.renamed_files();
        let base_pipelines = BasePipelines::new();
        let earlier_callees = self.earlier_callees(&base_pipelines);
        let renames = Renames {
            pipelines: self.map_new_paths(),
            find_component_name: &|path, old| components.find_new_name(path, old),
            find_script_path: &|old_path| renamed_files.find_script_path(old_path),
            is_deleted: &|path| renamed_files.is_deleted(path),
            is_uncertain: &|new_path| renamed_files.is_uncertain(new_path),
        };
        let (files, mut contents) = self.project_checks().run_checks(
            known_facts,
            &renames,
            &|caller, reference, path| earlier_callees.find_callee(caller, reference, path),
            &|path| changed_paths.contains(path),
            &|facts| self.choose_other_files(facts),
        )?;
        if files.iter().any(has_proposed_fix) {
            contents.finding_counts = count_findings(&files);
        }
        let reported_files = self.select_reported_files(files, &selected_paths)?;
        Ok(ProjectFindings {
            contents: reported_files.iter().any(has_proposed_fix).then_some(contents),
            files: reported_files,
            fixes: FixProof::default(),
        })
    }

    /// Returns all findings in the selected pipelines. Of other files in the requested shard, returns only the new
    /// findings: moving or deleting a pipeline breaks callers that the change does not touch. In files that are not
    /// pipelines, returns all findings if the run covers the whole project or the user named the file.
    fn select_reported_files(
        &self,
        files: Vec<FileResults>,
        selected_paths: &HashSet<&str>,
    ) -> Result<Vec<FileResults>, Failure> {
        let (mut reported_files, other_files): (Vec<_>, Vec<_>) = files
            .into_iter()
            .partition(|file| self.reports_all_findings_in(&file.path, selected_paths));
        reported_files.extend(self.keep_new_findings(other_files)?);
        reported_files.extend(self.find_removed_shared_file()?);
        reported_files.retain(|file| {
            selected_paths.contains(file.path.as_str()) || self.shard_selection.contains(&file.path)
        });
        reported_files.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(reported_files)
    }

    /// Returns whether all findings in the file are reported, not only the new ones.
    fn reports_all_findings_in(&self, path: &str, selected_paths: &HashSet<&str>) -> bool {
        let is_examined = self.is_whole_project() || self.subject.paths.has_named_file(path);
        selected_paths.contains(path) || (is_examined && !is_pipeline(path))
    }

    /// Returns whether the run covers all files of the project, including files that are not pipelines.
    pub(in crate::gate) fn is_whole_project(&self) -> bool {
        self.selection.pipelines.reason_for_all.is_some() && self.subject.paths.is_empty()
    }

    /// Adds the findings of the project checks to the results of the run, with the levels of the checks.
    pub(crate) fn add_project_findings(&self, findings: ProjectFindings, run_findings: &mut RunFindings) {
        run_findings.project_files = findings.files;
        run_findings.project_contents = findings.contents;
        run_findings.fixes = findings.fixes;
        run_findings.check_levels = Some(self.subject.settings.verdict.project_checks.levels);
    }

    /// Chooses the unchanged pipelines that must be read because the change may break them: those that name an added,
    /// removed, moved or possibly defective file, and those that call a pipeline that lost a variable. Chooses all
    /// pipelines if there are several bases, if the gate configuration changed, if the selection includes all pipelines
    /// or has other bases, or if there are too many names to search for.
    fn choose_other_files(&self, facts: &ChangedFacts<'_>) -> Result<OtherFiles, GitError> {
        let pipelines = &self.selection.pipelines;
        let bases = &self.subject.comparison.bases;
        // All findings in the shared-pipelines file are reported, and they depend on the pipelines that it lists.
        if self.subject.paths.has_shared_pipelines_file() {
            return Ok(OtherFiles::All);
        }
        // Without a base, only findings in the selected pipelines are reported, and these need only their callees.
        if bases.is_empty() && !self.is_whole_project() {
            return Ok(OtherFiles::Reached);
        }
        let [base] = bases.as_slice() else {
            return Ok(OtherFiles::All);
        };
        let is_gate_changed = !pipelines.gate_changes.is_empty();
        if is_gate_changed || pipelines.reason_for_all.is_some() || pipelines.bases != *bases {
            return Ok(OtherFiles::All);
        }
        let snapshot = &self.subject.snapshot;
        let differences = snapshot.compare_with_bases(bases, &|path| !is_pipeline(path))?;
        let mut names = differences.list_removed_paths();
        // Only a lost variable of a modified pipeline affects others. Each other change affects all that name the file.
        let changes = pipelines.candidates.iter().map(|candidate| &candidate.change);
        let (modified_changes, other_changes): (Vec<&Change>, Vec<&Change>) =
            changes.partition(|change| change.kind == ChangeKind::Modified);
        names.extend(other_changes.iter().flat_map(|change| change.paths()));
        let defective_scripts = self.find_defective_scripts(&differences.list_changed_regular_paths())?;
        names.extend(defective_scripts.iter().map(String::as_str));
        // Each modified pipeline may add its name below.
        if names.len() + modified_changes.len() > FileNameSearch::MAX_NAMES {
            return Ok(OtherFiles::All);
        }
        let modified_paths = modified_changes.iter().map(|change| change.path.as_str());
        names.extend(self.find_pipelines_with_removed_variables(base, &modified_paths.collect(), facts)?);
        if names.is_empty() {
            return Ok(OtherFiles::Reached);
        }
        Ok(FileNameSearch::for_files(names).map_or(OtherFiles::All, OtherFiles::Naming))
    }

    /// Returns those of these files that may be defective scripts. After a maximum number of bytes, no more files are
    /// read, and each remaining file is treated as possibly defective.
    fn find_defective_scripts(&self, paths: &BTreeSet<&str>) -> Result<Vec<String>, GitError> {
        let (repo, snapshot) = (&self.subject.workspace.repo, &self.subject.snapshot);
        let mut byte_count = 0;
        let mut defective_scripts = Vec::new();
        for file in snapshot.find_files(paths)? {
            if byte_count > MAX_EXAMINED_BYTES {
                defective_scripts.push(file.path);
                continue;
            }
            let Some(content) = read_script(repo, &file)? else {
                continue;
            };
            byte_count += content.len() as u64;
            if FileDefect::find_in_script(&content).is_some() {
                defective_scripts.push(file.path);
            }
        }
        Ok(defective_scripts)
    }

    /// Returns the modified pipelines that lack a variable which they declared at the base, because callers may still
    /// set it. Includes pipelines that cannot be read at the base or in head.
    fn find_pipelines_with_removed_variables<'c>(
        &self,
        base: &CommitId,
        paths: &BTreeSet<&'c str>,
        head_facts: &ChangedFacts<'_>,
    ) -> Result<Vec<&'c str>, GitError> {
        let repo = &self.subject.workspace.repo;
        let files = repo.snapshot(base.clone()).find_files_by_path(paths)?;
        let mut base_documents = Vec::new();
        for path in paths {
            let base_document = files
                .get(*path)
                .and_then(|file| read_document(repo, file).ok()?.ok());
            base_documents.push((*path, base_document));
        }
        let base_facts: Vec<Option<PipelineFacts>> = base_documents
            .par_iter()
            .map(|(_, document)| PipelineFacts::parse(document.as_deref()?).ok())
            .collect();
        let mut narrowed_paths = Vec::new();
        for ((path, _), base_facts) in base_documents.into_iter().zip(base_facts) {
            if let (Some(file), Some(base_facts)) = (files.get(path), &base_facts) {
                self.facts_cache.add(file, base_facts);
            }
            if base_facts.is_none_or(|base_facts| !head_facts.keeps_variables(path, &base_facts)) {
                narrowed_paths.push(path);
            }
        }
        Ok(narrowed_paths)
    }
}

/// Returns whether a fix is proposed for a finding in the file.
fn has_proposed_fix(file: &FileResults) -> bool {
    let mut violations = file.results.iter().flat_map(|result| &result.violations);
    violations.any(|violation| violation.proposed_fix.is_some())
}
