//! The attributes by which git stores other bytes than it checks out.

use super::Repository;
use git2::{AttrCheckFlags, AttrValue};
use std::path::Path;

/// Attributes by which git stores other bytes than are on disk. Line ends are not among them: YAML reads all of them alike.
const CONVERTING: [&str; 3] = ["working-tree-encoding", "filter", "ident"];

impl Repository {
    /// Whether an attribute makes git store other bytes of this file than are on disk. What cannot be read may be one.
    pub fn is_converted(&self, path: &str) -> bool {
        let value = |name| {
            self.library
                .get_attr_bytes(Path::new(path), name, AttrCheckFlags::FILE_THEN_INDEX)
        };
        CONVERTING.into_iter().any(|name| match value(name) {
            Ok(value) => !matches!(
                AttrValue::always_bytes(value),
                AttrValue::False | AttrValue::Unspecified
            ),
            Err(_) => true,
        })
    }
}
