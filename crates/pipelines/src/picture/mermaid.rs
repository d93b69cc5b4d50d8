//! Renders the canvas as a Mermaid flowchart, which GitHub and GitLab display.
//!
//! <https://mermaid.js.org/syntax/flowchart.html>,
//! <https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/creating-diagrams>

use super::canvas::{Box, Canvas, Mark};
use super::layers::layers;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum number of characters of a name.
const LONGEST_LABEL: usize = 60;

/// The colors of changes, readable on GitHub's light and dark pages.
const CLASSES: &str = "  classDef added stroke:#1a7f37,stroke-width:3px\n  \
    classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4\n  \
    classDef changed stroke:#bf8700,stroke-width:3px\n";

/// Maximum number of components in a row from left to right; a longer chain runs downward, because pages have more
/// height.
const IN_A_ROW: usize = 5;

/// The style of an added link.
const ADDED: &str = "stroke:#1a7f37,stroke-width:3px";
const REMOVED: &str = "stroke:#cf222e,stroke-width:2px";

/// Returns the text of the flowchart, without the code fence around it.
pub fn mermaid(canvas: &Canvas) -> String {
    let mut chart = format!("flowchart {}\n", direction(canvas));
    for (at, drawn) in canvas.boxes.iter().enumerate() {
        let class = match drawn.mark {
            Mark::Same => String::new(),
            mark => format!(":::{}", mark.word()),
        };
        let _ = writeln!(chart, "  n{at}[\"{}\"]{class}", label(&title(drawn)));
    }
    let kinds = super::label::links(canvas);
    for (arrow, kind) in canvas.arrows.iter().zip(&kinds) {
        let line = if arrow.mark == Mark::Removed {
            "-.->"
        } else {
            "-->"
        };
        let kind = kind.as_ref().map(|kind| format!("|\"{}\"|", label(kind)));
        let _ = writeln!(
            chart,
            "  n{} {line}{} n{}",
            arrow.from,
            kind.unwrap_or_default(),
            arrow.to
        );
    }
    for (mark, style) in [(Mark::Added, ADDED), (Mark::Removed, REMOVED)] {
        let marked = canvas
            .arrows
            .iter()
            .enumerate()
            .filter(|(_, arrow)| arrow.mark == mark);
        let numbers: Vec<String> = marked.map(|(at, _)| at.to_string()).collect();
        if !numbers.is_empty() {
            let _ = writeln!(chart, "  linkStyle {} {style}", numbers.join(","));
        }
    }
    chart.push_str(CLASSES);
    chart
}

fn direction(canvas: &Canvas) -> &'static str {
    let links: Vec<(usize, usize)> = canvas.arrows.iter().map(|arrow| (arrow.from, arrow.to)).collect();
    let placed = layers(canvas.boxes.len(), &links, &|_| false);
    let longest = placed.iter().map(|(layer, _)| layer + 1).max();
    if longest.unwrap_or(0) > IN_A_ROW {
        "TB"
    } else {
        "LR"
    }
}

fn title(drawn: &Box) -> String {
    let sign = drawn.mark.sign();
    match &drawn.previous_name {
        Some(old) => format!("{sign} {} (was {old})", drawn.name),
        None => format!("{sign} {}", drawn.name),
    }
}

/// Escapes a label so that it cannot leave its quotes: characters with a meaning in Mermaid, Markdown or HTML become
/// their number, which Mermaid shows as the character. A sign or a number at the start would begin a list, so the blank
/// after it is replaced.
fn label(raw: &str) -> String {
    let line = text::escape_line(raw);
    let mut shown = String::new();
    let begins_list = |before: &str| before.chars().all(|c| c.is_ascii_digit() || "+-*".contains(c));
    for (count, c) in line.trim().chars().enumerate() {
        if count == LONGEST_LABEL {
            shown.push('\u{2026}');
            break;
        }
        match c {
            ' ' if !shown.is_empty() && begins_list(&shown) => shown.push('\u{a0}'),
            '.' if !shown.is_empty() && begins_list(&shown) => shown.push_str("#46;"),
            c if c.is_alphanumeric() || " .,_+-:/()?=\u{2212}".contains(c) => shown.push(c),
            c => {
                let _ = write!(shown, "#{};", u32::from(c));
            }
        }
    }
    shown
}
