//! Derives findings from the facts of a project.

use super::call_groups::CallGroups;
use super::messages::{
    MISSING_FILE, NOT_A_PIPELINE, REPAIR_HINT, describe_ambiguous_call, describe_bare_call,
    describe_broken_entry, describe_circle, describe_dangling_link, describe_large_circle,
    describe_missing_call, describe_missing_script, describe_undeclared_parameter,
    describe_undeclared_variable, describe_unusable_script, similar_name_hint,
};
use super::problem::{
    Problem, build_component_problem, build_reference_problem, build_shared_file_problem, group_problems,
};
use super::renames::Renames;
use super::shared_file::SharedPipelinesFile;
use super::suggestions::{CallSuggestions, ComponentSuggestions};
use super::{CheckLevels, ProjectCheck};
use crate::findings::FileResults;
use crate::pipelines::{
    CallResolution, CallWalk, PipelineFacts, PipelineFiles, PipelineKind, Reference, ReferenceKind,
    ReferenceTarget, is_pipeline,
};
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::text::shorten_name;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The input of the checks: the files of a commit or of the working tree.
pub struct Project<'p> {
    /// All pipelines, so that calls can be resolved.
    pub files: &'p PipelineFiles<'p>,
    /// The facts of the checked pipelines; `None` if a pipeline cannot be read.
    pub facts: &'p BTreeMap<String, Option<PipelineFacts>>,
    /// The referenced scripts that exist, each with its defect.
    pub scripts: &'p BTreeMap<String, Option<FileDefect>>,
    pub shared_file: Option<&'p SharedPipelinesFile>,
    /// Returns whether a reference intentionally leads out of the project.
    pub is_external: &'p dyn Fn(&str) -> bool,
    pub renames: &'p Renames<'p>,
}

/// The broken references of each file.
type ProblemsByFile<'p> = BTreeMap<&'p str, Vec<Problem>>;

impl Project<'_> {
    /// Returns the findings in the checked files: one result for each file, check and level.
    pub fn check(&self, levels: CheckLevels) -> Vec<FileResults> {
        let shared_ids = self.map_paths_to_shared_ids();
        let mut problems: ProblemsByFile<'_> = BTreeMap::new();
        let call_suggestions = RefCell::new(CallSuggestions::default());
        let component_suggestions = RefCell::new(ComponentSuggestions::default());
        for (path, facts) in self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path, facts.as_ref()?)))
        {
            call_suggestions.borrow_mut().start_file(path);
            component_suggestions.borrow_mut().start_file();
            let checker = FileChecker {
                project: self,
                path,
                shared_id: shared_ids.get(path.as_str()).copied(),
                call_suggestions: &call_suggestions,
                component_suggestions: &component_suggestions,
            };
            let found_problems = checker.check_file(facts);
            problems.entry(path).or_default().extend(found_problems);
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
    fn certain_calls<'s>(
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

    /// Maps the path of each pipeline that an enabled shared pipeline needs, itself or one that it calls directly or
    /// indirectly, to the id of one such shared pipeline. A broken reference in such a file makes a publish fail.
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
        let mut callees = Vec::with_capacity(pipelines.len());
        for (path, facts) in &pipelines {
            let callee_indices: BTreeSet<usize> = self
                .certain_calls(path, facts)
                .filter_map(|(_, callee)| indices.get(callee).copied())
                .collect();
            callees.push(callee_indices.into_iter().collect());
        }
        let groups = CallGroups::new(callees);
        for (index, (path, facts)) in pipelines.iter().enumerate() {
            let mut messages_by_callee: HashMap<usize, String> = HashMap::new();
            for (reference, callee) in self.certain_calls(path, facts) {
                let Some(callee_index) = indices
                    .get(callee)
                    .copied()
                    .filter(|callee_index| groups.is_in_circle(index, *callee_index))
                else {
                    continue;
                };
                let text = messages_by_callee.entry(callee_index).or_insert_with(|| {
                    let Some(circle) = groups.find_circle(index, callee_index) else {
                        return describe_large_circle(callee, groups.group_size(index));
                    };
                    let paths: Vec<&str> = circle
                        .iter()
                        .filter_map(|index| pipelines.get(*index).map(|(path, _)| *path))
                        .collect();
                    describe_circle(&paths)
                });
                problems.entry(path).or_default().push(build_reference_problem(
                    ProjectCheck::Cycle,
                    reference,
                    text,
                ));
            }
        }
    }

    /// Returns a problem for each entry of the shared-pipelines file whose pipeline is missing or is not a pipeline
    /// file, and for each parameter that its pipeline lacks. A file that cannot be read is one problem.
    fn check_shared_file(&self, shared_file: &SharedPipelinesFile) -> Vec<Problem> {
        let entries = match &shared_file.content {
            Ok(content) => &content.entries,
            Err(error) => {
                let line = error.position.map_or(1, |position| position.line);
                return vec![build_shared_file_problem(
                    line,
                    None,
                    format!("cannot be read: {}", error.message),
                )];
            }
        };
        let mut problems = Vec::new();
        for entry in entries {
            let subject = Some(shorten_name(&entry.id).into_owned());
            let reason = if !shared_file.existing_pipelines.contains(&entry.pipeline) {
                Some(MISSING_FILE)
            } else if entry.enabled && !is_pipeline(&entry.pipeline) {
                Some(NOT_A_PIPELINE)
            } else {
                None
            };
            if let Some(reason) = reason {
                let text = describe_broken_entry(&entry.id, &entry.pipeline, reason);
                problems.push(Problem {
                    // A publish warns of a disabled entry.
                    is_uncertain: !entry.enabled,
                    ..build_shared_file_problem(entry.position.line, subject.clone(), text)
                });
            }
            let Some(Some(facts)) = self.facts.get(&entry.pipeline) else {
                continue;
            };
            if entry.enabled && !facts.is_unparsed {
                for parameter in entry.undeclared_parameters(facts) {
                    let text = describe_undeclared_parameter(entry, parameter);
                    problems.push(build_shared_file_problem(
                        parameter.position.line,
                        subject.clone(),
                        text,
                    ));
                }
            }
        }
        problems
    }
}

struct FileChecker<'f> {
    project: &'f Project<'f>,
    path: &'f str,
    /// A shared pipeline that calls the file directly or indirectly.
    shared_id: Option<&'f str>,
    call_suggestions: &'f RefCell<CallSuggestions<'f>>,
    component_suggestions: &'f RefCell<ComponentSuggestions>,
}

impl FileChecker<'_> {
    /// Returns the problems in the links and references of one pipeline.
    fn check_file(&self, facts: &PipelineFacts) -> Vec<Problem> {
        let mut problems = Vec::new();
        for link in &facts.dangling_links {
            let message = describe_dangling_link(link.role, &link.name) + &self.link_hint(facts, &link.name);
            problems.push(build_component_problem(
                ProjectCheck::Link,
                &link.component,
                link.position,
                &message,
            ));
        }
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            if (self.project.is_external)(target) {
                continue;
            }
            match reference.kind {
                ReferenceKind::Script => problems.extend(self.check_script(reference, target)),
                ReferenceKind::Pipeline(kind) => self.check_call(reference, target, kind, &mut problems),
            }
        }
        problems
    }

    /// Returns the finding for a script that does not exist, or that is not a script.
    fn check_script(&self, reference: &Reference, target: &str) -> Option<Problem> {
        let text = match self.project.scripts.get(target) {
            None => format!(
                "{}{}",
                describe_missing_script(target),
                self.publish_consequence()
            ),
            Some(None) => return None,
            Some(Some(defect)) => format!(
                "{}; publishing will fail because of it: {}",
                describe_unusable_script(target, *defect),
                defect.help()
            ),
        };
        Some(build_reference_problem(ProjectCheck::Script, reference, &text))
    }

    /// Adds the problem of a call: its pipeline is missing, its name is ambiguous or lacks the directory, or an
    /// argument does not exist there.
    fn check_call(
        &self,
        reference: &Reference,
        target: &str,
        kind: PipelineKind,
        problems: &mut Vec<Problem>,
    ) {
        let files = self.project.files;
        // A glob may contain the path with its extension even if the call omits it.
        if (self.project.is_external)(&format!("{target}{}", kind.extension())) {
            return;
        }
        let resolution = files.resolve(target, kind, self.path);
        let (message, is_uncertain) = match &resolution {
            CallResolution::File(_) => (None, false),
            CallResolution::ByName(path) => {
                let is_only = files.files_named(target, kind).len() == 1;
                let help = if is_only { REPAIR_HINT } else { "" };
                (Some(describe_bare_call(kind, target, path) + help), true)
            }
            CallResolution::Ambiguous(paths) => (Some(describe_ambiguous_call(kind, target, paths)), false),
            CallResolution::Missing => {
                let (message, hint) = (describe_missing_call(kind, target), self.call_hint(target, kind));
                (
                    Some(format!("{message}{hint}{}", self.publish_consequence())),
                    false,
                )
            }
        };
        problems.extend(message.map(|message| Problem {
            is_uncertain,
            ..build_reference_problem(ProjectCheck::Call, reference, &message)
        }));
        if let Some(path) = resolution.file() {
            self.check_arguments(reference, path, problems);
        }
    }

    /// Returns a hint with the new path of a renamed pipeline, otherwise with the files of that name or a similar path.
    fn call_hint(&self, target: &str, kind: PipelineKind) -> String {
        let files = self.project.files;
        self.project
            .renames
            .call_hint(files, target, kind)
            .unwrap_or_else(|| self.call_suggestions.borrow_mut().suggest(files, target, kind))
    }

    /// Returns a hint with the component that a broken link probably means.
    fn link_hint(&self, facts: &PipelineFacts, name: &str) -> String {
        let names = facts.components.iter().map(String::as_str);
        self.project
            .renames
            .link_hint(self.path, name)
            .or_else(|| {
                let similar_name = self
                    .component_suggestions
                    .borrow_mut()
                    .find_similar(names, name)?;
                Some(similar_name_hint(&similar_name))
            })
            .unwrap_or_default()
    }

    /// Returns the end of a message, which names a shared pipeline that needs the file; empty if there is none.
    fn publish_consequence(&self) -> String {
        let Some(id) = self.shared_id.map(shorten_name) else {
            return String::new();
        };
        format!("; publishing will fail because the shared pipeline `{id}` needs it")
    }

    /// Adds a problem for each argument of a call that the called pipeline does not declare as a variable. Without the
    /// variables of the called pipeline, nothing can be checked.
    fn check_arguments(&self, reference: &Reference, path: &str, problems: &mut Vec<Problem>) {
        let Some(Some(callee)) = self.project.facts.get(path) else {
            return;
        };
        if callee.is_unparsed || reference.arguments.is_empty() {
            return;
        }
        for argument in &reference.arguments {
            if !callee.declares_variable(&argument.name) && !argument.name.contains("${") {
                let message = describe_undeclared_variable(&argument.name, path);
                problems.push(build_component_problem(
                    ProjectCheck::Argument,
                    &reference.component,
                    argument.position,
                    &message,
                ));
            }
        }
    }
}
