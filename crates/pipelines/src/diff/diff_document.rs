//! The parts of one version of a pipeline.

use super::diff_walk::MaybeNode;
use super::named_links::{LinkKeys, Links};
use crate::pipelines::{PipelineKind, PipelineOutline};
use sluicegate_yaml::{DocumentError, NodeRef, Tree};

/// One version of a pipeline, base or head, and the parts that are compared one by one.
pub(super) struct DiffDocument<'t, 'a> {
    pub kind: PipelineKind,
    pub root: NodeRef<'t, 'a>,
    pub components: Vec<NamedNode<'t, 'a>>,
    pub variables: Vec<NamedNode<'t, 'a>>,
}

/// A component or a variable: its name and its content.
pub(super) type NamedNode<'t, 'a> = (&'t str, NodeRef<'t, 'a>);

impl<'t, 'a> DiffDocument<'t, 'a> {
    /// Finds the parts of a pipeline that are compared one by one. Fails if the document is not a pipeline.
    pub(super) fn from_tree(tree: &'t Tree<'a>) -> Result<Self, DocumentError> {
        let root = tree.root();
        let outline = PipelineOutline::from_node(root)?;
        Ok(Self {
            kind: outline.kind,
            root,
            components: list_named_nodes(outline.components),
            variables: list_named_nodes(outline.variables),
        })
    }

    /// Returns the links between the components in a file of this size, in bytes. Values that are not links, although
    /// they are under keys for links, are returned separately.
    pub(super) fn list_links(&self, keys: LinkKeys, file_size: usize) -> Links<'t, 'a> {
        let mut links = Links::for_file_size(file_size);
        for (name, node) in &self.components {
            links.add_component_links(keys, name, *node);
        }
        links
    }
}

/// Returns the entries of a map with their keys, which are the names; no entries if the map is missing.
fn list_named_nodes<'t, 'a>(map: MaybeNode<'t, 'a>) -> Vec<NamedNode<'t, 'a>> {
    map.into_iter()
        .flat_map(NodeRef::entries)
        .map(|(name, _, node)| (name, node))
        .collect()
}
