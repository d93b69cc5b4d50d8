//! Builds the tree of a document from the parser's events, without recursion and with limits.

use super::document::{self, DocumentError, Position, saturate, shortened};
use super::input::TextInput;
use super::scalar::Scalar;
use super::tree::{Key, MapEntry, Node, NodeContent, NodeId, Tree};
use saphyr_parser::{Event, Marker, Parser, ScanError};
use std::mem;

/// Maximum nesting. Real pipelines have about twelve levels.
const MAX_DEPTH: usize = 128;

/// Maximum expansion of all aliases together, in bytes of text plus [`NODE_WEIGHT`] for each node. It limits the work
/// of a reader that visits each place once, together with the document's size.
const MAX_ALIAS_WEIGHT: usize = 4 << 20;

const NODE_WEIGHT: usize = 16;

/// Bytes of a document for each node that space is reserved for, and the maximum number of reserved nodes.
const BYTES_A_NODE: usize = 48;
const ROOM: usize = 1024;

/// Maximum size of a map that is searched for duplicates pair by pair.
const SMALL_MAP: usize = 12;

/// Replaces a node that is not kept.
const NOT_KEPT: NodeId = NodeId::MAX;

impl<'a> Tree<'a> {
    /// Reads the only document in `bytes`. The value of the top-level key `unread` is checked but not kept.
    ///
    /// Besides invalid YAML, this rejects duplicate keys in a map, keys that are lists or maps, merge keys, a second
    /// document, more than 128 levels, aliases that refer to a node that contains them, and aliases that expand to
    /// megabytes.
    pub fn read(bytes: &'a [u8], unread: Option<&str>) -> Result<Self, DocumentError> {
        build(document::text(bytes)?, unread)
    }
}

fn build<'a>(text: &'a str, unread: Option<&str>) -> Result<Tree<'a>, DocumentError> {
    let mut builder = Builder {
        unread,
        nodes: Vec::with_capacity((text.len() / BYTES_A_NODE).min(ROOM)),
        open: Vec::with_capacity(16),
        items: Vec::new(),
        entries: Vec::with_capacity(64),
        anchors: Vec::new(),
        root: None,
        documents: 0,
        alias_weight: 0,
    };
    for event in Parser::new(TextInput::new(text)) {
        let (event, span) = event.map_err(|error| not_yaml(&error))?;
        builder.take(event, position(&span.start))?;
    }
    builder.finish()
}

struct Builder<'a, 'u> {
    /// The top-level key whose value is not kept.
    unread: Option<&'u str>,
    nodes: Vec<Node<'a>>,
    open: Vec<Frame<'a>>,
    /// The contents of the open lists and maps, one after the other; each is removed when it is complete.
    items: Vec<NodeId>,
    entries: Vec<MapEntry<'a>>,
    /// The node and its weight by the parser's anchor id, once the node is complete.
    anchors: Vec<Option<(NodeId, usize)>>,
    root: Option<NodeId>,
    documents: usize,
    alias_weight: usize,
}

/// An open list or map.
struct Frame<'a> {
    position: Position,
    anchor: usize,
    kept: bool,
    weight: usize,
    children: Children<'a>,
}

enum Children<'a> {
    List(usize),
    /// The index of its first entry, and the key whose value comes next.
    Map(usize, Option<Key<'a>>),
}

impl<'a> Builder<'a, '_> {
    fn take(&mut self, event: Event<'a>, at: Position) -> Result<(), DocumentError> {
        match event {
            Event::DocumentStart(_) => self.start_document(at),
            Event::Scalar(text, style, anchor, tag) => {
                self.scalar(Scalar::new(text, style, tag.as_deref()), anchor, at)
            }
            Event::Alias(anchor) => self.alias(anchor, at),
            Event::SequenceStart(anchor, _) => self.start(Children::List(self.items.len()), anchor, at),
            Event::MappingStart(anchor, _) => self.start(Children::Map(self.entries.len(), None), anchor, at),
            Event::SequenceEnd | Event::MappingEnd => self.end(),
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
        }
    }

    fn start_document(&mut self, at: Position) -> Result<(), DocumentError> {
        self.documents += 1;
        if self.documents > 1 {
            return Err(DocumentError::at(
                at,
                "a second document begins here; only one is allowed",
            ));
        }
        Ok(())
    }

    /// Returns whether the next node is kept: every node except the value of the unread key, unless it has an anchor,
    /// because an alias elsewhere may refer to it.
    fn is_kept(&self, anchor: usize) -> bool {
        let below_unread = match self.open.as_slice() {
            [] => false,
            [root] => {
                matches!(&root.children, Children::Map(_, Some(key)) if Some(&*key.text) == self.unread)
            }
            [.., parent] => !parent.kept,
        };
        !below_unread || anchor > 0
    }

    fn awaits_key(&self) -> bool {
        matches!(
            self.open.last(),
            Some(Frame {
                children: Children::Map(_, None),
                ..
            })
        )
    }

    fn scalar(&mut self, scalar: Scalar<'a>, anchor: usize, at: Position) -> Result<(), DocumentError> {
        let weight = NODE_WEIGHT + scalar.text.len();
        if self.awaits_key() {
            if anchor > 0 {
                let id = self.add(at, NodeContent::Scalar(scalar.clone()))?;
                self.remember(anchor, id, weight);
            }
            return self.key(scalar, at);
        }
        let mut id = NOT_KEPT;
        if self.is_kept(anchor) {
            id = self.add(at, NodeContent::Scalar(scalar))?;
            self.remember(anchor, id, weight);
        }
        self.value(id, weight);
        Ok(())
    }

    fn key(&mut self, scalar: Scalar<'a>, position: Position) -> Result<(), DocumentError> {
        if scalar.text == "<<" && !scalar.is_text {
            return Err(DocumentError::at(position, "merge keys (`<<`) are not supported"));
        }
        if let Some(Frame {
            children: Children::Map(_, next),
            weight,
            ..
        }) = self.open.last_mut()
        {
            *weight += NODE_WEIGHT + scalar.text.len();
            *next = Some(Key {
                text: scalar.text,
                position,
            });
        }
        Ok(())
    }

    /// Adds a complete node to its parent.
    fn value(&mut self, id: NodeId, weight: usize) {
        let Some(parent) = self.open.last_mut() else {
            self.root = Some(id);
            return;
        };
        parent.weight = parent.weight.saturating_add(weight);
        match &mut parent.children {
            Children::List(_) if id != NOT_KEPT => self.items.push(id),
            Children::List(_) => {}
            Children::Map(_, next) => {
                if let Some(key) = next.take() {
                    self.entries.push(MapEntry { key, value: id });
                }
            }
        }
    }

    fn alias(&mut self, anchor: usize, at: Position) -> Result<(), DocumentError> {
        let Some((id, weight)) = self.anchors.get(anchor).copied().flatten() else {
            return Err(DocumentError::at(
                at,
                "the alias refers to a node that contains it",
            ));
        };
        if !self.awaits_key() && !self.is_kept(0) {
            self.value(NOT_KEPT, 0);
            return Ok(());
        }
        self.alias_weight = self.alias_weight.saturating_add(weight);
        if self.alias_weight > MAX_ALIAS_WEIGHT {
            return Err(DocumentError::at(at, "the aliases expand to too much data"));
        }
        if !self.awaits_key() {
            self.value(id, weight);
            return Ok(());
        }
        match self.nodes.get(id as usize).map(|node| &node.content) {
            Some(NodeContent::Scalar(scalar)) => self.key(scalar.clone(), at),
            _ => Err(key_is_no_scalar(at)),
        }
    }

    fn start(&mut self, children: Children<'a>, anchor: usize, at: Position) -> Result<(), DocumentError> {
        if self.awaits_key() {
            return Err(key_is_no_scalar(at));
        }
        if self.open.len() == MAX_DEPTH {
            return Err(DocumentError::at(
                at,
                format!("more than {MAX_DEPTH} levels of nesting"),
            ));
        }
        self.open.push(Frame {
            position: at,
            anchor,
            kept: self.is_kept(anchor),
            weight: NODE_WEIGHT,
            children,
        });
        Ok(())
    }

    fn end(&mut self) -> Result<(), DocumentError> {
        let Some(frame) = self.open.pop() else {
            return Ok(());
        };
        let content = match frame.children {
            Children::List(begin) => NodeContent::List(self.items.drain(begin..).collect()),
            Children::Map(begin, _) => {
                refuse_twins(self.entries.get(begin..).unwrap_or_default())?;
                let entries = self.entries.drain(begin..);
                NodeContent::Map(if frame.kept { entries.collect() } else { Vec::new() })
            }
        };
        let mut id = NOT_KEPT;
        if frame.kept {
            id = self.add(frame.position, content)?;
            self.remember(frame.anchor, id, frame.weight);
        }
        self.value(id, frame.weight);
        Ok(())
    }

    fn add(&mut self, position: Position, content: NodeContent<'a>) -> Result<NodeId, DocumentError> {
        let id = NodeId::try_from(self.nodes.len())
            .ok()
            .filter(|id| *id < NOT_KEPT)
            .ok_or_else(|| DocumentError::at(position, "too many nodes"))?;
        self.nodes.push(Node { position, content });
        Ok(id)
    }

    fn remember(&mut self, anchor: usize, id: NodeId, weight: usize) {
        if anchor == 0 {
            return;
        }
        if self.anchors.len() <= anchor {
            self.anchors.resize(anchor + 1, None);
        }
        if let Some(place) = self.anchors.get_mut(anchor) {
            *place = Some((id, weight));
        }
    }

    fn finish(mut self) -> Result<Tree<'a>, DocumentError> {
        let start = Position { line: 1, column: 1 };
        let root = self
            .root
            .ok_or_else(|| DocumentError::at(start, "the document is empty"))?;
        Ok(Tree {
            nodes: mem::take(&mut self.nodes),
            root,
        })
    }
}

fn refuse_twins(entries: &[MapEntry<'_>]) -> Result<(), DocumentError> {
    match first_twin(entries) {
        None => Ok(()),
        Some(key) => Err(DocumentError::at(
            key.position,
            format!("duplicate key `{}`", shortened(&key.text)),
        )),
    }
}

fn first_twin<'e, 'a>(entries: &'e [MapEntry<'a>]) -> Option<&'e Key<'a>> {
    if entries.len() <= SMALL_MAP {
        return (1..entries.len()).find_map(|at| {
            let (before, rest) = entries.split_at(at);
            let key = &rest.first()?.key;
            before
                .iter()
                .any(|entry| entry.key.text == key.text)
                .then_some(key)
        });
    }
    let mut keys: Vec<&Key<'a>> = entries.iter().map(|entry| &entry.key).collect();
    keys.sort_by(|a, b| a.text.cmp(&b.text));
    let twins = keys.windows(2).filter_map(|pair| match pair {
        [a, b] if a.text == b.text => Some(*b),
        _ => None,
    });
    twins.min_by_key(|key| key.position)
}

fn key_is_no_scalar(at: Position) -> DocumentError {
    DocumentError::at(at, "a key that is a list or a map is not supported")
}

pub(super) fn not_yaml(error: &ScanError) -> DocumentError {
    DocumentError::at(position(error.marker()), format!("not YAML: {}", error.info()))
}

/// Converts the parser's position, whose columns begin with 0.
pub(super) fn position(marker: &Marker) -> Position {
    Position {
        line: saturate(marker.line()),
        column: saturate(marker.col() + 1),
    }
}
