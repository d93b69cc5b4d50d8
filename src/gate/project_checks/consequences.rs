//! Folds the findings that follow from a broken link under the finding of that link, so that reports show one finding.
//!
//! The verdict is derived from all findings before. The finding of the link gets the level of the worst folded one.

use crate::document_content::read_document;
use crate::error::Failure;
use crate::gate::RunFindings;
use crate::gate::run::GateRun;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{
    Enforcement, FileResults, FindingState, Origin, RuleResult, Severity, Status, Violation,
};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::project::{ComponentSuggestions, ProjectCheck, is_about_link};
use sluicegate_pipelines::rules::{Consequence, LinkConsequences, find_consequences};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::mem;

/// A finding that is folded.
struct FoldedFinding {
    component: String,
    severity: Severity,
    /// `None` if the finding was not compared with the base, or if this is unknown.
    state: Option<FindingState>,
}

impl RunFindings {
    /// Removes findings that exist only because of a broken link, and mentions them in the finding about the link, so
    /// that one mistake is reported once.
    pub(crate) fn fold_consequences(&mut self) {
        for (path, consequences) in mem::take(&mut self.consequences) {
            let mut reviewed_files = self.files.iter_mut().filter(|file| file.path == path);
            let mut checked_files = self.project_files.iter_mut().filter(|file| file.path == path);
            let (Some(file), Some(project)) = (reviewed_files.next(), checked_files.next()) else {
                continue;
            };
            for LinkConsequences { link, findings } in consequences {
                let is_link = |violation: &Violation| is_about_link(violation, &link);
                let Some((result_index, index)) = find_broken_link(project, is_link) else {
                    continue;
                };
                let folded_findings = remove_consequences(file, &findings);
                if !folded_findings.is_empty() {
                    add_folded_findings(project, result_index, index, &folded_findings);
                }
            }
        }
    }
}

impl GateRun<'_> {
    /// Records the findings that exist only because of broken links, so that they can be folded into the findings about
    /// the links: those that disappear if a link leads to the component that it probably means. This is the renamed
    /// component, otherwise the one with the most similar name, otherwise the one to which the link led in the base,
    /// otherwise the only component that no link leads to and that is new or was linked in the base.
    pub(crate) fn record_link_consequences(&self, run_findings: &mut RunFindings) -> Result<(), Failure> {
        let (repo, snapshot) = (&self.subject.workspace.repo, &self.subject.snapshot);
        let components = self.renamed_components();
        let mut suggestions = ComponentSuggestions::default();
        let reviewed_paths: HashSet<&str> =
            run_findings.files.iter().map(|file| file.path.as_str()).collect();
        let mut consequences_by_path = BTreeMap::new();
        let files = run_findings.project_files.iter();
        for file in files.filter(|file| find_broken_link(file, |_| true).is_some()) {
            let path = file.path.as_str();
            // Only a reviewed file has findings of rules, which can follow from the link.
            let Some(snapshot_file) = snapshot
                .find_file(path)?
                .filter(|_| reviewed_paths.contains(path))
            else {
                continue;
            };
            let pipeline = read_document(repo, &snapshot_file)?.and_then(|bytes| Pipeline::parse(&bytes));
            let Ok(pipeline) = pipeline else { continue };
            suggestions.reset_for_file();
            let base = components.read_base_pipeline(path);
            let consequences = find_consequences(&pipeline, base.as_ref(), &mut |missing_name| {
                components.find_new_name(path, missing_name).or_else(|| {
                    let names = pipeline
                        .components
                        .iter()
                        .map(|component| component.name.as_str());
                    suggestions.find_similar_component(names, missing_name)
                })
            });
            consequences_by_path.insert(path.to_owned(), consequences);
        }
        run_findings.consequences = consequences_by_path;
        Ok(())
    }
}

/// Finds the first broken link that `is_searched` accepts and that affects the verdict. Returns the index of its
/// result, and its index among the violations of that result.
fn find_broken_link(file: &FileResults, is_searched: impl Fn(&Violation) -> bool) -> Option<(usize, usize)> {
    let results = file.results.iter().enumerate();
    for (result_index, result) in results.filter(|(_, result)| result.rule == ProjectCheck::Link.id()) {
        for (index, violation) in result.violations.iter().enumerate() {
            // A link that already has folded findings is another link with the same text.
            if violation.folded_count == 0 && result.is_counted(index) && is_searched(violation) {
                return Some((result_index, index));
            }
        }
    }
    None
}

/// Removes the findings that `consequences` names from the results of the rules for a file, and returns them. Known and
/// waived findings stay. A result that loses its last finding here is removed, too.
fn remove_consequences(file: &mut FileResults, consequences: &BTreeSet<Consequence>) -> Vec<FoldedFinding> {
    let consequence_keys: HashSet<(&str, &str)> = consequences
        .iter()
        .map(|(rule, component)| (*rule, component.as_str()))
        .collect();
    let mut folded_findings = Vec::new();
    file.results.retain_mut(|result| {
        let Status::Failed(severity) = result.status else {
            return true;
        };
        let earlier_count = folded_findings.len();
        result.violations.retain_mut(|violation| {
            let state = violation.mark.state;
            let is_excused = state.is_some_and(FindingState::is_excused);
            let Some(component) = &violation.about else {
                return true;
            };
            if is_excused || !consequence_keys.contains(&(result.rule.as_str(), component.as_str())) {
                return true;
            }
            folded_findings.push(FoldedFinding {
                component: component.clone(),
                severity,
                state,
            });
            false
        });
        // A result that lost its last violation is removed. A result that had none before stays.
        let is_unchanged = folded_findings.len() == earlier_count;
        is_unchanged || !result.violations.is_empty()
    });
    folded_findings
}

/// Adds the number of folded findings to the text of the broken link, which is one violation of a result of the file.
/// If one of the folded findings is an error and the link is only a warning, the link becomes an error in a separate
/// result, so that the verdict stays the same. This result is new only if one of these errors is.
fn add_folded_findings(
    file: &mut FileResults,
    result_index: usize,
    violation_index: usize,
    folded_findings: &[FoldedFinding],
) {
    let Some(link_result) = file.results.get_mut(result_index) else {
        return;
    };
    let mut components: Vec<String> = folded_findings
        .iter()
        .map(|finding| format!("`{}`", finding.component))
        .collect();
    components.sort();
    components.dedup();
    let verb = if folded_findings.len() == 1 {
        "follows"
    } else {
        "follow"
    };
    let text = format!(
        "; {} about {} {verb} from this",
        format_count(folded_findings.len(), "other finding"),
        List::new(&components)
    );
    let worst_severity = folded_findings.iter().map(|finding| finding.severity).max();
    let needs_higher_level =
        link_result.status == Status::Failed(Severity::Warning) && worst_severity == Some(Severity::Error);
    if !needs_higher_level {
        if let Some(violation) = link_result.violations.get_mut(violation_index) {
            violation.text.push_str(&text);
            violation.folded_count = folded_findings.len();
        }
        return;
    }
    let mut violation = link_result.violations.remove(violation_index);
    let error_states = folded_findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .filter_map(|finding| finding.state);
    // Folded findings affect the verdict, so their state is new or unknown.
    violation.mark.state = error_states.max();
    violation.text.push_str(&text);
    violation.folded_count = folded_findings.len();
    // The other violations of the result keep their level.
    if link_result.violations.is_empty() {
        file.results.remove(result_index);
    }
    let mut results = file.results.iter_mut();
    if let Some(error_result) = results.find(|result| {
        result.rule == ProjectCheck::Link.id() && result.status == Status::Failed(Severity::Error)
    }) {
        error_result.violations.push(violation);
        return;
    }
    file.results.push(RuleResult {
        origin: Origin::Project,
        ..RuleResult::new(
            ProjectCheck::Link.id().to_owned(),
            Status::Failed(Severity::Error),
            Some(Enforcement::Error),
            vec![violation],
        )
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluicegate_pipelines::pipelines::PipelineFacts;

    fn file(
        rule: &str,
        severity: Severity,
        violation: Violation,
        state: Option<FindingState>,
    ) -> FileResults {
        let mut result = RuleResult::new(rule.to_owned(), Status::Failed(severity), None, vec![violation]);
        result.set_states([state]);
        FileResults {
            path: "a".to_owned(),
            results: vec![result],
            is_reviewed: true,
        }
    }

    #[test]
    fn folded_error_of_unknown_state_does_not_become_new() {
        let pipeline = "type: orchestration\npipeline: { components: { Start: { type: start, transitions: { success: [Gone] } } } }";
        let facts = PipelineFacts::parse(pipeline.as_bytes()).unwrap();
        let link_text =
            "component `Start` has a transition to `Gone`, which is not a component of the pipeline";
        for state in [None, Some(FindingState::New)] {
            let mut unused_component = Violation::new("text");
            unused_component.about = Some("Load".to_owned());
            let mut broken_link = Violation::new(link_text);
            broken_link.line = Some(2);
            let new = Some(FindingState::New);
            let mut run_findings = RunFindings {
                files: vec![file(
                    "unused-components",
                    Severity::Error,
                    unused_component,
                    state,
                )],
                project_files: vec![file(ProjectCheck::Link.id(), Severity::Warning, broken_link, new)],
                ..RunFindings::default()
            };
            let consequences = LinkConsequences {
                link: facts.dangling_links[0].clone(),
                findings: BTreeSet::from([("unused-components", "Load".to_owned())]),
            };
            run_findings
                .consequences
                .insert("a".to_owned(), vec![consequences]);
            run_findings.fold_consequences();
            assert!(run_findings.files[0].results.is_empty());
            let [link] = run_findings.project_files[0].results.as_slice() else {
                panic!("{:?}", run_findings.project_files);
            };
            assert_eq!(link.status, Status::Failed(Severity::Error));
            assert_eq!(link.state(0), state);
            let text = &link.violations[0].text;
            assert_eq!(
                *text,
                format!("{link_text}; 1 other finding about `Load` follows from this")
            );
        }
    }
}
