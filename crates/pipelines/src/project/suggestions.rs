//! Searches what a broken reference probably means. Each search compares all names, so the work is bounded.

use super::messages::{REPAIR_HINT, format_paths, normal_form_hint, similar_name_hint};
use crate::pipelines::{PipelineFiles, PipelineKind, UnicodeNameIndex, file_name, without_extension};
use sluicegate_base::text::{find_most_similar, is_similar, is_similar_path, shorten_name};
use std::collections::HashMap;

const MAX_SEARCHES: usize = 20;

/// Maximum number of pairs of characters that all searches compare, which takes about a second.
const MAX_PAIRS: usize = 200_000_000;

/// The work that searches may still do.
struct SearchBudget {
    remaining_searches: usize,
    remaining_pairs: usize,
}

impl SearchBudget {
    /// Takes the cost of a search from the budget, and returns whether the search may be done.
    fn spend(&mut self, name: &str, known_length: usize) -> bool {
        let pairs = known_length.saturating_mul(name.len());
        if self.remaining_searches == 0 || pairs > self.remaining_pairs {
            return false;
        }
        self.remaining_pairs -= pairs;
        self.remaining_searches -= 1;
        true
    }
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self {
            remaining_searches: MAX_SEARCHES,
            remaining_pairs: MAX_PAIRS,
        }
    }
}

/// Hints for broken calls, which share one budget.
#[derive(Default)]
pub struct CallSuggestions<'p> {
    budget: SearchBudget,
    /// The results for the current caller, by the target and the kind of the call.
    cached_paths: HashMap<(String, PipelineKind), Option<&'p str>>,
    caller: String,
    normal_forms: Option<UnicodeNameIndex<'p>>,
}

impl<'p> CallSuggestions<'p> {
    /// Begins with the calls of another file.
    pub(crate) fn start_file(&mut self, caller: &str) {
        caller.clone_into(&mut self.caller);
        self.cached_paths.clear();
    }

    /// Returns a hint with the files of that name, otherwise with a similar path.
    pub fn suggest(&mut self, files: &PipelineFiles<'p>, target: &str, kind: PipelineKind) -> String {
        match files.files_named(target, kind) {
            [] => match self.find_other_form(files, target, kind) {
                Some(path) => normal_form_hint(path),
                None => self
                    .find_similar(files, target, kind)
                    .map(similar_name_hint)
                    .unwrap_or_default(),
            },
            [one] => format!("; `{}` has that name{REPAIR_HINT}", shorten_name(one)),
            several => format!("; {} have that name", format_paths(several)),
        }
    }

    /// Returns the path that differs from the target only in its Unicode normal form.
    fn find_other_form(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
    ) -> Option<&'p str> {
        if target.is_ascii() {
            return None;
        }
        let normal_forms = self.normal_forms.get_or_insert_with(|| {
            UnicodeNameIndex::new(
                PipelineKind::ALL
                    .into_iter()
                    .flat_map(|kind| files.files_of_kind(kind)),
            )
        });
        let target_stem = target.strip_suffix(kind.extension()).unwrap_or(target);
        normal_forms.find(&format!("{target_stem}{}", kind.extension()))
    }

    /// Returns the path that is most similar to the target of a call; `None` if no path is similar, or after too much
    /// work.
    fn find_similar(
        &mut self,
        files: &PipelineFiles<'p>,
        target: &str,
        kind: PipelineKind,
    ) -> Option<&'p str> {
        let target_stem = target.strip_suffix(kind.extension()).unwrap_or(target);
        let key = (target_stem.to_owned(), kind);
        if let Some(path) = self.cached_paths.get(&key) {
            return *path;
        }
        if self.budget.remaining_searches == 0 {
            return None;
        }
        let is_other_file = |path: &&str| *path != self.caller;
        let length = files
            .files_of_kind(kind)
            .filter(is_other_file)
            .map(str::len)
            .sum();
        if !self.budget.spend(target_stem, length) {
            return None;
        }
        // A folder that both paths have does not make two names similar.
        let similar_paths: HashMap<&str, &'p str> = files
            .files_of_kind(kind)
            .filter(is_other_file)
            .map(|path| (without_extension(path), path))
            .filter(|(stem, _)| {
                is_similar(file_name(target_stem), file_name(stem)) && is_similar_path(target_stem, stem)
            })
            .collect();
        let path = find_most_similar(target_stem, similar_paths.keys().copied())
            .and_then(|stem| similar_paths.get(stem).copied());
        self.cached_paths.insert(key, path);
        path
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
    /// Begins with the links of another file.
    pub fn start_file(&mut self) {
        self.cached_names.clear();
    }

    /// Returns the component whose name is most similar.
    pub fn find_similar<'n>(
        &mut self,
        names: impl Iterator<Item = &'n str> + Clone,
        name: &str,
    ) -> Option<String> {
        if let Some(cached_name) = self.cached_names.get(name) {
            return cached_name.clone();
        }
        if self.budget.remaining_searches == 0 || !self.budget.spend(name, names.clone().map(str::len).sum())
        {
            return None;
        }
        let similar = find_most_similar(name, names).map(str::to_owned);
        self.cached_names.insert(name.to_owned(), similar.clone());
        similar
    }
}
