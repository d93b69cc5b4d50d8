//! Shared HTML elements of the page.

use crate::report::sentences::to_sentence;
use crate::report::view::{Notice, Tally, View};
use crate::report::{PathBase, truncation};
use sluicegate_base::text::escape_markup as escape;
use std::fmt::Write as _;

/// Maximum length of a rule name, in characters.
const NAME_LIMIT: usize = 200;

/// Maximum length of a message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 4_000;

/// Number of entries above which a list is folded, so that the findings stay near the top.
const MAX_OPEN_ENTRIES: usize = 12;

/// Returns a button that copies the text of the `copied` element next to it.
pub(super) fn render_copy_button(label: &str) -> String {
    format!("<button type=\"button\" class=\"quiet copy live\" hidden=\"\">{label}</button>")
}

/// Returns the numbers of findings, such as `2 errors` and `1 warning`, each in its color.
pub(super) fn render_tally(tally: &Tally<'_>) -> String {
    let mut html = String::from("<span class=\"tally\">");
    for (tone, number) in tally.counts_by_tone() {
        let words = tone.describe_count(number);
        let _ = write!(html, "<span class=\"{}\">{words}</span> ", tone.css_class());
    }
    html + "<span class=\"part\"></span></span>"
}

/// Returns the path as a heading, with the directory less prominent than the name.
pub(super) fn render_path_heading(path: &str) -> String {
    let (folder, name) = path
        .rfind('/')
        .map_or(("", path), |slash_index| path.split_at(slash_index + 1));
    format!(
        "<h3 class=\"mono copied\"><span class=\"folder\">{}</span>{}</h3>",
        escape(folder),
        escape(name)
    )
}

/// Returns the notices of one kind with a heading.
pub(super) fn render_notice(notice: &Notice<'_>) -> String {
    let entries = notice.entries.iter().map(|entry| {
        format!(
            "<li>{}{}</li>",
            render_inline_code(&to_sentence(&entry.render_line(&PathBase::Root))),
            render_file_list(&entry.files)
        )
    });
    let (title, number) = (notice.kind.title(), notice.entries.len());
    let list = render_list(&entries.collect::<Vec<_>>(), number > MAX_OPEN_ENTRIES, "entries");
    format!("<div><h3>{title}</h3>{list}</div>\n")
}

/// Returns all files of a sentence that lists only the first ones.
fn render_file_list(paths: &[&str]) -> String {
    if paths.len() < 2 {
        return String::new();
    }
    let paths: Vec<String> = paths
        .iter()
        .map(|path| format!("<li>{}</li>", escape(path)))
        .collect();
    render_list(&paths, true, "files")
}

/// Returns the items as a list. If it is folded, the summary states the number of items with this noun.
fn render_list(items: &[String], is_folded: bool, noun: &str) -> String {
    let (start, end) = if is_folded {
        let summary = format!("<details><summary>{} {noun}</summary>", items.len());
        (summary, "</details>")
    } else {
        (String::new(), "")
    };
    format!("{start}<ul class=\"plain\">{}</ul>{end}", items.join("\n"))
}

/// Returns the id of the rule's explanation; `None` if there is no description of the rule.
pub(super) fn explanation_id(view: &View<'_>, rule: &str) -> Option<String> {
    let number = view.rule_number(rule)?;
    view.context.find_rule(rule).map(|_| format!("rule-{number}"))
}

/// Returns the rule's name. If the rule has an explanation, the name is a button that opens it.
pub(super) fn render_rule(view: &View<'_>, rule: &str) -> String {
    let name = escape_rule_name(rule);
    match explanation_id(view, rule) {
        Some(id) => format!("<button type=\"button\" class=\"rule\" popovertarget=\"{id}\">{name}</button>"),
        None => format!("<code class=\"rule\">{name}</code>"),
    }
}

/// Returns a rule's name, truncated for a heading.
pub(super) fn escape_rule_name(rule: &str) -> String {
    escape(&truncation::truncate(rule, NAME_LIMIT))
}

/// Returns a text as HTML, with names between two backticks as code. Another backtick stays unchanged.
pub(super) fn render_inline_code(text: &str) -> String {
    let mut html = String::new();
    let mut remaining_text = text;
    while let Some((start, tail)) = remaining_text.split_once('`') {
        html.push_str(&escape(start));
        match tail.split_once('`') {
            Some((name, end)) if !name.is_empty() && !name.contains('\n') => {
                let _ = write!(html, "<code>{}</code>", escape(name));
                remaining_text = end;
            }
            _ => {
                html.push('`');
                remaining_text = tail;
            }
        }
    }
    html + &escape(remaining_text)
}
