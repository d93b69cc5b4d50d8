//! Folds the findings that follow from a broken link under the finding of that link, so that reports show one finding.
//!
//! The verdict is derived from all findings before. The finding of the link gets the level of the worst folded one.

use crate::gate::RunFindings;
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::findings::{
    Enforcement, FileResults, FindingState, Origin, RuleResult, Severity, Status,
};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules::Consequence;
use std::collections::{BTreeSet, HashSet};
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
            if let (Some(file), Some(project)) = (reviewed_files.next(), checked_files.next())
                && let Some((result_index, index)) = find_broken_link(project)
            {
                let folded_findings = remove_consequences(file, &consequences);
                if !folded_findings.is_empty() {
                    add_folded_findings(project, result_index, index, &folded_findings);
                }
            }
        }
    }
}

/// Finds the first broken link that affects the verdict. Returns the index of its result, and its index among the
/// violations of that result.
pub(crate) fn find_broken_link(file: &FileResults) -> Option<(usize, usize)> {
    let results = file.results.iter().enumerate();
    results
        .filter(|(_, result)| result.rule == ProjectCheck::Link.id())
        .find_map(|(result_index, result)| {
            let mut indices = 0..result.violations.len();
            Some((result_index, indices.find(|index| result.is_counted(*index))?))
        })
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
            let is_excused = matches!(state, Some(FindingState::Known | FindingState::Waived));
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
    use sluicegate_pipelines::findings::Violation;

    fn file(rule: &str, severity: Severity, about: &str, state: Option<FindingState>) -> FileResults {
        let mut violation = Violation::new("text");
        violation.about = Some(about.to_owned());
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
        for state in [None, Some(FindingState::New)] {
            let mut run_findings = RunFindings {
                files: vec![file("unused-components", Severity::Error, "Load", state)],
                project_files: vec![file(
                    ProjectCheck::Link.id(),
                    Severity::Warning,
                    "Start",
                    Some(FindingState::New),
                )],
                ..RunFindings::default()
            };
            let consequence = ("unused-components", "Load".to_owned());
            run_findings
                .consequences
                .insert("a".to_owned(), BTreeSet::from([consequence]));
            run_findings.fold_consequences();
            assert!(run_findings.files[0].results.is_empty());
            let [link] = run_findings.project_files[0].results.as_slice() else {
                panic!("{:?}", run_findings.project_files);
            };
            assert_eq!(link.status, Status::Failed(Severity::Error));
            assert_eq!(link.state(0), state);
            let text = &link.violations[0].text;
            assert_eq!(text, "text; 1 other finding about `Load` follows from this");
        }
    }
}
