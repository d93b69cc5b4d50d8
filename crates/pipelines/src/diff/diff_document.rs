//! The parts of one side's document.

use super::diff_walk::MaybeNode;
use super::named_links::{LinkKeys, Links};
use crate::pipelines::{PipelineKind, PipelineOutline};
use crate::yaml::{DocumentError, NodeRef, Tree};

/// One side: a pipeline and its parts.
pub(super) struct DiffDocument<'t, 'a> {
    pub kind: PipelineKind,
    pub root: NodeRef<'t, 'a>,
    pub components: Vec<NamedNode<'t, 'a>>,
    pub variables: Vec<NamedNode<'t, 'a>>,
}

/// A component or a variable: its name and its content.
pub(super) type NamedNode<'t, 'a> = (&'t str, NodeRef<'t, 'a>);

impl<'t, 'a> DiffDocument<'t, 'a> {
    /// Reads the parts of a pipeline that are compared one by one.
    pub(super) fn from_tree(tree: &'t Tree<'a>) -> Result<Self, DocumentError> {
        let root = tree.root();
        let outline = PipelineOutline::from_node(root)?;
        Ok(Self {
            kind: outline.kind,
            root,
            components: named_nodes(outline.components),
            variables: named_nodes(outline.variables),
        })
    }

    /// Returns the links between the components, and the values in the place of links that are not links.
    pub(super) fn links(&self, keys: LinkKeys) -> Links<'t, 'a> {
        let mut links = Links::default();
        for (name, node) in &self.components {
            links.add_component_links(keys, name, *node);
        }
        links
    }
}

/// Returns the entries of a map with their names; none if the map is missing.
fn named_nodes<'t, 'a>(map: MaybeNode<'t, 'a>) -> Vec<NamedNode<'t, 'a>> {
    map.into_iter()
        .flat_map(NodeRef::entries)
        .map(|(name, _, node)| (name, node))
        .collect()
}
