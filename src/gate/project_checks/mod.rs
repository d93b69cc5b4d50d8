//! Runs the project checks: determines which of their findings are reported, and which are known.

pub(crate) mod consequences;
pub(crate) mod project_scope;

use crate::document_content::read_document;
use crate::error::Failure;
use crate::gate::baseline::Baseline;
use crate::gate::baseline::renamed_components::RenamedComponents;
use crate::gate::run::GateRun;
use crate::gate::{
    ChangedFacts, ChooseOthers, KnownComparison, OtherFiles, Pairs, Places, ProjectScope, SeenFacts, Tally,
    is_enforced, mark_files, script_defect,
};
use crate::job::settings::ProjectCheckSettings;
use crate::workspace::Workspace;
use rayon::prelude::*;
use sluicegate_git::{Change, ChangeKind, CommitId, GitError, Snapshot};
use sluicegate_pipelines::findings::{FileResults, FindingState};
use sluicegate_pipelines::pipelines::{FileNameSearch, Pipeline, PipelineFacts, is_pipeline};
use sluicegate_pipelines::project::{ComponentSuggestions, ProjectCheck, Renames};
use sluicegate_pipelines::rules::find_consequences;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Maximum number of bytes of changed files that are examined for a script with a defect.
const MAX_EXAMINED_BYTES: u64 = 64 << 20;

/// A comparison without a change.
const NO_RENAMES: Renames<'_> = Renames {
    pipelines: BTreeMap::new(),
    find_component_name: &|_, _| None,
};

/// The project to check.
#[derive(Clone, Copy)]
pub(crate) struct ProjectChecks<'a> {
    pub(crate) workspace: &'a Workspace<'a>,
    pub(crate) settings: &'a ProjectCheckSettings,
    pub(crate) snapshot: &'a Snapshot<'a>,
}

impl ProjectChecks<'_> {
    /// Returns all findings. `seen` contains the facts that were read already.
    pub(crate) fn all(&self, seen: SeenFacts) -> Result<Vec<FileResults>, Failure> {
        self.check(seen, &NO_RENAMES, &|_| true, &|_| Ok(OtherFiles::All))
    }

    fn check(
        &self,
        seen: SeenFacts,
        renames: &Renames<'_>,
        changed: &dyn Fn(&str) -> bool,
        others: &ChooseOthers<'_>,
    ) -> Result<Vec<FileResults>, Failure> {
        if self.settings.levels.is_off() {
            return Ok(Vec::new());
        }
        self.with_scope(self.snapshot, renames, |scope| {
            Ok(scope.check(self.snapshot, seen, changed, others)?)
        })
    }

    fn with_scope<T>(
        &self,
        snapshot: &Snapshot<'_>,
        renames: &Renames<'_>,
        work: impl FnOnce(&ProjectScope<'_>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let config_dir = self.workspace.config_dir(snapshot)?;
        work(&ProjectScope {
            repo: &self.workspace.repo,
            levels: self.settings.levels,
            config_dir: config_dir.as_deref(),
            is_external: &|written| self.settings.is_external(written),
            renames,
        })
    }

    /// Marks the findings that each of the commits has, too.
    fn compare(&self, past: &Baseline, files: &mut [FileResults]) -> Result<KnownComparison, Failure> {
        let before = |base: &CommitId| {
            let paths = files.iter().map(|file| file.path.as_str());
            let places = past.places(base, self.snapshot, paths)?;
            let mut results = self.at_base(base, &places)?;
            past.follow_renamed_components(
                &Pairs {
                    repo: &self.workspace.repo,
                    head: self.snapshot,
                    bases: std::slice::from_ref(base),
                },
                files,
                &places,
                &mut results.files,
            )?;
            Ok((places, results))
        };
        let bases = past
            .bases
            .iter()
            .map(before)
            .collect::<Result<Vec<_>, Failure>>()?;
        Ok(mark_files(files, |_| false, &bases))
    }

    fn at_base(&self, base: &CommitId, places: &Places) -> Result<Tally, Failure> {
        let snapshot = self.workspace.repo.snapshot(base.clone());
        let wanted = places.at_base();
        let mut files = self.with_scope(&snapshot, &NO_RENAMES, |scope| {
            Ok(scope.check_only(&snapshot, &wanted)?)
        })?;
        let found: BTreeSet<String> = files.iter().map(|file| file.path.clone()).collect();
        let clean = wanted.iter().filter(|path| !found.contains(**path));
        files.extend(clean.map(|path| FileResults {
            path: (*path).to_owned(),
            results: Vec::new(),
        }));
        Ok(Tally {
            files,
            ..Tally::default()
        })
    }
}

impl GateRun<'_> {
    fn project_checks(&self) -> ProjectChecks<'_> {
        ProjectChecks {
            workspace: self.subject.workspace,
            settings: &self.subject.settings.verdict.project_checks,
            snapshot: &self.subject.snapshot,
        }
    }

    /// Returns the findings in selected pipelines, and all others that the base does not have: moving or deleting a
    /// pipeline breaks callers that the change does not touch.
    pub(crate) fn find_project_findings(&self, seen: SeenFacts) -> Result<Vec<FileResults>, Failure> {
        let selected: HashSet<&str> = self.selection.selected.files.iter().map(String::as_str).collect();
        let mut changed = selected.clone();
        changed.extend(
            self.selection
                .selected
                .candidates
                .iter()
                .map(|it| it.change.path.as_str()),
        );
        let is_changed = |path: &str| changed.contains(path);
        let components = self.renamed_components();
        let renames = Renames {
            pipelines: self.new_paths(),
            find_component_name: &|path, old| components.new_name(path, old),
        };
        let found = self
            .project_checks()
            .check(seen, &renames, &is_changed, &|facts| self.others(facts))?;
        let takes_all = self.takes_all();
        let is_meant = |file: &FileResults| {
            selected.contains(file.path.as_str()) || (takes_all && !is_pipeline(&file.path))
        };
        let (mut told, others): (Vec<_>, Vec<_>) = found.into_iter().partition(is_meant);
        told.extend(self.brought(others)?);
        told.retain(|file| selected.contains(file.path.as_str()) || self.part.holds(&file.path));
        told.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(told)
    }

    /// Returns whether all of the project is covered, also files that are not pipelines.
    fn takes_all(&self) -> bool {
        self.selection.selected.all_because.is_some() && self.subject.paths.is_empty()
    }

    /// Adds the findings to the results of the rules.
    pub(crate) fn add_project_findings(&self, found: Vec<FileResults>, tally: &mut Tally) {
        tally.project = found;
        tally.checked = Some(self.subject.settings.verdict.project_checks.levels);
    }

    /// Returns the unchanged pipelines that the change can break: those that name a file which came, went or moved, or
    /// a pipeline that lost a variable. With several bases each differs in something else, so all are read. Without a
    /// base, only findings in the selected pipelines count.
    fn others(&self, facts: &ChangedFacts<'_>) -> Result<OtherFiles, GitError> {
        if self.subject.comparison.bases.is_empty() && !self.takes_all() {
            return Ok(OtherFiles::Reached);
        }
        let [base] = self.subject.comparison.bases.as_slice() else {
            return Ok(OtherFiles::All);
        };
        let is_gate_changed = !self.selection.selected.gate_changes.is_empty();
        if is_gate_changed
            || self.selection.selected.all_because.is_some()
            || self.selection.selected.since != self.subject.comparison.bases
        {
            return Ok(OtherFiles::All);
        }
        let is_other = |path: &str| !is_pipeline(path);
        let differences = self
            .subject
            .snapshot
            .differences(&self.subject.comparison.bases, &is_other)?;
        let mut names = differences.paths_gone();
        let changes = self.selection.selected.candidates.iter().map(|it| &it.change);
        let (modified, moved): (Vec<&Change>, Vec<&Change>) =
            changes.partition(|change| change.kind == ChangeKind::Modified);
        names.extend(moved.iter().flat_map(|change| change.paths()));
        let spoiled = self.spoiled_scripts(&differences.regular_files())?;
        names.extend(spoiled.iter().map(String::as_str));
        if names.len() + modified.len() > FileNameSearch::MAX_NAMES {
            return Ok(OtherFiles::All);
        }
        let modified = modified.iter().map(|change| change.path.as_str());
        names.extend(self.narrowed(base, &modified.collect(), facts)?);
        if names.is_empty() {
            return Ok(OtherFiles::Reached);
        }
        Ok(FileNameSearch::for_files(names).map_or(OtherFiles::All, OtherFiles::Naming))
    }

    /// Returns those of the files that may be scripts with a defect. Beyond a number of bytes, files are not examined, and
    /// each may have a defect.
    fn spoiled_scripts(&self, paths: &BTreeSet<&str>) -> Result<Vec<String>, GitError> {
        let (repo, snapshot) = (&self.subject.workspace.repo, &self.subject.snapshot);
        let mut examined = 0;
        let mut spoiled = Vec::new();
        for (path, file) in snapshot.find_all(paths)? {
            if examined > MAX_EXAMINED_BYTES || script_defect(repo, &file, &mut examined)?.is_some() {
                spoiled.push(path);
            }
        }
        Ok(spoiled)
    }

    /// Returns the modified pipelines that no longer declare each variable of their base, so that a caller may set one
    /// that is gone. A pipeline that cannot be read is one of them, also if the clone lacks its base.
    fn narrowed<'c>(
        &self,
        base: &CommitId,
        modified: &BTreeSet<&'c str>,
        now: &ChangedFacts<'_>,
    ) -> Result<Vec<&'c str>, GitError> {
        let repo = &self.subject.workspace.repo;
        let files = repo.snapshot(base.clone()).find_all(modified)?;
        let bytes = |path: &str| read_document(repo, files.get(path)?).ok()?.ok();
        let before: Vec<_> = modified.iter().map(|path| (*path, bytes(path))).collect();
        let is_narrowed = |(path, bytes): &(&str, Option<Vec<u8>>)| {
            let facts = bytes.as_deref().map(PipelineFacts::parse).and_then(Result::ok);
            facts.is_none_or(|facts| !now.keeps_variables(path, &facts))
        };
        let narrowed = before.into_par_iter().filter(is_narrowed).map(|(path, _)| path);
        Ok(narrowed.collect())
    }

    /// Returns the findings that the base does not have; empty without a base.
    fn brought(&self, mut files: Vec<FileResults>) -> Result<Vec<FileResults>, Failure> {
        if files.is_empty() || self.subject.comparison.bases.is_empty() {
            return Ok(Vec::new());
        }
        self.project_checks().compare(
            &Baseline::at(&self.subject.comparison.bases, &self.selection.selected),
            &mut files,
        )?;
        for file in &mut files {
            for result in &mut file.results {
                let states = std::mem::take(&mut result.states);
                let mut states = states.iter();
                result
                    .violations
                    .retain(|_| states.next() == Some(&Some(FindingState::New)));
            }
            file.results.retain(|result| !result.violations.is_empty());
        }
        files.retain(|file| !file.results.is_empty());
        Ok(files)
    }

    /// Marks the findings that existed before, if only new findings count.
    pub(crate) fn mark_known_project_findings(
        &self,
        past: &Baseline,
        tally: &mut Tally,
    ) -> Result<(), Failure> {
        if tally.project.is_empty() {
            return Ok(());
        }
        let Some(compared) = &mut tally.compared else {
            return Ok(());
        };
        let mut found = self.project_checks().compare(past, &mut tally.project)?;
        compared.unknown.append(&mut found.unknown);
        Ok(())
    }

    pub(crate) fn renamed_components(&self) -> RenamedComponents<'_> {
        RenamedComponents::new(
            &self.subject.workspace.repo,
            &self.subject.snapshot,
            &self.selection.selected,
        )
    }

    /// Returns the new path of each pipeline that the change renames, by its old path.
    fn new_paths(&self) -> BTreeMap<String, String> {
        let former = self.selection.selected.former_paths().into_iter();
        former.map(|(new, old)| (old, new)).collect()
    }

    /// Finds the findings that exist only because of a broken link that is reported, too.
    pub(crate) fn mark_consequences(&self, tally: &mut Tally) -> Result<(), Failure> {
        let (repo, snapshot) = (&self.subject.workspace.repo, &self.subject.snapshot);
        let components = self.renamed_components();
        let mut suggestions = ComponentSuggestions::default();
        let failed: HashSet<&str> = tally.files.iter().map(|file| file.path.as_str()).collect();
        let mut found = BTreeMap::new();
        for file in tally.project.iter().filter(|file| has_broken_link(file)) {
            let path = file.path.as_str();
            let Some(source) = snapshot.find(path)?.filter(|_| failed.contains(path)) else {
                continue;
            };
            let pipeline = read_document(repo, &source)?.and_then(|bytes| Pipeline::parse(&bytes));
            let Ok(pipeline) = pipeline else { continue };
            suggestions.start_file();
            let names = || {
                pipeline
                    .components
                    .iter()
                    .map(|component| component.name.as_str())
            };
            let consequences = find_consequences(&pipeline, &mut |name| {
                components
                    .new_name(path, name)
                    .or_else(|| suggestions.find_similar(names(), name))
            });
            found.insert(path.to_owned(), consequences);
        }
        tally.consequences = found;
        Ok(())
    }

    /// Returns the findings if there is no pipeline to review.
    pub(crate) fn check_project_alone(&self) -> Result<Tally, Failure> {
        let mut tally = Tally::default();
        self.add_project_findings(self.find_project_findings(SeenFacts::default())?, &mut tally);
        if tally.project.is_empty() {
            return Ok(tally);
        }
        let snapshot = &self.subject.snapshot;
        let rules = self.subject.workspace.rules(snapshot)?;
        let waivers = self.subject.workspace.waiving(rules.as_ref())?;
        self.mark_waived(&waivers, &mut tally)?;
        if let Some(past) = &self.baseline {
            past.compare(&self.subject.workspace.repo, snapshot, &mut tally, |_, _| {
                Ok((Places::default(), Tally::default()))
            })?;
            self.mark_known_project_findings(past, &mut tally)?;
        }
        Ok(tally)
    }
}

/// Returns whether the file has the finding of a broken link that is neither known nor waived.
fn has_broken_link(file: &FileResults) -> bool {
    let mut links = file
        .results
        .iter()
        .filter(|result| result.rule == ProjectCheck::Link.id());
    links.any(|result| (0..result.violations.len()).any(|index| is_enforced(result, index)))
}
