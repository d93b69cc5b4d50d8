//! Searches for the probable target of a broken reference. Hostile names can make each search compare all names, so the
//! work is bounded.

use super::Renames;
use super::messages::{
    DELETION_HINT, REPAIR_HINT, format_other_spelling_hint, format_paths, format_rename_hint,
    format_similar_name_hint, format_uncertain_rename_hint, suggest_extension,
};
use crate::pipelines::{
    OtherSpelling, PipelineFiles, PipelineKind, SpellingIndex, complete_path, file_name, is_expression,
    trim_pipeline_extension,
};
use sluicegate_base::text::{NameProfile, find_most_similar, shorten_name};
use std::cmp::Ordering;
use std::collections::HashMap;

/// Maximum number of searches of one budget.
const MAX_SEARCHES: usize = 20;

/// Maximum number of pairs of bytes that all searches compare, which takes about a second.
const MAX_PAIRS: usize = 200_000_000;

/// The work that searches may still do.
struct SearchBudget {
    remaining_searches: usize,
    remaining_pairs: usize,
}

impl SearchBudget {
    /// Deducts one search from the budget. Returns false if no search or no pair of bytes was left.
    fn spend_search(&mut self) -> bool {
        let is_allowed = self.remaining_searches > 0 && self.remaining_pairs > 0;
        self.remaining_searches = self.remaining_searches.saturating_sub(1);
        is_allowed
    }

    /// Deducts the comparison of `name` with names of `known_length` bytes in total from the budget: one pair for each
    /// byte of `name` and each byte of these names. Returns whether the budget allows it. A comparison that exceeds the
    /// budget uses it up.
    fn spend_comparison(&mut self, name: &str, known_length: usize) -> bool {
        let pairs = known_length.saturating_mul(name.len());
        let is_allowed = pairs <= self.remaining_pairs;
        self.remaining_pairs = self.remaining_pairs.saturating_sub(pairs);
        is_allowed
    }
}

impl Default for SearchBudget {
    /// Returns the full budget.
    fn default() -> Self {
        Self {
            remaining_searches: MAX_SEARCHES,
            remaining_pairs: MAX_PAIRS,
        }
    }
}

/// A path that is similar to the target of a broken reference.
struct SimilarPath<'p> {
    path: &'p str,
    /// The similarity to the target, from 0 to 1.
    similarity: f64,
}

impl SimilarPath<'_> {
    /// Returns whether this path is a better suggestion: more similar, or first in alphabetical order if both are
    /// equally similar.
    fn is_better_than(&self, candidate: &SimilarPath<'_>) -> bool {
        match self.similarity.total_cmp(&candidate.similarity) {
            Ordering::Greater => true,
            Ordering::Equal => self.path < candidate.path,
            Ordering::Less => false,
        }
    }
}

/// The paths of one kind of pipelines, for many searches.
#[derive(Default)]
struct PathIndex<'p> {
    entries: Vec<PathEntry<'p>>,
}

struct PathEntry<'p> {
    path: &'p str,
    /// The file name without its extension.
    name: NameProfile<'p>,
}

impl<'p> PathIndex<'p> {
    /// Creates the index. Stores each file name without the extension, which is the same for all pipelines of a kind.
    fn new(paths: impl Iterator<Item = &'p str>) -> Self {
        let entries = paths
            .map(|path| PathEntry {
                path,
                name: NameProfile::new(file_name(trim_pipeline_extension(path))),
            })
            .collect();
        Self { entries }
    }

    /// Returns the path that is most similar to `target`, a path without its extension. The file names must be similar,
    /// too, because many paths have a long directory in common. Skips the path of the caller. Returns `None` if no path
    /// is similar. Each comparison takes time, so an exhausted budget ends the search: the result is then `None`, too,
    /// because a path that was not compared could be more similar.
    fn find_most_similar(&self, target: &str, caller: &str, budget: &mut SearchBudget) -> Option<&'p str> {
        let target_path = NameProfile::new(target);
        let target_name = NameProfile::new(file_name(target));
        let mut best_match: Option<SimilarPath<'p>> = None;
        for entry in &self.entries {
            if entry.path == caller || !target_name.can_be_similar(&entry.name) {
                continue;
            }
            let stem = NameProfile::new(trim_pipeline_extension(entry.path));
            if !target_path.can_be_similar(&stem) {
                continue;
            }
            if !budget.spend_comparison(target, stem.name.len()) {
                return None;
            }
            let Some(similarity) = target_path.find_similarity(&stem) else {
                continue;
            };
            if !target_name.is_similar(&entry.name) {
                continue;
            }
            let candidate = SimilarPath {
                path: entry.path,
                similarity,
            };
            if best_match
                .as_ref()
                .is_none_or(|best| candidate.is_better_than(best))
            {
                best_match = Some(candidate);
            }
        }
        best_match.map(|similar| similar.path)
    }
}

/// A hint for a broken reference: what it probably means.
#[derive(Default)]
pub struct CallHint {
    /// The end of a message; may be empty.
    pub(super) text: String,
    /// The only file that the call can mean.
    pub(super) only_path: Option<String>,
}

impl CallHint {
    /// Returns this hint or, if it is empty and the change deletes the file at this path, the hint to restore the file.
    pub(super) fn or_deletion(self, renames: &Renames<'_>, path: &str) -> Self {
        Self {
            text: complete_hint(self.text, renames, path),
            ..self
        }
    }

    /// Creates the hint at the new path of a renamed file, which is also the fix of the reference. If the rename is
    /// uncertain, the path is only named.
    pub(super) fn for_renamed_file(renames: &Renames<'_>, new_path: &str) -> Self {
        if (renames.is_uncertain)(new_path) {
            return Self {
                text: format_uncertain_rename_hint(new_path),
                only_path: None,
            };
        }
        Self {
            text: format_rename_hint(new_path),
            only_path: Some(new_path.to_owned()),
        }
    }

    /// Returns the text of the hint for a run that offers no fix. If only one path can be meant, the text also names
    /// the command that writes it.
    pub fn into_text_with_command(self) -> String {
        let command_hint = if self.only_path.is_some() { REPAIR_HINT } else { "" };
        self.text + command_hint
    }
}

/// Returns the hint for a missing file at this path or, if it is empty and the change deletes the file, the hint to
/// restore the file.
pub(super) fn complete_hint(hint: String, renames: &Renames<'_>, path: &str) -> String {
    if hint.is_empty() && (renames.is_deleted)(path) {
        DELETION_HINT.to_owned()
    } else {
        hint
    }
}

/// Hints for broken calls, which share one budget.
#[derive(Default)]
pub struct CallSuggestions<'p> {
    budget: SearchBudget,
    /// The results for the current caller, by the target and the kind of the call.
    cached_paths: HashMap<(String, PipelineKind), Option<&'p str>>,
    caller: String,
    indexes: HashMap<PipelineKind, PathIndex<'p>>,
    spellings: Option<SpellingIndex<'p>>,
}

impl<'p> CallSuggestions<'p> {
    /// Prepares for the calls of another file. Drops the cached results, because a file is never suggested to itself.
    pub(crate) fn reset_for_file(&mut self, caller: &str) {
        caller.clone_into(&mut self.caller);
        self.cached_paths.clear();
    }

    /// Returns a hint for a call to a missing pipeline; it may be empty. The hint names the only file with this path in
    /// another spelling, otherwise the files with this name in other directories, except the caller, otherwise a file
    /// that differs in its Unicode normal form, otherwise several files with this path in other spellings, otherwise a
    /// file with a similar path. Only the first case is certain enough for a fix (`only_path`). For a single file with
    /// this name, and for another normal form, the text names the command that writes the path if `can_repair` is set,
    /// because the command works there.
    pub fn suggest_pipeline(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
        can_repair: bool,
    ) -> CallHint {
        let spelling = self.find_other_spelling(files, target, kind);
        if let Some(spelling) = spelling.filter(|spelling| spelling.is_only_path) {
            return CallHint {
                text: format_other_spelling_hint(spelling),
                only_path: Some(spelling.path.to_owned()),
            };
        }
        let mut same_name_paths = files.files_named(target, kind).to_vec();
        same_name_paths.retain(|path| *path != self.caller);
        let text = match (describe_same_name_paths(&same_name_paths, can_repair), spelling) {
            (Some(text), _) => text,
            (None, Some(spelling)) => {
                format_other_spelling_hint(spelling) + describe_repair(spelling.path, can_repair)
            }
            (None, None) => self.describe_similar_paths(files, target, kind),
        };
        CallHint {
            text,
            only_path: None,
        }
    }

    /// Returns a hint for an entry of the shared-pipelines file whose pipeline is missing; it may be empty. Names files
    /// as [`Self::suggest_pipeline`] does. For a path without an extension, names the pipeline with the extension.
    pub fn suggest_entry(&mut self, files: &PipelineFiles<'p>, path: &str) -> String {
        match PipelineKind::from_path(path) {
            Some(kind) => {
                // `sluicegate mv --repair` rewrites calls, but not entries of this file.
                let can_repair = false;
                self.suggest_pipeline(files, path, kind, can_repair).text
            }
            None => suggest_extension(files, path),
        }
    }

    /// Returns the pipeline whose path, or at least whose file name, differs from the target of a call only in its
    /// spelling. The first search builds the index of spellings.
    fn find_other_spelling(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
    ) -> Option<OtherSpelling<'p>> {
        self.index_spellings(files)
            .find_similar_spelling(&complete_path(target, kind))
    }

    /// Returns the index of spellings. The first call builds it.
    fn index_spellings(&mut self, files: &PipelineFiles<'p>) -> &SpellingIndex<'p> {
        self.spellings.get_or_insert_with(|| {
            SpellingIndex::new(
                PipelineKind::ALL
                    .into_iter()
                    .flat_map(|kind| files.files_of_kind(kind)),
            )
        })
    }

    /// Returns a hint with the files whose path differs from the target only in its spelling, if there are several,
    /// because each of them may be meant. Otherwise returns a hint with a similar path; it may be empty.
    fn describe_similar_paths(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
    ) -> String {
        let spellings = self.index_spellings(files);
        let mut same_paths = spellings.find_spellings(&complete_path(target, kind)).to_vec();
        same_paths.sort_unstable();
        if same_paths.len() > 1 {
            return format!("; {} differ only in their spelling", format_paths(&same_paths));
        }
        self.find_similar_path(files, target, kind)
            .map(format_similar_name_hint)
            .unwrap_or_default()
    }

    /// Returns the path that is most similar to the target of a call; `None` if no path is similar, or if the budget
    /// for searches is used up.
    fn find_similar_path(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
    ) -> Option<&'p str> {
        let target_path = complete_path(target, kind);
        let target_stem = trim_pipeline_extension(&target_path);
        let key = (target_stem.to_owned(), kind);
        if let Some(path) = self.cached_paths.get(&key) {
            return *path;
        }
        if !self.budget.spend_search() {
            return None;
        }
        let index = self
            .indexes
            .entry(kind)
            .or_insert_with(|| PathIndex::new(files.files_of_kind(kind)));
        let path = index.find_most_similar(target_stem, &self.caller, &mut self.budget);
        self.cached_paths.insert(key, path);
        path
    }
}

/// Returns a hint with the files that have the name of a missing file; `None` if there are none.
pub(super) fn describe_same_name_paths(paths: &[&str], can_repair: bool) -> Option<String> {
    match paths {
        [] => None,
        [path] => Some(format!(
            "; `{}` has that name{}",
            shorten_name(path),
            describe_repair(path, can_repair)
        )),
        paths => Some(format!("; {} have that name", format_paths(paths))),
    }
}

/// Returns the hint to the command that writes the path; empty if the command does not work there, and for a path that
/// would be read as an expression, which the command does not write.
pub(super) fn describe_repair(path: &str, can_repair: bool) -> &'static str {
    if can_repair && !is_expression(path) {
        REPAIR_HINT
    } else {
        ""
    }
}

/// Searches for the components that broken links mean, which share one budget.
#[derive(Default)]
pub struct ComponentSuggestions {
    budget: SearchBudget,
    /// The results for the current file.
    cached_names: HashMap<String, Option<String>>,
}

impl ComponentSuggestions {
    /// Prepares for the links of another file, whose components have other names. Drops the cached results.
    pub fn reset_for_file(&mut self) {
        self.cached_names.clear();
    }

    /// Returns the component whose name is most similar; `None` if no name is similar, or if the budget for searches is
    /// used up.
    pub fn find_similar_component<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str> + Clone,
        name: &str,
    ) -> Option<String> {
        if let Some(cached_name) = self.cached_names.get(name) {
            return cached_name.clone();
        }
        if !self.budget.spend_search()
            || !self
                .budget
                .spend_comparison(name, names.clone().map(str::len).sum())
        {
            return None;
        }
        let similar_name = find_most_similar(name, names).map(str::to_owned);
        self.cached_names.insert(name.to_owned(), similar_name.clone());
        similar_name
    }
}
