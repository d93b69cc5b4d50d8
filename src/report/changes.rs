//! Renders changes as Markdown: a list, a diff of multi-line values, and a flowchart that GitHub and GitLab draw.

use super::ChangedFile;
use super::markdown::{code, escape, prose};
use sluicegate_base::text::{List, and_more_of, count};
use sluicegate_pipelines::diff::DiffLine;
use sluicegate_pipelines::interface::ChangeClass;
use sluicegate_pipelines::picture::render_mermaid;
use std::fmt::Write as _;

/// Maximum number of boxes in a flowchart: hosts do not draw larger ones, and nobody reads them.
pub(crate) const MOST_BOXES: usize = 40;

/// Maximum number of lines for one file.
const LINES: usize = 120;

/// Maximum size of the page, in bytes: GitHub accepts 65,536 characters in a comment.
const WHOLE: usize = 64_000;

/// Maximum size of one file's section, in bytes.
const OF_A_FILE: usize = 16_000;

/// Reserved size for the sentence about omissions, in bytes.
const RESERVE: usize = 200;

/// The contents of a page that shows only changes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChangesPage {
    pub files: Vec<ChangedFile>,
    /// A sentence about the compared versions.
    pub compared: String,
    /// Changes for consumers of shared pipelines; `None` if the shared-pipelines file is unchanged.
    pub consumers: Option<ForConsumersOfChanges>,
    /// Unchanged pipelines that reach a changed one; `None` if not requested.
    pub callers: Option<CallersOfChanges>,
}

/// The unchanged pipelines that reach a changed one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CallersOfChanges {
    /// A sentence with their number.
    pub summary: String,
    /// A sentence for each caller with its call path. Contains text from outside.
    pub callers: Vec<String>,
}

/// The changes for consumers of shared pipelines.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ForConsumersOfChanges {
    /// The number of changes by class.
    pub summary: String,
    /// Each change with its class, the worst first. Contains text from outside.
    pub changes: Vec<(ChangeClass, String)>,
}

/// Maximum number of items in a list of the page.
pub(super) const MOST_LISTED: usize = 100;

impl ForConsumersOfChanges {
    /// Returns the title of the list and its items; `shown` escapes text from outside.
    pub(super) fn list(&self, shown: &dyn Fn(&str) -> String) -> (String, Vec<String>) {
        let items = self.changes.iter();
        let items = items.map(|(class, said)| format!("{class}: {}", shown(said)));
        (format!("Shared pipelines: {}", self.summary), items.collect())
    }
}

impl CallersOfChanges {
    /// Like [`ForConsumersOfChanges::list`], for the callers.
    pub(super) fn list(&self, shown: &dyn Fn(&str) -> String) -> (String, Vec<String>) {
        let items = self.callers.iter().map(|said| shown(said));
        (self.summary.clone(), items.collect())
    }
}

fn section((title, items): (String, Vec<String>)) -> String {
    let mut shown = format!("\n### {}\n\n", escape(&title));
    for entry in List::with_limit(items, MOST_LISTED).entries() {
        let _ = writeln!(shown, "- {entry}");
    }
    shown
}

/// Returns a page that shows only the changes.
pub(crate) fn page(changes: &ChangesPage) -> String {
    let files = &changes.files;
    let mut page = format!("## {} changed\n", count(files.len(), "pipeline"));
    page.extend(
        changes
            .consumers
            .as_ref()
            .map(|found| section(found.list(&prose))),
    );
    page.extend(changes.callers.as_ref().map(|found| section(found.list(&prose))));
    let mut left = 0;
    for file in files {
        let path = code(&file.changed.path);
        let mut block = format!("\n### {path}\n\n{}\n", escape(&file.changed.describe()));
        let inside = self::block(file, OF_A_FILE);
        if !inside.is_empty() {
            let _ = write!(block, "\n{inside}");
        }
        if page.len() + block.len() + RESERVE > WHOLE {
            left += 1;
        } else {
            page.push_str(&block);
        }
    }
    if left > 0 {
        let _ = writeln!(page, "\n> {} omitted: page is full.", count(left, "pipeline"));
    }
    page
}

/// Returns the list and the flowchart of a file's changes, in at most `most` bytes: omits the flowchart if it does not
/// fit, and returns an empty text if the list does not fit either.
pub(super) fn block(file: &ChangedFile, most: usize) -> String {
    let mut shown = list(&file.words, most.saturating_sub(RESERVE));
    if let Some(chart) = flowchart(file)
        && shown.len() + chart.len() < most
    {
        shown.push('\n');
        shown.push_str(&chart);
    }
    if shown.len() > most {
        return String::new();
    }
    shown
}

fn flowchart(file: &ChangedFile) -> Option<String> {
    let (part, left_out) = file.picture.as_ref()?.select_changed_part(MOST_BOXES);
    if part.boxes.is_empty() {
        return None;
    }
    let mut chart = format!("```mermaid\n{}```\n", render_mermaid(&part));
    if left_out > 0 {
        let _ = writeln!(
            chart,
            "\nNot in the flowchart: {}.",
            count(left_out, "further component")
        );
    }
    Some(chart)
}

/// Returns the lines as nested lists. Lines of values are in a code fence that is longer than any run of backticks in
/// them.
fn list(lines: &[DiffLine], most: usize) -> String {
    let mut shown = String::new();
    let mut rest = lines.iter().take(LINES).peekable();
    let mut told = 0;
    while let Some(line) = rest.next() {
        let indent = "  ".repeat(line.depth.saturating_sub(1));
        let mut block = String::new();
        if line.is_value {
            let mut value = vec![line];
            while let Some(next) = rest.next_if(|next| next.is_value) {
                value.push(next);
            }
            fenced(&mut block, &value, &indent);
            told += value.len();
        } else {
            let sign = match line.sign.symbol() {
                "" => String::new(),
                mark => format!("`{mark}` "),
            };
            let _ = writeln!(block, "{indent}- {sign}{}", escape(&line.text));
            told += 1;
        }
        if shown.len() + block.len() > most {
            told -= 1;
            break;
        }
        shown.push_str(&block);
    }
    if told < lines.len() {
        let _ = writeln!(shown, "- {}", and_more_of(lines.len() - told, "line"));
    }
    shown
}

fn fenced(shown: &mut String, lines: &[&DiffLine], indent: &str) {
    let ticks = |line: &&DiffLine| line.text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let longest = lines.iter().map(ticks).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let _ = writeln!(shown, "{indent}{fence}diff");
    for line in lines {
        let sign = match line.sign.symbol() {
            "" => " ",
            mark => mark,
        };
        let _ = writeln!(shown, "{indent}{sign} {}", line.text);
    }
    let _ = writeln!(shown, "{indent}{fence}");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;
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
            compared: String::new(),
            consumers: None,
            callers: None,
        }
    }

    #[test]
    fn what_breaks_consumers_comes_first_and_is_text() {
        let consumers = ForConsumersOfChanges {
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
        insta::assert_snapshot!(page(&changes), @"
        ## 0 pipelines changed

        ### Shared pipelines: 1 break

        - breaking: f&#58;2: <code>a</code>: the parameter <code>&#60;b>&#124;x</code> is gone
        ");
    }

    #[test]
    fn a_change_is_a_list_with_its_values_as_diffs() {
        let mut file = sample::changed("a.orch.yaml");
        file.words = vec![
            line(1, Sign::Changed, false, "Load *all* (sql)"),
            line(2, Sign::Changed, false, "parameters.sql:"),
            line(3, Sign::None, true, "select"),
            line(3, Sign::Removed, true, "  a"),
            line(3, Sign::Added, true, "  ```b"),
            line(1, Sign::None, false, "and layout"),
        ];
        insta::assert_snapshot!(page(&of(vec![file])), @"
        ## 1 pipeline changed

        ### <code>a.orch.yaml</code>

        modified: 1 component added, 2 changed; some boxes moved; called by 6 pipelines

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
    fn what_does_not_fit_is_counted() {
        let mut file = sample::changed("a.orch.yaml");
        file.words = vec![line(1, Sign::Changed, false, &"x".repeat(150)); 500];
        let many = vec![file; 30];
        let page = page(&of(many.clone()));
        assert!(page.len() < WHOLE, "{}", page.len());
        assert!(
            page.contains("and 400 more lines") && page.ends_with("omitted: page is full.\n"),
            "{page}"
        );
        assert!(block(&many[0], 10).is_empty());
    }

    proptest! {
        #[test]
        fn no_line_leaves_its_place(raw in "(\\PC|`|~|<|\\||%%\\{|\\]|\"|@|#){0,40}", is_value in any::<bool>()) {
            let raw = sluicegate_base::text::line(&raw);
            let mut file = sample::changed(&raw);
            file.words = vec![line(1, Sign::Added, is_value, &raw)];
            let component = serde_json::json!({ raw.clone(): { "type": raw } });
            let text = serde_json::json!({ "type": "orchestration", "pipeline": { "components": component } });
            file.picture = Canvas::from_pipeline(text.to_string().as_bytes()).ok();
            let page = page(&of(vec![file]));
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
