//! Writes an empty list in place of the null in a shared-pipelines file without entries.

use super::shared_pipelines::SharedPipelines;
use sluicegate_yaml::{NodeRef, Position, Tree};

/// Returns whether the value of `pipelines` is null or empty.
pub(super) fn has_null_list(text: &str) -> bool {
    Tree::parse(text.as_bytes()).is_ok_and(|tree| tree.root().get("pipelines").is_some_and(NodeRef::is_null))
}

/// Returns the text with an empty list as the value of `pipelines`, which is null or empty, so that an entry can be
/// inserted. Returns `None` for a null that cannot be replaced, for example with a tag.
pub(super) fn insert_empty_list(text: &str) -> Option<String> {
    let tree = Tree::parse(text.as_bytes()).ok()?;
    let (_, position, value) = tree.root().entries().find(|(key, ..)| *key == "pipelines")?;
    replace_null(text, position, value).filter(|text| SharedPipelines::parse(text.as_bytes()).is_ok())
}

/// Returns the text with an empty list in place of the value of `pipelines`, which is null. All other text stays. The
/// key is at `position`. Returns `None` for an alias, and for a key in an unusual form.
fn replace_null(text: &str, position: Position, value: NodeRef<'_, '_>) -> Option<String> {
    // Positions do not count a byte order mark.
    let content = text.strip_prefix('\u{feff}').unwrap_or(text);
    let byte_order_mark = text.strip_suffix(content)?;
    let text_from_key = content.get(position.find_offset(content)?..)?;
    let text_after_key = ["pipelines", "'pipelines'", "\"pipelines\""]
        .iter()
        .find_map(|key| text_from_key.strip_prefix(key))?;
    let text_after = text_after_key.trim_start_matches(' ').strip_prefix(':')?;
    let text_before = content.strip_suffix(text_after)?;
    let null = value.text()?;
    if null.is_empty() {
        return Some(format!("{byte_order_mark}{text_before} []{text_after}"));
    }
    // The null may be on a later line, after comments.
    let null_offset = value.position().find_offset(content)?;
    let gap = content.get(text_before.len()..null_offset)?.trim_end_matches(' ');
    let text_after_null = content.get(null_offset..)?.strip_prefix(null)?;
    Some(format!("{byte_order_mark}{text_before} []{gap}{text_after_null}"))
}
