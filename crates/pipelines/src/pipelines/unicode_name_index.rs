//! Finds files whose names differ from another name only in the Unicode normal form. A file system may store one form,
//! while the text that names the file has the other.

use super::references::file_name;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// The paths with names that have several normal forms, by the file name in one form.
#[derive(Debug, Default)]
pub(crate) struct UnicodeNameIndex<'p>(HashMap<String, Vec<&'p str>>);

impl<'p> UnicodeNameIndex<'p> {
    /// Indexes the paths by their composed file name, because file systems may store names in another normal form.
    /// ASCII names have only one form.
    pub(crate) fn new(paths: impl Iterator<Item = &'p str>) -> Self {
        let mut by_name: HashMap<String, Vec<&str>> = HashMap::new();
        for path in paths.filter(|path| !path.is_ascii()) {
            by_name.entry(compose(file_name(path))).or_default().push(path);
        }
        Self(by_name)
    }

    /// Returns the file whose path is the same text in any form, otherwise the only file of that name. `None` for an
    /// ASCII path, which has only one form.
    pub(crate) fn find(&self, path: &str) -> Option<&'p str> {
        if path.is_ascii() {
            return None;
        }
        let same_name_paths = self.0.get(&compose(file_name(path)))?;
        let composed_path = compose(path);
        match (
            same_name_paths
                .iter()
                .find(|candidate| compose(candidate) == composed_path),
            same_name_paths.as_slice(),
        ) {
            (Some(path), _) | (None, [path]) => Some(path),
            _ => None,
        }
    }
}

/// Returns the text in the composed form.
fn compose(text: &str) -> String {
    text.nfc().collect()
}
