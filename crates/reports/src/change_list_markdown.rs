//! Renders the changes to one file as a Markdown list, within a number of bytes and lines.
//!
//! The list consists of items, such as components and links, and of the lines below them. Every item gets its line
//! first. Only then do the lines below get the rest, in equal shares, so that a long value never displaces an item.

use super::markdown::escape;
use sluicegate_base::text::{format_count, format_counts};
use sluicegate_pipelines::diff::{DiffLine, Sign};
use std::fmt::Write as _;

/// Maximum number of lines below the items of one file.
pub(super) const MAX_DETAIL_LINES: usize = 120;

/// A changed item: the line of the item, and then the blocks below it. The lines of a value are one block, and every
/// other line is a block of its own.
type ChangeItem<'l> = Vec<&'l [DiffLine]>;

/// Divides `total` among the demands and returns the shares in the order of the demands. Each gets an equal share; what
/// a demand does not need is divided among the larger ones.
pub(super) fn share_equally(demands: impl Iterator<Item = usize>, total: usize) -> Vec<usize> {
    let mut demands: Vec<(usize, usize)> = demands.enumerate().collect();
    demands.sort_by_key(|(_, demand)| *demand);
    let mut remaining_total = total;
    let mut shares: Vec<(usize, usize)> = Vec::with_capacity(demands.len());
    for (handled_count, (index, demand)) in demands.iter().enumerate() {
        let share = (*demand).min(remaining_total / (demands.len() - handled_count));
        remaining_total -= share;
        shares.push((*index, share));
    }
    shares.sort_unstable();
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Renders the lines as nested lists, in at most `max_bytes` bytes, with up to `max_detail_count` lines below the items;
/// empty if no item fits. If not all items fit, the last ones are omitted, and all lines below the items. The last line
/// counts what is omitted.
pub(super) fn render_change_list(lines: &[DiffLine], max_bytes: usize, max_detail_count: usize) -> String {
    let items = divide_items(lines);
    let fits = |list: &str| list.len() <= max_bytes;
    let item_count = find_greatest_number(items.len(), |count| fits(&render_items(&items, count, 0)));
    if item_count == 0 {
        return String::new();
    }
    let detail_count = if item_count < items.len() {
        0
    } else {
        find_greatest_number(max_detail_count, |count| {
            fits(&render_items(&items, item_count, count))
        })
    };
    render_items(&items, item_count, detail_count)
}

/// Divides the lines into items. An item begins at each line of the first level.
fn divide_items(lines: &[DiffLine]) -> Vec<ChangeItem<'_>> {
    let mut items: Vec<ChangeItem<'_>> = Vec::new();
    for block in lines.chunk_by(|line, next_line| line.is_value && next_line.is_value) {
        let is_item_line = !block[0].is_value && block[0].depth <= 1;
        match items.last_mut() {
            Some(item) if !is_item_line => item.push(block),
            _ => items.push(vec![block]),
        }
    }
    items
}

/// Returns the greatest number up to `max` that `is_possible` accepts, or 0. If a number is possible, all smaller ones
/// are.
fn find_greatest_number(max: usize, is_possible: impl Fn(usize) -> bool) -> usize {
    if is_possible(max) {
        return max;
    }
    let (mut possible_number, mut impossible_number) = (0, max);
    while possible_number + 1 < impossible_number {
        let number = usize::midpoint(possible_number, impossible_number);
        if is_possible(number) {
            possible_number = number;
        } else {
            impossible_number = number;
        }
    }
    possible_number
}

/// Renders the first `item_count` items, with `detail_count` lines below them. Remarks without a sign are always
/// rendered, because they apply to the file. The last line counts the omitted items and lines.
fn render_items(items: &[ChangeItem<'_>], item_count: usize, detail_count: usize) -> String {
    let mut markdown = String::new();
    let (mut component_count, mut change_count, mut line_count) = (0, 0, 0);
    let shares = share_lines(items, detail_count);
    for (index, (item, block_shares)) in items.iter().zip(shares).enumerate() {
        let item_line = &item[0][0];
        let is_remark = item_line.sign == Sign::None && !item_line.is_value && item.len() == 1;
        let block_shares = if index < item_count || is_remark {
            block_shares
        } else if item_line.component.is_some() {
            component_count += 1;
            vec![0; item.len()]
        } else {
            change_count += 1;
            vec![0; item.len()]
        };
        for (block, share) in item.iter().zip(block_shares) {
            match share {
                0 => line_count += count_value_lines(block),
                _ => markdown.push_str(&render_block(block, share)),
            }
        }
    }
    // Each omitted item was also counted as a line.
    let omission = format_counts(&[
        (component_count, "more component"),
        (change_count, "more change"),
        (line_count - component_count - change_count, "more line"),
    ]);
    if !omission.is_empty() {
        let _ = writeln!(markdown, "- and {omission}");
    }
    markdown
}

/// Divides `detail_count` lines among the blocks below the items. Each block gets one line, in equal shares for the
/// items, and then the values get equal shares of the rest. A share of 0 omits the block. An item never ends with a
/// line above an omitted block.
fn share_lines(items: &[ChangeItem<'_>], detail_count: usize) -> Vec<Vec<usize>> {
    let block_demands = items.iter().map(|item| item.len() - 1);
    let shown_counts = share_equally(block_demands, detail_count);
    let mut item_shares = Vec::with_capacity(items.len());
    for (item, shown_count) in items.iter().zip(shown_counts) {
        let mut shown_count = shown_count + 1;
        while shown_count > 1
            && item
                .get(shown_count)
                .is_some_and(|next_block| next_block[0].depth > item[shown_count - 1][0].depth)
        {
            shown_count -= 1;
        }
        let mut shares = vec![1; shown_count];
        shares.resize(item.len(), 0);
        item_shares.push(shares);
    }
    let used_count: usize = item_shares.iter().flatten().sum::<usize>() - items.len();
    let value_demands = items
        .iter()
        .flatten()
        .zip(item_shares.iter().flatten())
        .map(|(block, share)| (block.len() - 1) * share);
    let value_shares = share_equally(value_demands, detail_count - used_count);
    for (share, value_share) in item_shares.iter_mut().flatten().zip(value_shares) {
        *share += value_share;
    }
    item_shares
}

/// Renders up to `max_lines` lines of a block. If the lines of a value do not fit, the last one counts the rest.
fn render_block(block: &[DiffLine], max_lines: usize) -> String {
    let first_line = &block[0];
    let indent = "  ".repeat(first_line.depth.saturating_sub(1));
    if !first_line.is_value {
        return render_list_item(first_line, &indent);
    }
    if block.len() <= max_lines {
        return render_code_block(block, None, &indent);
    }
    if max_lines == 1 {
        let line_count = format_count(count_value_lines(block), "line");
        return format!("{indent}- {line_count}, not shown here\n");
    }
    let (shown_lines, omitted_lines) = block.split_at(max_lines - 1);
    let omission = format_count(count_value_lines(omitted_lines), "more line");
    render_code_block(shown_lines, Some(&omission), &indent)
}

/// Returns the number of lines, including those that a line of the description replaces.
fn count_value_lines(lines: &[DiffLine]) -> usize {
    lines.iter().map(|line| line.omitted_line_count.max(1)).sum()
}

/// Renders a line as a list item, with its sign as code.
fn render_list_item(line: &DiffLine, indent: &str) -> String {
    let sign = match line.sign.symbol() {
        "" => String::new(),
        mark => format!("`{mark}` "),
    };
    format!("{indent}- {sign}{}\n", escape(&line.text))
}

/// Renders lines as a code block whose fence is longer than any run of backticks in the lines, so that none of them
/// ends it. `omission` is the number of lines that are not in the block.
fn render_code_block(lines: &[DiffLine], omission: Option<&str>, indent: &str) -> String {
    let longest_backtick_run = lines
        .iter()
        .flat_map(|line| line.text.split(|c| c != '`').map(str::len))
        .max()
        .unwrap_or(0);
    let fence = "`".repeat(longest_backtick_run.max(2) + 1);
    let mut markdown = format!("{indent}{fence}diff\n");
    for line in lines {
        let sign = match line.sign.symbol() {
            "" => " ",
            mark => mark,
        };
        let _ = writeln!(markdown, "{indent}{sign} {}", line.text);
    }
    if let Some(omission) = omission {
        let _ = writeln!(markdown, "{indent}  \u{2026} {omission}");
    }
    let _ = writeln!(markdown, "{indent}{fence}");
    markdown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unused_space_is_shared_by_others() {
        assert_eq!(share_equally([10, 90, 50].into_iter(), 100), [10, 45, 45]);
        assert_eq!(share_equally([10, 20].into_iter(), 100), [10, 20]);
        assert_eq!(share_equally([].into_iter(), 100), [0; 0]);
    }
}
