//! Describes the value of a changed field: on the line of its name, or on lines of its own below the name.

use super::description::Description;
use super::diff_line::Sign;
use super::field_groups;
use super::pipeline_diff::FieldDiff;
use super::value_text::{format_value, truncate, truncate_name, truncate_pair};

/// Maximum number of characters of a value on the line of its name, in a terminal and on a page.
const MAX_VALUE_WIDTH: usize = 100;
const MAX_PAGE_VALUE_WIDTH: usize = 400;

/// Maximum number of characters of a value on a line of its own on a page, where long lines scroll.
const MAX_PAGE_LINE_WIDTH: usize = 2_000;

/// Number of characters of one line of a value that are shown even in a narrow terminal.
const MIN_VALUE_WIDTH: usize = 20;

/// Number of columns of the sign at the beginning of a line and the space after it.
const SIGN_WIDTH: usize = 2;

impl Description {
    /// Describes a changed field. `prefix` is the text before the value, which ends with a colon or an equals sign.
    /// Values that do not fit on one line, and texts of several lines, are shown below the prefix. Only counts the
    /// value if there is no line left, because comparing long texts takes time.
    pub(super) fn describe_field(&mut self, depth: usize, field: &FieldDiff, prefix: &str) {
        if !self.has_line_at(depth) {
            self.shares.omitted_items.values += 1;
            return;
        }
        let name = field_groups::remove_separator(prefix);
        let separator = prefix.strip_prefix(name).unwrap_or_default();
        let name = truncate_name(name);
        let (heading, prefix) = (format!("{name}:"), format!("{name}{separator}"));
        let sides = [&field.before, &field.after].map(|side| side.as_ref());
        let sign = match sides {
            [None, _] => Sign::Added,
            [_, None] => Sign::Removed,
            [Some(_), Some(_)] => Sign::Changed,
        };
        if sides
            .iter()
            .flatten()
            .any(|leaf| leaf.find_multiline_text().is_some())
        {
            if !self.shares.has_field_line() {
                return self.push_text(depth, sign, &format!("{heading} \u{2026}"));
            }
            self.push_text(depth, sign, &heading);
            return self.describe_multiline_value(depth + 1, sides);
        }
        match sides.map(|side| side.map(format_value)) {
            [Some(base_value), Some(head_value)] => {
                let content = format!("{prefix}{base_value} -> {head_value}");
                if self.fits_line(depth, &content) {
                    return self.push_text(depth, sign, &content);
                }
                let (base_value, head_value) =
                    truncate_pair(&base_value, &head_value, self.line_width(depth + 1));
                self.push_text(depth, sign, &heading);
                self.push_value(depth + 1, Sign::Removed, &base_value);
                self.push_value(depth + 1, Sign::Added, &head_value);
            }
            [base_value, head_value] => {
                let value = head_value.or(base_value).unwrap_or_default();
                self.describe_only_value(depth, sign, [&heading, &prefix], &value);
            }
        }
    }

    /// Describes the value of a field that only one version has. `names` are the heading above a value and the prefix
    /// before it. In a terminal, a long value is truncated on the line of its name, because nothing compares it.
    fn describe_only_value(&mut self, depth: usize, sign: Sign, names: [&str; 2], value: &str) {
        let [heading, prefix] = names;
        if self.is_page && value.chars().count() > MAX_VALUE_WIDTH {
            self.push_text(depth, sign, heading);
            let visible_value = truncate(value, self.line_width(depth + 1));
            return self.push_value(depth + 1, sign, &visible_value);
        }
        let width = self
            .line_width(depth)
            .saturating_sub(prefix.chars().count())
            .max(MIN_VALUE_WIDTH);
        self.push_text(depth, sign, &format!("{prefix}{}", truncate(value, width)));
    }

    /// Returns whether the text fits on a line with this indentation level.
    fn fits_line(&self, depth: usize, content: &str) -> bool {
        depth * 2 + SIGN_WIDTH + content.chars().count() <= self.columns
    }

    /// Returns the maximum number of characters of a value on the line of its name.
    pub(super) fn value_width(&self, depth: usize) -> usize {
        if self.is_page {
            MAX_PAGE_VALUE_WIDTH
        } else {
            self.columns_after_sign(depth).min(MAX_VALUE_WIDTH)
        }
    }

    /// Returns the maximum number of characters of a value on a line of its own. On a page it is large, because long
    /// lines scroll there.
    pub(super) fn line_width(&self, depth: usize) -> usize {
        if self.is_page {
            MAX_PAGE_LINE_WIDTH
        } else {
            self.columns_after_sign(depth)
        }
    }

    /// Returns the number of columns of a line with this indentation level that follow its sign.
    fn columns_after_sign(&self, depth: usize) -> usize {
        self.columns
            .saturating_sub(depth * 2 + SIGN_WIDTH)
            .max(MIN_VALUE_WIDTH)
    }
}
