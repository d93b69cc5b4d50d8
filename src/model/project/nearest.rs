//! Searches the path that a broken call probably means. Each search compares all paths, so their work is bounded.

use crate::base::text::nearest;
use crate::model::pipelines::{Kind, PipelineFiles};
use std::collections::HashMap;

const MOST_SEARCHES: usize = 20;

/// Maximum number of pairs of characters that all searches compare, which takes about a second.
const MOST_PAIRS: usize = 200_000_000;

/// The searches of a run, which share one budget.
pub(super) struct NearestPaths<'p> {
    files: &'p PipelineFiles<'p>,
    searches: usize,
    pairs: usize,
    /// The results for the current caller, by the target and the kind of the call.
    known: HashMap<(String, Kind), Option<&'p str>>,
    caller: &'p str,
}

impl<'p> NearestPaths<'p> {
    pub(super) fn new(files: &'p PipelineFiles<'p>) -> Self {
        Self {
            files,
            searches: MOST_SEARCHES,
            pairs: MOST_PAIRS,
            known: HashMap::new(),
            caller: "",
        }
    }

    /// Begins with the calls of another file.
    pub(super) fn enter(&mut self, caller: &'p str) {
        self.caller = caller;
        self.known.clear();
    }

    /// Returns the path that is nearest to the target of a call; `None` if no path is close, or after too much work.
    pub(super) fn find(&mut self, target: &str, kind: Kind) -> Option<&'p str> {
        let named = target.strip_suffix(kind.extension()).unwrap_or(target);
        let key = (named.to_owned(), kind);
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        if self.searches == 0 {
            return None;
        }
        let caller = self.caller;
        let paths: Vec<&str> = self.files.of_kind(kind).filter(|path| *path != caller).collect();
        let length: usize = paths.iter().map(|path| path.len()).sum();
        let pairs = length.saturating_mul(named.len());
        if pairs > self.pairs {
            return None;
        }
        self.pairs -= pairs;
        self.searches -= 1;
        let path = nearest(&format!("{named}{}", kind.extension()), &paths);
        self.known.insert(key, path);
        path
    }
}
