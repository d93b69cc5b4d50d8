//! Shares the lines of a description: every changed item gets its own line before the values get the rest, and long
//! texts get equal shares.

use super::leaf::Leaf;
use super::line_diff;
use super::pipeline_diff::{ComponentChange, ComponentDiff, FieldDiff, PipelineDiff, VariableDiff};
use crate::findings::ChangeCounts;
use sluicegate_base::text::format_count;

/// Maximum number of lines for the changed items of one pipeline: components, links, variables and other fields.
pub(super) const MAX_ITEM_LINES: usize = 400;

/// Number of lines that the fields below the items get in any case. They also get the lines that the items do not need.
pub(super) const MIN_FIELD_LINES: usize = 200;

/// Maximum number of lines for one text, such as SQL, and the number that a text gets in any case.
const MAX_TEXT_LINES: usize = 40;
const MIN_TEXT_LINES: usize = 4;

/// The lines that a description may still use.
pub(super) struct LineShares {
    item_lines: usize,
    field_lines: usize,
    /// Maximum number of lines of one text.
    pub(super) text_lines: usize,
    pub(super) omitted_items: OmittedItems,
}

impl LineShares {
    /// Divides the lines among the items and fields of this difference.
    pub(super) fn new(diff: &PipelineDiff) -> Self {
        let item_count =
            diff.components.len() + diff.links.len() + diff.variables.len() + told_other(diff).len();
        let field_lines = MAX_ITEM_LINES.saturating_sub(item_count).max(MIN_FIELD_LINES);
        Self {
            item_lines: MAX_ITEM_LINES,
            field_lines,
            text_lines: divide_among_texts(diff, field_lines),
            omitted_items: OmittedItems::default(),
        }
    }

    /// Returns whether another item gets a line.
    pub(super) const fn has_item_line(&self) -> bool {
        self.item_lines > 0
    }

    /// Returns whether another field gets a line. Its text may be longer than the rest.
    pub(super) const fn has_field_line(&self) -> bool {
        self.field_lines > 0
    }

    /// Counts a line at this indentation level: the items are at level 1.
    pub(super) const fn use_line(&mut self, depth: usize) {
        match depth {
            0 => {}
            1 => self.item_lines = self.item_lines.saturating_sub(1),
            _ => self.field_lines = self.field_lines.saturating_sub(1),
        }
    }
}

/// The numbers of changed items and values that are not described.
#[derive(Default)]
pub(super) struct OmittedItems {
    pub(super) components: ChangeCounts,
    pub(super) links: ChangeCounts,
    pub(super) variables: ChangeCounts,
    pub(super) values: usize,
}

impl OmittedItems {
    /// Returns the numbers as text; `None` if nothing was omitted.
    pub(super) fn describe_counts(&self) -> Option<String> {
        let parts = [
            self.components.describe("component"),
            self.links.describe("link"),
            self.variables.describe("variable"),
            (self.values > 0).then(|| format_count(self.values, "value")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("\u{2026} and more: {}", parts.join("; ")))
    }
}

/// Returns the maximum number of lines of one text with which all texts fit into `field_lines` together with the fields
/// that need one line each.
fn divide_among_texts(diff: &PipelineDiff, field_lines: usize) -> usize {
    let mut text_lengths = Vec::new();
    let mut other_field_count = 0;
    let shown_components = diff
        .components
        .iter()
        .filter(|component| component.change != ComponentChange::Removed)
        .flat_map(ComponentDiff::fields_to_tell);
    let variables = diff.variables.iter().flat_map(VariableDiff::fields_to_tell);
    for field in shown_components.chain(variables).chain(told_other(diff)) {
        match count_text_lines(field) {
            Some(line_count) => text_lengths.push(line_count),
            None => other_field_count += 1,
        }
    }
    let lines_for_texts = field_lines.saturating_sub(other_field_count);
    // Each text has a line with its name above it.
    let count_lines =
        |limit: usize| -> usize { text_lengths.iter().map(|length| 1 + limit.min(*length)).sum() };
    (MIN_TEXT_LINES..=MAX_TEXT_LINES)
        .rev()
        .find(|limit| count_lines(*limit) <= lines_for_texts)
        .unwrap_or(MIN_TEXT_LINES)
}

/// Returns the differences that are described outside the components, links and variables.
fn told_other(diff: &PipelineDiff) -> &[FieldDiff] {
    diff.told_other.as_ref().unwrap_or(&diff.other)
}

/// Returns the number of lines that the description of the field needs at most, if a value has several lines of text.
/// The lines are not compared here, because that takes time.
fn count_text_lines(field: &FieldDiff) -> Option<usize> {
    let sides = [&field.before, &field.after].map(|side| side.as_ref());
    sides
        .iter()
        .flatten()
        .find_map(|leaf| leaf.find_multiline_text())?;
    let texts = sides.map(|side| side.map(Leaf::to_string));
    let [base_lines, head_lines] = texts
        .each_ref()
        .map(|side| line_diff::split_lines(side.as_deref()));
    Some(line_diff::count_lines_between_equal_ends(
        &base_lines,
        &head_lines,
    ))
}
