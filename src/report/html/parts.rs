//! Shared HTML elements of the page.

use crate::report::view::{Notice, Tally, View};
use crate::report::{PathBase, shorten};
use sluicegate_base::text::escape_markup as escape;
use std::fmt::Write as _;

/// Maximum length of a rule name, in characters.
const NAME_LIMIT: usize = 200;

/// Maximum length of a message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 4_000;

/// Number of entries above which a list is folded, so that the findings stay near the top.
const LONG_LIST: usize = 12;

/// Returns a button that copies the text of the `copied` element next to it.
pub(super) fn copy(what: &str) -> String {
    format!("<button type=\"button\" class=\"quiet copy live\">{what}</button>")
}

/// Returns the numbers of findings, such as `2 errors` and `1 warning`, each in its color.
pub(super) fn tally(tally: &Tally<'_>) -> String {
    let mut shown = String::from("<span class=\"tally\">");
    for (tone, number) in tally.parts() {
        let words = tone.counted(number);
        let _ = write!(shown, "<span class=\"{}\">{words}</span> ", tone.class());
    }
    shown + "<span class=\"part\"></span></span>"
}

/// Returns the path as a heading, with the directory less prominent than the name.
pub(super) fn heading(path: &str) -> String {
    let (folder, name) = path.rfind('/').map_or(("", path), |at| path.split_at(at + 1));
    format!(
        "<h3 class=\"mono copied\"><span class=\"folder\">{}</span>{}</h3>",
        escape(folder),
        escape(name)
    )
}

/// Returns the notices of one kind with a heading.
pub(super) fn notice(notice: &Notice<'_>) -> String {
    let entries = notice.entries.iter();
    let entries = entries.map(|entry| {
        format!(
            "<li>{}{}</li>",
            escape(&entry.line(&PathBase::Root)),
            files(&entry.files)
        )
    });
    let (title, number) = (notice.kind.title(), notice.entries.len());
    let list = folded(&entries.collect::<Vec<_>>(), number > LONG_LIST, "entries");
    format!("<div><h3>{title}</h3>{list}</div>\n")
}

/// Returns all files of a sentence that lists only the first ones.
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

/// Returns the id of the rule's explanation; `None` if there is no description of the rule.
pub(super) fn explanation(view: &View<'_>, rule: &str) -> Option<String> {
    let number = view.rule_number(rule)?;
    view.about.rule(rule).map(|_| format!("rule-{number}"))
}

/// Returns the rule's name, as a button that opens the explanation if there is one.
pub(super) fn rule(view: &View<'_>, rule: &str) -> String {
    let name = name(rule);
    match explanation(view, rule) {
        Some(id) => format!("<button type=\"button\" class=\"rule\" popovertarget=\"{id}\">{name}</button>"),
        None => format!("<code class=\"rule\">{name}</code>"),
    }
}

/// Returns a rule's name, truncated for a heading.
pub(super) fn name(rule: &str) -> String {
    escape(&shorten::to_chars(rule, NAME_LIMIT))
}

/// Returns a sentence of this program as HTML, with names in backticks as code.
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
