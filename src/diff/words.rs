//! A change in words: a line for each thing that differs. Every line is safe to show.

use super::leaf::{Leaf, Step};
use super::model::{
    ComponentChange, ComponentDiff, Field, FileChange, LinkChange, LinkDiff, PipelineDiff, VariableChange,
    VariableDiff,
};
use crate::pipelines::Kind;
use crate::text;

/// Lines of one pipeline.
const MOST_LINES: usize = 400;

/// Fields of a component or a variable that is new.
const NEW_FIELDS: usize = 10;

/// Lines of each side of one value.
const VALUE_LINES: usize = 20;

/// Characters of one line of a value.
const VALUE_WIDTH: usize = 100;

/// Characters that stand before the first one that differs, where a value is cut.
const LEAD: usize = 20;

/// What changed in a pipeline: the file, then its parts, indented.
pub fn words(diff: &PipelineDiff) -> Vec<String> {
    let mut words = Words::default();
    words.say(0, &headline(diff));
    let is_whole = matches!(diff.change, FileChange::Added | FileChange::Removed);
    for component in &diff.components {
        words.component(component, is_whole);
    }
    if !is_whole {
        words.parts(diff);
    }
    words.lines
}

fn headline(diff: &PipelineDiff) -> String {
    let path = &diff.path;
    let kind = diff.kind.map_or("pipeline", Kind::name);
    match diff.change {
        FileChange::Added => format!("{path}: added, {kind}"),
        FileChange::Removed => format!("{path}: removed, {kind}"),
        FileChange::Renamed => {
            let old = diff.previous_path.as_deref().unwrap_or_default();
            format!("{path}: renamed from {old}")
        }
        FileChange::Modified => format!("{path}: modified"),
        FileChange::Layout => format!("{path}: layout only, what it does is the same"),
        FileChange::Unreadable => {
            let why = diff.reason.as_deref().unwrap_or_default();
            format!("{path}: cannot be read {why}")
        }
    }
}

/// The lines so far.
#[derive(Default)]
struct Words {
    lines: Vec<String>,
}

impl Words {
    fn say(&mut self, depth: usize, words: &str) {
        match self.lines.len() {
            MOST_LINES => self.lines.push("  \u{2026} and more".to_owned()),
            length if length > MOST_LINES => {}
            _ => self
                .lines
                .push(text::line(&format!("{:indent$}{words}", "", indent = depth * 2))),
        }
    }

    fn component(&mut self, component: &ComponentDiff, is_named_only: bool) {
        let ComponentDiff { name, change, .. } = component;
        let sign = match change {
            ComponentChange::Added => '+',
            ComponentChange::Removed => '-',
            ComponentChange::Renamed | ComponentChange::Modified => '~',
        };
        let kind = component.kind.as_deref().unwrap_or("no type");
        let was = component.previous_name.as_ref();
        let was = was.map(|old| format!(", was {old}")).unwrap_or_default();
        self.say(1, &format!("{sign} {name} ({kind}){was}"));
        if is_named_only || *change == ComponentChange::Removed {
            return;
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
            self.say(1, "and layout");
        }
    }

    fn link(&mut self, link: &LinkDiff) {
        let sign = match link.change {
            LinkChange::Added => '+',
            LinkChange::Removed => '-',
        };
        let LinkDiff { from, to, kind, .. } = link;
        self.say(1, &format!("{sign} {from} -> {to} ({kind})"));
    }

    fn variable(&mut self, variable: &VariableDiff) {
        let sign = match variable.change {
            VariableChange::Added => '+',
            VariableChange::Removed => '-',
            VariableChange::Modified => '~',
        };
        self.say(1, &format!("{sign} {} (variable)", variable.name));
        if variable.change != VariableChange::Removed {
            let fields: Vec<&Field> = variable.fields.iter().collect();
            self.fields(2, &fields, variable.change == VariableChange::Added);
        }
    }

    fn fields(&mut self, depth: usize, fields: &[&Field], is_new: bool) {
        let most = if is_new { NEW_FIELDS } else { fields.len() };
        for field in fields.iter().take(most) {
            self.field(depth, field);
        }
        if fields.len() > most {
            self.say(depth, &format!("\u{2026} and {} more", fields.len() - most));
        }
    }

    fn field(&mut self, depth: usize, field: &Field) {
        let path: Vec<String> = field.path.iter().map(Step::to_string).collect();
        let path = path.join(".");
        let sides = [&field.before, &field.after].map(|side| side.as_ref());
        if sides.iter().flatten().any(|leaf| leaf.lines().is_some()) {
            self.say(depth, &format!("~ {path}:"));
            return self.value_lines(depth + 1, sides);
        }
        let [before, after] = sides.map(|side| side.map(value).unwrap_or_default());
        let start = cut_from(&before, &after);
        let (before, after) = (cut(&before, start), cut(&after, start));
        self.say(
            depth,
            &match sides {
                [Some(_), Some(_)] => format!("~ {path}: {before} -> {after}"),
                [None, _] => format!("+ {path}: {after}"),
                [_, None] => format!("- {path}: {before}"),
            },
        );
    }

    /// The lines between the first and the last that differ.
    fn value_lines(&mut self, depth: usize, sides: [Option<&Leaf>; 2]) {
        let texts = sides.map(|side| side.map(Leaf::to_string));
        let [before, after] = texts.each_ref().map(|side| lines_of(side.as_deref()));
        let same = |(a, b): &(&&str, &&str)| a == b;
        let start = before.iter().zip(&after).take_while(same).count();
        let (before, after) = (&before[start..], &after[start..]);
        let end = before
            .iter()
            .rev()
            .zip(after.iter().rev())
            .take_while(same)
            .count();
        for (sign, lines) in [('-', before), ('+', after)] {
            let lines = lines.get(..lines.len() - end).unwrap_or_default();
            for line in lines.iter().take(VALUE_LINES) {
                self.say(depth, &format!("{sign} {}", cut(line, 0)));
            }
            if lines.len() > VALUE_LINES {
                let more = text::count(lines.len() - VALUE_LINES, "more line");
                self.say(depth, &format!("{sign} \u{2026} {more}"));
            }
        }
    }
}

fn lines_of(text: Option<&str>) -> Vec<&str> {
    text.map(|text| text.split('\n').collect()).unwrap_or_default()
}

/// Whether a field of a new component only says what stands in its line already.
fn repeats(field: &Field, name: &str, kind: Option<&str>) -> bool {
    let Some(Leaf::Text(said)) = &field.after else {
        return false;
    };
    match field.path.as_slice() {
        [Step::Key(key)] => key == "type" && kind == Some(said),
        [Step::Key(parameters), Step::Key(key)] => {
            parameters == "parameters" && key == "componentName" && said == name
        }
        _ => false,
    }
}

/// A value as people write it; a text that would read as something else is quoted.
fn value(leaf: &Leaf) -> String {
    let shown = leaf.to_string();
    let is_other = |text: &str| {
        text.trim() != text
            || matches!(text, "" | "null" | "true" | "false" | "[]" | "{}")
            || text.parse::<f64>().is_ok()
    };
    match leaf {
        Leaf::Text(text) if is_other(text) => format!("{text:?}"),
        _ => shown,
    }
}

/// Where the shown part of two values begins: at their start, or where they begin to differ, if that would be cut off.
fn cut_from(before: &str, after: &str) -> usize {
    let same = before.chars().zip(after.chars()).take_while(|(a, b)| a == b);
    match same.count() {
        same if same >= VALUE_WIDTH - LEAD => same - LEAD,
        _ => 0,
    }
}

fn cut(value: &str, start: usize) -> String {
    let length = value.chars().count();
    let shown: String = value.chars().skip(start).take(VALUE_WIDTH).collect();
    let before = if start > 0 { "\u{2026}" } else { "" };
    match length.saturating_sub(start + VALUE_WIDTH) {
        0 => format!("{before}{shown}"),
        more => format!("{before}{shown}\u{2026} ({more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Sides, compare};
    use super::*;

    const BASE: &str = "type: orchestration\npipeline:\n  components:\n    Load:\n      type: sql-executor\n      \
                        parameters: { rows: 1, sql: \"select 1\" }\n";

    fn told(before: &str, after: &str) -> String {
        let diff = compare(&Sides {
            path: "a.orch.yaml",
            previous_path: None,
            before: Some(Ok(before.as_bytes())),
            after: Some(Ok(after.as_bytes())),
        });
        words(&diff).join("\n")
    }

    #[test]
    fn a_number_and_a_text_that_reads_like_it_are_told_apart() {
        let told = told(BASE, &BASE.replace("rows: 1", "rows: '1'"));
        insta::assert_snapshot!(told, @r#"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ parameters.rows: 1 -> "1"
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
            ~ parameters.sql:
              -  b
              +  c,
              +  d
        ");
    }

    #[test]
    fn a_long_value_is_shown_where_it_differs() {
        let with = |end: &str| BASE.replace("select 1", &format!("{}{end}", "x".repeat(300)));
        insta::assert_snapshot!(told(&with("old"), &with("new")), @"
        a.orch.yaml: modified
          ~ Load (sql-executor)
            ~ parameters.sql: …xxxxxxxxxxxxxxxxxxxxold -> …xxxxxxxxxxxxxxxxxxxxnew
        ");
    }

    #[test]
    fn words_have_an_end() {
        let lines: String = (0..2000).fold(String::new(), |all, at| format!("{all}line {at}\\n"));
        let told_lines = told(BASE, &BASE.replace("select 1", &lines));
        assert!(told_lines.contains("1981 more lines"), "{told_lines}");
        let many: String = (0..2000).fold(String::new(), |all, at| {
            format!("{all}    C{at}: {{ type: start }}\n")
        });
        let told_many = told(BASE, &format!("{BASE}{many}"));
        assert_eq!(told_many.lines().count(), MOST_LINES + 1);
        assert!(told_many.ends_with("and more"));
    }

    #[test]
    fn no_name_leaves_its_line() {
        let hostile = "    \"x\\n::error::y\\u001b[31m##[group]\": { type: \"a\\n::b\" }\n";
        let told = told(BASE, &format!("{BASE}{hostile}"));
        assert_eq!(told.lines().count(), 2, "{told}");
        assert!(!told.contains('\u{1b}') && !told.contains("##["), "{told}");
    }
}
