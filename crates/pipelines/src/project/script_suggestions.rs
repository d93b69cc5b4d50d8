//! Searches for the probable file of a missing script.

use super::messages::format_other_spelling_hint;
use super::suggestions::{CallHint, describe_repair, describe_same_name_paths};
use crate::pipelines::{SpellingIndex, file_name};
use std::collections::HashMap;

/// Hints for missing scripts.
pub struct ScriptSuggestions<'p> {
    /// The paths of all regular files by file name.
    paths_by_name: HashMap<&'p str, Vec<&'p str>>,
    spellings: SpellingIndex<'p>,
}

impl<'p> ScriptSuggestions<'p> {
    /// Builds the indexes from the paths of all regular files.
    pub fn new(regular_paths: &'p [String]) -> Self {
        let mut paths_by_name: HashMap<&str, Vec<&str>> = HashMap::new();
        for path in regular_paths {
            paths_by_name.entry(file_name(path)).or_default().push(path);
        }
        Self {
            paths_by_name,
            spellings: SpellingIndex::new(regular_paths.iter().map(String::as_str)),
        }
    }

    /// Returns a hint for a missing script; it may be empty. The hint names the only file with this path in another
    /// spelling, otherwise the files with this name in other directories, otherwise a file that differs in its Unicode
    /// normal form. Only the first case is certain enough for a fix (`only_path`). For a single file with this name,
    /// and for another normal form, the text names the command that writes the path if `can_repair` is set.
    pub fn suggest_script(&self, target: &str, can_repair: bool) -> CallHint {
        let spelling = self.spellings.find_similar_spelling(target);
        if let Some(spelling) = spelling.filter(|spelling| spelling.is_only_path) {
            return CallHint {
                text: format_other_spelling_hint(spelling),
                only_path: Some(spelling.path.to_owned()),
            };
        }
        let mut same_name_paths = self
            .paths_by_name
            .get(file_name(target))
            .cloned()
            .unwrap_or_default();
        // The listing may contain a file behind a linked directory, which is treated as missing.
        same_name_paths.retain(|path| *path != target);
        let text = match (describe_same_name_paths(&same_name_paths, can_repair), spelling) {
            (Some(text), _) => text,
            (None, Some(spelling)) => {
                format_other_spelling_hint(spelling) + describe_repair(spelling.path, can_repair)
            }
            (None, None) => String::new(),
        };
        CallHint {
            text,
            only_path: None,
        }
    }
}
