//! Describes a change as text, one line for each difference. Every line is safe to show.

use super::headline::{headline, stopped};
use super::leaf::{Leaf, PathStep};
use super::line::{Line, Sign};
use super::lines;
use super::model::{
    ComponentChange, ComponentDiff, Field, LinkChange, LinkDiff, PipelineDiff, VariableChange, VariableDiff,
};
use super::rows::{self, ReadField};
use super::values::{cut, cut_from, named, value};
use crate::findings::FileChange;
use sluicegate_base::text;

/// Maximum number of lines for one pipeline.
const MOST_LINES: usize = 400;

/// Maximum number of fields of a new component or variable that are shown.
const NEW_FIELDS: usize = 10;

/// Maximum number of lines for one value.
const VALUE_LINES: usize = 40;

/// Maximum number of characters of one line of a value, and its minimum in a narrow terminal.
const VALUE_WIDTH: usize = 100;
const LEAST_WIDTH: usize = 20;

/// Maximum number of characters of a line of text on a page where long lines scroll.
const PAGE_WIDTH: usize = 2_000;

/// Number of columns if the width of the terminal is unknown.
const COLUMNS: usize = 160;

/// Describes the changes of a pipeline: the file, then its parts, indented. `columns` is the width of the terminal.
pub fn words(diff: &PipelineDiff, columns: Option<usize>) -> Vec<Line> {
    let mut words = Words {
        lines: Vec::new(),
        columns: columns.unwrap_or(COLUMNS),
        is_page: columns.is_none(),
    };
    words.say(0, Sign::None, &headline(diff));
    for (component, why) in diff.components.iter().filter_map(|it| Some((it, stopped(it)?))) {
        let said = format!("{} will not run any more: {why}", named(&component.name));
        words.say(1, Sign::Changed, &said);
    }
    let is_whole = matches!(diff.change, FileChange::Added | FileChange::Removed);
    for component in &diff.components {
        words.component(component, is_whole);
    }
    if !is_whole {
        words.parts(diff);
    }
    words.lines
}

struct Words {
    lines: Vec<Line>,
    columns: usize,
    /// Whether the output is a page on which long lines scroll.
    is_page: bool,
}

impl Words {
    fn say(&mut self, depth: usize, sign: Sign, words: &str) {
        self.push(depth, sign, false, words);
    }

    fn push(&mut self, depth: usize, sign: Sign, is_value: bool, words: &str) {
        let (depth, sign, words) = match self.lines.len() {
            MOST_LINES => (1, Sign::None, "\u{2026} and more"),
            length if length > MOST_LINES => return,
            _ => (depth, sign, words),
        };
        self.lines.push(Line {
            depth,
            sign,
            is_value,
            text: text::escape_line(words),
            component: None,
        });
    }

    fn component(&mut self, component: &ComponentDiff, is_named_only: bool) {
        let ComponentDiff { name, change, .. } = component;
        let sign = match change {
            ComponentChange::Added => Sign::Added,
            ComponentChange::Removed => Sign::Removed,
            ComponentChange::Renamed | ComponentChange::Modified => Sign::Changed,
        };
        let kind = component.kind.as_deref().unwrap_or("no type");
        let was = component.previous_name.as_deref();
        let was = was.map(|old| format!(", was {}", named(old))).unwrap_or_default();
        self.say(1, sign, &format!("{} ({}){was}", named(name), named(kind)));
        if let Some(line) = self.lines.last_mut().filter(|line| line.sign != Sign::None) {
            line.component = Some(name.clone());
        }
        if is_named_only || *change == ComponentChange::Removed {
            return;
        }
        if component.keeps_component_name {
            self.say(2, Sign::None, "its componentName is still the old name");
        }
        let is_known = |field: &&Field| {
            *change == ComponentChange::Added && repeats(field, name, component.kind.as_deref())
        };
        let fields: Vec<&Field> = component.fields.iter().filter(|field| !is_known(field)).collect();
        self.fields(2, &fields, *change == ComponentChange::Added);
    }

    fn parts(&mut self, diff: &PipelineDiff) {
        for link in &diff.links {
            self.link(link);
        }
        for variable in &diff.variables {
            self.variable(variable);
        }
        self.fields(1, &diff.other.iter().collect::<Vec<_>>(), false);
        if diff.layout && diff.change != FileChange::Layout {
            self.say(1, Sign::None, "some boxes moved");
        }
    }

    fn link(&mut self, link: &LinkDiff) {
        let sign = match link.change {
            LinkChange::Added => Sign::Added,
            LinkChange::Removed => Sign::Removed,
        };
        let [from, to, kind] = [&link.from, &link.to, &link.kind].map(|name| named(name));
        self.say(1, sign, &format!("{from} -> {to} ({kind})"));
    }

    fn variable(&mut self, variable: &VariableDiff) {
        let sign = match variable.change {
            VariableChange::Added => Sign::Added,
            VariableChange::Removed => Sign::Removed,
            VariableChange::Modified => Sign::Changed,
        };
        self.say(1, sign, &format!("{} (variable)", named(&variable.name)));
        if variable.change != VariableChange::Removed {
            let fields: Vec<&Field> = variable.fields.iter().collect();
            self.fields(2, &fields, variable.change == VariableChange::Added);
        }
    }

    fn fields(&mut self, depth: usize, fields: &[&Field], is_new: bool) {
        let read = rows::read(fields.iter().copied());
        let most = if is_new { NEW_FIELDS } else { read.len() };
        for field in read.iter().take(most) {
            match field {
                ReadField::One(field) => self.field(depth, field, &format!("{}: ", rows::path(&field.path))),
                ReadField::Row { name, cells } => self.row(depth, name, cells),
            }
        }
        if read.len() > most {
            let more = format!("\u{2026} {}", text::format_and_more(read.len() - most));
            self.say(depth, Sign::None, &more);
        }
    }

    /// Shows the cells of an added or removed row, or the changes in the row.
    fn row(&mut self, depth: usize, name: &str, cells: &[&Field]) {
        if let Some(former) = ReadField::former_variable(cells) {
            return self.other_variable(depth, (former, name), cells);
        }
        let start = ReadField::row_words(name, cells);
        let side = |pick: fn(&Field) -> &Option<Leaf>| -> Vec<&Leaf> {
            let cells = cells.iter().filter(|cell| !is_name_of_variable(&start, cell));
            cells.filter_map(|cell| pick(cell).as_ref()).collect()
        };
        let is_long = |leaf: &&Leaf| leaf.lines().is_some();
        let (sign, leaves) = if cells.iter().all(|cell| cell.before.is_none()) {
            (Sign::Added, side(|cell| &cell.after))
        } else if cells.iter().all(|cell| cell.after.is_none()) {
            (Sign::Removed, side(|cell| &cell.before))
        } else {
            (Sign::Changed, Vec::new())
        };
        if sign == Sign::Changed || leaves.iter().any(is_long) {
            for cell in cells.iter().filter(|cell| !is_name_of_variable(&start, cell)) {
                self.field(depth, cell, &start);
            }
            return;
        }
        let values: Vec<String> = leaves.into_iter().map(value).collect();
        let width = self.value_width(depth + 1);
        let said = format!("{start}{}", cut(&values.join(", "), 0, width));
        self.say(depth, sign, said.trim_end_matches([' ', '=', ':']));
    }

    /// Shows a call that sets another variable than before, at the same position in its list.
    fn other_variable(&mut self, depth: usize, (former, name): (&Leaf, &str), cells: &[&Field]) {
        let former = former.to_string();
        let Some(value_cell) = cells.get(1) else {
            let said = format!("sets {} instead of {}", named(name), named(&former));
            return self.say(depth, Sign::Changed, &said);
        };
        let sides = [
            (Sign::Removed, former.as_str(), &value_cell.before),
            (Sign::Added, name, &value_cell.after),
        ];
        for (sign, name, leaf) in sides {
            let shown = leaf.as_ref().map(value).unwrap_or_default();
            let shown = cut(&shown, 0, self.value_width(depth + 1));
            self.say(depth, sign, &format!("sets {} = {shown}", named(name)));
        }
    }

    /// Shows a field; `start` is the text before the value, which ends with a colon or an equals sign.
    fn field(&mut self, depth: usize, field: &Field, start: &str) {
        if self.lines.len() > MOST_LINES {
            return;
        }
        let start = named(start);
        let heading = format!("{}:", start.trim_end_matches([' ', '=', ':']));
        let sides = [&field.before, &field.after].map(|side| side.as_ref());
        if sides.iter().flatten().any(|leaf| leaf.lines().is_some()) {
            self.say(depth, Sign::Changed, &heading);
            return self.value_lines(depth + 1, sides);
        }
        let [before, after] = sides.map(|side| side.map(value).unwrap_or_default());
        let width = self.value_width(depth + 1);
        let from = cut_from(&before, &after, width);
        let (before, after) = (cut(&before, from, width), cut(&after, from, width));
        let (sign, said) = match sides {
            [Some(_), Some(_)] => (Sign::Changed, format!("{start}{before} -> {after}")),
            [None, _] => (Sign::Added, format!("{start}{after}")),
            [_, None] => (Sign::Removed, format!("{start}{before}")),
        };
        if sign == Sign::Changed && depth * 2 + 2 + said.chars().count() > self.columns {
            self.say(depth, sign, &heading);
            self.push(depth + 1, Sign::Removed, true, &before);
            self.push(depth + 1, Sign::Added, true, &after);
        } else {
            self.say(depth, sign, &said);
        }
    }

    /// Returns the maximum number of characters of a value at this indentation level.
    fn value_width(&self, depth: usize) -> usize {
        let free = self.columns.saturating_sub(depth * 2 + 2);
        free.clamp(LEAST_WIDTH, VALUE_WIDTH)
    }

    /// Returns the maximum number of characters of a line of a value; on a page, long lines scroll.
    fn line_width(&self, depth: usize) -> usize {
        if self.is_page {
            PAGE_WIDTH
        } else {
            self.value_width(depth)
        }
    }

    /// Shows the lines that differ, and the lines around them.
    fn value_lines(&mut self, depth: usize, sides: [Option<&Leaf>; 2]) {
        let texts = sides.map(|side| side.map(Leaf::to_string));
        let [before, after] = texts.each_ref().map(|side| lines_of(side.as_deref()));
        let lines = lines::compare(&before, &after);
        let width = self.line_width(depth);
        for line in lines.iter().take(VALUE_LINES) {
            let (sign, line) = match line {
                lines::TextLine::Same(line) => (Sign::None, cut(line, 0, width)),
                lines::TextLine::Gone(line) => (Sign::Removed, cut(line, 0, width)),
                lines::TextLine::New(line) => (Sign::Added, cut(line, 0, width)),
                lines::TextLine::Skipped(lines) => {
                    let told = text::format_count(*lines, "line");
                    (Sign::None, format!("\u{2026} {told} as before"))
                }
            };
            self.push(depth, sign, true, &line);
        }
        if lines.len() > VALUE_LINES {
            let more = text::format_count(lines.len() - VALUE_LINES, "more line");
            self.push(depth, Sign::None, true, &format!("\u{2026} {more}"));
        }
    }
}

/// Returns whether the cell is the name of a variable that the line already contains.
fn is_name_of_variable(start: &str, cell: &Field) -> bool {
    start.starts_with("sets ") && cell.path.last() == Some(&PathStep::Index(0))
}

fn lines_of(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split('\n').collect()).unwrap_or_default()
}

/// Returns whether a field of a new component only repeats its line, or is obvious.
fn repeats(field: &Field, name: &str, kind: Option<&str>) -> bool {
    if field.path == [PathStep::key("skipped")] {
        return field.after == Some(Leaf::Boolean(false));
    }
    let Some(Leaf::Text(said)) = &field.after else {
        return false;
    };
    match field.path.as_slice() {
        [PathStep::Key(key)] => key == "type" && kind == Some(said),
        [PathStep::Key(parameters), PathStep::Key(key)] => {
            parameters == "parameters" && key == "componentName" && said == name
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sides, compare};
    use super::*;

    const BASE: &str = "type: orchestration\npipeline:\n  components:\n    Load:\n      type: sql-executor\n      \
                        parameters: { rows: 1, sql: \"select 1\" }\n";

    fn told(before: &str, after: &str) -> String {
        told_in(before, after, None)
    }

    fn told_in(before: &str, after: &str, columns: Option<usize>) -> String {
        let diff = compare(&Sides {
            path: "a.orch.yaml",
            previous_path: None,
            before: Some(Ok(before.as_bytes())),
            after: Some(Ok(after.as_bytes())),
        });
        words(&diff, columns)
            .iter()
            .map(Line::to_string)
            .collect::<Vec<_>>()
            .join("\n")
    }

    #[test]
    fn rows_are_read_as_rows() {
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
    fn number_and_text_that_reads_like_it_are_told_apart() {
        let told = told(BASE, &BASE.replace("rows: 1", "rows: '1'"));
        insta::assert_snapshot!(told, @r#"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ rows: 1 -> "1"
        "#);
    }

    #[test]
    fn of_several_lines_those_that_differ_are_shown() {
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
    fn long_value_is_shown_where_it_differs() {
        let with = |end: &str| BASE.replace("select 1", &format!("{}{end}", "x".repeat(300)));
        insta::assert_snapshot!(told(&with("old"), &with("new")), @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ sql: …xxxxxxxxxxxxxxxxxxxxold -> …xxxxxxxxxxxxxxxxxxxxnew
        ");
    }

    #[test]
    fn value_wider_than_terminal_is_on_own_lines() {
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
    fn colours_say_no_more_than_signs() {
        let diff = compare(&Sides {
            path: "a.orch.yaml",
            previous_path: None,
            before: Some(Ok(BASE.as_bytes())),
            after: Some(Ok(BASE.replace("rows: 1", "rows: 2").as_bytes())),
        });
        let codes = regex::Regex::new("\u{1b}\\[[0-9;]*m").unwrap();
        for line in words(&diff, None) {
            let plain = codes.replace_all(&line.coloured(), "").into_owned();
            assert_eq!(plain, line.to_string());
            assert_ne!(plain, line.coloured());
        }
    }

    #[test]
    fn words_have_an_end() {
        let lines: String = (0..2000).fold(String::new(), |all, at| format!("{all}line {at}\\n"));
        let told_lines = told(BASE, &BASE.replace("select 1", &lines));
        assert!(told_lines.contains("1,962 more lines"), "{told_lines}");
        let many: String = (0..2000).fold(String::new(), |all, at| {
            format!("{all}    C{at}: {{ type: start }}\n")
        });
        let told_many = told(BASE, &format!("{BASE}{many}"));
        assert_eq!(told_many.lines().count(), MOST_LINES + 1);
        assert!(told_many.ends_with("and more"));
    }

    #[test]
    fn hidden_words_are_not_compared() {
        let values = |word: &str| {
            (0..600).fold(BASE.to_owned(), |all, at| {
                let parameters = format!("{{ rows: 1, sql: \"{word}\\nfrom t\" }}");
                format!("{all}    C{at}:\n      type: sql-executor\n      parameters: {parameters}\n")
            })
        };
        let before = lines::COMPARISONS.get();
        let told = told(&values("a"), &values("b"));
        assert_eq!(told.lines().count(), MOST_LINES + 1);
        // Five lines each: the component, its field, and three lines of the value.
        assert_eq!(lines::COMPARISONS.get() - before, MOST_LINES / 5);
    }

    #[test]
    fn no_name_leaves_its_line() {
        let hostile = "    \"x\\n::error::y\\u001b[31m##[group]\": { type: \"a\\n::b\" }\n";
        let told = told(BASE, &format!("{BASE}{hostile}"));
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains("##["), "{told}");
    }
}
