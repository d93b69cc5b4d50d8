//! Renders the canvas as a Mermaid flowchart, which GitHub and GitLab display.
//!
//! <https://mermaid.js.org/syntax/flowchart.html>,
//! <https://docs.github.com/get-started/writing-on-github/working-with-advanced-formatting/creating-diagrams>

use super::canvas::{Canvas, CanvasBox, ChangeMark, MISSING_NOTE};
use super::layers::assign_layers;
use crate::diff::format_renamed_names;
use sluicegate_base::text;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Maximum number of characters of a name.
const MAX_LABEL_CHARS: usize = 60;

/// The colors of changes, readable on GitHub's light and dark pages.
const CLASS_DEFINITIONS: &str = "  classDef added stroke:#1a7f37,stroke-width:3px\n  \
    classDef removed stroke:#cf222e,stroke-width:3px,stroke-dasharray:6 4\n  \
    classDef changed stroke:#bf8700,stroke-width:3px\n";

/// Maximum width of a chart from left to right, in pixels; a wider chart runs downward, because pages have more height.
const MAX_CHART_WIDTH: usize = 1200;

/// Estimated sizes in a chart, in pixels: a letter, the space around a name, and the space between two boxes.
const LETTER_WIDTH: usize = 8;
const NAME_MARGIN: usize = 60;
const BOX_DISTANCE: usize = 50;

/// The styles of added and of removed links.
const ADDED_LINK_STYLE: &str = "stroke:#1a7f37,stroke-width:3px";
const REMOVED_LINK_STYLE: &str = "stroke:#cf222e,stroke-width:2px";

/// Renders the canvas as a Mermaid flowchart, without the code fence around it.
pub fn render_mermaid(canvas: &Canvas) -> String {
    let labels = super::label::format_link_labels(canvas);
    let mut chart = format!("flowchart {}\n", choose_direction(canvas, &labels));
    if canvas.boxes.is_empty() {
        chart.push_str("  n0[\"no components\"]\n");
    }
    for (index, canvas_box) in canvas.boxes.iter().enumerate() {
        let class = match canvas.shown_mark(canvas_box.mark) {
            ChangeMark::Unchanged => String::new(),
            mark => format!(":::{}", mark.name()),
        };
        let _ = writeln!(
            chart,
            "  n{index}[\"{}\"]{class}",
            escape_label(&describe_box(canvas, canvas_box))
        );
    }
    for (arrow, label) in canvas.arrows.iter().zip(&labels) {
        let line = if canvas.shown_mark(arrow.mark) == ChangeMark::Removed {
            "-.->"
        } else {
            "-->"
        };
        let label_text = label
            .as_ref()
            .map(|label| format!("|\"{}\"|", escape_label(label)));
        let _ = writeln!(
            chart,
            "  n{} {line}{} n{}",
            arrow.from_box,
            label_text.unwrap_or_default(),
            arrow.to_box
        );
    }
    // Mermaid refers to a link by its number, in the order of the chart.
    for (mark, style) in [
        (ChangeMark::Added, ADDED_LINK_STYLE),
        (ChangeMark::Removed, REMOVED_LINK_STYLE),
    ] {
        let link_indices: Vec<String> = canvas
            .arrows
            .iter()
            .enumerate()
            .filter(|(_, arrow)| canvas.shown_mark(arrow.mark) == mark)
            .map(|(index, _)| index.to_string())
            .collect();
        if !link_indices.is_empty() {
            let _ = writeln!(chart, "  linkStyle {} {style}", link_indices.join(","));
        }
    }
    chart.push_str(CLASS_DEFINITIONS);
    chart
}

/// Returns the Mermaid direction of the chart: `LR` (left to right), or `TB` (top to bottom) if a chart from left to
/// right would be too wide and the other direction is narrower.
fn choose_direction(canvas: &Canvas, labels: &[Option<String>]) -> &'static str {
    let links: Vec<(usize, usize)> = canvas
        .arrows
        .iter()
        .map(|arrow| (arrow.from_box, arrow.to_box))
        .collect();
    // The layers only estimate the size of the chart, so no box is preferred as a start.
    let is_start = |_: usize| false;
    let positions = assign_layers(canvas.boxes.len(), &links, &is_start);
    // From left to right, a layer is as wide as its widest name; downward, it contains all its names.
    let mut layer_widths: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    for (canvas_box, (layer, _row)) in canvas.boxes.iter().zip(positions) {
        let char_count = describe_box(canvas, canvas_box)
            .chars()
            .count()
            .min(MAX_LABEL_CHARS);
        let width = char_count * LETTER_WIDTH + NAME_MARGIN + BOX_DISTANCE;
        let (widest_box, total_width) = layer_widths.entry(layer).or_default();
        *widest_box = width.max(*widest_box);
        *total_width += width;
    }
    let widest_label = labels.iter().flatten().map(|label| label.chars().count()).max();
    let label_width = widest_label.unwrap_or(0) * LETTER_WIDTH;
    let length: usize = layer_widths
        .values()
        .map(|(widest_box, _)| widest_box + label_width)
        .sum();
    let breadth = layer_widths.values().map(|(_, total_width)| *total_width).max();
    if length > MAX_CHART_WIDTH && breadth.unwrap_or(0) < length {
        "TB"
    } else {
        "LR"
    }
}

/// Returns the sign of the change and the name of a box, with its previous name if it was renamed, or a note if it is
/// missing.
fn describe_box(canvas: &Canvas, canvas_box: &CanvasBox) -> String {
    let sign = canvas.shown_mark(canvas_box.mark).sign();
    match &canvas_box.previous_name {
        None if canvas_box.is_missing => format!("{} ({MISSING_NOTE})", canvas_box.name),
        Some(previous_name) => {
            let (name, previous_name) = format_renamed_names(&canvas_box.name, previous_name);
            format!("{sign} {name} (was {previous_name})")
        }
        None => format!("{sign} {}", canvas_box.name),
    }
}

/// Escapes a label so that it cannot leave its quotes: characters with a meaning in Mermaid, Markdown or HTML become
/// numeric codes, which Mermaid shows as the characters. A sign or a number at the start would begin a list, so the
/// blank, period or parenthesis after it is replaced. An underscore has a meaning only at an end of a word. Truncates a
/// label that is longer than [`MAX_LABEL_CHARS`].
pub(super) fn escape_label(raw: &str) -> String {
    let line = text::escape_line(raw);
    let mut output = String::new();
    let is_list_marker = |text: &str| text.chars().all(|c| c.is_ascii_digit() || "+-*".contains(c));
    let characters: Vec<char> = line.trim().chars().collect();
    for (index, c) in characters.iter().copied().enumerate() {
        if index == MAX_LABEL_CHARS {
            output.push('\u{2026}');
            break;
        }
        match c {
            '_' if !is_inside_word(&characters, index) => output.push_str("#95;"),
            ' ' if !output.is_empty() && is_list_marker(&output) => output.push('\u{a0}'),
            '.' if !output.is_empty() && is_list_marker(&output) => output.push_str("#46;"),
            ')' if !output.is_empty() && is_list_marker(&output) => output.push_str("#41;"),
            c if c.is_alphanumeric() || " .,_+-:/()?=\u{2212}".contains(c) => output.push(c),
            c => {
                let _ = write!(output, "#{};", u32::from(c));
            }
        }
    }
    output
}

/// Returns whether the character with this index has a letter or a digit on both sides.
fn is_inside_word(characters: &[char], index: usize) -> bool {
    let is_word_character = |index: usize| characters.get(index).is_some_and(|c| c.is_alphanumeric());
    index.checked_sub(1).is_some_and(is_word_character) && is_word_character(index + 1)
}
