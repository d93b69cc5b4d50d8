//! Keeps names of right-to-left scripts apart, so that a path is read from its top directory to the file.
//!
//! Without isolation, a browser turns a row of such names around: a path would begin with the name of the file, its top
//! directory would be in front of `.orch.yaml`, and the arrow between two names would point to the wrong one.

use std::borrow::Cow;

/// Maximum number of bytes between two words of one name.
const MAX_GAP: usize = 16;

/// Wraps each right-to-left name in the texts of this HTML in a `bdi` element. Tags and pictures stay unchanged.
pub(super) fn isolate_right_to_left_names(html: &str) -> Cow<'_, str> {
    if !html.chars().any(is_right_to_left) {
        return Cow::Borrowed(html);
    }
    let mut output = String::with_capacity(html.len() * 2);
    let mut remaining_html = html;
    while !remaining_html.is_empty() {
        let text_end = remaining_html.find('<').unwrap_or(remaining_html.len());
        let (text, markup) = remaining_html.split_at(text_end);
        push_isolated_text(&mut output, text);
        let (markup, tail) = markup.split_at(find_markup_end(markup));
        output.push_str(markup);
        remaining_html = tail;
    }
    Cow::Owned(output)
}

/// Returns the length of the tag at the start, or of the whole picture that the tag begins: SVG has no `bdi`.
fn find_markup_end(markup: &str) -> usize {
    let end = if markup.starts_with("<svg") { "</svg>" } else { ">" };
    markup.find(end).map_or(markup.len(), |start| start + end.len())
}

/// Adds the text, with each right-to-left name in an element.
fn push_isolated_text(html: &mut String, text: &str) {
    let mut remaining_text = text;
    while let Some(start) = remaining_text.find(is_right_to_left) {
        let (start_text, name) = remaining_text.split_at(start);
        let (name, tail) = name.split_at(find_name_end(name));
        html.push_str(start_text);
        html.push_str("<bdi>");
        html.push_str(name);
        html.push_str("</bdi>");
        remaining_text = tail;
    }
    html.push_str(remaining_text);
}

/// Returns the length of the name at the start of the text: its right-to-left words, with what stands between two of
/// them. A separator of names, such as a slash, an arrow or a comma, ends the name.
fn find_name_end(text: &str) -> usize {
    let mut end = 0;
    for (index, c) in text.char_indices() {
        if is_right_to_left(c) {
            end = index + c.len_utf8();
        } else if !(matches!(c, ' ' | '_' | '-') || c.is_numeric()) || index - end > MAX_GAP {
            break;
        }
    }
    end
}

/// Returns whether the character belongs to a script that is written from right to left, such as Arabic or Hebrew.
const fn is_right_to_left(c: char) -> bool {
    matches!(
        c,
        '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefe}' | '\u{10800}'..='\u{10fff}'
            | '\u{1e800}'..='\u{1efff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_of_a_path_is_isolated() {
        assert_eq!(
            isolate_right_to_left_names(
                "<h3><span title=\"\u{5d0}\">\u{5d0}\u{5d1}/\u{5d2} 5 \u{5d3}/</span>\u{5d4} 5.yaml</h3>"
            ),
            "<h3><span title=\"\u{5d0}\"><bdi>\u{5d0}\u{5d1}</bdi>/<bdi>\u{5d2} 5 \u{5d3}</bdi>/</span><bdi>\u{5d4}</bdi> 5.yaml</h3>"
        );
        assert_eq!(
            isolate_right_to_left_names("\u{5d0} -&gt; \u{5d1}, \u{5d2}"),
            "<bdi>\u{5d0}</bdi> -&gt; <bdi>\u{5d1}</bdi>, <bdi>\u{5d2}</bdi>"
        );
    }

    #[test]
    fn left_to_right_texts_and_pictures_stay_unchanged() {
        for html in ["<p>sales/\u{e9}t\u{e9} -&gt; b</p>", "", "a <"] {
            assert!(matches!(isolate_right_to_left_names(html), Cow::Borrowed(same) if same == html));
        }
        let picture = "<svg><text>\u{5d0}</text></svg>";
        assert_eq!(isolate_right_to_left_names(picture), picture);
        assert_eq!(
            isolate_right_to_left_names(&format!("{picture}\u{5d0}<br")),
            format!("{picture}<bdi>\u{5d0}</bdi><br")
        );
    }
}
