//! Reads documents without tags, such as `!!binary`, which change the meaning of a text.

use crate::document_text::{self, DocumentError, marker_position};
use crate::tree::Tree;
use crate::tree_builder::build_tree_observed;
use saphyr_parser::Event;

impl<'a> Tree<'a> {
    /// Reads the document as [`Self::parse`] does, but also rejects tags: readers that apply tags and readers that
    /// ignore them would find different values.
    pub fn parse_untagged(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let mut first_tag = None;
        let tree = build_tree_observed(document_text::decode_text(bytes)?, None, |event, span| {
            if first_tag.is_none() && has_tag(event) {
                first_tag = Some(marker_position(&span.start));
            }
        })?;
        match first_tag {
            Some(position) => {
                let message = "tags such as `!!str` are not supported";
                Err(DocumentError::at_position(position, message))
            }
            None => Ok(tree),
        }
    }
}

/// Returns whether the event begins a node with a tag.
const fn has_tag(event: &Event<'_>) -> bool {
    match event {
        Event::Scalar(_, _, _, tag) | Event::SequenceStart(_, tag) | Event::MappingStart(_, tag) => {
            tag.is_some()
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tag_of_any_node_is_rejected_with_its_position() {
        for (text, position) in [
            ("review:\n  fail-on: !!binary bmV2ZXI=\n", "line 2, column 12"),
            ("!!binary cmV2aWV3: 1\n", "line 1, column 1"),
            ("a: !!null never\n", "line 1, column 4"),
            ("a: ! 1\n", "line 1, column 4"),
            ("a: !!seq [1]\n", "line 1, column 4"),
            ("a: !custom\n  b: !!str 1\n", "line 1, column 4"),
        ] {
            let error = Tree::parse_untagged(text.as_bytes()).unwrap_err().to_string();
            let message = format!("tags such as `!!str` are not supported ({position})");
            assert_eq!(error, message, "{text}");
        }
    }

    #[test]
    fn document_without_tags_is_read() {
        let text = "a: &anchor [\"!!str\", b!c]\nd: *anchor # !!binary\n";
        let tree = Tree::parse_untagged(text.as_bytes()).unwrap();
        let list = tree.root().get("d").unwrap().items().unwrap();
        let texts: Vec<_> = list.map(|item| item.text().unwrap().to_owned()).collect();
        assert_eq!(texts, ["!!str", "b!c"]);
    }
}
