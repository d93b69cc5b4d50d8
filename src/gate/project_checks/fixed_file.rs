//! A file with the new values of its proposed fixes.

use super::finding_counts::CountKey;
use sluicegate_pipelines::diff::{ComponentChange, LinkChange, LinkDiff, PipelineDiff};
use sluicegate_pipelines::findings::{
    FileChange, FileResults, FindingState, Fix, ProposedFix, RuleResult, Severity, Violation,
};
use sluicegate_pipelines::pipelines::PipelineFacts;
use sluicegate_yaml::{Position, ScalarReplacement};
use std::collections::{BTreeMap, HashSet};

/// The content of a file before and after its fixes.
#[derive(Debug)]
pub(crate) struct FixedFile {
    pub(crate) path: String,
    pub(crate) old_bytes: Vec<u8>,
    pub(crate) new_bytes: Vec<u8>,
    pub(crate) values: Vec<FixedValue>,
    /// The facts about the pipeline with the new values.
    pub(super) facts: PipelineFacts,
    pub(super) replacements: BTreeMap<Position, ScalarReplacement>,
}

/// A value to replace, and the finding about it.
#[derive(Debug, Clone)]
pub(crate) struct FixedValue {
    pub(crate) rule: String,
    pub(crate) about: Option<String>,
    pub(crate) severity: Severity,
    pub(crate) fix: ProposedFix,
}

impl FixedValue {
    /// Returns the identity of the finding that the new value fixes in the file at this path.
    pub(super) fn finding_key(&self, path: &str) -> CountKey {
        CountKey {
            path: path.to_owned(),
            rule: self.rule.clone(),
            about: self.about.clone(),
            severity: self.severity,
        }
    }
}

impl FixedFile {
    /// Adds the fixes to the findings of the file, and appends `hint`, with the command that applies them, to their
    /// messages. Skips waived findings.
    pub(super) fn add_fixes(&self, file: &mut FileResults, hint: &str) {
        for result in &mut file.results {
            for index in 0..result.violations.len() {
                if find_proposal(result, index).is_none() {
                    continue;
                }
                if let Some(violation) = result.violations.get_mut(index) {
                    self.add_fix(violation, hint);
                }
            }
        }
    }

    /// Adds the fix to a violation, and the hint to its text, if the fixed file replaces the value of the proposed fix.
    fn add_fix(&self, violation: &mut Violation, hint: &str) {
        let Some(proposal) = &violation.proposed_fix else {
            return;
        };
        if let Some(replacement) = self.replacements.get(&proposal.position) {
            violation.fix = Some(Box::new(Fix {
                old_value: proposal.old_value.clone(),
                new_value: proposal.new_value.clone(),
                start_line: replacement.start.line,
                start_column: replacement.start.column,
                end_line: replacement.end.line,
                end_column: replacement.end.column,
                text: replacement.text.clone(),
            }));
            violation.text.push_str(hint);
        }
    }
}

/// Returns the values of the accepted file and these values, in their order in the file.
pub(super) fn join_values(accepted_file: Option<&FixedFile>, values: &[FixedValue]) -> Vec<FixedValue> {
    let accepted_values = accepted_file.map_or(&[][..], |file| file.values.as_slice());
    let mut values = [accepted_values, values].concat();
    values.sort_by_key(|value| value.fix.position);
    values
}

/// Returns whether the diff between both versions of a file shows only these new values. Any difference in the places
/// of components on the canvas (`layout`), in a variable or in another field (`other`) shows that the fix changed more.
pub(super) fn has_only_new_values(diff: &PipelineDiff, values: &[FixedValue]) -> bool {
    diff.change == FileChange::Modified
        && !diff.layout
        && diff.variables.is_empty()
        && diff.other.is_empty()
        && explains_links(values, &diff.links)
        && explains_fields(values, diff)
}

/// Returns whether the new values explain each changed link: a removed link starts or ends at an old value, and an
/// added link at a new value.
fn explains_links(values: &[FixedValue], links: &[LinkDiff]) -> bool {
    let fixes = values.iter().map(|value| &value.fix);
    let (old_names, new_names): (HashSet<&str>, HashSet<&str>) = fixes
        .map(|fix| (fix.old_value.as_str(), fix.new_value.as_str()))
        .unzip();
    links.iter().all(|link| {
        let names = match link.change {
            LinkChange::Removed => &old_names,
            LinkChange::Added => &new_names,
        };
        names.contains(link.from.as_str()) || names.contains(link.to.as_str())
    })
}

/// Returns whether the new values explain each difference of fields: every differing field has the old value of a fix
/// before and its new value after.
fn explains_fields(values: &[FixedValue], diff: &PipelineDiff) -> bool {
    let fixes = values.iter().map(|value| &value.fix);
    let value_pairs: HashSet<(String, String)> = fixes
        .map(|fix| (fix.old_value.clone(), fix.new_value.clone()))
        .collect();
    for component in &diff.components {
        if component.change != ComponentChange::Modified {
            return false;
        }
        for field in &component.fields {
            let (Some(old_leaf), Some(new_leaf)) = (&field.before, &field.after) else {
                return false;
            };
            if !value_pairs.contains(&(old_leaf.to_string(), new_leaf.to_string())) {
                return false;
            }
        }
    }
    true
}

/// Returns the fix proposed for the finding at this index. Returns `None` if the finding is waived.
fn find_proposal(result: &RuleResult, index: usize) -> Option<&ProposedFix> {
    let proposal = result.violations.get(index)?.proposed_fix.as_deref();
    proposal.filter(|_| result.state(index) != Some(FindingState::Waived))
}

/// Returns the proposed new values of a file, in their order in the file.
pub(super) fn list_proposed_values(file: &FileResults) -> Vec<FixedValue> {
    let mut values = Vec::new();
    for result in &file.results {
        let Some(severity) = result.severity() else {
            continue;
        };
        for (index, violation) in result.violations.iter().enumerate() {
            values.extend(find_proposal(result, index).map(|proposal| FixedValue {
                rule: result.rule.clone(),
                about: violation.about.clone(),
                severity,
                fix: proposal.clone(),
            }));
        }
    }
    values.sort_by_key(|value| value.fix.position);
    values
}

#[cfg(test)]
mod tests;
