//! Proves the proposed fixes. With the new values, the same checks must no longer report the findings and must not
//! report new findings, and the files must differ only in these values.
//!
//! The findings are derived again from the contents of the project with the new values, so nothing is written.

use super::collected_facts::FactsByPath;
use super::earlier_callees::BasePipelines;
use super::file_fix_proof::{FileProver, FixCandidate};
use super::finding_counts::{FindingCounts, count_findings, find_fix_objection};
use super::fixed_file::{FixedFile, FixedValue, join_values, list_proposed_values};
use super::halving_search::{reject_in_halves, split_in_halves};
use super::has_proposed_fix;
use super::project_fixes::{FixProof, FixScope};
use super::project_scope::{ProjectContents, ProjectFindings, ProjectScope};
use crate::document_content::describe_doubt;
use crate::error::Failure;
use crate::gate::RunFindings;
use crate::gate::run::GateRun;
use rayon::prelude::*;
use sluicegate_git::{Snapshot, SnapshotFile};
use sluicegate_pipelines::findings::{FileResults, Severity};
use sluicegate_pipelines::pipelines::PipelineFiles;
use sluicegate_pipelines::project::SharedPipelinesFile;
use sluicegate_pipelines::rules::RuleSet;
use std::collections::{BTreeSet, HashSet};
use std::mem;

/// Maximum number of times that the project is checked again. Each time, the number of files that may contain the fix
/// that causes a new finding is halved.
const MAX_PROOFS: usize = 32;

/// Maximum number of times that the project is checked again with some of the fixes in a file whose fixes together
/// cause a new finding.
const MAX_VALUE_PROOFS: usize = 32;

impl GateRun<'_> {
    /// Proves that the fixes proposed in this scope cause no new findings, unless they are proven already. Each finding
    /// with a proven fix then names the command that applies it, unless the file on disk has another content. Waived
    /// findings get no fix.
    pub(crate) fn prove_fixes(
        &self,
        rules: Option<&RuleSet>,
        fix_scope: &FixScope<'_>,
        run_findings: &mut RunFindings,
    ) -> Result<(), Failure> {
        if let Some(contents) = run_findings.project_contents.take() {
            let files = &run_findings.project_files;
            run_findings.fixes = self.build_fix_proof(rules, fix_scope, files, contents)?;
        }
        let proof = &run_findings.fixes;
        let hint = self.choose_fix_hint();
        for file in &mut run_findings.project_files {
            let fixed_files = &proof.fixed_files;
            let search = fixed_files.binary_search_by(|fixed_file| fixed_file.path.cmp(&file.path));
            if let Some(fixed_file) = search.ok().and_then(|index| fixed_files.get(index)) {
                let is_fixable = proof.fixable_paths.contains(&file.path);
                fixed_file.add_fixes(file, if is_fixable { hint } else { "" });
            }
        }
        Ok(())
    }

    /// Proves the fixes in this scope before any finding is marked, while the platform responds. The run must not have
    /// waivers, because the fixes of waived findings are not proven.
    pub(crate) fn prove_fixes_of_unmarked_findings(
        &self,
        rules: Option<&RuleSet>,
        fix_scope: &FixScope<'_>,
        findings: &mut ProjectFindings,
    ) -> Result<(), Failure> {
        if let Some(contents) = findings.contents.take() {
            findings.fixes = self.build_fix_proof(rules, fix_scope, &findings.files, contents)?;
        }
        Ok(())
    }

    /// Proves the fixes that are proposed in these files, and finds the files that the user can correct on disk.
    fn build_fix_proof(
        &self,
        rules: Option<&RuleSet>,
        fix_scope: &FixScope<'_>,
        files: &[FileResults],
        contents: ProjectContents,
    ) -> Result<FixProof, Failure> {
        let checks = self.project_checks();
        let base_pipelines = BasePipelines::new();
        let earlier_callees = self.earlier_callees(&base_pipelines);
        let mut proof = checks.with_scope(
            checks.snapshot,
            // The renames serve only the hints in the findings, which are not compared here.
            None,
            &|caller, reference, path| earlier_callees.find_callee(caller, reference, path),
            |project_scope| self.prove_project_fixes(project_scope, fix_scope, rules, files, contents),
        )?;
        proof.fixed_files.sort_by(|a, b| a.path.cmp(&b.path));
        proof.fixable_paths = self.list_fixable_paths(&proof.fixed_files)?;
        Ok(proof)
    }

    /// Returns the files in this scope with a proposed fix. If their number is limited, changed files come first, then
    /// those with errors, because the log lists findings in this order.
    fn select_wanted_files<'f>(
        &self,
        files: &'f [FileResults],
        fix_scope: &FixScope<'_>,
    ) -> Vec<&'f FileResults> {
        let mut wanted_files: Vec<&FileResults> = files
            .iter()
            .filter(|file| has_proposed_fix(file) && (fix_scope.is_wanted)(&file.path))
            .collect();
        let Some(max_files) = fix_scope
            .max_files
            .filter(|max_files| wanted_files.len() > *max_files)
        else {
            return wanted_files;
        };
        let candidates = self.selection.pipelines.candidates.iter();
        let changed_paths: HashSet<&str> = candidates
            .map(|candidate| candidate.change.path.as_str())
            .collect();
        wanted_files.sort_by_key(|file| {
            let mut results = file.results.iter();
            let has_error = results.any(|result| result.severity() == Some(Severity::Error));
            (!changed_paths.contains(file.path.as_str()), !has_error)
        });
        wanted_files.truncate(max_files);
        wanted_files
    }

    /// Proves the fixes that are proposed for the findings in these files. Checks each file alone against the rules,
    /// then all together against the project checks. Rejects the fixes that fail, and those in files that cannot be
    /// changed.
    fn prove_project_fixes(
        &self,
        project_scope: &ProjectScope<'_>,
        fix_scope: &FixScope<'_>,
        rules: Option<&RuleSet>,
        files: &[FileResults],
        contents: ProjectContents,
    ) -> Result<FixProof, Failure> {
        let snapshot = &self.subject.snapshot;
        let pipeline_files = PipelineFiles::new(contents.files.iter().map(|file| file.path.as_str()));
        let mut proof = FixProof::default();
        let wanted_files = self.select_wanted_files(files, fix_scope);
        let candidates = self.read_candidates(
            &wanted_files,
            &contents.facts,
            project_scope,
            fix_scope,
            &mut proof,
        )?;
        let file_prover = FileProver {
            rules,
            team_rules: &self.team_rules.rules,
            pipeline_files: &pipeline_files,
        };
        let mut accepted_files = Vec::with_capacity(candidates.len());
        let file_proofs: Vec<FixProof> = candidates
            .into_par_iter()
            .map(|candidate| file_prover.prove_file(candidate))
            .collect();
        for mut file_proof in file_proofs {
            accepted_files.append(&mut file_proof.fixed_files);
            proof.rejected_fixes.append(&mut file_proof.rejected_fixes);
        }
        let mut prover = ProjectProver {
            scope: project_scope,
            file_prover: &file_prover,
            snapshot,
            pipeline_files: &pipeline_files,
            shared_pipelines: contents.shared_pipelines.as_ref(),
            facts: contents.facts,
            counts: contents.finding_counts,
            proof,
        };
        prover.read_callees_and_count_findings(&contents.files, &mut accepted_files)?;
        let mut remaining_value_proofs = MAX_VALUE_PROOFS;
        for file in prover.prove_files(accepted_files)? {
            prover.prove_values(file, &mut remaining_value_proofs)?;
        }
        Ok(prover.proof)
    }

    /// Reads the files with proposed fixes. Rejects the fixes in a file that has an obstacle, that cannot be read, or
    /// that may differ from the file on disk.
    fn read_candidates<'f>(
        &self,
        wanted_files: &[&'f FileResults],
        facts_by_path: &'f FactsByPath,
        project_scope: &ProjectScope<'_>,
        fix_scope: &FixScope<'_>,
        proof: &mut FixProof,
    ) -> Result<Vec<FixCandidate<'f>>, Failure> {
        let wanted_paths: Vec<&str> = wanted_files.iter().map(|file| file.path.as_str()).collect();
        let obstacles = (fix_scope.find_obstacles)(&wanted_paths)?;
        let mut candidates = Vec::new();
        for file in wanted_files {
            let values = list_proposed_values(file);
            let facts = facts_by_path.get(&file.path).and_then(Option::as_ref);
            let Some(facts) = facts.filter(|_| !values.is_empty()) else {
                continue;
            };
            if let Some(reason) = obstacles.get(&file.path) {
                proof.reject(&file.path, values, reason);
                continue;
            }
            let Some(snapshot_file) = self.subject.snapshot.find_file(&file.path)? else {
                continue;
            };
            // The index hides the file on disk, which may be missing or have another content.
            if let Some(doubt) = snapshot_file.doubt {
                proof.reject(&file.path, values, &describe_doubt(doubt));
                continue;
            }
            match fix_scope.read_content(project_scope.repo, &snapshot_file)? {
                Ok(bytes) => candidates.push(FixCandidate {
                    path: &file.path,
                    facts,
                    bytes,
                    values,
                }),
                Err(error) => proof.reject(&file.path, values, &error.message),
            }
        }
        Ok(candidates)
    }
}

/// Proves fixes by checking the project with them.
struct ProjectProver<'p> {
    scope: &'p ProjectScope<'p>,
    file_prover: &'p FileProver<'p>,
    snapshot: &'p Snapshot<'p>,
    pipeline_files: &'p PipelineFiles<'p>,
    shared_pipelines: Option<&'p SharedPipelinesFile>,
    /// The facts with all fixes that are proven.
    facts: FactsByPath,
    /// The number of findings without any fix, by identity.
    counts: FindingCounts,
    proof: FixProof,
}

impl ProjectProver<'_> {
    /// Reads the pipelines that the candidates call after their fixes, because the checks compare each call with the
    /// called pipeline. Only this search uses the facts with the fixes. If it read a pipeline, counts the project's
    /// findings without the fixes again, because this pipeline can add findings.
    fn read_callees_and_count_findings(
        &mut self,
        files: &[SnapshotFile],
        candidates: &mut [FixedFile],
    ) -> Result<(), Failure> {
        let paths: BTreeSet<String> = candidates.iter().map(|file| file.path.clone()).collect();
        let start_paths = paths.iter().map(String::as_str).collect();
        self.swap_facts(candidates);
        let has_callees =
            self.scope
                .read_files_and_callees(files, self.pipeline_files, start_paths, &mut self.facts)?;
        let has_arguments = self.scope.read_callees_with_arguments(
            files,
            self.pipeline_files,
            self.shared_pipelines,
            &mut self.facts,
        )?;
        self.swap_facts(candidates);
        if has_callees || has_arguments {
            self.counts = self.count_project_findings()?;
        }
        Ok(())
    }

    /// Exchanges the facts of these files in the project with those of their fixed versions. A second call undoes the
    /// first.
    fn swap_facts(&mut self, files: &mut [FixedFile]) {
        for file in files {
            if let Some(Some(facts)) = self.facts.get_mut(&file.path) {
                mem::swap(facts, &mut file.facts);
            }
        }
    }

    /// Counts the findings of the project checks with the current facts.
    fn count_project_findings(&self) -> Result<FindingCounts, Failure> {
        let files = self.scope.check_facts(
            self.snapshot,
            self.pipeline_files,
            &self.facts,
            self.shared_pipelines,
        )?;
        Ok(count_findings(&files))
    }

    /// Proves the fixes of these files together. If they cause a new finding, proves each half separately, down to
    /// single files, and rejects the fixes that remain after the maximum number of proofs. Returns the files whose fixes
    /// together cause a new finding, but maybe not each of them.
    fn prove_files(&mut self, files: Vec<FixedFile>) -> Result<Vec<FixedFile>, Failure> {
        let mut remaining_proofs = MAX_PROOFS;
        let rejected_groups = reject_in_halves([files], &mut remaining_proofs, |files| {
            let objection = self.find_project_objection(files)?;
            if objection.is_none() {
                self.proof.fixed_files.append(files);
            }
            Ok::<_, Failure>(objection)
        })?;
        let mut divisible_files = Vec::new();
        for group in rejected_groups {
            let reason = group.item_reason().to_owned();
            let was_tried = group.objection.is_some();
            for file in group.items {
                if was_tried && file.values.len() > 1 {
                    divisible_files.push(file);
                } else {
                    self.proof.reject(&file.path, file.values, &reason);
                }
            }
        }
        Ok(divisible_files)
    }

    /// Proves those fixes of a file that cause no new finding, and rejects the others.
    fn prove_values(&mut self, mut file: FixedFile, remaining_proofs: &mut usize) -> Result<(), Failure> {
        // All fixes of the file together were tried before.
        let halves = split_in_halves(mem::take(&mut file.values));
        let mut accepted_file = None;
        let rejected_groups = reject_in_halves(halves, remaining_proofs, |values| {
            self.add_values(&file, &mut accepted_file, values)
        })?;
        for group in rejected_groups {
            self.proof.reject_group(&file.path, group);
        }
        self.proof.fixed_files.extend(accepted_file);
        Ok(())
    }

    /// Checks the project with these values of the file, and those of the accepted file. Returns the reason to reject
    /// them, or replaces the accepted file and keeps the facts with it.
    fn add_values(
        &mut self,
        file: &FixedFile,
        accepted_file: &mut Option<FixedFile>,
        values: &[FixedValue],
    ) -> Result<Option<String>, Failure> {
        let all_values = join_values(accepted_file.as_ref(), values);
        self.swap_facts(accepted_file.as_mut_slice());
        let facts = self.facts.get(&file.path).and_then(Option::as_ref);
        let result = match facts {
            Some(facts) => self
                .file_prover
                .fix_values(&file.path, facts, &file.old_bytes, all_values),
            None => Err("the file was not checked".to_owned()),
        };
        let reason = match result {
            Ok(fixed_file) => {
                let mut fixed_files = [fixed_file];
                let objection = self.find_project_objection(&mut fixed_files)?;
                if objection.is_none() {
                    *accepted_file = fixed_files.into_iter().next();
                    return Ok(None);
                }
                objection
            }
            Err(reason) => Some(reason),
        };
        self.swap_facts(accepted_file.as_mut_slice());
        Ok(reason)
    }

    /// Checks the project with the fixes of these files and all fixes accepted before. Returns the reason to reject the
    /// fixes if a finding that they should fix remains or a new one appears. Keeps the facts with the fixes only if the
    /// fixes are accepted.
    fn find_project_objection(&mut self, files: &mut [FixedFile]) -> Result<Option<String>, Failure> {
        self.swap_facts(files);
        let mut fixed_counts = FindingCounts::new();
        for file in self.proof.fixed_files.iter().chain(&*files) {
            for value in &file.values {
                *fixed_counts.entry(value.finding_key(&file.path)).or_default() += 1;
            }
        }
        let reason = find_fix_objection(&self.counts, &self.count_project_findings()?, &fixed_counts);
        if reason.is_some() {
            self.swap_facts(files);
        }
        Ok(reason)
    }
}
