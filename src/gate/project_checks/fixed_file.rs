//! A file with the new values of its proposed fixes.

use super::finding_counts::FindingKey;
use sluicegate_pipelines::diff::{
    ComponentChange, LinkChange, LinkDiff, PipelineDiff, PipelineVersions, compare_versions,
};
use sluicegate_pipelines::findings::{
    FileChange, FileResults, FindingState, Fix, ProposedFix, RuleResult, Severity, Violation,
};
use sluicegate_pipelines::pipelines::PipelineFacts;
use sluicegate_pipelines::project::FIX_HINT;
use sluicegate_pipelines::yaml::{DocumentError, Position, ScalarReplacement, rewrite_scalars};
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
    replacements: BTreeMap<Position, ScalarReplacement>,
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
    /// Returns the identity of the finding in the file at this path.
    pub(super) fn finding_key(&self, path: &str) -> FindingKey {
        FindingKey {
            path: path.to_owned(),
            rule: self.rule.clone(),
            about: self.about.clone(),
            severity: self.severity,
        }
    }
}

impl FixedFile {
    /// Adds the fixes to the findings of the file, and the command that makes them to their messages.
    pub(super) fn add_fixes(&self, file: &mut FileResults) {
        for result in &mut file.results {
            for index in 0..result.violations.len() {
                if find_proposal(result, index).is_none() {
                    continue;
                }
                if let Some(violation) = result.violations.get_mut(index) {
                    self.add_fix(violation);
                }
            }
        }
    }

    fn add_fix(&self, violation: &mut Violation) {
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
            violation.text.push_str(FIX_HINT);
        }
    }

    /// Returns whether the diff of both versions shows the new values and nothing else.
    fn has_only_new_values(&self) -> bool {
        let diff = compare_versions(&PipelineVersions {
            path: &self.path,
            previous_path: None,
            base: Some(Ok(&self.old_bytes)),
            head: Some(Ok(&self.new_bytes)),
        });
        diff.change == FileChange::Modified
            && !diff.layout
            && diff.variables.is_empty()
            && diff.other.is_empty()
            && self.explains_links(&diff.links)
            && self.explains_fields(&diff)
    }

    /// Returns whether new values are the reason for all of these differences of links.
    fn explains_links(&self, links: &[LinkDiff]) -> bool {
        let fixes = self.values.iter().map(|value| &value.fix);
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

    /// Returns whether new values are the reason for all differences of fields.
    fn explains_fields(&self, diff: &PipelineDiff) -> bool {
        let fixes = self.values.iter().map(|value| &value.fix);
        let value_pairs: HashSet<(String, String)> = fixes
            .map(|fix| (fix.old_value.clone(), fix.new_value.clone()))
            .collect();
        diff.components.iter().all(|component| {
            component.change == ComponentChange::Modified
                && component
                    .fields
                    .iter()
                    .all(|field| match (&field.before, &field.after) {
                        (Some(old_leaf), Some(new_leaf)) => {
                            value_pairs.contains(&(old_leaf.to_string(), new_leaf.to_string()))
                        }
                        _ => false,
                    })
        })
    }
}

/// Returns the proposed fix of the finding at this index, unless the finding is waived.
fn find_proposal(result: &RuleResult, index: usize) -> Option<&ProposedFix> {
    let proposal = result.violations.get(index)?.proposed_fix.as_deref();
    proposal.filter(|_| result.state(index) != Some(FindingState::Waived))
}

/// Returns the values of a file for which a fix is proposed, in their order in the file.
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

/// Returns the file with the new values. `facts` are what the check read. The error has the position of a value that
/// cannot be replaced.
pub(super) fn build_fixed_file(
    path: &str,
    facts: &PipelineFacts,
    old_bytes: &[u8],
    values: &[FixedValue],
) -> Result<FixedFile, DocumentError> {
    if PipelineFacts::parse(old_bytes)? != *facts {
        return Err(DocumentError::for_document(
            "the file differs from what was checked",
        ));
    }
    let new_texts: BTreeMap<_, _> = values
        .iter()
        .map(|value| (value.fix.position, value.fix.new_value.clone()))
        .collect();
    let document = rewrite_scalars(old_bytes, &new_texts)?;
    let replacements = document.replacements.into_iter();
    let file = FixedFile {
        path: path.to_owned(),
        facts: PipelineFacts::parse(&document.bytes)?,
        new_bytes: document.bytes,
        replacements: replacements
            .map(|replacement| (replacement.position, replacement))
            .collect(),
        values: values.to_vec(),
        old_bytes: old_bytes.to_vec(),
    };
    if file.has_only_new_values() {
        Ok(file)
    } else {
        Err(DocumentError::for_document(
            "the edit would change more than this value",
        ))
    }
}

#[cfg(test)]
mod tests;
