//! Folds the findings that follow from a broken link under the finding of that link, so that reports show one finding.
//!
//! The verdict is derived from all findings before. The finding of the link gets the level of the worst folded one.

use crate::gate::Tally;
use sluicegate_base::text::{List, count};
use sluicegate_pipelines::findings::{
    Enforcement, FileResults, FindingState, Origin, RuleResult, Severity, Status, Violation,
};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules::Consequence;
use std::collections::{BTreeSet, HashSet};
use std::mem;

/// A finding that is folded.
struct FoldedFinding {
    component: String,
    severity: Severity,
}

impl Tally {
    pub(crate) fn fold_consequences(&mut self) {
        for (path, consequences) in mem::take(&mut self.consequences) {
            let mut reviewed = self.files.iter_mut().filter(|file| file.path == path);
            let mut checked = self.project.iter_mut().filter(|file| file.path == path);
            if let (Some(file), Some(project)) = (reviewed.next(), checked.next())
                && let Some((result_index, index)) = broken_link(project)
            {
                let folded = take_consequences(file, &consequences);
                if !folded.is_empty() {
                    fold_under(project, result_index, index, &folded);
                }
            }
        }
    }
}

/// Returns whether the finding with this index fails the gate at its level.
pub(crate) fn is_enforced(result: &RuleResult, index: usize) -> bool {
    !matches!(
        result.states.get(index),
        Some(Some(FindingState::Known | FindingState::Waived))
    )
}

/// Returns the places of the result and of the finding of the first broken link.
fn broken_link(project: &FileResults) -> Option<(usize, usize)> {
    let results = project.results.iter().enumerate();
    results
        .filter(|(_, result)| result.rule == ProjectCheck::Link.id())
        .find_map(|(at, result)| {
            let mut indices = 0..result.violations.len();
            Some((at, indices.find(|index| is_enforced(result, *index))?))
        })
}

/// Removes the consequences from the results of the rules. Known and waived ones are kept.
fn take_consequences(file: &mut FileResults, consequences: &BTreeSet<Consequence>) -> Vec<FoldedFinding> {
    let sought: HashSet<(&str, &str)> = consequences
        .iter()
        .map(|(rule, component)| (*rule, component.as_str()))
        .collect();
    let mut folded = Vec::new();
    file.results.retain_mut(|result| {
        let Status::Failed(severity) = result.status else {
            return true;
        };
        let folded_count = folded.len();
        let is_kept: Vec<bool> = (0..result.violations.len())
            .map(|index| {
                let about = result
                    .violations
                    .get(index)
                    .and_then(|violation| violation.about.as_deref());
                let is_sought = about.is_some_and(|about| sought.contains(&(result.rule.as_str(), about)));
                !(is_sought && is_enforced(result, index))
            })
            .collect();
        let taken = keep(&mut result.violations, &is_kept);
        keep(&mut result.states, &is_kept);
        keep(&mut result.waivers, &is_kept);
        let components = taken.into_iter().filter_map(|violation| violation.about);
        folded.extend(components.map(|component| FoldedFinding { component, severity }));
        folded.len() == folded_count || !result.violations.is_empty()
    });
    folded
}

/// Keeps the marked values and returns the others.
fn keep<T>(values: &mut Vec<T>, is_kept: &[bool]) -> Vec<T> {
    let marked = mem::take(values).into_iter().zip(is_kept);
    let (kept, taken): (Vec<_>, Vec<_>) = marked.partition(|(_, is_kept)| **is_kept);
    values.extend(kept.into_iter().map(|(value, _)| value));
    taken.into_iter().map(|(value, _)| value).collect()
}

/// Removes a finding with its state and waiver.
fn take_finding(
    result: &mut RuleResult,
    index: usize,
) -> (
    Violation,
    Option<FindingState>,
    Option<sluicegate_pipelines::findings::Waiver>,
) {
    let state = (index < result.states.len()).then(|| result.states.remove(index));
    let waiver = (index < result.waivers.len()).then(|| result.waivers.remove(index));
    let violation = result.violations.remove(index);
    (violation, state.flatten(), waiver.flatten())
}

fn fold_under(project: &mut FileResults, result_index: usize, index: usize, folded: &[FoldedFinding]) {
    let Some(link) = project.results.get_mut(result_index) else {
        return;
    };
    let mut components: Vec<String> = folded
        .iter()
        .map(|finding| format!("`{}`", finding.component))
        .collect();
    components.sort();
    components.dedup();
    let text = format!(
        "; {} about {} follow from this",
        count(folded.len(), "other finding"),
        List::new(&components)
    );
    let worst = folded.iter().map(|finding| finding.severity).max();
    if link.status != Status::Failed(Severity::Warning) || worst != Some(Severity::Error) {
        if let Some(violation) = link.violations.get_mut(index) {
            violation.text.push_str(&text);
            violation.folded_count = folded.len();
        }
        return;
    }
    let (mut violation, state, waiver) = take_finding(link, index);
    violation.text.push_str(&text);
    violation.folded_count = folded.len();
    let error = Status::Failed(Severity::Error);
    let (has_states, has_waivers) = (state.is_some(), waiver.is_some());
    if link.violations.is_empty() {
        project.results.remove(result_index);
    }
    project.results.push(RuleResult {
        origin: Origin::Project,
        states: if has_states { vec![state] } else { Vec::new() },
        waivers: if has_waivers { vec![waiver] } else { Vec::new() },
        ..RuleResult::new(
            ProjectCheck::Link.id().to_owned(),
            error,
            Some(Enforcement::Error),
            vec![violation],
        )
    });
}
