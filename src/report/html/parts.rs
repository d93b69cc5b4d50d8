//! Small pieces that several parts of the page are made of.

use crate::base::text::markup as escape;
use crate::report::shorten;
use crate::report::view::{Notice, Tally, View};
use std::fmt::Write as _;

/// The longest rule name, in characters.
const NAME_LIMIT: usize = 200;

/// The longest message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 4_000;

/// A list of more entries is folded, so that the findings stay near the top.
const LONG_LIST: usize = 12;

/// Copies what is marked as `copied` beside it.
pub(super) fn copy(what: &str) -> String {
    format!("<button type=\"button\" class=\"quiet copy live\">{what}</button>")
}

/// `2 errors`, `1 warning`, each in its colour.
pub(super) fn tally(tally: &Tally<'_>) -> String {
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

/// All of one kind below its heading.
pub(super) fn notice(notice: &Notice<'_>) -> String {
    let entries = notice.entries.iter();
    let entries = entries.map(|entry| format!("<li>{}{}</li>", escape(&entry.line()), files(&entry.files)));
    let (title, number) = (notice.kind.title(), notice.entries.len());
    let list = folded(&entries.collect::<Vec<_>>(), number > LONG_LIST, "entries");
    format!("<div><h3>{title}</h3>{list}</div>\n")
}

/// The files that a sentence only names the first of.
fn files(paths: &[&str]) -> String {
    if paths.len() < 2 {
        return String::new();
    }
    let paths: Vec<String> = paths
        .iter()
        .map(|path| format!("<li>{}</li>", escape(path)))
        .collect();
    folded(&paths, true, "files")
}

fn folded(items: &[String], is_folded: bool, what: &str) -> String {
    let (start, end) = if is_folded {
        let summary = format!("<details><summary>{} {what}</summary>", items.len());
        (summary, "</details>")
    } else {
        (String::new(), "")
    };
    format!("{start}<ul class=\"plain\">{}</ul>{end}", items.join("\n"))
}

/// The id of what explains the rule; none where nothing is known of it.
pub(super) fn explanation(view: &View<'_>, rule: &str) -> Option<String> {
    let number = view.rule_number(rule)?;
    view.about.rule(rule).map(|_| format!("rule-{number}"))
}

/// The rule's name, which opens what is known of it.
pub(super) fn rule(view: &View<'_>, rule: &str) -> String {
    let name = name(rule);
    match explanation(view, rule) {
        Some(id) => format!("<button type=\"button\" class=\"rule\" popovertarget=\"{id}\">{name}</button>"),
        None => format!("<code class=\"rule\">{name}</code>"),
    }
}

/// A rule's name, cut to what a heading can hold.
pub(super) fn name(rule: &str) -> String {
    escape(&shorten::to_chars(rule, NAME_LIMIT))
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
