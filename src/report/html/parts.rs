//! Small pieces that several parts of the page are made of.

use super::view::RuleTally;
use crate::base::text::markup as escape;
use std::fmt::Write as _;

/// The longest message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 4_000;

/// A list of more entries is folded, so that the findings stay near the top.
const LONG_LIST: usize = 12;

/// Copies what is marked as `copied` beside it.
pub(super) fn copy(what: &str) -> String {
    format!("<button type=\"button\" class=\"quiet copy live\">{what}</button>")
}

/// `2 errors`, `1 warning`, each in its colour.
pub(super) fn tally(tally: RuleTally) -> String {
    let mut shown = String::from("<span class=\"tally\">");
    for (tone, number) in tally.parts() {
        let words = tone.counted(number);
        let _ = write!(shown, "<span class=\"{}\">{words}</span> ", tone.class());
    }
    shown + "<span class=\"part\"></span></span>"
}

/// The path, its folder quieter than the name.
pub(super) fn heading(path: &str) -> String {
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    format!(
        "<h3 class=\"mono copied\"><span class=\"folder\">{}</span>{}</h3>",
        escape(folder),
        escape(name)
    )
}

/// A list below a heading; nothing where it is empty.
pub(super) fn list(title: &str, items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.map(|item| format!("<li>{}</li>", escape(&item))).collect();
    if items.is_empty() {
        return String::new();
    }
    let (start, end) = if items.len() > LONG_LIST {
        let summary = format!("<details><summary>{} entries</summary>", items.len());
        (summary, "</details>")
    } else {
        (String::new(), "")
    };
    let items = items.join("\n");
    format!("<div><h3>{title}</h3>{start}<ul class=\"plain\">{items}</ul>{end}</div>\n")
}

/// A sentence of this program with names in backquotes.
pub(super) fn marked(text: &str) -> String {
    let mut shown = String::new();
    for (at, part) in text.split('`').enumerate() {
        let part = escape(part);
        if at % 2 == 1 {
            let _ = write!(shown, "<code>{part}</code>");
        } else {
            shown.push_str(&part);
        }
    }
    shown
}
