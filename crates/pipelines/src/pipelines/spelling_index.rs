//! Finds files whose names are spelled differently from a reference to them. A file system may store a name in another
//! Unicode normal form than the reference. A file system that ignores letter case hides a wrong letter until another
//! system reads the repository.

use super::references::file_name;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// The difference between two spellings of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SpellingDifference {
    NormalForm,
    LetterCase,
    /// The letter case and the normal form.
    Both,
}

/// A file with another spelling of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OtherSpelling<'p> {
    pub path: &'p str,
    pub difference: SpellingDifference,
    /// True if this is the only file whose complete path differs only in its spelling.
    pub is_only_path: bool,
}

/// The paths of files, in which a file is found without its exact spelling.
#[derive(Debug, Default)]
pub(crate) struct SpellingIndex<'p> {
    /// All paths, by the path in lower case and in one normal form (NFC).
    by_path: HashMap<String, Vec<&'p str>>,
    /// The paths that are not ASCII, by the file name in one normal form (NFC).
    by_name: HashMap<String, Vec<&'p str>>,
}

impl<'p> SpellingIndex<'p> {
    /// Builds two indexes, which ignore differences between Unicode normal forms: of all paths, ignoring letter case as
    /// well, and of the file names of the paths that are not ASCII.
    pub(crate) fn new(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut index = Self::default();
        for path in paths {
            index
                .by_path
                .entry(to_lowercase_nfc(path))
                .or_default()
                .push(path);
            // A path of ASCII has only one normal form.
            if !path.is_ascii() {
                index
                    .by_name
                    .entry(to_nfc(file_name(path)))
                    .or_default()
                    .push(path);
            }
        }
        index
    }

    /// Returns the only file whose path differs from `path` only in letter case or Unicode normal form. If there is
    /// none, or if there are several, searches for a difference in the normal form alone: first in the complete path,
    /// then in the file name.
    pub(crate) fn find_similar_spelling(&self, path: &str) -> Option<OtherSpelling<'p>> {
        match self.find_spellings(path) {
            [only_path] if *only_path != path => Some(OtherSpelling {
                path: only_path,
                difference: find_difference(only_path, path),
                is_only_path: true,
            }),
            _ => self.find_other_normal_form(path).map(|other_path| OtherSpelling {
                path: other_path,
                difference: SpellingDifference::NormalForm,
                is_only_path: false,
            }),
        }
    }

    /// Returns the files whose path differs from `path` at most in letter case and Unicode normal form.
    pub(crate) fn find_spellings(&self, path: &str) -> &[&'p str] {
        self.by_path
            .get(&to_lowercase_nfc(path))
            .map_or(&[], Vec::as_slice)
    }

    /// Returns the file whose path differs from `path` at most in its Unicode normal form, otherwise the only file
    /// whose name does. Returns `None` for a path of ASCII characters, which has only one normal form.
    fn find_other_normal_form(&self, path: &str) -> Option<&'p str> {
        if path.is_ascii() {
            return None;
        }
        let same_name_paths = self.by_name.get(&to_nfc(file_name(path)))?;
        let composed_path = to_nfc(path);
        match (
            same_name_paths
                .iter()
                .find(|candidate| to_nfc(candidate) == composed_path),
            same_name_paths.as_slice(),
        ) {
            (Some(path), _) | (None, [path]) => Some(path),
            _ => None,
        }
    }
}

/// Returns the difference between two paths that differ only in their spelling.
fn find_difference(path: &str, other_path: &str) -> SpellingDifference {
    if to_nfc(path) == to_nfc(other_path) {
        SpellingDifference::NormalForm
    } else if path.to_lowercase() == other_path.to_lowercase() {
        SpellingDifference::LetterCase
    } else {
        SpellingDifference::Both
    }
}

/// Returns the text in the composed Unicode normal form (NFC).
fn to_nfc(text: &str) -> String {
    text.nfc().collect()
}

/// Returns the text in the composed Unicode normal form (NFC) and in lower case. Composes the lower-case text again,
/// because some letters, such as `ǰ`, have a composed form only in lower case.
pub fn to_lowercase_nfc(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    to_nfc(&to_nfc(text).to_lowercase())
}

#[cfg(test)]
mod tests {
    use super::SpellingDifference::{Both, LetterCase, NormalForm};
    use super::*;

    fn find<'p>(paths: &[&'p str], path: &str) -> Option<OtherSpelling<'p>> {
        SpellingIndex::new(paths.iter().copied()).find_similar_spelling(path)
    }

    #[test]
    fn only_file_with_other_spelling_is_found() {
        let other = |path, difference, is_only_path| {
            Some(OtherSpelling {
                path,
                difference,
                is_only_path,
            })
        };
        assert_eq!(
            find(&["a/Load.sql"], "a/load.sql"),
            other("a/Load.sql", LetterCase, true)
        );
        assert_eq!(
            find(&["a/\u{c4}.sql"], "a/a\u{308}.sql"),
            other("a/\u{c4}.sql", Both, true)
        );
        assert_eq!(
            find(&["a/\u{c4}.sql"], "a/\u{e4}.sql"),
            other("a/\u{c4}.sql", LetterCase, true)
        );
        assert_eq!(
            find(&["a/a\u{308}.sql"], "a/\u{e4}.sql"),
            other("a/a\u{308}.sql", NormalForm, true)
        );
        assert_eq!(
            find(&["b/a\u{308}.sql"], "a/\u{e4}.sql"),
            other("b/a\u{308}.sql", NormalForm, false)
        );
        assert_eq!(
            find(&["a/Load.sql", "a/LOAD.sql"], "a/load.sql"),
            None,
            "two files"
        );
        assert_eq!(find(&["b/Load.sql"], "a/load.sql"), None, "another folder");
        assert_eq!(find(&["a/load.sql"], "a/load.sql"), None, "the same spelling");
        assert_eq!(
            find(&["a/a\u{308}.sql", "a/\u{c4}.sql"], "a/\u{e4}.sql"),
            other("a/a\u{308}.sql", NormalForm, false),
            "two files, one of them with the same letters"
        );
    }
}
