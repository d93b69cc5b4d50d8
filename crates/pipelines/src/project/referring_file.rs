//! Checks the links and references of one pipeline, and proposes a fix where there is one correct value.

use super::messages::{
    describe_ambiguous_call, describe_bare_call, describe_call_of_missing_pipeline, describe_dangling_link,
    describe_irregular_script, describe_missing_script, describe_redirected_call,
    describe_undeclared_variable, describe_unpublished_call, describe_unpublished_script,
    describe_unusable_script, format_earlier_callee_hint, format_rename_hint, format_similar_name_hint,
};
use super::problem::{ReferenceProblem, build_component_problem, build_reference_problem};
use super::script_suggestions::ScriptSuggestions;
use super::suggestions::{CallHint, CallSuggestions, ComponentSuggestions};
use super::{EarlierCallee, Project, ProjectCheck};
use crate::findings::ProposedFix;
use crate::pipelines::{
    CallResolution, DanglingLink, PipelineFacts, PipelineKind, Reference, ReferenceKind, ReferenceTarget,
    complete_path,
};
use sluicegate_base::text::shorten_name;
use std::cell::{OnceCell, RefCell};
use std::slice;

/// A pipeline whose links and references to other files are checked.
pub(super) struct ReferringFile<'f> {
    pub project: &'f Project<'f>,
    pub path: &'f str,
    /// The id of a shared pipeline that calls the file directly or indirectly.
    pub shared_id: Option<&'f str>,
    pub call_suggestions: &'f RefCell<CallSuggestions<'f>>,
    pub component_suggestions: &'f RefCell<ComponentSuggestions>,
    /// The indexes of the regular files, which are built when a script is missing.
    pub script_suggestions: &'f OnceCell<ScriptSuggestions<'f>>,
}

impl ReferringFile<'_> {
    /// Returns the problems in the links and references of this pipeline. Skips references with an expression, and
    /// paths that the settings declare as external.
    pub(super) fn find_problems(&self, facts: &PipelineFacts) -> Vec<ReferenceProblem> {
        let mut problems = Vec::new();
        problems.extend(
            facts
                .dangling_links
                .iter()
                .map(|link| self.build_link_problem(facts, link)),
        );
        for reference in &facts.references {
            let ReferenceTarget::Path(target) = &reference.target else {
                continue;
            };
            let spellings = reference.kind.list_spellings(target);
            if spellings.iter().any(|path| (self.project.is_external)(path)) {
                continue;
            }
            match reference.kind {
                ReferenceKind::Script => {
                    problems.extend(self.check_script(reference, target));
                    problems.extend(self.check_script_publication(reference, target));
                }
                ReferenceKind::Pipeline(kind) => self.check_call(reference, target, kind, &mut problems),
            }
        }
        problems
    }

    /// Returns the problem of a link to a missing component, with a fix if the change renamed the component.
    fn build_link_problem(&self, facts: &PipelineFacts, link: &DanglingLink) -> ReferenceProblem {
        let renames = self.project.renames;
        let new_name = renames.and_then(|renames| (renames.find_component_name)(self.path, &link.name));
        let hint = match &new_name {
            Some(new_name) => format_rename_hint(new_name),
            None => self.suggest_component(facts, &link.name),
        };
        let message = describe_dangling_link(link.role, &link.name) + &hint;
        ReferenceProblem {
            fix: new_name.map(|new_name| ProposedFix {
                position: link.position,
                old_value: link.name.clone(),
                new_value: new_name,
            }),
            ..build_component_problem(ProjectCheck::Link, &link.component, link.position, &message)
        }
    }

    /// Returns a hint with the component whose name is most similar; empty if no name is similar, or if the caller
    /// needs no hints (`renames` is `None`).
    fn suggest_component(&self, facts: &PipelineFacts, name: &str) -> String {
        if self.project.renames.is_none() {
            return String::new();
        }
        let names = facts.components.iter().map(String::as_str);
        let mut suggestions = self.component_suggestions.borrow_mut();
        suggestions
            .find_similar_component(names, name)
            .map(|similar_name| format_similar_name_hint(&similar_name))
            .unwrap_or_default()
    }

    /// Returns the problem of a script that is not a regular file or whose content is not a script; `None` for a script
    /// without a defect. A missing script has a fix if only one file can be meant.
    fn check_script(&self, reference: &Reference, target: &str) -> Option<ReferenceProblem> {
        let (text, new_path) = match self.project.scripts.get(target) {
            // The script exists and has no defect.
            Some(None) => return None,
            // Publishing rejects an unusable script even if no shared pipeline needs it.
            Some(Some(defect)) => {
                let message = describe_unusable_script(target, *defect);
                let help = defect.help();
                (
                    format!("{message}; publishing will fail because of this problem: {help}"),
                    None,
                )
            }
            None => {
                let hint = self.suggest_script(target);
                let message = match self.project.irregular_scripts.get(target) {
                    Some(description) => describe_irregular_script(target, description),
                    None => describe_missing_script(target),
                };
                let text = message + &hint.text + &self.describe_publish_failure();
                (text, hint.only_path)
            }
        };
        Some(ReferenceProblem {
            fix: new_path.and_then(|new_path| propose_new_target(reference, target, new_path)),
            ..build_reference_problem(ProjectCheck::Script, reference, &text)
        })
    }

    /// Returns a hint with the new path of a script that the change renamed, otherwise with files that have the same
    /// name or differ only in their spelling, otherwise that the change deleted it. The hint is empty if the caller
    /// needs no hints (`renames` is `None`).
    fn suggest_script(&self, target: &str) -> CallHint {
        let Some(renames) = self.project.renames else {
            return CallHint::default();
        };
        match (renames.find_script_path)(target) {
            Some(new_path) => CallHint::for_renamed_file(renames, &new_path),
            None => self
                .script_suggestions
                .get_or_init(|| ScriptSuggestions::new(self.project.regular_paths))
                .suggest_script(target, self.project.can_repair)
                .or_deletion(renames, target),
        }
    }

    /// Adds the problems of a call: its pipeline is missing, its name is ambiguous or lacks the directory, the change
    /// makes it mean another pipeline, or it sets a variable that the called pipeline does not have. A missing directory
    /// is only a warning, unless the change renamed or deleted the pipeline that the call meant.
    fn check_call(
        &self,
        reference: &Reference,
        target: &str,
        kind: PipelineKind,
        problems: &mut Vec<ReferenceProblem>,
    ) {
        let files = self.project.files;
        let resolution = files.resolve(target, kind, self.path);
        let earlier_callee = (self.project.find_earlier_callee)(self.path, reference, resolution.file());
        let earlier_hint = self.suggest_earlier_callee(earlier_callee.as_ref());
        let (message, new_path) = match &resolution {
            CallResolution::File(path) | CallResolution::ByName(path) if earlier_callee.is_some() => {
                let message = describe_redirected_call(kind, target, path) + &earlier_hint.text;
                (Some(message), earlier_hint.only_path)
            }
            CallResolution::File(_) => (None, None),
            // The call lacks the directory, but only one pipeline has this name.
            CallResolution::ByName(path) => (
                Some(describe_bare_call(kind, target, path)),
                Some((*path).to_owned()),
            ),
            CallResolution::Ambiguous(paths) => {
                let message = describe_ambiguous_call(kind, target, paths) + &earlier_hint.text;
                (Some(message), earlier_hint.only_path)
            }
            CallResolution::Missing => {
                let hint = self.suggest_pipeline(target, kind, earlier_callee.as_ref());
                let message = describe_call_of_missing_pipeline(files, kind, target)
                    + &hint.text
                    + &self.describe_publish_failure();
                (Some(message), hint.only_path)
            }
        };
        let fix = new_path.and_then(|path| {
            let new_target = files.find_call_target(target, kind, &path, self.path)?;
            propose_new_target(reference, target, new_target)
        });
        problems.extend(message.map(|message| {
            ReferenceProblem {
                is_minor: matches!(resolution, CallResolution::ByName(_)) && earlier_callee.is_none(),
                is_uncertain: resolution.file().is_some()
                    && earlier_callee
                        .as_ref()
                        .is_some_and(|callee| !callee.is_broken_call()),
                fix,
                ..build_reference_problem(ProjectCheck::Call, reference, &message)
            }
        }));
        problems.extend(self.check_call_publication(reference, &resolution));
        if let Some(path) = resolution.file() {
            self.check_arguments(reference, path, problems);
        }
    }

    /// Returns the problem of a call if a publish omits the called pipeline, or one of the pipelines that may be
    /// meant, although a shared pipeline needs it.
    fn check_call_publication(
        &self,
        reference: &Reference,
        resolution: &CallResolution<'_>,
    ) -> Option<ReferenceProblem> {
        if !self.is_sent_for_shared_pipeline() {
            return None;
        }
        let paths = match resolution {
            CallResolution::File(path) | CallResolution::ByName(path) => slice::from_ref(path),
            CallResolution::Ambiguous(paths) => *paths,
            CallResolution::Missing => &[],
        };
        let path = paths
            .iter()
            .find(|path| self.project.is_unpublished_pipeline(path))?;
        let text = describe_unpublished_call(path) + &self.describe_publish_failure();
        Some(build_reference_problem(ProjectCheck::Shared, reference, &text))
    }

    /// Returns the problem of an existing script that a publish omits although a shared pipeline needs it.
    fn check_script_publication(&self, reference: &Reference, path: &str) -> Option<ReferenceProblem> {
        let is_omitted = self.is_sent_for_shared_pipeline()
            && self.project.scripts.contains_key(path)
            && self.project.is_unpublished_script(path);
        let text = describe_unpublished_script(path) + &self.describe_publish_failure();
        is_omitted.then(|| build_reference_problem(ProjectCheck::Shared, reference, &text))
    }

    /// Returns whether a publish sends this pipeline because a shared pipeline needs it.
    fn is_sent_for_shared_pipeline(&self) -> bool {
        self.shared_id.is_some() && !self.project.is_unpublished_pipeline(self.path)
    }

    /// Returns a hint with the pipeline that a call meant before the change, and its new path. The hint is empty if
    /// there is no such pipeline. The new path is named, but not offered as a fix, if the call could also mean another
    /// pipeline, or if the rename is uncertain.
    fn suggest_earlier_callee(&self, callee: Option<&EarlierCallee>) -> CallHint {
        let (Some(renames), Some(callee)) = (self.project.renames, callee) else {
            return CallHint::default();
        };
        let is_uncertain_rename = callee.new_path.as_deref().is_some_and(renames.is_uncertain);
        let new_path = callee.new_path.clone().filter(|_| callee.is_certain);
        CallHint {
            text: format_earlier_callee_hint(callee, is_uncertain_rename),
            only_path: new_path.filter(|_| !is_uncertain_rename),
        }
    }

    /// Returns a hint with the new path of a renamed pipeline, otherwise with files that have the same name or a
    /// similar path, otherwise that the change deleted it. The hint is empty if the caller needs no hints (`renames` is
    /// `None`). `earlier_callee` is the pipeline that the call meant before the change, if it is known.
    fn suggest_pipeline(
        &self,
        target: &str,
        kind: PipelineKind,
        earlier_callee: Option<&EarlierCallee>,
    ) -> CallHint {
        let Some(renames) = self.project.renames else {
            return CallHint::default();
        };
        let new_path = match earlier_callee {
            Some(callee) if !callee.is_certain => return self.suggest_earlier_callee(earlier_callee),
            Some(callee) => callee.new_path.as_deref(),
            None => renames.find_new_pipeline_path(target, kind),
        };
        if let Some(new_path) = new_path {
            return CallHint::for_renamed_file(renames, new_path);
        }
        let old_path = match earlier_callee {
            Some(callee) => callee.path.clone(),
            None => complete_path(target, kind),
        };
        self.call_suggestions
            .borrow_mut()
            .suggest_pipeline(self.project.files, target, kind, self.project.can_repair)
            .or_deletion(renames, &old_path)
    }

    /// Returns the end of a message, which says that publishing will fail because a shared pipeline needs this file;
    /// empty if no shared pipeline needs it.
    fn describe_publish_failure(&self) -> String {
        let Some(id) = self.shared_id.map(shorten_name) else {
            return String::new();
        };
        format!("; publishing will fail because the shared pipeline `{id}` needs it")
    }

    /// Adds a problem for each variable that a call sets and the called pipeline, at `path`, does not have. Checks
    /// nothing if the variables of the called pipeline are unknown, and skips names with an expression.
    fn check_arguments(&self, reference: &Reference, path: &str, problems: &mut Vec<ReferenceProblem>) {
        let Some(Some(callee)) = self.project.facts.get(path) else {
            return;
        };
        if callee.is_skimmed || reference.arguments.is_empty() {
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

/// Proposes to replace the target of a reference; `None` if the new target is the same or contains `${`, which makes it
/// an expression.
fn propose_new_target(reference: &Reference, target: &str, new_target: String) -> Option<ProposedFix> {
    let is_other_path = new_target != target && !new_target.contains("${");
    is_other_path.then(|| ProposedFix {
        position: reference.position,
        old_value: target.to_owned(),
        new_value: new_target,
    })
}
