//! HTML elements that several parts of the page share.

use super::name_direction::escape_path;
use crate::sentences::to_sentence;
use crate::view::{Notice, Tally, View};
use crate::{PathBase, truncation};
use sluicegate_base::text::escape_markup as escape;
use std::fmt::Write as _;

/// Maximum length of a rule name, in characters.
const NAME_LIMIT: usize = 200;

/// Maximum length of a message, in characters.
pub(super) const MESSAGE_LIMIT: usize = 4_000;

/// Number of entries above which a list is folded, so that the findings stay near the top.
const MAX_OPEN_ENTRIES: usize = 12;

/// Renders a button that copies the text of the `copied` element near it. The button is hidden until the script runs.
pub(super) fn render_copy_button(label: &str) -> String {
    format!("<button type=\"button\" class=\"quiet copy live\" hidden=\"\">{label}</button>")
}

/// Renders the numbers of findings, such as `2 errors` and `1 warning`, each in its color. The empty element at the end
/// is for the number of shown findings, which the script sets while a filter is active.
pub(super) fn render_tally(tally: &Tally<'_>) -> String {
    let mut html = String::from("<span class=\"tally\">");
    for (tone, number) in tally.counts_by_tone() {
        let count = tone.describe_count(number);
        let _ = write!(html, "<span class=\"{}\">{count}</span> ", tone.css_class());
    }
    html + "<span class=\"part\"></span></span>"
}

/// Renders the path as a heading, with the directory less prominent than the name.
pub(super) fn render_path_heading(path: &str) -> String {
    let (directory, name) = path
        .rfind('/')
        .map_or(("", path), |slash_index| path.split_at(slash_index + 1));
    format!(
        "<h3 class=\"mono copied\"><span class=\"folder\">{}</span>{}</h3>",
        escape_path(directory),
        escape_path(name)
    )
}

/// Renders the notices of one kind below a heading. A long list is folded.
pub(super) fn render_notice(notice: &Notice<'_>) -> String {
    let entries = notice.entries.iter().map(|entry| {
        format!(
            "<li>{}{}</li>",
            render_inline_code(&to_sentence(&entry.render_line(&PathBase::Root))),
            render_file_list(&entry.files)
        )
    });
    let is_folded = notice.entries.len() > MAX_OPEN_ENTRIES;
    let list = render_list(&entries.collect::<Vec<_>>(), is_folded, "entries");
    format!("<div><h3>{}</h3>{list}</div>\n", notice.kind.title())
}

/// Renders all files of an entry as a folded list, because its sentence names only the first ones. Returns an empty
/// text for a single file, which the sentence names.
fn render_file_list(paths: &[&str]) -> String {
    if paths.len() < 2 {
        return String::new();
    }
    let paths: Vec<String> = paths
        .iter()
        .map(|path| format!("<li>{}</li>", escape_path(path)))
        .collect();
    let is_folded = true;
    render_list(&paths, is_folded, "files")
}

/// Renders HTML items as a list. A folded list has a summary with the number of items and `noun`, such as `14 entries`.
fn render_list(items: &[String], is_folded: bool, noun: &str) -> String {
    let (start, end) = if is_folded {
        let summary = format!("<details><summary>{} {noun}</summary>", items.len());
        (summary, "</details>")
    } else {
        (String::new(), "")
    };
    format!("{start}<ul class=\"plain\">{}</ul>{end}", items.join("\n"))
}

/// Returns the HTML id of the rule's explanation on the page; `None` if the rule has no findings or no description.
pub(super) fn find_explanation_id(view: &View<'_>, rule: &str) -> Option<String> {
    let number = view.find_rule_number(rule)?;
    view.context.find_rule(rule).map(|_| format!("rule-{number}"))
}

/// Renders the rule's name. If the page has an explanation of the rule, the name is a button that opens it.
pub(super) fn render_rule(view: &View<'_>, rule: &str) -> String {
    let name = escape_rule_name(rule);
    match find_explanation_id(view, rule) {
        Some(id) => format!("<button type=\"button\" class=\"rule\" popovertarget=\"{id}\">{name}</button>"),
        None => format!("<code class=\"rule\">{name}</code>"),
    }
}

/// Truncates a rule's name to the length of a heading and escapes it for HTML.
pub(super) fn escape_rule_name(rule: &str) -> String {
    escape(&truncate_rule_name(rule))
}

/// Truncates a rule's name to the length of a heading.
pub(super) fn truncate_rule_name(rule: &str) -> String {
    truncation::truncate(rule, NAME_LIMIT)
}

/// Renders a text as HTML, with names between backticks as code. Backticks that do not enclose a name on one line stay
/// unchanged.
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
