//! Proves the fixes of one file by itself: only the new values differ, and no rule reports another finding.
//!
//! Both versions are read once, and serve every comparison.

use super::finding_counts::{FindingCounts, count_findings, find_fix_objection};
use super::fixed_file::{FixedFile, FixedValue, has_only_new_values, join_values};
use super::halving_search::{reject_in_halves, split_in_halves};
use super::project_fixes::FixProof;
use sluicegate_pipelines::diff::{PipelineDiff, PipelineVersions, compare_read_trees};
use sluicegate_pipelines::pipelines::{Pipeline, PipelineFacts, PipelineFiles};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::team_rules::TeamRuleSet;
use sluicegate_yaml::{DocumentError, EditableDocument, NewTexts, Position, RewrittenDocument, Tree};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::mem;

/// Maximum number of times that a file is rewritten without the values that cannot be replaced.
const MAX_REWRITES: usize = 20;

/// Maximum number of times that some of the values of a file are tried if all together cannot be replaced.
const MAX_ATTEMPTS: usize = 32;

/// The reason to reject values of a file.
enum FileObjection {
    /// The file cannot be compared, whatever the values are.
    File(String),
    /// These values cannot be replaced together.
    Values(String),
}

/// A file whose findings propose fixes.
pub(super) struct FixCandidate<'c> {
    pub(super) path: &'c str,
    /// The facts that the check read.
    pub(super) facts: &'c PipelineFacts,
    /// The content in which the values are replaced.
    pub(super) bytes: Vec<u8>,
    pub(super) values: Vec<FixedValue>,
}

/// Proves the fixes of files, each by itself, on any thread.
pub(super) struct FileProver<'p> {
    /// The rules of the project; `None` if it has none.
    pub(super) rules: Option<&'p RuleSet>,
    pub(super) team_rules: &'p TeamRuleSet,
    pub(super) pipeline_files: &'p PipelineFiles<'p>,
}

impl FileProver<'_> {
    /// Returns the file with its new values if these are proven, and the values that are rejected. If all values
    /// together are not proven, finds those that are. If the file cannot be compared at all, all its values are
    /// rejected.
    pub(super) fn prove_file(&self, mut candidate: FixCandidate<'_>) -> FixProof {
        let mut proof = FixProof::default();
        // The bytes are taken out, because the candidate is changed while they are read.
        let bytes = mem::take(&mut candidate.bytes);
        match self.build_fixed_document(&mut candidate, &bytes, &mut proof) {
            Ok(Some((document, comparison))) => {
                proof
                    .fixed_files
                    .push(build_fixed_file(candidate, bytes, document, comparison));
            }
            // Each value is already rejected.
            Ok(None) => {}
            Err(FileObjection::Values(_)) if candidate.values.len() > 1 => {
                self.prove_values(candidate, &bytes, &mut proof);
            }
            Err(FileObjection::Values(reason) | FileObjection::File(reason)) => {
                proof.reject(candidate.path, candidate.values, &reason);
            }
        }
        proof
    }

    /// Adds the file with those of its new values that are proven, and the values that are rejected.
    fn prove_values(&self, candidate: FixCandidate<'_>, bytes: &[u8], proof: &mut FixProof) {
        let FixCandidate { path, facts, .. } = candidate;
        let mut accepted_file = None;
        let mut remaining_attempts = MAX_ATTEMPTS;
        // All values together were tried before.
        let halves = split_in_halves(candidate.values);
        let Ok(rejected_groups) = reject_in_halves(halves, &mut remaining_attempts, |values| {
            let all_values = join_values(accepted_file.as_ref(), values);
            let result = self.fix_values(path, facts, bytes, all_values);
            Ok::<_, Infallible>(keep_file(result, &mut accepted_file))
        });
        for group in rejected_groups {
            proof.reject_group(path, group);
        }
        proof.fixed_files.extend(accepted_file);
    }

    /// Returns the file with exactly these new values, or the reason why they are not proven. `facts` are those of the
    /// file without them.
    pub(super) fn fix_values(
        &self,
        path: &str,
        facts: &PipelineFacts,
        bytes: &[u8],
        values: Vec<FixedValue>,
    ) -> Result<FixedFile, String> {
        let mut candidate = FixCandidate {
            path,
            facts,
            bytes: Vec::new(),
            values,
        };
        let mut proof = FixProof::default();
        let document = self
            .build_fixed_document(&mut candidate, bytes, &mut proof)
            .map_err(FileObjection::into_reason)?;
        match (document, proof.rejected_fixes.pop()) {
            (Some((document, comparison)), None) => {
                Ok(build_fixed_file(candidate, bytes.to_vec(), document, comparison))
            }
            (_, Some(rejected_fix)) => Err(rejected_fix.reason),
            (None, None) => Err("no value can be replaced".to_owned()),
        }
    }

    /// Returns the document with the new values, and how it differs from the old one; `None` if no value can be
    /// replaced. Rejects the values that cannot be replaced in place, and tries again without them. An error means that
    /// the remaining values of the file must be rejected, too, for this reason.
    fn build_fixed_document(
        &self,
        candidate: &mut FixCandidate<'_>,
        bytes: &[u8],
        proof: &mut FixProof,
    ) -> Result<Option<(RewrittenDocument, FixEffect)>, FileObjection> {
        let positions: BTreeSet<Position> = candidate.values.iter().map(|value| value.fix.position).collect();
        let document = EditableDocument::parse(bytes, |position| positions.contains(&position))
            .map_err(|error| FileObjection::File(error.message))?;
        let old_version = FileVersion::from_tree(bytes, document.tree()).map_err(FileObjection::File)?;
        if PipelineFacts::from_pipeline(&old_version.pipeline) != *candidate.facts {
            let reason = "the file differs from the checked version".to_owned();
            return Err(FileObjection::File(reason));
        }
        for _ in 0..MAX_REWRITES {
            let rewrite = document.replace_texts(&candidate.list_new_texts(), |new_bytes, new_tree| {
                self.compare_versions(candidate.path, &old_version, new_bytes, &new_tree)
            });
            match rewrite {
                // The values are in place, but the comparison of the versions can still fail.
                Ok((new_document, comparison)) => {
                    let comparison = comparison.map_err(FileObjection::Values)?;
                    comparison
                        .check_values(&candidate.values)
                        .map_err(FileObjection::Values)?;
                    return Ok(Some((new_document, comparison)));
                }
                Err(error) => candidate.reject_unwritable_values(&error, proof),
            }
            if candidate.values.is_empty() {
                return Ok(None);
            }
        }
        let reason = "too many other values in the file cannot be replaced".to_owned();
        Err(FileObjection::File(reason))
    }

    /// Compares the new version of a file with the old one: the facts, the differences, and whether a rule reports a
    /// new finding. The error is the reason why the new version is not a pipeline.
    fn compare_versions(
        &self,
        path: &str,
        old_version: &FileVersion<'_>,
        new_bytes: &[u8],
        new_tree: &Tree<'_>,
    ) -> Result<FixEffect, String> {
        let new_version = FileVersion::from_tree(new_bytes, new_tree)?;
        let versions = PipelineVersions {
            path,
            previous_path: None,
            base: Some(Ok(old_version.bytes)),
            head: Some(Ok(new_version.bytes)),
        };
        let new_finding = find_fix_objection(
            &self.count_findings(path, old_version),
            &self.count_findings(path, &new_version),
            // The fixes belong to findings of the project checks, so no finding of a rule has to disappear.
            &FindingCounts::new(),
        );
        Ok(FixEffect {
            facts: PipelineFacts::from_pipeline(&new_version.pipeline),
            diff: compare_read_trees(&versions, Some(old_version.tree), Some(new_version.tree))?,
            new_finding,
        })
    }

    /// Counts the findings that the rules of the project and of the team report in this version.
    fn count_findings(&self, path: &str, version: &FileVersion<'_>) -> FindingCounts {
        let (pipeline, tree) = (&version.pipeline, version.tree);
        let rule_results = self.rules.map(|rules| rules.evaluate_pipeline(path, pipeline));
        let is_covered = self.team_rules.applies_to(path);
        let team_results = is_covered.then(|| {
            self.team_rules
                .evaluate_pipeline(path, pipeline, tree, self.pipeline_files)
        });
        count_findings(rule_results.iter().chain(&team_results))
    }
}

impl FileObjection {
    fn into_reason(self) -> String {
        match self {
            Self::File(reason) | Self::Values(reason) => reason,
        }
    }
}

/// Stores a file as the accepted one. Returns the reason if there is none.
fn keep_file(result: Result<FixedFile, String>, accepted_file: &mut Option<FixedFile>) -> Option<String> {
    match result {
        Ok(file) => {
            *accepted_file = Some(file);
            None
        }
        Err(reason) => Some(reason),
    }
}

/// Builds the file with the new values of the candidate.
fn build_fixed_file(
    candidate: FixCandidate<'_>,
    old_bytes: Vec<u8>,
    document: RewrittenDocument,
    comparison: FixEffect,
) -> FixedFile {
    let replacements = document.replacements.into_iter();
    FixedFile {
        path: candidate.path.to_owned(),
        old_bytes,
        new_bytes: document.bytes,
        values: candidate.values,
        facts: comparison.facts,
        replacements: replacements
            .map(|replacement| (replacement.position, replacement))
            .collect(),
    }
}

impl FixCandidate<'_> {
    /// Returns the new value of each fix, by the position of the old value.
    fn list_new_texts(&self) -> NewTexts {
        let values = self.values.iter();
        values
            .map(|value| (value.fix.position, value.fix.new_value.clone()))
            .collect()
    }

    /// Rejects the values to which the error applies: the one at its position, or all.
    fn reject_unwritable_values(&mut self, error: &DocumentError, proof: &mut FixProof) {
        let (unwritable_values, other_values): (Vec<_>, Vec<_>) = self.values.drain(..).partition(|value| {
            error
                .position
                .is_none_or(|position| position == value.fix.position)
        });
        proof.reject(self.path, unwritable_values, &error.message);
        self.values = other_values;
    }
}

/// A version of a file, and what was read from it.
struct FileVersion<'v> {
    bytes: &'v [u8],
    tree: &'v Tree<'v>,
    pipeline: Pipeline,
}

impl<'v> FileVersion<'v> {
    /// Reads the pipeline in this version of a file. The error is the reason why the file is not a valid pipeline.
    fn from_tree(bytes: &'v [u8], tree: &'v Tree<'v>) -> Result<Self, String> {
        let pipeline = Pipeline::from_tree(tree).map_err(|error| error.message)?;
        Ok(Self {
            bytes,
            tree,
            pipeline,
        })
    }
}

/// How the new version of a file differs from the old one.
struct FixEffect {
    /// The facts about the pipeline with the new values.
    facts: PipelineFacts,
    diff: PipelineDiff,
    /// The reason to reject the values if a rule reports another finding with them.
    new_finding: Option<String>,
}

impl FixEffect {
    /// Fails if the versions differ in more than these values, or if a rule reports a new finding. The error is the
    /// reason to reject the values.
    fn check_values(&self, values: &[FixedValue]) -> Result<(), String> {
        if !has_only_new_values(&self.diff, values) {
            return Err("the fix would change more than this value".to_owned());
        }
        self.new_finding.clone().map_or(Ok(()), Err)
    }
}
