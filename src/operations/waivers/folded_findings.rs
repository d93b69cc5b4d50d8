//! Finds the findings that a report folded into the finding about a broken link, because each may get a waiver.

use crate::gate::RunFindings;
use sluicegate_pipelines::findings::{FileResults, RuleResult};
use sluicegate_pipelines::pipelines::Pipeline;
use sluicegate_pipelines::project::{ComponentSuggestions, ProjectCheck};
use sluicegate_pipelines::rules::{Consequence, depends_on_links, find_consequences};

/// Returns the current results of the pipeline, but only with the findings that exist because of broken links. A report
/// folds these findings: it omits them, and the finding about the link has their number. A finding that the report
/// lists is not folded, for example a known one. Returns an empty list if the report has no folded findings.
pub(super) fn find_folded_results(
    reported_file: &FileResults,
    current: &RunFindings,
    pipeline: &Pipeline,
) -> Vec<RuleResult> {
    let violations = reported_file.results.iter().flat_map(|result| &result.violations);
    let folded_count: usize = violations.map(|violation| violation.folded_count).sum();
    if folded_count == 0 {
        return Vec::new();
    }
    let mut omitted_results: Vec<RuleResult> = Vec::new();
    let current_files = current
        .files
        .iter()
        .filter(|file| file.path == reported_file.path);
    let current_results = current_files.flat_map(|file| &file.results);
    for result in current_results.filter(|result| depends_on_links(&result.rule)) {
        let mut omitted_result = result.clone();
        omitted_result.violations.retain(|violation| {
            let about = violation.about.as_deref();
            about.is_some() && !has_finding_about(reported_file, &result.rule, about)
        });
        omitted_results.push(omitted_result);
    }
    let omitted_count: usize = omitted_results.iter().map(|result| result.violations.len()).sum();
    // With other numbers, the pipeline changed since the report.
    if omitted_count != folded_count {
        let consequences = find_expected_consequences(reported_file, pipeline);
        for result in &mut omitted_results {
            result.violations.retain(|violation| {
                let about = violation.about.as_deref();
                consequences
                    .iter()
                    .any(|(rule, component)| *rule == result.rule && about == Some(component))
            });
        }
    }
    omitted_results.retain(|result| !result.violations.is_empty());
    omitted_results
}

/// Returns the findings that exist because of broken links. As in a review without a base, a broken link means the
/// renamed component, or else the one with the most similar name.
fn find_expected_consequences(reported_file: &FileResults, pipeline: &Pipeline) -> Vec<Consequence> {
    let mut suggestions = ComponentSuggestions::default();
    let consequences = find_consequences(pipeline, None, &mut |name| {
        find_new_name(reported_file, name).or_else(|| {
            let components = pipeline.components.iter();
            suggestions.find_similar_component(components.map(|component| component.name.as_str()), name)
        })
    });
    consequences
        .into_iter()
        .flat_map(|consequence| consequence.findings)
        .collect()
}

/// Returns the new name of a component that the reviewed change renamed. In the report, the fix of the broken link has
/// this name.
fn find_new_name(reported_file: &FileResults, old_name: &str) -> Option<String> {
    let results = reported_file.results.iter();
    let fix = results
        .filter(|result| result.rule == ProjectCheck::Link.id())
        .flat_map(|result| &result.violations)
        .filter_map(|violation| violation.fix.as_deref())
        .find(|fix| fix.old_value == old_name);
    fix.map(|fix| fix.new_value.clone())
}

/// Returns whether the file has a finding of this rule about this subject.
fn has_finding_about(file: &FileResults, rule: &str, about: Option<&str>) -> bool {
    let mut results = file.results.iter().filter(|result| result.rule == rule);
    results.any(|result| {
        result
            .violations
            .iter()
            .any(|violation| violation.about.as_deref() == about)
    })
}
