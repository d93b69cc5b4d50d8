//! Text in columns: lines broken between words, paths shortened in the middle.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces the removed part of a shortened path.
const CUT: char = '…';

/// Returns the text in lines of at most `columns`, broken at blanks; a longer word gets its own line. The first
/// line begins with `first`, the others with `next`. A text that fits keeps its blanks.
pub fn lines(text: &str, first: &str, next: &str, columns: usize) -> Vec<String> {
    if first.width() + text.width() <= columns {
        return vec![format!("{first}{text}")];
    }
    let mut lines = Vec::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split_whitespace() {
        if !is_empty && line.width() + 1 + word.width() > columns {
            lines.push(std::mem::replace(&mut line, next.to_owned()));
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.push(line);
    lines
}

/// Shortens a name to at most `columns`. Keeps its start and its end, which distinguish one path from another.
pub fn middle(name: &str, columns: usize) -> String {
    if name.width() <= columns {
        return name.to_owned();
    }
    let room = columns.saturating_sub(1);
    let start = taken(name.chars(), room / 3);
    let end = taken(name.chars().rev(), room - room / 3);
    let end: String = end.chars().rev().collect();
    format!("{start}{CUT}{end}")
}

/// Returns the first characters that fit into `columns`.
fn taken(chars: impl Iterator<Item = char>, columns: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += c.width().unwrap_or(0);
            used <= columns
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_between_words() {
        let shown = lines("one two three four", "- ", "  ", 11);
        assert_eq!(shown, ["- one two", "  three", "  four"]);
        assert_eq!(lines("averylongword a", "", "", 5), ["averylongword", "a"]);
        assert_eq!(lines("a  b", "", "", 9), ["a  b"]);
        assert_eq!(lines("", "- ", "", 9), ["- "]);
    }

    #[test]
    fn path_keeps_its_start_and_its_end() {
        assert_eq!(middle("sales/load.orch.yaml", 20), "sales/load.orch.yaml");
        assert_eq!(
            middle("sales/eu/north/load.orch.yaml", 20),
            "sales/…oad.orch.yaml"
        );
        assert_eq!(middle("日本日本日本日本", 9).width(), 9);
        assert_eq!(middle("abc", 1), "…");
    }
}
