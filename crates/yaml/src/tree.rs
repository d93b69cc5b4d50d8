//! A document as a tree of nodes with positions.

use crate::document_text::Position;
use crate::scalar::{Scalar, Value, parse_natural};
use std::borrow::Cow;

pub(crate) type NodeId = u32;

/// A document. An alias is the node that it refers to, so a node may have several parents.
#[derive(Debug)]
pub struct Tree<'a> {
    pub(crate) nodes: Vec<Node<'a>>,
    pub(crate) root: NodeId,
}

#[derive(Debug)]
pub(crate) struct Node<'a> {
    pub position: Position,
    pub content: NodeContent<'a>,
}

#[derive(Debug)]
pub(crate) enum NodeContent<'a> {
    Scalar(Scalar<'a>),
    List(Vec<NodeId>),
    Map(Vec<MapEntry<'a>>),
}

#[derive(Debug)]
pub(crate) struct MapEntry<'a> {
    pub key: Key<'a>,
    pub value: NodeId,
}

/// A key, compared as written: `1.50`, `true` and `"true"` are the texts `1.50`, `true` and `true`.
#[derive(Debug, Clone)]
pub(crate) struct Key<'a> {
    pub text: Cow<'a, str>,
    pub position: Position,
}

impl<'a> Tree<'a> {
    /// Returns the root of the document.
    pub fn root(&self) -> NodeRef<'_, 'a> {
        NodeRef {
            tree: self,
            id: self.root,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct NodeRef<'t, 'a> {
    tree: &'t Tree<'a>,
    id: NodeId,
}

impl<'t, 'a> NodeRef<'t, 'a> {
    /// Returns the referenced node. Every id in a tree refers to a node, so `None` does not occur.
    fn node(self) -> Option<&'t Node<'a>> {
        self.tree.nodes.get(self.id as usize)
    }

    /// Returns a reference to another node of the same tree.
    fn with_id(self, id: NodeId) -> Self {
        Self { tree: self.tree, id }
    }

    /// Returns the position where the node begins; for an alias, where its target begins.
    pub fn position(self) -> Position {
        self.node()
            .map_or(Position { line: 1, column: 1 }, |node| node.position)
    }

    /// Returns the text of a scalar as written, without quotes; `None` for lists and maps.
    pub fn text(self) -> Option<&'t str> {
        match &self.node()?.content {
            NodeContent::Scalar(scalar) => Some(&scalar.text),
            _ => None,
        }
    }

    /// Returns the value of a scalar; `None` for lists and maps.
    pub fn value(self) -> Option<Value<'t>> {
        match &self.node()?.content {
            NodeContent::Scalar(scalar) => Some(scalar.value()),
            _ => None,
        }
    }

    /// Returns the value of a non-negative integer. One that is too large for the type becomes the maximum. Returns
    /// `None` for any other value.
    pub fn natural(self) -> Option<u64> {
        match self.value()? {
            Value::Natural(number) => Some(number),
            Value::OtherNumber => parse_natural(self.text()?),
            _ => None,
        }
    }

    /// Returns the text of a scalar that is a string; `None` for a number, a boolean, null, a list or a map.
    pub fn string(self) -> Option<&'t str> {
        match self.value() {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Returns whether the node is null in any spelling, such as `~` or no value at all.
    pub fn is_null(self) -> bool {
        self.value() == Some(Value::Null)
    }

    pub fn is_map(self) -> bool {
        matches!(self.node().map(|node| &node.content), Some(NodeContent::Map(_)))
    }

    /// Returns the items of a list; `None` for other nodes.
    pub fn items(self) -> Option<impl ExactSizeIterator<Item = Self>> {
        match &self.node()?.content {
            NodeContent::List(items) => Some(items.iter().map(move |id| self.with_id(*id))),
            _ => None,
        }
    }

    /// Returns the keys of a map with their positions and values, in file order; no entries for other nodes.
    pub fn entries(self) -> impl Iterator<Item = (&'t str, Position, Self)> {
        let entries: &'t [MapEntry<'a>] = match self.node().map(|node| &node.content) {
            Some(NodeContent::Map(entries)) => entries,
            _ => &[],
        };
        entries
            .iter()
            .map(move |entry| (&*entry.key.text, entry.key.position, self.with_id(entry.value)))
    }

    /// Returns the value of a key in a map; `None` if the key is missing or the node is not a map.
    pub fn get(self, key: &str) -> Option<Self> {
        self.entries()
            .find_map(|(text, _, value)| (text == key).then_some(value))
    }
}
