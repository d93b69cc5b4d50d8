//! Builds the tree of a document from the parser's events, without recursion and with limits.

use crate::document_text::{self, DocumentError, Position, marker_position, shorten, to_document_error};
use crate::scalar::Scalar;
use crate::text_input::TextInput;
use crate::tree::{Key, MapEntry, Node, NodeContent, NodeId, Tree};
use saphyr_parser::{Event, Parser, Span};
use std::mem;

/// Maximum nesting. Real pipelines have about twelve levels.
const MAX_DEPTH: usize = 128;

/// Maximum expansion of all aliases together, in bytes of text plus [`NODE_WEIGHT`] for each node. It limits the work
/// of a reader that visits each place once, together with the document's size.
const MAX_ALIAS_WEIGHT: usize = 4 << 20;

const NODE_WEIGHT: usize = 16;

/// Estimated number of bytes of a document for each node, from which the space for nodes is reserved.
const BYTES_PER_NODE: usize = 48;

/// Maximum number of nodes for which space is reserved.
const MAX_RESERVED_NODES: usize = 1024;

/// Maximum size of a map that is searched for duplicates pair by pair.
const MAX_PAIRWISE_ENTRIES: usize = 12;

/// The id of every node that is not kept.
const DISCARDED_NODE: NodeId = NodeId::MAX;

/// The parser's anchor id for a node without an anchor.
const NO_ANCHOR: usize = 0;

impl<'a> Tree<'a> {
    /// Reads the only document in `bytes`. Besides invalid YAML, rejects duplicate keys in a map, keys that are lists
    /// or maps, merge keys, a second document, more than 128 levels, aliases that refer to a node that contains them,
    /// and aliases that expand to megabytes.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        build_tree_observed(document_text::decode_text(bytes)?, None, |_, _| {})
    }

    /// Reads the document as [`Self::parse`] does, but omits the top-level key `skipped_key` with its value.
    pub fn parse_without(bytes: &'a [u8], skipped_key: &str) -> Result<Self, DocumentError> {
        build_tree_observed(document_text::decode_text(bytes)?, Some(skipped_key), |_, _| {})
    }
}

/// Builds the tree of a document; see [`Tree::parse`]. Each event of the parser goes to `observe` first. For a document
/// with the markers of a merge conflict, the error is about the conflict.
pub(crate) fn build_tree_observed<'a>(
    text: &'a str,
    skipped_key: Option<&str>,
    observe: impl FnMut(&Event<'a>, &Span),
) -> Result<Tree<'a>, DocumentError> {
    build_tree(text, skipped_key, observe)
        .map_err(|error| DocumentError::find_merge_conflict(text).unwrap_or(error))
}

fn build_tree<'a>(
    text: &'a str,
    skipped_key: Option<&str>,
    mut observe: impl FnMut(&Event<'a>, &Span),
) -> Result<Tree<'a>, DocumentError> {
    let mut builder = Builder {
        skipped_key,
        nodes: Vec::with_capacity((text.len() / BYTES_PER_NODE).min(MAX_RESERVED_NODES)),
        open_frames: Vec::with_capacity(16),
        items: Vec::new(),
        entries: Vec::with_capacity(64),
        anchors: Vec::new(),
        root: None,
        document_count: 0,
        alias_weight: 0,
    };
    for event in Parser::new(TextInput::new(text)) {
        let (event, span) = event.map_err(|error| to_document_error(&error))?;
        observe(&event, &span);
        builder.add_event(event, marker_position(&span.start))?;
    }
    builder.into_tree()
}

struct Builder<'a, 'u> {
    /// The top-level key whose value is not kept.
    skipped_key: Option<&'u str>,
    nodes: Vec<Node<'a>>,
    open_frames: Vec<Frame<'a>>,
    /// The contents of the open lists and maps, one after the other; each is removed when it is complete.
    items: Vec<NodeId>,
    entries: Vec<MapEntry<'a>>,
    /// The node and its weight by the parser's anchor id, once the node is complete.
    anchors: Vec<Option<(NodeId, usize)>>,
    root: Option<NodeId>,
    document_count: usize,
    alias_weight: usize,
}

/// An open list or map.
struct Frame<'a> {
    position: Position,
    anchor: usize,
    is_kept: bool,
    weight: usize,
    children: Children<'a>,
}

enum Children<'a> {
    List(usize),
    /// The index of its first entry, and the key whose value comes next.
    Map(usize, Option<Key<'a>>),
}

impl<'a> Builder<'a, '_> {
    /// Adds an event of the parser to the tree.
    fn add_event(&mut self, event: Event<'a>, position: Position) -> Result<(), DocumentError> {
        match event {
            Event::DocumentStart(_) => self.start_document(position),
            Event::Scalar(text, style, anchor, tag) => {
                self.add_scalar(Scalar::new(text, style, tag.as_deref()), anchor, position)
            }
            Event::Alias(anchor) => self.add_alias(anchor, position),
            Event::SequenceStart(anchor, _) => {
                self.open_collection(Children::List(self.items.len()), anchor, position)
            }
            Event::MappingStart(anchor, _) => {
                self.open_collection(Children::Map(self.entries.len(), None), anchor, position)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close_collection(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    /// Counts a document, and fails at the second one, because only one is allowed.
    fn start_document(&mut self, position: Position) -> Result<(), DocumentError> {
        self.document_count += 1;
        if self.document_count > 1 {
            return Err(DocumentError::at_position(
                position,
                "a second document begins here, but a file may contain only one document",
            ));
        }
        Ok(())
    }

    /// Returns whether the next node is kept: every node except the value of the skipped key, unless it has an anchor,
    /// because an alias elsewhere may refer to it.
    fn is_next_node_kept(&self, anchor: usize) -> bool {
        let is_below_skipped_key = match self.open_frames.as_slice() {
            [] => false,
            [root] => {
                matches!(&root.children, Children::Map(_, Some(key)) if Some(&*key.text) == self.skipped_key)
            }
            [.., parent] => !parent.is_kept,
        };
        !is_below_skipped_key || anchor != NO_ANCHOR
    }

    /// Returns whether the next node is the key of a map.
    fn is_key_expected(&self) -> bool {
        matches!(
            self.open_frames.last(),
            Some(Frame {
                children: Children::Map(_, None),
                ..
            })
        )
    }

    /// Adds a scalar as a key or as a value. A scalar with an anchor is kept as a node, because an alias may refer to
    /// it.
    fn add_scalar(
        &mut self,
        scalar: Scalar<'a>,
        anchor: usize,
        position: Position,
    ) -> Result<(), DocumentError> {
        let weight = NODE_WEIGHT + scalar.text.len();
        if self.is_key_expected() {
            if anchor != NO_ANCHOR {
                let id = self.add_node(position, NodeContent::Scalar(scalar.clone()))?;
                self.set_anchor(anchor, id, weight);
            }
            return self.set_key(scalar, position);
        }
        let mut id = DISCARDED_NODE;
        if self.is_next_node_kept(anchor) {
            id = self.add_node(position, NodeContent::Scalar(scalar))?;
            self.set_anchor(anchor, id, weight);
        }
        self.add_value(id, weight);
        Ok(())
    }

    /// Sets the key of the next value. Fails for a merge key, because the platform does not support merge keys.
    fn set_key(&mut self, scalar: Scalar<'a>, position: Position) -> Result<(), DocumentError> {
        if scalar.text == "<<" && !scalar.is_text {
            return Err(DocumentError::at_position(
                position,
                "merge keys (`<<`) are not supported",
            ));
        }
        if let Some(Frame {
            children: Children::Map(_, next_key),
            weight,
            ..
        }) = self.open_frames.last_mut()
        {
            *weight += NODE_WEIGHT + scalar.text.len();
            *next_key = Some(Key {
                text: scalar.text,
                position,
            });
        }
        Ok(())
    }

    /// Adds a complete node to the innermost open list or map, or sets it as the root. A discarded node is added only
    /// to a map, because every key of a map is checked for duplicates.
    fn add_value(&mut self, id: NodeId, weight: usize) {
        let Some(parent) = self.open_frames.last_mut() else {
            self.root = Some(id);
            return;
        };
        parent.weight = parent.weight.saturating_add(weight);
        match &mut parent.children {
            Children::List(_) if id != DISCARDED_NODE => self.items.push(id),
            Children::List(_) => {}
            Children::Map(_, next_key) => {
                if let Some(key) = next_key.take() {
                    self.entries.push(MapEntry { key, value: id });
                }
            }
        }
    }

    /// Adds the node that an alias refers to (a key or a value). Fails if the alias is inside that node, which is
    /// recorded only when it is complete, or if all aliases together expand to too much data. An alias that is used as
    /// a value but not kept (see [`Self::is_next_node_kept`]) is not included in that amount.
    fn add_alias(&mut self, anchor: usize, position: Position) -> Result<(), DocumentError> {
        let Some((id, weight)) = self.anchors.get(anchor).copied().flatten() else {
            return Err(DocumentError::at_position(
                position,
                "the alias refers to a node that contains it",
            ));
        };
        if !self.is_key_expected() && !self.is_next_node_kept(NO_ANCHOR) {
            self.add_value(DISCARDED_NODE, 0);
            return Ok(());
        }
        self.alias_weight = self.alias_weight.saturating_add(weight);
        if self.alias_weight > MAX_ALIAS_WEIGHT {
            return Err(DocumentError::at_position(
                position,
                "the aliases expand to too much data",
            ));
        }
        if !self.is_key_expected() {
            self.add_value(id, weight);
            return Ok(());
        }
        match self.nodes.get(id as usize).map(|node| &node.content) {
            Some(NodeContent::Scalar(scalar)) => self.set_key(scalar.clone(), position),
            _ => Err(non_scalar_key_error(position)),
        }
    }

    /// Opens a list or a map, whose content follows. Fails if it is a key, or if the document is nested too deeply.
    fn open_collection(
        &mut self,
        children: Children<'a>,
        anchor: usize,
        position: Position,
    ) -> Result<(), DocumentError> {
        if self.is_key_expected() {
            return Err(non_scalar_key_error(position));
        }
        if self.open_frames.len() == MAX_DEPTH {
            return Err(DocumentError::at_position(
                position,
                format!("the document has more than {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.open_frames.push(Frame {
            position,
            anchor,
            is_kept: self.is_next_node_kept(anchor),
            weight: NODE_WEIGHT,
            children,
        });
        Ok(())
    }

    /// Closes the innermost list or map, and adds it to its parent. The root omits the skipped key. Fails if a map has
    /// duplicate keys, even if the map is not kept.
    fn close_collection(&mut self) -> Result<(), DocumentError> {
        let Some(frame) = self.open_frames.pop() else {
            return Ok(());
        };
        let content = match frame.children {
            Children::List(start) => NodeContent::List(self.items.drain(start..).collect()),
            Children::Map(start, _) => {
                reject_duplicate_keys(self.entries.get(start..).unwrap_or_default())?;
                let skipped_key = self.skipped_key.filter(|_| self.open_frames.is_empty());
                let entries = self.entries.drain(start..);
                let kept_entries =
                    entries.filter(|entry| frame.is_kept && Some(&*entry.key.text) != skipped_key);
                NodeContent::Map(kept_entries.collect())
            }
        };
        let mut id = DISCARDED_NODE;
        if frame.is_kept {
            id = self.add_node(frame.position, content)?;
            self.set_anchor(frame.anchor, id, frame.weight);
        }
        self.add_value(id, frame.weight);
        Ok(())
    }

    /// Adds a node to the tree, and returns its id. Fails if there are too many nodes.
    fn add_node(&mut self, position: Position, content: NodeContent<'a>) -> Result<NodeId, DocumentError> {
        let id = NodeId::try_from(self.nodes.len())
            .ok()
            .filter(|id| *id < DISCARDED_NODE)
            .ok_or_else(|| DocumentError::at_position(position, "the document has too many nodes"))?;
        self.nodes.push(Node { position, content });
        Ok(id)
    }

    /// Records the node of an anchor, and the amount of data to which an alias of it expands. Does nothing if the node
    /// has no anchor.
    fn set_anchor(&mut self, anchor: usize, id: NodeId, weight: usize) {
        if anchor == NO_ANCHOR {
            return;
        }
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        if let Some(slot) = self.anchors.get_mut(anchor) {
            *slot = Some((id, weight));
        }
    }

    /// Returns the tree, or the error that the document is empty.
    fn into_tree(mut self) -> Result<Tree<'a>, DocumentError> {
        let document_start = Position { line: 1, column: 1 };
        let root = self
            .root
            .ok_or_else(|| DocumentError::at_position(document_start, "the document is empty"))?;
        Ok(Tree {
            nodes: mem::take(&mut self.nodes),
            root,
        })
    }
}

/// Fails if a map has a key twice.
fn reject_duplicate_keys(entries: &[MapEntry<'_>]) -> Result<(), DocumentError> {
    match find_duplicate_key(entries) {
        None => Ok(()),
        Some(key) => Err(DocumentError::at_position(
            key.position,
            format!("duplicate key `{}`", shorten(&key.text)),
        )),
    }
}

/// Returns the first key that an earlier entry also has. A long map is sorted, because comparing each pair of keys
/// would take too long.
fn find_duplicate_key<'e, 'a>(entries: &'e [MapEntry<'a>]) -> Option<&'e Key<'a>> {
    if entries.len() <= MAX_PAIRWISE_ENTRIES {
        return (1..entries.len()).find_map(|index| {
            let (earlier_entries, later_entries) = entries.split_at(index);
            let key = &later_entries.first()?.key;
            earlier_entries
                .iter()
                .any(|entry| entry.key.text == key.text)
                .then_some(key)
        });
    }
    let mut keys: Vec<&Key<'a>> = entries.iter().map(|entry| &entry.key).collect();
    // The sort is stable: of two equal keys, the second one is later in the file.
    keys.sort_by(|a, b| a.text.cmp(&b.text));
    let duplicates = keys.windows(2).filter_map(|pair| match pair {
        [a, b] if a.text == b.text => Some(*b),
        _ => None,
    });
    duplicates.min_by_key(|key| key.position)
}

/// Builds the error for a key that is not a scalar.
fn non_scalar_key_error(position: Position) -> DocumentError {
    DocumentError::at_position(position, "a key that is a list or a map is not supported")
}
