//! Attributes that make git store other bytes than it checks out.

use super::disk_file::{MAX_HASHED_SIZE, find_disk_file_kind, hash_disk_file, read_disk_file};
use super::git_environment::passed_environment;
use super::{CommitId, Repository};
use git2::{AttrCheckFlags, AttrValue};
use memchr::memmem;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// The attributes that make git store different bytes than those on disk. Line endings are not included: YAML reads all
/// of them alike.
const CONVERTING_ATTRIBUTES: [&str; 3] = ["working-tree-encoding", "filter", IDENT];
/// The attribute that makes git replace `$Id$`, and nothing else.
const IDENT: &str = "ident";

/// Maximum size of an attributes file that is read here, in bytes; for a larger one the git program is used.
const MAX_ATTRIBUTES_SIZE: u64 = 1024 * 1024;

impl Repository {
    /// Returns whether an attribute makes git store other bytes of this file than are on disk. An attribute that cannot
    /// be read is treated as set.
    ///
    /// libgit2 does not support quoted patterns; if there is one, the git program is used.
    pub fn is_converted(&self, path: &str) -> bool {
        CONVERTING_ATTRIBUTES
            .into_iter()
            .any(|name| self.may_have_attribute(path, name) && self.can_convert(name, path))
            || (self.has_quoted_attributes_line(path) && self.has_converting_attribute(path))
    }

    /// Returns whether the attribute, if it is set, may change the content of the file on disk. A file that cannot be
    /// read is treated as changed.
    fn can_convert(&self, attribute: &str, path: &str) -> bool {
        if attribute != IDENT {
            return true;
        }
        let content = read_disk_file(&self.root().join(path), MAX_HASHED_SIZE);
        content.map_or(true, |content| {
            content.is_none_or(|bytes| memmem::find(&bytes, b"$Id").is_some())
        })
    }

    /// Returns whether libgit2 finds that the attribute is set, or cannot read it.
    fn may_have_attribute(&self, path: &str, name: &str) -> bool {
        let value = self
            .library
            .get_attr_bytes(Path::new(path), name, AttrCheckFlags::FILE_THEN_INDEX);
        value.map_or(true, |value| {
            !matches!(
                AttrValue::always_bytes(value),
                AttrValue::False | AttrValue::Unspecified
            )
        })
    }

    /// Returns whether a pattern makes git ignore the file on disk. A tracked file is never ignored, and neither is a
    /// file in a directory that is not a git repository.
    pub fn is_ignored(&self, path: &str) -> bool {
        let has_pattern =
            !self.is_plain_directory() && self.library.is_path_ignored(Path::new(path)).unwrap_or(false);
        let own_index = None;
        has_pattern && !self.is_tracked(path, own_index).unwrap_or(false)
    }

    /// Returns whether the file on disk has the same bytes as in the commit, or is missing in both. A file that cannot
    /// be read is treated as changed.
    pub fn is_same_as_committed(&self, commit: &CommitId, path: &str) -> bool {
        let disk_path = self.root().join(path);
        match self.find_file(commit, path) {
            Ok(Some(file)) => hash_disk_file(&disk_path) == Some(file.blob.oid()),
            Ok(None) => find_disk_file_kind(&disk_path).is_none(),
            Err(_) => false,
        }
    }

    /// Returns the paths of the attributes files that are not in the working tree: that of the clone, which all its
    /// working trees share, that of the user and that of the system (<https://git-scm.com/docs/gitattributes>). A link
    /// to one of them is followed, because no change can write it.
    pub(super) fn list_attributes_files_outside_tree(&self) -> Vec<PathBuf> {
        let user_file = self
            .library
            .config()
            .and_then(|config| config.get_path("core.attributesFile"))
            .ok();
        let files = [
            Some(self.common_dir.join("info/attributes")),
            user_file.or_else(find_default_attributes_file),
            Some(PathBuf::from("/etc/gitattributes")),
        ];
        files
            .into_iter()
            .flatten()
            .map(|path| path.canonicalize().unwrap_or(path))
            .collect()
    }

    /// Returns whether any attributes file for this path may have a line with a quoted pattern, or cannot be read.
    fn has_quoted_attributes_line(&self, path: &str) -> bool {
        let folders = Path::new(path).ancestors().skip(1);
        let tree_files = folders.map(|folder| self.root().join(folder).join(".gitattributes"));
        tree_files
            .chain(self.list_attributes_files_outside_tree())
            .any(|path| may_have_quoted_line(&path))
    }

    /// Returns whether the git program finds that one of [`CONVERTING_ATTRIBUTES`] is set and may change the content.
    /// If the program fails, the attribute is treated as set.
    fn has_converting_attribute(&self, path: &str) -> bool {
        let arguments = [&["check-attr", "-z"], &CONVERTING_ATTRIBUTES[..], &["--", path]].concat();
        let Ok(output) = self.program.run_locally(self.root(), &arguments, None) else {
            return true;
        };
        // Each attribute has three fields: path, name and value.
        let fields: Vec<&str> = output.split('\0').collect();
        let attributes: Vec<&[&str]> = fields.chunks_exact(3).collect();
        attributes.len() != CONVERTING_ATTRIBUTES.len()
            || attributes.iter().any(|attribute| {
                !matches!(attribute[2], "unspecified" | "unset") && self.can_convert(attribute[1], path)
            })
    }
}

/// Returns the path of the user's attributes file if no setting names one, for the environment that git gets.
fn find_default_attributes_file() -> Option<PathBuf> {
    let variables: HashMap<OsString, OsString> = passed_environment().collect();
    let variable = |name: &str| variables.get(OsStr::new(name)).filter(|value| !value.is_empty());
    let config_dir = match variable("XDG_CONFIG_HOME") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(variable("HOME")?).join(".config"),
    };
    Some(config_dir.join("git/attributes"))
}

/// Returns whether a line of the attributes file begins with a quote. A file that is too large or cannot be read is
/// treated as one with such a line, but a missing file is not.
fn may_have_quoted_line(path: &Path) -> bool {
    let Ok(metadata) = path.symlink_metadata() else {
        return false;
    };
    metadata.len() > MAX_ATTRIBUTES_SIZE
        || !metadata.is_file()
        || std::fs::read(path).map_or(true, |text| has_leading_quote_in_line(&text))
}

/// Returns whether a line begins with a quote, after blanks: its pattern is then quoted.
fn has_leading_quote_in_line(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n')
        .any(|line| line.trim_ascii_start().starts_with(b"\""))
}
