//! Masks the placeholders of a version name, which look like variables that were not replaced.

/// Replaces each placeholder such as `{date}` in the template with a character that no variable contains, so that
/// [`reject_unexpanded_value`](super::layers::reject_unexpanded_value) does not treat the placeholder as a variable.
/// `${tag}` is a variable, so it stays unchanged. The text need not be a valid template: it may also contain the
/// expressions of a CI host, which the parser of templates rejects.
pub(super) fn mask_placeholders(template: &str) -> String {
    let mut masked_text = String::new();
    let mut remaining_text = template;
    while let Some((prefix, suffix)) = remaining_text.split_once('{') {
        masked_text.push_str(prefix);
        let is_expression = masked_text.ends_with(['$', '{']);
        match suffix.split_once('}') {
            Some((name, text_after_name)) if is_placeholder_name(name) && !is_expression => {
                masked_text.push('\u{fffd}');
                remaining_text = text_after_name;
            }
            _ => {
                masked_text.push('{');
                remaining_text = suffix;
            }
        }
    }
    masked_text + remaining_text
}

/// Returns whether the text has only the characters of a placeholder name: lowercase letters and hyphens. An empty text
/// is accepted, because it is rejected later as an unknown placeholder.
fn is_placeholder_name(text: &str) -> bool {
    text.chars()
        .all(|character| character.is_ascii_lowercase() || character == '-')
}
