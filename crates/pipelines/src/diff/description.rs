//! Describes a change as text, one line for each difference. Every line is safe to show.

use super::diff_line::{DiffLine, Sign};
use super::field_groups::{self, FieldGroup, format_path_steps, is_variable_name};
use super::file_change_line::describe_file_change;
use super::leaf::{Leaf, PathStep};
use super::line_shares::LineShares;
use super::moved_entries::{describe_moved_entries, join_moved_entries};
use super::pipeline_diff::{ComponentChange, ComponentDiff, FieldDiff, PipelineDiff};
use super::shared_fields::{SharedField, find_shared_fields, is_shared_field};
use super::value_text::{format_renamed_names, format_value, truncate, truncate_name};
use crate::findings::FileChange;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Maximum number of listed components to which a value was added.
const MAX_SHARING_NAMES: usize = 6;

/// Number of columns if the width of the terminal is unknown.
const DEFAULT_COLUMNS: usize = 160;

/// Describes the changes to a pipeline: the file, then its changed parts, indented. Components that will no longer run
/// come first. For a new or removed pipeline, only the names and types of the components are listed. If there are too
/// many changes for one description, the last line counts the omitted ones. `columns` is the width of the
/// terminal; `None` for an HTML page, on which long lines scroll.
pub fn describe_diff(diff: &PipelineDiff, columns: Option<usize>) -> Vec<DiffLine> {
    let mut description = Description {
        lines: Vec::new(),
        shares: LineShares::new(diff),
        columns: columns.unwrap_or(DEFAULT_COLUMNS),
        is_page: columns.is_none(),
    };
    description.push_text(0, Sign::None, &describe_file_change(diff));
    description.describe_stopped_components(&diff.components);
    let is_added_or_removed = matches!(diff.change, FileChange::Added | FileChange::Removed);
    let shared_fields = find_shared_fields(&diff.components);
    for shared_field in &shared_fields {
        description.describe_shared_field(shared_field);
    }
    for component in &diff.components {
        description.describe_component(component, &shared_fields, is_added_or_removed);
    }
    if !is_added_or_removed {
        description.describe_parts(diff);
    }
    if let Some(omission) = description.shares.omitted_items.describe_counts() {
        description.push_text(1, Sign::None, &omission);
    }
    description.lines
}

pub(super) struct Description {
    lines: Vec<DiffLine>,
    pub(super) shares: LineShares,
    pub(super) columns: usize,
    /// Whether the output is a page on which long lines scroll.
    pub(super) is_page: bool,
}

impl Description {
    /// Adds a line of explanatory text. [`Self::push_value`] adds the lines that show a value of the file. The caller
    /// of both checks whether the item or the field gets another line.
    pub(super) fn push_text(&mut self, depth: usize, sign: Sign, content: &str) {
        self.shares.use_line(depth);
        self.push_extra_line(depth, sign, content);
    }

    /// Adds a line that contains only a value of the file, which reports show in a fixed-width font.
    pub(super) fn push_value(&mut self, depth: usize, sign: Sign, content: &str) {
        self.shares.use_line(depth);
        let is_value = true;
        self.push_line(depth, sign, is_value, content);
    }

    /// Adds a line that counts the omitted lines of a value.
    pub(super) fn push_value_omission(&mut self, depth: usize, omitted_count: usize) {
        let omission = text::format_count(omitted_count, "more line");
        self.push_value(depth, Sign::None, &format!("\u{2026} {omission}"));
        if let Some(line) = self.lines.last_mut() {
            line.omitted_line_count = omitted_count;
        }
    }

    /// Adds a line of text that is none of the lines for items and fields.
    pub(super) fn push_extra_line(&mut self, depth: usize, sign: Sign, content: &str) {
        let is_value = false;
        self.push_line(depth, sign, is_value, content);
    }

    fn push_line(&mut self, depth: usize, sign: Sign, is_value: bool, content: &str) {
        self.lines.push(DiffLine {
            depth,
            sign,
            is_value,
            text: text::escape_line(content),
            component: None,
            omitted_line_count: 0,
        });
    }

    /// Describes a value that was added in several components, on one line with the names of the first components.
    fn describe_shared_field(&mut self, shared_field: &SharedField<'_>) {
        if !self.shares.has_item_line() {
            self.shares.omitted_items.values += 1;
            return;
        }
        let names = text::List::with_limit(&shared_field.component_names, MAX_SHARING_NAMES)
            .map(|name| truncate_name(name));
        let content = format!(
            "{}: {} added in {}: {names}",
            format_path_steps(shared_field.path, &[]),
            truncate(&format_value(shared_field.value), self.value_width(1)),
            text::format_count(shared_field.component_names.len(), "component"),
        );
        self.push_text(1, Sign::Added, &content);
    }

    /// Describes a changed component: a heading with its name, then its changed fields. Omits the shared fields, which
    /// [`Self::describe_shared_field`] described; a modified component that has only such fields gets no line. For a
    /// removed component, or with `is_heading_only`, the fields are omitted.
    fn describe_component(
        &mut self,
        component: &ComponentDiff,
        shared_fields: &[SharedField<'_>],
        is_heading_only: bool,
    ) {
        let mut own_fields: Vec<&FieldDiff> = component
            .fields_to_tell()
            .iter()
            .filter(|field| !is_shared_field(shared_fields, component, field))
            .collect();
        let has_only_shared_fields = own_fields.is_empty() && !component.fields.is_empty();
        if component.change == ComponentChange::Modified && has_only_shared_fields {
            return;
        }
        if !self.shares.has_item_line() {
            self.shares
                .omitted_items
                .components
                .count_component(component.change);
            return;
        }
        let sign = match component.change {
            ComponentChange::Added => Sign::Added,
            ComponentChange::Removed => Sign::Removed,
            ComponentChange::Renamed | ComponentChange::Modified => Sign::Changed,
        };
        self.push_text(1, sign, &format_component_heading(component));
        // The page links from the heading to the component in the picture.
        if let Some(line) = self.lines.last_mut() {
            line.component = Some(component.name.clone());
        }
        if is_heading_only || component.change == ComponentChange::Removed {
            return;
        }
        if component.keeps_component_name {
            self.push_text(
                2,
                Sign::None,
                "the component's parameter `componentName` still has the old name",
            );
        }
        let is_new = component.change == ComponentChange::Added;
        if is_new {
            own_fields.retain(|field| !is_redundant_field(field, &component.name, component.kind.as_deref()));
        }
        self.describe_fields(2, &own_fields, is_new);
    }

    /// Describes changed fields. The cells of a table row are described together, and so are the fields of a list entry
    /// that was added or removed. With `is_new`, the fields belong to a new component or variable, of which only the
    /// first groups of fields are described. The number of groups that get no line is shown. If no field is worth a
    /// line, a remark says so.
    pub(super) fn describe_fields(&mut self, depth: usize, fields: &[&FieldDiff], is_new: bool) {
        let groups = join_moved_entries(field_groups::group_fields(fields.iter().copied()));
        let max_group_count = field_groups::limit_group_count(groups.len(), is_new);
        let mut shown_group_count = 0;
        for group in groups.iter().take(max_group_count) {
            if !self.has_line_at(depth) {
                break;
            }
            shown_group_count += 1;
            match group {
                FieldGroup::Single(field) => {
                    self.describe_field(depth, field, &field_groups::format_field_prefix(field));
                }
                FieldGroup::Row { name, cells } => self.describe_row(depth, name, cells),
                FieldGroup::Entry { name, fields } => {
                    let is_added = fields.iter().all(|field| field.before.is_none());
                    let sign = if is_added { Sign::Added } else { Sign::Removed };
                    let content = FieldGroup::format_entry(name, fields);
                    let visible_content = truncate(&content, self.value_width(depth));
                    self.push_text(depth, sign, &visible_content);
                }
                FieldGroup::Moved {
                    list_path,
                    outer_entries,
                    names,
                } => {
                    let content = describe_moved_entries(list_path, outer_entries, names);
                    self.push_text(depth, Sign::Changed, &content);
                }
            }
        }
        if groups.is_empty() && !fields.is_empty() && !is_new && self.is_heading_last(depth) {
            self.push_text(depth, Sign::None, "null or empty values were added or removed");
        }
        if groups.len() > shown_group_count {
            self.push_field_omission(depth, groups.len() - shown_group_count);
        }
    }

    /// Returns whether there is a line left at this depth, and the last line is the heading above it.
    fn is_heading_last(&self, depth: usize) -> bool {
        self.has_line_at(depth) && self.lines.last().is_some_and(|line| line.depth < depth)
    }

    /// Returns whether there is a line left for an item, or for a field below an item.
    pub(super) const fn has_line_at(&self, depth: usize) -> bool {
        if depth > 1 {
            self.shares.has_field_line()
        } else {
            self.shares.has_item_line()
        }
    }

    /// Shows how many fields of an item are not described: on the line of the item if nothing is below it. The last
    /// line of the description counts the fields that are items of their own.
    fn push_field_omission(&mut self, depth: usize, omitted_count: usize) {
        if depth <= 1 {
            self.shares.omitted_items.values += omitted_count;
        } else if let Some(line) = self.lines.last_mut().filter(|line| line.depth < depth) {
            let _ = write!(line.text, ": {}", text::format_count(omitted_count, "value"));
        } else {
            let omission = format!("\u{2026} {}", text::format_and_more(omitted_count));
            self.push_text(depth, Sign::None, &omission);
        }
    }

    /// Describes the changed cells of a table row, which is a list in a list. The values of an added or removed row are
    /// on one line. In a row that both versions have, or if a cell has several lines of text, each cell is described
    /// separately.
    fn describe_row(&mut self, depth: usize, name: &str, cells: &[&FieldDiff]) {
        // A row that now sets another variable is described as one change, not as a change to each cell.
        if let Some(old_name) = FieldGroup::find_old_variable(cells) {
            return self.describe_replaced_variable(depth, old_name, name, cells);
        }
        let prefix = FieldGroup::format_row_prefix(name, cells);
        // The prefix `sets NAME = ` already contains the name of the variable.
        let shown_cells: Vec<&FieldDiff> = cells
            .iter()
            .copied()
            .filter(|cell| !is_variable_name(cell))
            .collect();
        let sign = if cells.iter().all(|cell| cell.before.is_none()) {
            Sign::Added
        } else if cells.iter().all(|cell| cell.after.is_none()) {
            Sign::Removed
        } else {
            Sign::Changed
        };
        // A cell of an added or removed row has only one of the two values.
        let leaves: Vec<&Leaf> = shown_cells
            .iter()
            .filter_map(|cell| cell.after.as_ref().or(cell.before.as_ref()))
            .collect();
        let has_multiline_text = leaves.iter().any(|leaf| leaf.find_multiline_text().is_some());
        if sign == Sign::Changed || has_multiline_text {
            for cell in shown_cells {
                self.describe_field(depth, cell, &prefix);
            }
            return;
        }
        let values: Vec<String> = leaves.into_iter().map(format_value).collect();
        let content = field_groups::format_values(&prefix, &values, self.value_width(depth + 1));
        self.push_text(depth, sign, &content);
    }

    /// Describes a row in which a component now sets the variable `name` instead of the variable `old_name`. If the
    /// values differ, too, the removed and the added assignment are on separate lines.
    fn describe_replaced_variable(
        &mut self,
        depth: usize,
        old_name: &Leaf,
        name: &str,
        cells: &[&FieldDiff],
    ) {
        let old_name = old_name.to_string();
        // The other cells are the value. If they did not change, both variables are set to the same value.
        let value_cells = cells.get(1..).unwrap_or_default();
        if value_cells.is_empty() {
            let content = format!(
                "sets {} instead of {}",
                truncate_name(name),
                truncate_name(&old_name)
            );
            return self.push_text(depth, Sign::Changed, &content);
        }
        let removed_values = value_cells.iter().filter_map(|cell| cell.before.as_ref());
        let added_values = value_cells.iter().filter_map(|cell| cell.after.as_ref());
        let sides = [
            (
                Sign::Removed,
                old_name.as_str(),
                removed_values.map(format_value).collect::<Vec<_>>(),
            ),
            (Sign::Added, name, added_values.map(format_value).collect()),
        ];
        for (sign, name, values) in sides {
            let prefix = format!("sets {} = ", truncate_name(name));
            let content = field_groups::format_values(&prefix, &values, self.value_width(depth + 1));
            self.push_text(depth, sign, &content);
        }
    }
}

/// Returns the name and the type of a component, and its previous name if it was renamed.
fn format_component_heading(component: &ComponentDiff) -> String {
    let kind_text = truncate_name(component.kind.as_deref().unwrap_or("no type"));
    match &component.previous_name {
        None => format!("{} ({kind_text})", truncate_name(&component.name)),
        Some(previous_name) => {
            let (name_text, previous_text) = format_renamed_names(&component.name, previous_name);
            format!("{name_text} ({kind_text}), was {previous_text}")
        }
    }
}

/// Returns whether a field of a new component need not be shown: it repeats the name or the type that the component's
/// line shows, or states that the component is not skipped.
fn is_redundant_field(field: &FieldDiff, name: &str, kind: Option<&str>) -> bool {
    if field.path == [PathStep::key("skipped")] {
        return field.after == Some(Leaf::Boolean(false));
    }
    let Some(Leaf::Text(value)) = &field.after else {
        return false;
    };
    match field.path.as_slice() {
        [PathStep::Key(key)] => key == "type" && kind == Some(value),
        [PathStep::Key(parameters), PathStep::Key(key)] => {
            parameters == "parameters" && key == "componentName" && value == name
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::line_shares::{MAX_ITEM_LINES, MIN_FIELD_LINES};
    use super::super::{PipelineVersions, compare_versions, line_diff};
    use super::*;

    const BASE: &str = "type: orchestration\npipeline:\n  components:\n    Load:\n      type: sql-executor\n      \
                        parameters: { rows: 1, sql: \"select 1\" }\n";

    fn told(before: &str, after: &str) -> String {
        told_in(before, after, None)
    }

    fn told_in(before: &str, after: &str, columns: Option<usize>) -> String {
        let diff = compare_versions(&PipelineVersions {
            path: "a.orch.yaml",
            previous_path: None,
            base: Some(Ok(before.as_bytes())),
            head: Some(Ok(after.as_bytes())),
        });
        describe_diff(&diff, columns)
            .iter()
            .map(DiffLine::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn cells_are_grouped_by_row() {
        let call = |rows: &str| {
            format!(
                "type: orchestration\npipeline:\n  components:\n    Call:\n      type: run-orchestration\n      parameters:\n        \
                 setScalarVariables: {rows}\n        joins: {rows}\n"
            )
        };
        let before = call("[[day, today], [gone, 1], [same, x], [longer, a]]");
        let after = call("[[day, tomorrow], [new, \"\"], [same, x], [longer, b, c], [more, 2]]")
            .replace("joins:", "empty: ~\n        none: []\n        joins:");
        insta::assert_snapshot!(told(&before, &after), @r#"
        a.orch.yaml: modified
          ~ Call (run-orchestration)
            ~ sets day = today -> tomorrow
            - sets gone = 1
            + sets new = ""
            ~ sets longer = a -> b
            + sets longer = c
            + sets more = 2
            ~ joins, day: today -> tomorrow
            ~ joins: gone -> new
            ~ joins: 1 -> ""
            ~ joins, longer: a -> b
            + joins, longer: c
            + joins: more, 2
        "#);
    }

    #[test]
    fn entry_of_both_versions_is_no_added_or_removed_entry() {
        let with = |columns: &str| BASE.replace("rows: 1", &format!("columns: {columns}"));
        let told = told(
            &with("[{ type: text }, { type: a }]"),
            &with("[{ name: id, type: number }, { type: a }, { name: new, type: b }]"),
        );
        insta::assert_snapshot!(told, @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            + columns, id, name: id
            ~ columns, id, type: text -> number
            + columns: new (type: b)
        ");
    }

    #[test]
    fn only_component_that_ran_before_no_longer_runs() {
        for (before, after, stops) in [
            ("type: a", "skipped: true, type: a", true),
            ("type: a", "type: unknown-a", true),
            ("skipped: true, type: a", "skipped: true, type: unknown-a", false),
            ("type: unknown-a", "type: unknown-b", false),
            ("type: unknown-a", "skipped: true, type: unknown-a", false),
        ] {
            let with = |fields: &str| {
                format!("type: orchestration\npipeline:\n  components:\n    C: {{ {fields} }}\n")
            };
            let told = told(&with(before), &with(after));
            assert_eq!(told.contains("will no longer run"), stops, "{told}");
        }
    }

    #[test]
    fn values_that_fit_are_shown_from_their_beginning() {
        let with = |end: &str| BASE.replace("select 1", &format!("{}{end}", "x".repeat(82)));
        let told = told(&with("old"), &with("new"));
        assert!(!told.contains('…') && told.contains("xold"), "{told}");
    }

    #[test]
    fn number_and_equal_text_are_distinguished() {
        let told = told(BASE, &BASE.replace("rows: 1", "rows: '1'"));
        insta::assert_snapshot!(told, @r#"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ rows: 1 -> "1"
        "#);
    }

    #[test]
    fn multiline_value_shows_only_differing_lines() {
        let with = |sql: &str| BASE.replace("select 1", sql);
        let told = told(
            &with("select\\n a,\\n b\\nfrom t"),
            &with("select\\n a,\\n c,\\n d\\nfrom t"),
        );
        insta::assert_snapshot!(told, @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ sql:
                 a,
              -  b
              +  c,
              +  d
                from t
        ");
    }

    #[test]
    fn long_value_is_shown_at_its_difference() {
        let with = |end: &str| BASE.replace("select 1", &format!("{}{end}", "x".repeat(300)));
        insta::assert_snapshot!(told_in(&with("old"), &with("new"), Some(80)), @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ sql:
              - …xxxxxxxxxxxxxxxxxxxxold (280 more characters)
              + …xxxxxxxxxxxxxxxxxxxxnew (280 more characters)
        ");
    }

    #[test]
    fn changed_lines_of_long_text_differ_and_fit_terminal() {
        let with = |end: &str| {
            let query = format!("select 1\\n{}{end}, y from t\\nwhere true", "x, ".repeat(90));
            BASE.replace("select 1", &query)
        };
        for columns in [60, 80, 120, 200] {
            let told = told_in(&with("old"), &with("new"), Some(columns));
            assert!(told.contains("old") && told.contains("new"), "{told}");
            assert!(told.lines().all(|line| line.chars().count() <= columns), "{told}");
        }
        // A page shows complete lines.
        assert!(!told(&with("old"), &with("new")).contains("more character"));
    }

    #[test]
    fn values_wider_than_terminal_are_on_separate_lines() {
        let with = |end: &str| BASE.replace("select 1", &format!("select {end} from orders"));
        let (before, after) = (with("a_long_name"), with("another_name"));
        insta::assert_snapshot!(told_in(&before, &after, Some(50)), @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ sql:
              - select a_long_name from orders
              + select another_name from orders
        ");
        assert!(
            told_in(&before, &after, Some(5))
                .lines()
                .all(|line| line.chars().count() < 60)
        );
    }

    #[test]
    fn colored_lines_have_text_of_plain_lines() {
        let diff = compare_versions(&PipelineVersions {
            path: "a.orch.yaml",
            previous_path: None,
            base: Some(Ok(BASE.as_bytes())),
            head: Some(Ok(BASE.replace("rows: 1", "rows: 2").as_bytes())),
        });
        let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        for line in describe_diff(&diff, None) {
            let plain = codes.replace_all(&line.format_colored(), "").into_owned();
            assert_eq!(plain, line.to_string());
            assert_ne!(plain, line.format_colored());
        }
    }

    #[test]
    fn description_has_limited_number_of_lines() {
        let lines: String = (0..2000).fold(String::new(), |all, at| format!("{all}line {at}\\n"));
        let told_lines = told(BASE, &BASE.replace("select 1", &lines));
        assert!(told_lines.contains("1,962 more lines"), "{told_lines}");
        let many: String = (0..2000).fold(String::new(), |all, at| {
            format!("{all}    C{at}: {{ type: start }}\n")
        });
        let told_many = told(BASE, &format!("{BASE}{many}"));
        assert_eq!(told_many.lines().count(), 1 + MAX_ITEM_LINES + 1);
        assert!(
            told_many.ends_with("\u{2026} and more: 1,600 components added"),
            "{told_many}"
        );
    }

    #[test]
    fn omitted_values_are_not_compared() {
        let values = |word: &str| {
            (0..600).fold(BASE.to_owned(), |all, at| {
                let parameters = format!("{{ rows: 1, sql: \"{word}\\nfrom t\" }}");
                format!("{all}    C{at}:\n      type: sql-executor\n      parameters: {parameters}\n")
            })
        };
        let before = line_diff::COMPARISONS.get();
        let told = told(&values("a"), &values("b"));
        assert!(told.contains("~ C399 (sql-executor): 1 value\n"), "{told}");
        assert!(
            told.ends_with("\u{2026} and more: 200 components changed"),
            "{told}"
        );
        // Four lines each: the field, and three lines of the value.
        assert_eq!(line_diff::COMPARISONS.get() - before, MIN_FIELD_LINES / 4);
    }

    #[test]
    fn long_texts_leave_lines_for_every_other_change() {
        let query: String = (0..60).fold(String::new(), |all, at| format!("{all}line {at}\\n"));
        let many = (0..30).fold(BASE.to_owned(), |all, at| {
            format!("{all}    N{at}: {{ type: sql-executor, parameters: {{ sql: \"{query}\" }} }}\n")
        });
        let told = told(BASE, &format!("{many}version: 2\n"));
        for at in 0..30 {
            assert!(
                told.contains(&format!("+ N{at} (sql-executor)\n    + sql:\n")),
                "{told}"
            );
        }
        assert!(told.ends_with("+ version: 2"), "{told}");
        assert!(told.lines().count() <= MAX_ITEM_LINES, "{told}");
        // Equal shares: the first text is as long as the last one.
        assert_eq!(told.matches("line 8\n").count(), 30, "{told}");
        assert_eq!(told.matches("more lines").count(), 30, "{told}");
    }

    /// Tells the change that skips this number of components, each with a changed text, and adds a variable.
    fn told_skips(count: usize) -> String {
        let pipeline = |skipped: &str, query: &str| {
            (0..count).fold(BASE.to_owned(), |all, at| {
                format!(
                    "{all}    N{at}: {{ type: sql-executor,{skipped} parameters: {{ sql: \"{query}\" }} }}\n"
                )
            })
        };
        let head = pipeline(" skipped: true,", "b\\nc");
        told(&pipeline("", "a\\nb"), &format!("{head}version: 2\n"))
    }

    #[test]
    fn components_that_stop_leave_lines_for_every_item() {
        let told = told_skips(250);
        assert_eq!(told.matches("will no longer run").count(), 250, "{told}");
        assert!(told.contains("~ N249 (sql-executor)"), "{told}");
        assert!(told.ends_with("+ version: 2"), "{told}");
    }

    #[test]
    fn components_that_stop_beyond_the_limit_are_counted() {
        let told = told_skips(450);
        assert_eq!(told.matches("will no longer run: ").count(), 400, "{told}");
        assert!(
            told.contains("\u{2026} 50 more components will no longer run\n"),
            "{told}"
        );
        assert!(!told_skips(400).contains("more component"));
    }

    #[test]
    fn texts_that_fit_together_are_not_cut() {
        let query: String = (0..30).fold(String::new(), |all, at| format!("{all}line {at}\\n"));
        let many = (0..10).fold(BASE.to_owned(), |all, at| {
            format!("{all}    N{at}: {{ type: sql-executor, parameters: {{ sql: \"{query}\" }} }}\n")
        });
        let told = told(BASE, &many);
        assert_eq!(told.matches("line 29").count(), 10, "{told}");
        assert!(!told.contains('\u{2026}'), "{told}");
    }

    #[test]
    fn names_with_line_breaks_stay_on_one_line() {
        let hostile = "    \"x\\n::error::y\\u001b[31m##[group]\": { type: \"a\\n::b\" }\n";
        let told = told(BASE, &format!("{BASE}{hostile}"));
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains("##["), "{told}");
    }
}
