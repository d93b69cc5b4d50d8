//! Reads YAML with the place of every part: from the parser's events to a tree of nodes.
//!
//! Documents come from repositories that anybody may have changed, so the reader is bounded: bytes, depth, what aliases
//! expand to. A part that nobody asks for can be left out, since thousands of files are read in one run. What a
//! document is about, the room does not know.

mod build;
mod document;
mod input;
mod rewrite;
mod scalar;
mod tree;

pub use document::{DOCUMENT_LIMIT, DocumentError, Position};
pub(crate) use document::{is_blank, shortened};
pub(crate) use rewrite::{around, rewrite};
pub use scalar::Value;
pub(crate) use scalar::in_double_quotes;
pub use tree::{NodeRef, Tree};
