//! Derives findings from the facts of a project.

use super::call_groups::CallGroups;
use super::messages::{
    NO_PIPELINE, NOT_THERE, REPAIR_HINT, ambiguous_call, describe_bare_call, describe_circle,
    describe_dangling_link, describe_large_circle, describe_undeclared_variable, missing_call,
    missing_script, shared_pipeline, similar_name_hint, undeclared_parameter, unusable_script,
};
use super::renames::Renames;
use super::shared_file::SharedSide;
use super::suggestions::{CallSuggestions, ComponentSuggestions};
use super::{CheckLevels, ProjectCheck};
use crate::findings::{Enforcement, FileResults, Origin, RuleResult, Severity, Status, Violation};
use crate::pipelines::{
    CallWalk, Kind, PipelineFacts, PipelineFiles, Reference, ReferenceKind, ReferenceTarget, Resolved,
    is_pipeline,
};
use crate::yaml::Position;
use sluicegate_base::file_defect::FileDefect;
use sluicegate_base::text::bounded;
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
    pub shared: Option<&'p SharedSide>,
    /// Returns whether a reference intentionally leads out of the project.
    pub is_external: &'p dyn Fn(&str) -> bool,
    pub renames: &'p Renames<'p>,
}

struct Problem {
    check: ProjectCheck,
    line: u32,
    subject: Option<String>,
    text: String,
    /// Whether it is a warning at most.
    is_uncertain: bool,
}

/// The broken references of each file.
type ProblemsByFile<'p> = BTreeMap<&'p str, Vec<Problem>>;

impl Project<'_> {
    /// Returns the findings in the checked files: one result for each file, check and level.
    pub fn results(&self, levels: CheckLevels) -> Vec<FileResults> {
        let is_on = |check| levels.of(check).is_some();
        let shared_ids = self.find_shared_ids();
        let mut problems: ProblemsByFile<'_> = BTreeMap::new();
        let call_suggestions = RefCell::new(CallSuggestions::default());
        let component_suggestions = RefCell::new(ComponentSuggestions::default());
        for (path, facts) in self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path, facts.as_ref()?)))
        {
            call_suggestions.borrow_mut().enter(path);
            component_suggestions.borrow_mut().enter();
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
        if is_on(ProjectCheck::Cycle) {
            self.circles(&mut problems);
        }
        if let Some(shared) = self.shared {
            problems
                .entry(&shared.path)
                .or_default()
                .extend(self.check_shared_file(shared));
        }
        let results = problems
            .into_iter()
            .map(|(path, leads)| group_problems(path, leads, levels));
        results.filter(|file| !file.results.is_empty()).collect()
    }

    /// Returns the pipelines that the file certainly calls.
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

    /// Returns the pipelines that shared pipelines call directly or indirectly, each with the id of one of them. A
    /// broken reference there makes a publish fail.
    fn find_shared_ids(&self) -> HashMap<&str, &str> {
        let mut shared_ids: HashMap<&str, &str> = HashMap::new();
        let shared = self.shared.and_then(|shared| shared.content.as_ref().ok());
        let enabled = shared
            .iter()
            .flat_map(|shared| shared.entries.iter().filter(|entry| entry.enabled));
        let mut pending: Vec<(&str, &str)> = enabled
            .map(|entry| (entry.pipeline.as_str(), entry.id.as_str()))
            .collect();
        let mut walk = CallWalk::default();
        while let Some((path, id)) = pending.pop() {
            if shared_ids.contains_key(path) {
                continue;
            }
            shared_ids.insert(path, id);
            if let Some(Some(facts)) = self.facts.get(path) {
                let references = facts.references.iter();
                let called = references.flat_map(|reference| walk.called(self.files, reference, path));
                pending.extend(called.map(|called| (called, id)));
            }
        }
        shared_ids
    }

    fn circles<'s>(&'s self, problems: &mut ProblemsByFile<'s>) {
        let known = self
            .facts
            .iter()
            .filter_map(|(path, facts)| Some((path.as_str(), facts.as_ref()?)));
        let known: Vec<(&str, &PipelineFacts)> = known.collect();
        let indices: HashMap<&str, usize> = known
            .iter()
            .enumerate()
            .map(|(at, (path, _))| (*path, at))
            .collect();
        let numbered = |path: &str, facts| {
            let called = self.certain_calls(path, facts);
            let called: BTreeSet<usize> = called
                .filter_map(|(_, path)| indices.get(path).copied())
                .collect();
            called.into_iter().collect()
        };
        let calls = CallGroups::new(known.iter().map(|(path, facts)| numbered(path, facts)).collect());
        for (index, (path, facts)) in known.iter().enumerate() {
            let mut messages_by_callee: HashMap<usize, String> = HashMap::new();
            for (reference, callee) in self.certain_calls(path, facts) {
                let Some(callee_index) = indices
                    .get(callee)
                    .copied()
                    .filter(|to| calls.is_in_circle(index, *to))
                else {
                    continue;
                };
                let text = messages_by_callee.entry(callee_index).or_insert_with(|| {
                    let circle = calls.find_circle(index, callee_index);
                    let named = circle.map(|numbers| {
                        let paths = numbers.iter().filter_map(|number| known.get(*number));
                        paths.map(|(path, _)| *path).collect::<Vec<&str>>()
                    });
                    named.map_or_else(
                        || describe_large_circle(callee, calls.group_size(index)),
                        |paths| self::describe_circle(&paths),
                    )
                });
                problems.entry(path).or_default().push(reference_problem(
                    ProjectCheck::Cycle,
                    reference,
                    text,
                ));
            }
        }
    }

    fn check_shared_file(&self, shared_file: &SharedSide) -> Vec<Problem> {
        let entries = match &shared_file.content {
            Ok(content) => &content.entries,
            Err(error) => {
                let line = error.position.map_or(1, |position| position.line);
                return vec![shared_file_problem(
                    line,
                    None,
                    format!("cannot be read: {}", error.message),
                )];
            }
        };
        let mut problems = Vec::new();
        for entry in entries {
            let about = || Some(bounded(&entry.id).into_owned());
            let reason = if !shared_file.there.contains(&entry.pipeline) {
                Some(NOT_THERE)
            } else if entry.enabled && !is_pipeline(&entry.pipeline) {
                Some(NO_PIPELINE)
            } else {
                None
            };
            problems.extend(reason.map(|reason| {
                let text = shared_pipeline(&entry.id, &entry.pipeline, reason);
                Problem {
                    // A publish warns of a disabled entry.
                    is_uncertain: !entry.enabled,
                    ..shared_file_problem(entry.position.line, about(), text)
                }
            }));
            let facts = self.facts.get(&entry.pipeline).and_then(Option::as_ref);
            let facts = facts.filter(|facts| entry.enabled && !facts.is_skimmed);
            let undeclared = facts.iter().flat_map(|facts| entry.undeclared(facts));
            problems.extend(undeclared.map(|parameter| {
                let text = undeclared_parameter(entry, parameter);
                shared_file_problem(parameter.position.line, about(), text)
            }));
        }
        problems
    }
}

fn shared_file_problem(line: u32, subject: Option<String>, text: String) -> Problem {
    Problem {
        check: ProjectCheck::Shared,
        line,
        subject,
        text,
        is_uncertain: false,
    }
}

fn reference_problem(check: ProjectCheck, reference: &Reference, message: &str) -> Problem {
    component_problem(check, &reference.component, reference.position, message)
}

/// Creates a lead; `said` is the text after the component's name.
fn component_problem(check: ProjectCheck, component: &str, position: Position, message: &str) -> Problem {
    // A component may have thousands of references, links and arguments.
    let component = bounded(component);
    Problem {
        check,
        line: position.line,
        subject: Some(component.clone().into_owned()),
        text: format!("component `{component}` {message}"),
        is_uncertain: false,
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
    fn check_file(&self, facts: &PipelineFacts) -> Vec<Problem> {
        let links = facts.dangling.iter().map(|link| {
            let message = describe_dangling_link(link.role, &link.name) + &self.link_hint(facts, &link.name);
            component_problem(ProjectCheck::Link, &link.component, link.position, &message)
        });
        let mut problems: Vec<Problem> = links.collect();
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
            None => format!("{}{}", missing_script(target), self.publish_consequence()),
            Some(None) => return None,
            Some(Some(defect)) => format!(
                "{}; a publish refuses it: {}",
                unusable_script(target, *defect),
                defect.help()
            ),
        };
        Some(reference_problem(ProjectCheck::Script, reference, &text))
    }

    fn check_call(&self, reference: &Reference, target: &str, kind: Kind, problems: &mut Vec<Problem>) {
        let files = self.project.files;
        // A glob may contain the path with its extension even if the call omits it.
        if (self.project.is_external)(&format!("{target}{}", kind.extension())) {
            return;
        }
        let resolution = files.resolve(target, kind, self.path);
        let (message, is_doubt) = match &resolution {
            Resolved::File(_) => (None, false),
            Resolved::Bare(path) => {
                let is_only = files.of_name(target, kind).len() == 1;
                let help = if is_only { REPAIR_HINT } else { "" };
                (Some(describe_bare_call(kind, target, path) + help), true)
            }
            Resolved::Ambiguous(paths) => (Some(ambiguous_call(kind, target, paths)), false),
            Resolved::Missing => {
                let (message, hint) = (missing_call(kind, target), self.call_hint(target, kind));
                (
                    Some(format!("{message}{hint}{}", self.publish_consequence())),
                    false,
                )
            }
        };
        problems.extend(message.map(|message| Problem {
            is_uncertain: is_doubt,
            ..reference_problem(ProjectCheck::Call, reference, &message)
        }));
        if let Some(path) = resolution.file() {
            self.check_arguments(reference, path, problems);
        }
    }

    /// Returns a hint with the new path of a renamed pipeline, otherwise with the files of that name or a similar path.
    fn call_hint(&self, target: &str, kind: Kind) -> String {
        let files = self.project.files;
        let renamed = self.project.renames.call_hint(files, target, kind);
        renamed.unwrap_or_else(|| self.call_suggestions.borrow_mut().help(files, target, kind))
    }

    /// Returns a hint with the component that a broken link probably means.
    fn link_hint(&self, facts: &PipelineFacts, name: &str) -> String {
        let names = facts.components.iter().map(String::as_str);
        let similar = || self.component_suggestions.borrow_mut().find(names, name);
        let renamed = self.project.renames.link_hint(self.path, name);
        renamed
            .or_else(|| Some(similar_name_hint(&similar()?)))
            .unwrap_or_default()
    }

    /// Returns the consequence for a publish.
    fn publish_consequence(&self) -> String {
        let refused = |id| {
            let id = bounded(id);
            format!("; a publish is refused, as the shared pipeline `{id}` needs it")
        };
        self.shared_id.map(refused).unwrap_or_default()
    }

    fn check_arguments(&self, reference: &Reference, path: &str, problems: &mut Vec<Problem>) {
        let Some(Some(callee)) = self.project.facts.get(path) else {
            return;
        };
        if callee.is_skimmed || reference.arguments.is_empty() {
            return;
        }
        let unknown = reference.arguments.iter();
        let unknown = unknown.filter(|argument| !callee.declares(&argument.name));
        let unknown = unknown.filter(|argument| !argument.name.contains("${"));
        problems.extend(unknown.map(|argument| {
            let message = describe_undeclared_variable(&argument.name, path);
            component_problem(
                ProjectCheck::Argument,
                &reference.component,
                argument.position,
                &message,
            )
        }));
    }
}

/// Groups the leads into one result for each check and level, in the order of the checks.
fn group_problems(path: &str, problems: Vec<Problem>, levels: CheckLevels) -> FileResults {
    let mut violations_by_check: BTreeMap<(ProjectCheck, Enforcement), Vec<Violation>> = BTreeMap::new();
    for problem in problems {
        let Some(level) = levels.of(problem.check) else {
            continue;
        };
        let level = if problem.is_uncertain {
            Enforcement::Warn
        } else {
            level
        };
        violations_by_check
            .entry((problem.check, level))
            .or_default()
            .push(Violation {
                line: Some(problem.line),
                about: problem.subject,
                ..Violation::new(problem.text)
            });
    }
    let results = violations_by_check
        .into_iter()
        .map(|((check, level), mut violations)| {
            violations.sort_by_key(|violation| violation.line);
            let status = Status::Failed(Severity::of(level));
            RuleResult {
                origin: Origin::Project,
                ..RuleResult::new(check.id().to_owned(), status, Some(level), violations)
            }
        });
    FileResults {
        path: path.to_owned(),
        results: results.collect(),
    }
}
