//! Attributes that make git store other bytes than it checks out.

use super::disk::{kind_on_disk, stored_id};
use super::{CommitId, Repository};
use git2::{AttrCheckFlags, AttrValue};
use std::path::{Path, PathBuf};

/// The attributes that make git store other bytes than are on disk. Line endings are not included: YAML reads all
/// of them alike.
const CONVERTING: [&str; 3] = ["working-tree-encoding", "filter", "ident"];

/// Maximum size of an attributes file that is read here, in bytes; for a larger one the git program is used.
const SIZE_LIMIT: u64 = 1024 * 1024;

impl Repository {
    /// Returns whether an attribute makes git store other bytes of this file than are on disk. An attribute that
    /// cannot be read counts as set.
    ///
    /// libgit2 does not support quoted patterns; if there is one, the git program is used.
    pub fn is_converted(&self, path: &str) -> bool {
        let value = |name| {
            self.library
                .get_attr_bytes(Path::new(path), name, AttrCheckFlags::FILE_THEN_INDEX)
        };
        let by_library = CONVERTING.into_iter().any(|name| match value(name) {
            Ok(value) => !matches!(
                AttrValue::always_bytes(value),
                AttrValue::False | AttrValue::Unspecified
            ),
            Err(_) => true,
        });
        by_library || (self.has_quoted_pattern(path) && self.is_converted_by_git(path))
    }

    /// Returns whether a pattern makes git ignore the file on disk. A tracked file is never ignored.
    pub fn is_ignored(&self, path: &str) -> bool {
        let has_pattern = !self.is_plain() && self.library.is_path_ignored(Path::new(path)).unwrap_or(false);
        has_pattern && !self.tracks(path, None).unwrap_or(false)
    }

    /// Returns whether the file on disk has the bytes of the commit, or is missing in both.
    pub fn is_as_committed(&self, commit: &CommitId, path: &str) -> bool {
        let full = self.root().join(path);
        match self.find_file(commit, path) {
            Ok(Some(file)) => stored_id(&full) == Some(file.blob.oid()),
            Ok(None) => kind_on_disk(&full).is_none(),
            Err(_) => false,
        }
    }

    /// Returns whether an attributes file for this path has a quoted pattern or cannot be read.
    fn has_quoted_pattern(&self, path: &str) -> bool {
        let folders = Path::new(path).ancestors().skip(1);
        let in_tree = folders.map(|folder| self.root().join(folder).join(".gitattributes"));
        let of_clone: PathBuf = self.library.path().join("info/attributes");
        in_tree.chain([of_clone]).any(|file| {
            let Ok(found) = file.symlink_metadata() else {
                return false;
            };
            let text = || std::fs::read(&file).unwrap_or_else(|_| vec![b'"']);
            found.len() > SIZE_LIMIT || !found.is_file() || has_quotes(&text())
        })
    }

    fn is_converted_by_git(&self, path: &str) -> bool {
        let arguments = [&["check-attr", "-z"], &CONVERTING[..], &["--", path]].concat();
        let Ok(answer) = self.program.answer(self.root(), &arguments, None) else {
            return true;
        };
        let fields: Vec<&str> = answer.split('\0').collect();
        let values = fields.chunks_exact(3).map(|field| field[2]);
        values.clone().count() != CONVERTING.len()
            || values
                .into_iter()
                .any(|value| !matches!(value, "unspecified" | "unset"))
    }
}

/// Returns whether a line begins with a quote.
fn has_quotes(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii_start().starts_with(b"\""))
}
