//! Searches what a broken reference probably means. Each search compares all names, so the work is bounded.

use super::words::{REPAIR, did_you_mean, listed, other_normal_form};
use crate::pipelines::{Kind, NormalForms, PipelineFiles, file_name, without_extension};
use sluicegate_base::text::{find_most_similar, is_similar, is_similar_path, shorten_name};
use std::collections::HashMap;

const MOST_SEARCHES: usize = 20;

/// Maximum number of pairs of characters that all searches compare, which takes about a second.
const MOST_PAIRS: usize = 200_000_000;

/// The work that searches may still do.
struct SearchBudget {
    searches: usize,
    pairs: usize,
}

impl SearchBudget {
    /// Takes the cost of a search from the budget, and returns whether the search may be done.
    fn take(&mut self, name: &str, known_length: usize) -> bool {
        let pairs = known_length.saturating_mul(name.len());
        if self.searches == 0 || pairs > self.pairs {
            return false;
        }
        self.pairs -= pairs;
        self.searches -= 1;
        true
    }
}

impl Default for SearchBudget {
    fn default() -> Self {
        Self {
            searches: MOST_SEARCHES,
            pairs: MOST_PAIRS,
        }
    }
}

/// Hints for broken calls, which share one budget.
#[derive(Default)]
pub struct CallSuggestions<'p> {
    budget: SearchBudget,
    /// The results for the current caller, by the target and the kind of the call.
    known: HashMap<(String, Kind), Option<&'p str>>,
    caller: String,
    normal_forms: Option<NormalForms<'p>>,
}

impl<'p> CallSuggestions<'p> {
    /// Begins with the calls of another file.
    pub(crate) fn enter(&mut self, caller: &str) {
        caller.clone_into(&mut self.caller);
        self.known.clear();
    }

    /// Returns a hint with the files of that name, otherwise with a similar path.
    pub fn help(&mut self, files: &PipelineFiles<'p>, target: &str, kind: Kind) -> String {
        match files.of_name(target, kind) {
            [] => match self.find_other_form(files, target, kind) {
                Some(path) => other_normal_form(path),
                None => self
                    .find(files, target, kind)
                    .map(did_you_mean)
                    .unwrap_or_default(),
            },
            [one] => format!("; `{}` has that name{REPAIR}", shorten_name(one)),
            several => format!("; {} have that name", listed(several)),
        }
    }

    /// Returns the path that differs from the target only in its Unicode normal form.
    fn find_other_form(&mut self, files: &PipelineFiles<'p>, target: &str, kind: Kind) -> Option<&'p str> {
        if target.is_ascii() {
            return None;
        }
        let paths = || Kind::ALL.into_iter().flat_map(|kind| files.of_kind(kind));
        let forms = self.normal_forms.get_or_insert_with(|| NormalForms::new(paths()));
        let named = target.strip_suffix(kind.extension()).unwrap_or(target);
        forms.find(&format!("{named}{}", kind.extension()))
    }

    /// Returns the path that is most similar to the target of a call; `None` if no path is similar, or after too much
    /// work.
    fn find(&mut self, files: &PipelineFiles<'p>, target: &str, kind: Kind) -> Option<&'p str> {
        let named = target.strip_suffix(kind.extension()).unwrap_or(target);
        let key = (named.to_owned(), kind);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.budget.searches == 0 {
            return None;
        }
        let is_callee = |path: &&str| *path != self.caller;
        let length = files.of_kind(kind).filter(is_callee).map(str::len).sum();
        if !self.budget.take(named, length) {
            return None;
        }
        // A folder that both paths have does not make two names similar.
        let similar = files.of_kind(kind).filter(is_callee).filter(|path| {
            let path = without_extension(path);
            is_similar(file_name(named), file_name(path)) && is_similar_path(named, path)
        });
        let similar: HashMap<&str, &'p str> = similar.map(|path| (without_extension(path), path)).collect();
        let path =
            find_most_similar(named, similar.keys().copied()).and_then(|name| similar.get(name).copied());
        self.known.insert(key, path);
        path
    }
}

/// Searches for the components that broken links mean, which share one budget.
#[derive(Default)]
pub struct ComponentSuggestions {
    budget: SearchBudget,
    /// The results for the current file.
    known: HashMap<String, Option<String>>,
}

impl ComponentSuggestions {
    /// Begins with the links of another file.
    pub fn enter(&mut self) {
        self.known.clear();
    }

    /// Returns the component whose name is most similar.
    pub fn find<'n>(&mut self, names: impl Iterator<Item = &'n str> + Clone, name: &str) -> Option<String> {
        if let Some(known) = self.known.get(name) {
            return known.clone();
        }
        if self.budget.searches == 0 || !self.budget.take(name, names.clone().map(str::len).sum()) {
            return None;
        }
        let similar = find_most_similar(name, names).map(str::to_owned);
        self.known.insert(name.to_owned(), similar.clone());
        similar
    }
}
