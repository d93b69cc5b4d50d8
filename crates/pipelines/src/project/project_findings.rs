//! Derives findings from the facts of a project.

use super::call_groups::CallGroups;
use super::messages::{
    ENTRY_STEP, MISSING_FILE, NOT_A_PIPELINE, UNPUBLISHED_FILE, describe_broken_entry, describe_cycle,
    describe_large_cycle, describe_undeclared_parameter,
};
use super::problem::{ReferenceProblem, build_reference_problem, build_shared_file_problem, group_problems};
use super::referring_file::ReferringFile;
use super::shared_file::SharedPipelinesFile;
use super::suggestions::{CallHint, CallSuggestions, ComponentSuggestions, complete_hint};
use super::{CheckLevels, Project, ProjectCheck};
use crate::findings::FileResults;
use crate::pipelines::{
    CallWalk, PipelineFacts, Reference, ReferenceKind, ReferenceTarget, SharedEntry, is_pipeline,
};
use sluicegate_base::text::shorten_name;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The end of the message about a problem that `publish` never accepts, even if the review passes.
const PUBLISH_FAILURE: &str = "; publishing fails until this is corrected";

/// Reports that a change removed the shared-pipelines file at this path; `None` if the check is off.
pub fn report_removed_shared_file(path: &str, levels: CheckLevels) -> Option<FileResults> {
    let text = "the change removes the shared-pipelines file, and publishing will fail without it";
    let problem = build_shared_file_problem(1, None, text.to_owned());
    let file = group_problems(path, vec![problem], levels);
    (!file.results.is_empty()).then_some(file)
}

/// The broken references of each file.
type ProblemsByFile<'p> = BTreeMap<&'p str, Vec<ReferenceProblem>>;

impl Project<'_> {
    /// Runs the project checks and returns one result for each file, check and level with problems. Skips pipelines
    /// that cannot be read.
    pub fn run_project_checks(&self, levels: CheckLevels) -> Vec<FileResults> {
        let shared_ids = self.map_paths_to_shared_ids();
        let mut problems: ProblemsByFile<'_> = BTreeMap::new();
        // All pipelines share the budget and the indexes of the searches for suggestions.
        let call_suggestions = RefCell::new(CallSuggestions::default());
        let component_suggestions = RefCell::new(ComponentSuggestions::default());
        let script_suggestions = OnceCell::new();
        for (path, facts) in self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path, facts.as_ref()?)))
        {
            call_suggestions.borrow_mut().reset_for_file(path);
            component_suggestions.borrow_mut().reset_for_file();
            let file = ReferringFile {
                project: self,
                path,
                shared_id: shared_ids.get(path.as_str()).copied(),
                call_suggestions: &call_suggestions,
                component_suggestions: &component_suggestions,
                script_suggestions: &script_suggestions,
            };
            problems
                .entry(path)
                .or_default()
                .extend(file.find_problems(facts));
        }
        if levels.enforcement_of(ProjectCheck::Cycle).is_some() {
            self.check_cycles(&mut problems);
        }
        if let Some(shared_file) = self.shared_file {
            problems
                .entry(&shared_file.path)
                .or_default()
                .extend(self.check_shared_file(shared_file));
        }
        problems
            .into_iter()
            .map(|(path, problems)| group_problems(path, problems, levels))
            .filter(|file| !file.results.is_empty())
            .collect()
    }

    /// Returns the calls of the file that certainly lead to one pipeline, each with the path of that pipeline.
    fn list_certain_calls<'s>(
        &'s self,
        path: &str,
        facts: &'s PipelineFacts,
    ) -> impl Iterator<Item = (&'s Reference, &'s str)> {
        facts.references.iter().filter_map(move |reference| {
            let (ReferenceKind::Pipeline(kind), ReferenceTarget::Path(target)) =
                (reference.kind, &reference.target)
            else {
                return None;
            };
            Some((reference, self.files.resolve(target, kind, path).file()?))
        })
    }

    /// Maps the path of each pipeline that an enabled shared pipeline needs to the id of one such shared pipeline. A
    /// shared pipeline needs its own file and all pipelines that it calls directly or indirectly. A broken reference in
    /// one of these files makes publishing fail, so the messages name the shared pipeline.
    fn map_paths_to_shared_ids(&self) -> HashMap<&str, &str> {
        let mut shared_ids: HashMap<&str, &str> = HashMap::new();
        let mut pending: Vec<(&str, &str)> = self
            .shared_file
            .and_then(|shared_file| shared_file.content.as_ref().ok())
            .into_iter()
            .flat_map(|shared_pipelines| &shared_pipelines.entries)
            .filter(|entry| entry.enabled)
            .map(|entry| (entry.pipeline.as_str(), entry.id.as_str()))
            .collect();
        let mut walk = CallWalk::default();
        while let Some((path, id)) = pending.pop() {
            if shared_ids.contains_key(path) {
                continue;
            }
            shared_ids.insert(path, id);
            // The callees of a file that was not checked, or that cannot be read, are not known.
            if let Some(Some(facts)) = self.facts.get(path) {
                for reference in &facts.references {
                    let callees = walk.list_called_pipelines(self.files, reference, path);
                    pending.extend(callees.into_iter().map(|callee| (callee, id)));
                }
            }
        }
        shared_ids
    }

    /// Adds a problem for each call that is part of a cycle, because such pipelines call each other without end.
    /// Ignores calls that do not certainly mean one pipeline.
    fn check_cycles<'s>(&'s self, problems: &mut ProblemsByFile<'s>) {
        let pipelines: Vec<(&str, &PipelineFacts)> = self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path.as_str(), facts.as_ref()?)))
            .collect();
        let indices: HashMap<&str, usize> = pipelines
            .iter()
            .enumerate()
            .map(|(index, (path, _))| (*path, index))
            .collect();
        let mut calls = Vec::with_capacity(pipelines.len());
        let mut callees = Vec::with_capacity(pipelines.len());
        for (path, facts) in &pipelines {
            let file_calls: Vec<(&Reference, usize)> = self
                .list_certain_calls(path, facts)
                .filter_map(|(reference, callee)| Some((reference, *indices.get(callee)?)))
                .collect();
            let callee_indices: BTreeSet<usize> = file_calls.iter().map(|(_, callee)| *callee).collect();
            callees.push(callee_indices.into_iter().collect());
            calls.push(file_calls);
        }
        let groups = CallGroups::new(callees);
        for ((index, (path, _)), file_calls) in pipelines.iter().enumerate().zip(calls) {
            let mut messages_by_callee: HashMap<usize, String> = HashMap::new();
            for (reference, callee_index) in file_calls {
                if !groups.is_in_cycle(index, callee_index) {
                    continue;
                }
                // Several calls of one pipeline have the same message, so the shortest cycle is searched only once.
                let text = messages_by_callee.entry(callee_index).or_insert_with(|| {
                    let Some(cycle) = groups.find_shortest_cycle(index, callee_index) else {
                        let callee = pipelines.get(callee_index).map_or("", |(path, _)| *path);
                        return describe_large_cycle(callee, groups.group_size(index));
                    };
                    let paths: Vec<&str> = cycle
                        .iter()
                        .filter_map(|index| pipelines.get(*index).map(|(path, _)| *path))
                        .collect();
                    describe_cycle(&paths)
                });
                problems.entry(path).or_default().push(build_reference_problem(
                    ProjectCheck::Cycle,
                    reference,
                    text,
                ));
            }
        }
    }

    /// Returns a problem for each entry of the shared-pipelines file whose pipeline is missing, is not a pipeline file
    /// or is omitted by a publish, and for each parameter that is not a variable of the pipeline, if its variables are
    /// known. For a disabled entry, only a missing pipeline is a problem, and never more than a warning. Returns a
    /// single problem if the file cannot be read.
    fn check_shared_file(&self, shared_file: &SharedPipelinesFile) -> Vec<ReferenceProblem> {
        let entries = match &shared_file.content {
            Ok(content) => &content.entries,
            Err(error) => {
                let line = error.position.map_or(1, |position| position.line);
                return vec![build_shared_file_problem(
                    line,
                    None,
                    format!(
                        "the shared-pipelines file cannot be read: {}{PUBLISH_FAILURE}",
                        error.message
                    ),
                )];
            }
        };
        let mut problems = Vec::new();
        let mut suggestions = CallSuggestions::default();
        for entry in entries {
            let subject = Some(shorten_name(&entry.id).into_owned());
            if let Some(reason) = self.find_entry_defect(shared_file, entry) {
                let mut text = describe_broken_entry(&entry.id, &entry.pipeline, reason);
                if reason == MISSING_FILE {
                    text += &self.describe_missing_pipeline(entry, &mut suggestions);
                } else {
                    text += PUBLISH_FAILURE;
                }
                problems.push(ReferenceProblem {
                    // Publishing only warns about a disabled entry.
                    is_minor: !entry.enabled,
                    ..build_shared_file_problem(entry.position.line, subject.clone(), text)
                });
            }
            let Some(Some(facts)) = self.facts.get(&entry.pipeline) else {
                continue;
            };
            // The variables of a pipeline that was not parsed are unknown.
            if !entry.enabled || facts.is_skimmed {
                continue;
            }
            for parameter in entry.undeclared_parameters(facts) {
                let text = describe_undeclared_parameter(entry, parameter) + PUBLISH_FAILURE;
                problems.push(build_shared_file_problem(
                    parameter.position.line,
                    subject.clone(),
                    text,
                ));
            }
        }
        problems
    }

    /// Returns the end of the message about an entry whose pipeline is missing: that publishing fails, if the entry is
    /// enabled, and a hint. The hint is the new path of a renamed pipeline, otherwise files that have the same name or a
    /// similar path. For a path without an extension, it is the pipeline with the extension.
    fn describe_missing_pipeline<'s>(
        &'s self,
        entry: &SharedEntry,
        suggestions: &mut CallSuggestions<'s>,
    ) -> String {
        let consequence = if entry.enabled { PUBLISH_FAILURE } else { "" };
        let Some(renames) = self.renames else {
            return consequence.to_owned();
        };
        let Some(new_path) = renames.pipelines.get(&entry.pipeline) else {
            let hint = suggestions.suggest_entry(self.files, &entry.pipeline);
            return consequence.to_owned() + &complete_hint(hint, renames, &entry.pipeline);
        };
        let hint = CallHint::for_renamed_file(renames, new_path);
        match hint.only_path {
            Some(_) if entry.enabled => hint.text + ENTRY_STEP,
            Some(_) => hint.text,
            None => consequence.to_owned() + &hint.text,
        }
    }

    /// Returns the reason why the pipeline of this entry cannot be published; `None` if it can. A disabled entry may
    /// name a file that is not a pipeline, or one that a publish omits.
    fn find_entry_defect(
        &self,
        shared_file: &SharedPipelinesFile,
        entry: &SharedEntry,
    ) -> Option<&'static str> {
        if !shared_file.existing_pipelines.contains(&entry.pipeline) {
            Some(MISSING_FILE)
        } else if !entry.enabled {
            None
        } else if !is_pipeline(&entry.pipeline) {
            Some(NOT_A_PIPELINE)
        } else {
            self.is_unpublished_pipeline(&entry.pipeline)
                .then_some(UNPUBLISHED_FILE)
        }
    }
}
