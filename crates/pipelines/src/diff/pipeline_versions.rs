//! The two versions of a pipeline that are compared.

use super::version_side::VersionSide;
use sluicegate_yaml::Tree;

/// The content of a file, or the reason why it could not be read.
pub(super) type VersionContent<'b> = Result<&'b [u8], &'b str>;

#[derive(Debug, Clone, Copy)]
pub struct PipelineVersions<'b> {
    /// The path from the repository root; the old path if the file was deleted.
    pub path: &'b str,
    pub previous_path: Option<&'b str>,
    /// The file in the base; `None` if it is new.
    pub base: Option<VersionContent<'b>>,
    /// The file in the head; `None` if it was deleted.
    pub head: Option<VersionContent<'b>>,
}

/// Both versions as YAML trees; `None` for a version that does not exist.
pub struct VersionTrees<'b> {
    pub base: Option<Tree<'b>>,
    pub head: Option<Tree<'b>>,
}

impl<'b> PipelineVersions<'b> {
    /// Returns the size of a version in bytes; 0 if it does not exist or could not be read.
    pub(super) fn size(&self, side: VersionSide) -> usize {
        let content = match side {
            VersionSide::Base => self.base,
            VersionSide::Head => self.head,
        };
        content.and_then(Result::ok).map_or(0, <[u8]>::len)
    }

    /// Parses both versions as YAML. The error says which version cannot be read, and why.
    pub fn parse_trees(&self) -> Result<VersionTrees<'b>, String> {
        Ok(VersionTrees {
            base: self
                .base
                .map(|content| parse_tree(VersionSide::Base, content))
                .transpose()?,
            head: self
                .head
                .map(|content| parse_tree(VersionSide::Head, content))
                .transpose()?,
        })
    }
}

/// Parses a version as YAML, or passes on the reason why its file could not be read. The error names the side.
fn parse_tree(side: VersionSide, content: VersionContent<'_>) -> Result<Tree<'_>, String> {
    // Other readers of pipelines skip the layout; here it is compared, too.
    content
        .map_err(str::to_owned)
        .and_then(|bytes| Tree::parse(bytes).map_err(|error| error.to_string()))
        .map_err(|reason| format!("in the {side}: {reason}"))
}
