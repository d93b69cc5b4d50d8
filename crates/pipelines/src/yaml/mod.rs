//! Reads YAML with the position of every part, from the parser's events to a tree of nodes.
//!
//! Documents come from repositories that anybody may have changed, so the reader has limits: bytes, depth, and the
//! expansion of aliases. Parts that are not needed can be skipped, because thousands of files are read in one run. This
//! room does not know what a document is about.

mod build;
mod document;
mod input;
mod rewrite;
mod scalar;
mod tree;

pub use document::{DOCUMENT_LIMIT, DocumentError, Position, is_blank, shortened};
pub use rewrite::{around, rewrite};
pub use scalar::Value;
pub(crate) use scalar::in_double_quotes;
pub use tree::{NodeRef, Tree};
