//! Renders changes as Markdown: a list, a diff of multi-line values, and a flowchart that GitHub and GitLab draw.

use super::ChangedFile;
use super::markdown::{escape, escape_prose, render_code};
use sluicegate_base::text::{List, format_and_more_of, format_count};
use sluicegate_pipelines::diff::DiffLine;
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_pipelines::picture::render_mermaid;
use std::fmt::Write as _;

/// Maximum number of boxes in a flowchart: hosts do not draw larger ones, and nobody reads them.
pub const MAX_FLOWCHART_BOXES: usize = 40;

/// Maximum number of lines for one file.
const MAX_FILE_LINES: usize = 120;

/// Maximum size of the page, in bytes: GitHub accepts 65,536 characters in a comment.
const MAX_PAGE_BYTES: usize = 64_000;

/// Reserved size for the sentence about omissions, in bytes.
const OMISSION_BYTES: usize = 200;

/// The contents of a page that shows only changes.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangesPage {
    pub files: Vec<ChangedFile>,
    /// A sentence about the compared versions.
    pub comparison: String,
    /// Changes for consumers of shared pipelines; `None` if the shared-pipelines file is unchanged.
    pub consumers: Option<ConsumerChanges>,
    /// Unchanged pipelines that reach a changed one; `None` if not requested.
    pub callers: Option<ChangedPipelineCallers>,
}

/// The unchanged pipelines that reach a changed one.
#[derive(Debug, Clone, PartialEq)]
pub struct ChangedPipelineCallers {
    /// A sentence with the number of callers.
    pub summary: String,
    /// A sentence for each caller with its call path. The sentences are not escaped.
    pub callers: Vec<String>,
}

/// The changes for consumers of shared pipelines.
#[derive(Debug, Clone, PartialEq)]
pub struct ConsumerChanges {
    /// The number of changes by class.
    pub summary: String,
    /// Each change with its class, the worst first. The descriptions are not escaped.
    pub changes: Vec<(ChangeClass, String)>,
}

/// Maximum number of items in a list on the page.
pub(super) const MAX_LISTED_ITEMS: usize = 100;

impl ConsumerChanges {
    /// Returns the changes as a list with a title. Escapes the items, but not the title, with the function `escape` of
    /// the output format.
    pub(super) fn to_titled_list(&self, escape: &dyn Fn(&str) -> String) -> TitledList {
        TitledList {
            title: format!("Shared pipelines: {}", self.summary),
            items: self
                .changes
                .iter()
                .map(|(class, text)| format!("{class}: {}", escape(text)))
                .collect(),
        }
    }
}

impl ChangedPipelineCallers {
    /// Returns the callers as a list with a title. Escapes the items, but not the title, with the function `escape` of
    /// the output format.
    pub(super) fn to_titled_list(&self, escape: &dyn Fn(&str) -> String) -> TitledList {
        TitledList {
            title: self.summary.clone(),
            items: self.callers.iter().map(|text| escape(text)).collect(),
        }
    }
}

/// A list with a title, which is not escaped yet; the items are.
pub(super) struct TitledList {
    pub title: String,
    pub items: Vec<String>,
}

/// Renders a Markdown section with a list, whose items are already escaped. If it has more than [`MAX_LISTED_ITEMS`]
/// items, the last line counts the rest.
fn render_section(list: TitledList) -> String {
    let mut markdown = format!("\n### {}\n\n", escape(&list.title));
    for entry in List::with_limit(list.items, MAX_LISTED_ITEMS).entries() {
        let _ = writeln!(markdown, "- {entry}");
    }
    markdown
}

/// Renders the changes to pipelines, with their consumers and callers, to a Markdown page that is short enough for a
/// comment. Pipelines that do not fit are only counted.
pub fn render_page(changes: &ChangesPage) -> String {
    let files = &changes.files;
    let mut page = match files.len() {
        0 => "## No pipeline changed\n".to_owned(),
        count => format!("## {} changed\n", format_count(count, "pipeline")),
    };
    if let Some(consumers) = &changes.consumers {
        page.push_str(&render_section(consumers.to_titled_list(&escape_prose)));
    }
    if let Some(callers) = &changes.callers {
        page.push_str(&render_section(callers.to_titled_list(&escape_prose)));
    }
    let headings: Vec<String> = files.iter().map(render_file_heading).collect();
    // Each heading is followed by an empty line.
    let heading_bytes: usize = headings.iter().map(|heading| heading.len() + 1).sum();
    let change_bytes = MAX_PAGE_BYTES.saturating_sub(page.len() + heading_bytes + OMISSION_BYTES);
    let changed_files: Vec<&ChangedFile> = files.iter().collect();
    let has_flowcharts = true;
    let rendered_changes = render_file_changes(&changed_files, change_bytes, has_flowcharts);
    let mut omitted_count = 0;
    for (heading, file_changes) in headings.iter().zip(rendered_changes) {
        if page.len() + heading.len() + file_changes.len() + OMISSION_BYTES > MAX_PAGE_BYTES {
            omitted_count += 1;
            continue;
        }
        page.push_str(heading);
        if !file_changes.is_empty() {
            let _ = write!(page, "\n{file_changes}");
        }
    }
    if omitted_count > 0 {
        let _ = writeln!(
            page,
            "\n> {} omitted because the page is full.",
            format_count(omitted_count, "pipeline")
        );
    }
    page
}

/// Renders the heading of a changed file: its path and a summary of the changes.
fn render_file_heading(file: &ChangedFile) -> String {
    format!(
        "\n### {}\n\n{}\n",
        render_code(&file.summary.path),
        escape(&file.summary.describe())
    )
}

/// Renders the changes to each file: a flowchart, if `has_flowcharts` is true, and the list of changes. `max_bytes`
/// limits all texts together, without the line breaks between them. The flowcharts of all files get space first, then
/// the lists, then values of several lines, each time in equal shares for the files. The text of a file is empty if
/// nothing fits.
pub(super) fn render_file_changes(
    files: &[&ChangedFile],
    max_bytes: usize,
    has_flowcharts: bool,
) -> Vec<String> {
    let flowcharts = if has_flowcharts {
        render_fitting_flowcharts(files, max_bytes)
    } else {
        vec![String::new(); files.len()]
    };
    let mut remaining_bytes = max_bytes - flowcharts.iter().map(String::len).sum::<usize>();
    let (no_limit, no_values) = (usize::MAX, 0);
    // The size of the lists if each value of several lines is replaced by the number of its lines.
    let list_bytes: Vec<usize> = files
        .iter()
        .map(|file| render_change_list(&file.change_lines, no_limit, no_values).len())
        .collect();
    let list_shares = share_equally(list_bytes.iter().copied(), remaining_bytes);
    remaining_bytes -= list_shares.iter().sum::<usize>();
    // The size that these values add to each list.
    let value_bytes: Vec<usize> = files
        .iter()
        .zip(list_bytes)
        .map(|(file, list_bytes)| {
            let complete_list = render_change_list(&file.change_lines, no_limit, no_limit);
            complete_list.len().saturating_sub(list_bytes)
        })
        .collect();
    let value_shares = share_equally(value_bytes.iter().copied(), remaining_bytes);
    let mut file_texts = Vec::with_capacity(files.len());
    for (index, (file, flowchart)) in files.iter().zip(flowcharts).enumerate() {
        let value_share = value_shares[index];
        // The share is measured in the bytes that code blocks add to the list, but the limit applies to the entire
        // blocks. With the share as the limit, one block would not fit even if the share is enough for all.
        let value_limit = if value_share == value_bytes[index] {
            no_limit
        } else {
            value_share
        };
        let list = render_change_list(&file.change_lines, list_shares[index] + value_share, value_limit);
        let texts = [flowchart, list];
        let visible_texts: Vec<String> = texts.into_iter().filter(|text| !text.is_empty()).collect();
        file_texts.push(visible_texts.join("\n"));
    }
    file_texts
}

/// Renders the flowchart of each file, in at most `max_bytes` bytes together. The text is empty for a file without a
/// flowchart. If not all flowcharts fit, the largest ones are omitted, and the last ones of equal size.
fn render_fitting_flowcharts(files: &[&ChangedFile], max_bytes: usize) -> Vec<String> {
    let mut flowcharts: Vec<String> = files
        .iter()
        .map(|file| render_flowchart(file).unwrap_or_default())
        .collect();
    let mut remaining_bytes = max_bytes;
    let mut smallest_first: Vec<&mut String> = flowcharts.iter_mut().collect();
    smallest_first.sort_by_key(|flowchart| flowchart.len());
    for flowchart in smallest_first {
        match remaining_bytes.checked_sub(flowchart.len()) {
            Some(bytes) => remaining_bytes = bytes,
            None => flowchart.clear(),
        }
    }
    flowcharts
}

/// Divides `total` among the demands and returns the shares in the order of the demands. Each gets an equal share; what
/// a demand does not need is divided among the larger ones.
fn share_equally(demands: impl Iterator<Item = usize>, total: usize) -> Vec<usize> {
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

/// Renders the changed part of a pipeline as a Mermaid flowchart and counts the components that do not fit into it;
/// `None` if the file has no picture or the picture has no changes.
fn render_flowchart(file: &ChangedFile) -> Option<String> {
    let canvas = file.picture.as_ref().filter(|canvas| canvas.has_changes())?;
    let (changed_part, omitted_count) = canvas.select_flowchart_part(MAX_FLOWCHART_BOXES);
    let mut chart = format!("```mermaid\n{}```\n", render_mermaid(&changed_part));
    if omitted_count > 0 {
        let _ = writeln!(
            chart,
            "\nThe flowchart omits {}.",
            format_count(omitted_count, "further component")
        );
    }
    Some(chart)
}

/// Renders up to [`MAX_FILE_LINES`] lines as nested lists, in at most `max_bytes` bytes; empty if no line fits.
/// Consecutive lines of a value become a code block. Values that do not fit into `value_bytes` are replaced by the
/// number of their lines. If lines are omitted, another item counts them. The list ends neither within a value nor
/// after a heading without any of its lines, unless no more than the first heading fits.
fn render_change_list(lines: &[DiffLine], max_bytes: usize, value_bytes: usize) -> String {
    let mut markdown = String::new();
    let mut remaining_value_bytes = value_bytes;
    let mut remaining_lines = lines.iter().peekable();
    let mut listed_count = 0;
    // The longest start that fits together with the count of the other lines.
    let (mut fitting_bytes, mut fitting_line_count) = (0, 0);
    while let Some(line) = remaining_lines.next() {
        let indent = "  ".repeat(line.depth.saturating_sub(1));
        let mut line_count = 1;
        let block = if line.is_value {
            let mut value_lines = vec![line];
            while let Some(next_line) = remaining_lines.next_if(|next_line| next_line.is_value) {
                value_lines.push(next_line);
            }
            line_count = value_lines.len();
            let code_block = render_code_block(&value_lines, &indent);
            if code_block.len() > remaining_value_bytes {
                format!("{indent}- {}, not shown here\n", format_count(line_count, "line"))
            } else {
                remaining_value_bytes -= code_block.len();
                code_block
            }
        } else {
            render_list_item(line, &indent)
        };
        listed_count += line_count;
        markdown.push_str(&block);
        if markdown.len() > max_bytes || listed_count > MAX_FILE_LINES {
            break;
        }
        let is_heading = remaining_lines
            .peek()
            .is_some_and(|next_line| next_line.depth > line.depth);
        let omission = render_omitted_lines(lines.len() - listed_count);
        let fits = markdown.len() + omission.len() <= max_bytes;
        if fits && (!is_heading || fitting_bytes == 0) {
            (fitting_bytes, fitting_line_count) = (markdown.len(), listed_count);
        }
    }
    markdown.truncate(fitting_bytes);
    if !markdown.is_empty() {
        markdown.push_str(&render_omitted_lines(lines.len() - fitting_line_count));
    }
    markdown
}

/// Renders the list item that counts omitted lines. Returns an empty text if no line is omitted.
fn render_omitted_lines(line_count: usize) -> String {
    match line_count {
        0 => String::new(),
        _ => format!("- {}\n", format_and_more_of(line_count, "line")),
    }
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
/// ends it.
fn render_code_block(lines: &[&DiffLine], indent: &str) -> String {
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
    let _ = writeln!(markdown, "{indent}{fence}");
    markdown
}

/// Returns whether the CI host can draw Mermaid flowcharts. The page of a local run has them, because it may be shown
/// on any host.
pub(super) fn can_draw_flowcharts(host: &str) -> bool {
    !matches!(host, "azure" | "bitbucket" | "buildkite" | "circleci" | "jenkins")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use proptest::prelude::*;
    use sluicegate_pipelines::diff::Sign;
    use sluicegate_pipelines::picture::Canvas;

    fn line(depth: usize, sign: Sign, is_value: bool, text: &str) -> DiffLine {
        DiffLine {
            depth,
            sign,
            is_value,
            text: text.to_owned(),
            component: None,
        }
    }

    fn of(files: Vec<ChangedFile>) -> ChangesPage {
        ChangesPage {
            files,
            comparison: String::new(),
            consumers: None,
            callers: None,
        }
    }

    #[test]
    fn consumer_changes_come_first_and_are_escaped() {
        let consumers = ConsumerChanges {
            summary: "1 break".to_owned(),
            changes: vec![(
                ChangeClass::Breaking,
                "f:2: `a`: the parameter `<b>|x` is gone".to_owned(),
            )],
        };
        let changes = ChangesPage {
            consumers: Some(consumers),
            callers: None,
            ..of(Vec::new())
        };
        insta::assert_snapshot!(render_page(&changes), @"
        ## No pipeline changed

        ### Shared pipelines: 1 break

        - breaking: f&#58;2: <code>a</code>: the parameter <code>&#60;b>&#124;x</code> is gone
        ");
    }

    #[test]
    fn change_is_list_with_values_as_diffs() {
        let mut file = sample::changed_file("a.orch.yaml");
        file.change_lines = vec![
            line(1, Sign::Changed, false, "Load *all* (sql)"),
            line(2, Sign::Changed, false, "parameters.sql:"),
            line(3, Sign::None, true, "select"),
            line(3, Sign::Removed, true, "  a"),
            line(3, Sign::Added, true, "  ```b"),
            line(1, Sign::None, false, "and layout"),
        ];
        insta::assert_snapshot!(render_page(&of(vec![file])), @"
        ## 1 pipeline changed

        ### <code>a.orch.yaml</code>

        modified: 1 component added, 2 changed; the layout changed; called by 6 pipelines

        - `~` Load &#42;all&#42; (sql)
          - `~` parameters.sql:
            ````diff
              select
            -   a
            +   ```b
            ````
        - and layout
        ");
    }

    #[test]
    fn omitted_changes_are_counted() {
        let mut file = sample::changed_file("a.orch.yaml");
        file.change_lines = vec![line(1, Sign::Changed, false, &"x".repeat(150)); 500];
        let many = vec![file; 30];
        let page = render_page(&of(many.clone()));
        assert!(page.len() < MAX_PAGE_BYTES, "{}", page.len());
        assert!(
            page.contains(" more lines\n") && page.matches("### <code>a.orch.yaml</code>").count() == 30,
            "{page}"
        );
        assert_eq!(render_file_changes(&[&many[0]], 10, true), [""]);
    }

    #[test]
    fn count_of_omitted_lines_is_within_the_share_of_file() {
        let mut file = sample::changed_file("a.orch.yaml");
        file.change_lines = vec![line(1, Sign::Changed, false, &"x".repeat(12)); 500];
        let page = render_page(&of(vec![file.clone(); 40]));
        assert!(!page.contains("omitted because the page is full"), "{page}");
        for max_bytes in [30, 100, 1_000] {
            let list = &render_file_changes(&[&file], max_bytes, false)[0];
            assert!(list.len() <= max_bytes, "{max_bytes}: {list}");
        }
        let complete_list = &render_file_changes(&[&file], 10_000, false)[0];
        assert!(
            complete_list.ends_with("- and 380 more lines\n"),
            "{complete_list}"
        );
        let same_list = render_file_changes(&[&file], complete_list.len(), false);
        assert_eq!(&same_list[0], complete_list);
    }

    #[test]
    fn cut_list_ends_neither_within_value_nor_after_its_label() {
        let mut file = sample::changed_file("a.orch.yaml");
        file.change_lines = Vec::new();
        for number in 0..10 {
            file.change_lines
                .push(line(1, Sign::Changed, false, &format!("Load {number} (sql)")));
            file.change_lines.push(line(2, Sign::Changed, false, "sql:"));
            file.change_lines
                .extend(vec![line(3, Sign::Added, true, "select 1"); 15]);
        }
        for max_bytes in (60..4_000).step_by(11) {
            let list = &render_file_changes(&[&file], max_bytes, false)[0];
            assert!(
                list.matches("```").count().is_multiple_of(2),
                "{max_bytes}: {list}"
            );
            let last_lines: Vec<&str> = list.lines().rev().take(2).collect();
            assert!(!last_lines[1].ends_with("sql:"), "{max_bytes}: {list}");
            assert!(list.len() <= max_bytes, "{max_bytes}: {list}");
        }
        let list = &render_file_changes(&[&file], 10_000, false)[0];
        // 7 components with 17 lines each fit into 120 lines.
        assert!(list.ends_with("    ```\n- and 51 more lines\n"), "{list}");
    }

    #[test]
    fn lists_come_before_values_in_equal_shares() {
        let mut long = sample::changed_file("long.orch.yaml");
        long.change_lines = vec![line(1, Sign::Changed, false, "Load (sql)")];
        long.change_lines
            .extend(vec![line(2, Sign::Added, true, &"x".repeat(90)); 100]);
        long.change_lines.push(line(1, Sign::Added, false, "Last (sql)"));
        let mut short = sample::changed_file("short.orch.yaml");
        short.change_lines = vec![
            line(1, Sign::Changed, false, "Count (sql)"),
            line(2, Sign::Added, true, "select 1"),
        ];
        let parts = render_file_changes(&[&long, &short], 600, true);
        assert!(
            parts[0].contains("100 lines, not shown here") && parts[0].contains("Last (sql)"),
            "{parts:?}"
        );
        assert!(parts[1].contains("+ select 1"), "{parts:?}");
        let parts = render_file_changes(&[&long, &short], 60_000, true);
        assert!(
            parts[0].contains("xxx") && !parts[0].contains("not shown"),
            "{parts:?}"
        );
    }

    #[test]
    fn unused_space_is_shared_by_others() {
        assert_eq!(share_equally([10, 90, 50].into_iter(), 100), [10, 45, 45]);
        assert_eq!(share_equally([10, 20].into_iter(), 100), [10, 20]);
        assert_eq!(share_equally([].into_iter(), 100), [0; 0]);
    }

    proptest! {
        #[test]
        fn no_line_leaves_its_place(raw in "(\\PC|`|~|<|\\||%%\\{|\\]|\"|@|#){0,40}", is_value in any::<bool>()) {
            let raw = sluicegate_base::text::escape_line(&raw);
            let mut file = sample::changed_file(&raw);
            file.change_lines = vec![line(1, Sign::Added, is_value, &raw)];
            let component = serde_json::json!({ raw.clone(): { "type": raw } });
            let text = serde_json::json!({ "type": "orchestration", "pipeline": { "components": component } });
            file.picture = Canvas::from_pipeline(text.to_string().as_bytes()).ok();
            let page = render_page(&of(vec![file]));
            prop_assert!(is_value || !(page.contains("<script") || page.contains("%%{")), "{}", page);
            // Heading, summary, and the list or the fence.
            let lines = if is_value { 9 } else { 7 };
            prop_assert_eq!(page.lines().count(), lines, "{}", page);
            if is_value {
                let fences: Vec<&str> = page.lines().filter(|line| line.starts_with("```")).collect();
                prop_assert_eq!(fences.len(), 2);
                prop_assert_eq!(fences[0], format!("{}diff", fences[1]));
            }
        }
    }
}
