//! Reads YAML with the position of every part, from the parser's events to a tree of nodes.
//!
//! Documents come from repositories that anybody may have changed, so the reader has limits: bytes, depth, and the
//! expansion of aliases. Parts that are not needed can be skipped, because thousands of files are read in one run. This
//! module does not depend on the meaning of a document.

mod document_text;
mod editor_position;
mod empty_brackets;
mod list_lines;
mod scalar;
mod scalar_location;
mod scalar_rewrite;
mod text_input;
mod tree;
mod tree_builder;
mod untagged_tree;

pub use document_text::{DocumentError, MAX_DOCUMENT_BYTES, Position, format_place, is_blank, shorten};
pub use editor_position::EditorPosition;
pub use empty_brackets::remove_empty_brackets;
pub use list_lines::{find_line_ending, indent_width, is_comment_outside_entry, is_entry_start, split_lines};
pub use scalar::{Value, format_double_quoted, format_plain_or_quoted};
pub use scalar_rewrite::{
    EditableDocument, NewTexts, RewrittenDocument, ScalarReplacement, replace_scalars, split_around_scalars,
};
pub use tree::{NodeRef, Tree};
