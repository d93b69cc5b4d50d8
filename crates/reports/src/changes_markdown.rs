//! Renders changes as Markdown: a list, a diff of multi-line values, and a flowchart that GitHub and GitLab draw.

use super::ChangedFile;
use super::change_list_markdown::{MAX_DETAIL_LINES, render_change_list, share_equally};
use super::markdown::{escape, escape_prose, render_code};
use sluicegate_base::text::{List, format_count};
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_pipelines::picture::render_mermaid;
use std::fmt::Write as _;

/// Maximum number of boxes in a flowchart: hosts do not draw larger ones, and nobody reads them.
pub const MAX_FLOWCHART_BOXES: usize = 40;

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
/// the changed items, then the lines below the items, each time in equal shares for the files. The text of a file is
/// empty if nothing fits.
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
    let no_limit = usize::MAX;
    // The size of the lists without the lines below the changed items.
    let list_bytes: Vec<usize> = files
        .iter()
        .map(|file| render_change_list(&file.change_lines, no_limit, 0).len())
        .collect();
    let list_shares = share_equally(list_bytes.iter().copied(), remaining_bytes);
    remaining_bytes -= list_shares.iter().sum::<usize>();
    // The size that these lines add to each list.
    let detail_bytes = files.iter().zip(list_bytes).map(|(file, list_bytes)| {
        let complete_list = render_change_list(&file.change_lines, no_limit, MAX_DETAIL_LINES);
        complete_list.len().saturating_sub(list_bytes)
    });
    let detail_shares = share_equally(detail_bytes, remaining_bytes);
    let mut file_texts = Vec::with_capacity(files.len());
    for (index, (file, flowchart)) in files.iter().zip(flowcharts).enumerate() {
        let max_list_bytes = list_shares[index] + detail_shares[index];
        let list = render_change_list(&file.change_lines, max_list_bytes, MAX_DETAIL_LINES);
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
    use sluicegate_pipelines::diff::{DiffLine, Sign};
    use sluicegate_pipelines::picture::Canvas;

    fn line(depth: usize, sign: Sign, is_value: bool, text: &str) -> DiffLine {
        DiffLine {
            depth,
            sign,
            is_value,
            text: text.to_owned(),
            component: None,
            omitted_line_count: 0,
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
            page.contains(" more changes\n") && page.matches("### <code>a.orch.yaml</code>").count() == 30,
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
        assert_eq!(complete_list.lines().count(), 500, "{complete_list}");
        let same_list = render_file_changes(&[&file], complete_list.len(), false);
        assert_eq!(&same_list[0], complete_list);
    }

    /// Returns a file with components that each have a new value of this many lines.
    fn file_with_values(value_lengths: impl Iterator<Item = usize>) -> ChangedFile {
        let mut file = sample::changed_file("a.orch.yaml");
        file.change_lines = Vec::new();
        for (index, value_length) in value_lengths.enumerate() {
            let mut heading = line(1, Sign::Changed, false, &format!("Load {index} (sql)"));
            heading.component = Some(format!("Load {index}"));
            file.change_lines.push(heading);
            file.change_lines.push(line(2, Sign::Changed, false, "sql:"));
            file.change_lines
                .extend(vec![line(3, Sign::Added, true, "select 1"); value_length]);
        }
        file
    }

    #[test]
    fn cut_list_keeps_items_and_shows_no_label_without_its_value() {
        let file = file_with_values([15; 10].into_iter());
        for max_bytes in (60..4_000).step_by(11) {
            let list = &render_file_changes(&[&file], max_bytes, false)[0];
            assert!(
                list.matches("```").count().is_multiple_of(2),
                "{max_bytes}: {list}"
            );
            let shown_lines: Vec<&str> = list.lines().collect();
            for (label, value) in shown_lines.iter().zip(&shown_lines[1..]) {
                let is_value = value.ends_with("```diff") || value.ends_with("15 lines, not shown here");
                assert!(!label.ends_with("sql:") || is_value, "{max_bytes}: {list}");
            }
            assert!(list.len() <= max_bytes, "{max_bytes}: {list}");
        }
        // 120 lines for 10 components are 12 for each: a label, 10 lines of the value, and the number of the others.
        let list = &render_file_changes(&[&file], 10_000, false)[0];
        assert_eq!(list.matches(" \u{2026} 5 more lines").count(), 10, "{list}");
        assert!(list.contains("Load 9 (sql)"), "{list}");
    }

    #[test]
    fn long_value_displaces_no_item_after_it() {
        let mut file = file_with_values([400, 2].into_iter());
        file.change_lines
            .push(line(1, Sign::Added, false, "Load 0 -> Load 1 (success)"));
        let list = &render_file_changes(&[&file], 60_000, false)[0];
        assert!(
            list.contains("Load 1 (sql)") && list.ends_with("Load 0 -> Load 1 (success)\n"),
            "{list}"
        );
        // The second value is complete, and the first one gets the rest of the 120 lines.
        assert_eq!(list.matches("+ select 1").count(), 117, "{list}");
        assert!(list.contains(" \u{2026} 285 more lines"), "{list}");
    }

    #[test]
    fn values_that_fit_are_complete() {
        let file = file_with_values([40, 20].into_iter());
        let list = &render_file_changes(&[&file], 60_000, false)[0];
        assert_eq!(list.matches("+ select 1").count(), 60, "{list}");
        assert!(!list.contains("more"), "{list}");
    }

    #[test]
    fn omitted_items_are_counted_by_kind_before_the_remark() {
        let mut file = file_with_values([2; 30].into_iter());
        file.change_lines
            .push(line(1, Sign::Added, false, "Load 0 -> Load 1 (success)"));
        file.change_lines
            .push(line(1, Sign::None, false, "the layout changed"));
        let list = &render_file_changes(&[&file], 500, false)[0];
        let end = "- the layout changed\n- and 9 more components, 1 more change, 90 more lines\n";
        assert!(list.ends_with(end), "{list}");
    }

    #[test]
    fn count_of_omitted_lines_includes_lines_omitted_before() {
        let mut file = file_with_values([130].into_iter());
        if let Some(last_line) = file.change_lines.last_mut() {
            last_line.omitted_line_count = 50;
        }
        let list = &render_file_changes(&[&file], 60_000, false)[0];
        // 118 of 130 lines are shown, and the last of the others replaces 50.
        assert!(list.contains(" \u{2026} 61 more lines"), "{list}");
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
            parts[0].contains(" more lines") && parts[0].contains("Last (sql)"),
            "{parts:?}"
        );
        assert!(parts[1].contains("+ select 1"), "{parts:?}");
        let parts = render_file_changes(&[&long, &short], 60_000, true);
        assert!(
            parts[0].contains("xxx") && !parts[0].contains("not shown"),
            "{parts:?}"
        );
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
