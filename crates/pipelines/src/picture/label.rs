//! Texts of a picture: names in up to three lines, kinds of links, and the widths of texts.

use super::canvas::{Arrow, Canvas, CanvasBox, ChangeMark, Stub};
use sluicegate_base::text;
use std::collections::HashSet;

/// The font size of all texts. At the smallest scale of a picture on a page, it is still 11 pixels.
pub(super) const FONT_SIZE: &str = "12.5";

/// The widths of boxes, and the space to the left and right of their text.
const MIN_BOX_WIDTH: i32 = 84;
const MAX_BOX_WIDTH: i32 = 168;
const TEXT_MARGIN: i32 = 8;

/// Maximum width of a line of a name, in pixels: in a wide font, it still fits into the widest box.
const MAX_LINE_WIDTH: i32 = 145;

/// The space that a wide font leaves to the left and right of the text.
const WIDE_FONT_MARGIN: i32 = 4;

/// The numbers of lines of a name with the maximum widths of a line, in the order in which they are tried: a name gets
/// another line before its box gets wide.
const LINE_SHAPES: [(usize, i32); 6] = [
    (1, 104),
    (2, 124),
    (3, 124),
    (1, MAX_LINE_WIDTH),
    (2, MAX_LINE_WIDTH),
    (3, MAX_LINE_WIDTH),
];

/// Maximum number of characters of a name that are wrapped; a longer name never fits.
const MAX_WRAPPED_CHARS: usize = 100;

/// Minimum number of visible characters that are omitted from a name that does not fit.
const MIN_OMITTED_CHARS: usize = 3;

/// The space between a label and the nearest line or box, in pixels.
pub(super) const LABEL_GAP: i32 = 6;

/// The width of a double-width letter, such as a Chinese character, in hundredths of a pixel.
const WIDE_CHAR_WIDTH: i32 = 1350;

/// The text in a box.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoxText {
    pub name: Vec<String>,
    pub note: Option<String>,
    pub width: i32,
}

impl BoxText {
    /// Returns the number of lines of the name and the note together.
    pub(super) fn line_count(&self) -> usize {
        self.name.len() + usize::from(self.note.is_some())
    }
}

/// Returns the wrapped name, the note and the width of each box. Names that would look the same get a number.
pub(super) fn wrap_box_texts(canvas: &Canvas) -> Vec<BoxText> {
    let mut visible_names = HashSet::new();
    canvas
        .boxes
        .iter()
        .map(|canvas_box| {
            let name = wrap_unique_name(&mut visible_names, &text::escape_line(&canvas_box.name));
            let note = short_note(canvas_box);
            let text_width = name.iter().chain(&note).map(|line| text_width(line)).max();
            BoxText {
                width: box_width(text_width.unwrap_or(0)),
                name,
                note,
            }
        })
        .collect()
}

/// Returns the width of the box for a text of this width. The text is up to a tenth wider in a wide font, such as
/// DejaVu Sans, which is the default on most Linux machines.
fn box_width(text_width: i32) -> i32 {
    let wide_text_width = (text_width * 11 + 9) / 10;
    (text_width + 2 * TEXT_MARGIN)
        .max(wide_text_width + 2 * WIDE_FONT_MARGIN)
        .clamp(MIN_BOX_WIDTH, MAX_BOX_WIDTH)
}

/// Returns the note about a change; `None` if it is wider than a box can be.
fn short_note(canvas_box: &CanvasBox) -> Option<String> {
    let note = text::escape_line(canvas_box.note.as_ref()?);
    (text_width(&note) <= MAX_LINE_WIDTH).then_some(note)
}

/// Wraps a name into lines and adds them to `visible_names`. If another box already shows this text, the name gets the
/// first free number, such as ` (2)`.
fn wrap_unique_name(visible_names: &mut HashSet<String>, name: &str) -> Vec<String> {
    let mut number = 1;
    loop {
        let suffix = if number == 1 {
            String::new()
        } else {
            format!(" ({number})")
        };
        let lines = wrap_name(name, &suffix);
        let visible_name: String = lines.concat().split_whitespace().collect();
        if visible_names.insert(visible_name) {
            return lines;
        }
        number += 1;
    }
}

/// Returns the label at the start of each link, in the order of the arrows; `None` for a link that needs no label.
pub(super) fn format_link_labels(canvas: &Canvas) -> Vec<Option<String>> {
    let has_several_kinds = canvas.flag_boxes_with_several_link_kinds();
    canvas
        .arrows
        .iter()
        .map(|arrow| {
            format_link_label(
                arrow,
                has_several_kinds[arrow.from_box],
                canvas.shown_mark(arrow.mark),
            )
        })
        .collect()
}

/// Returns the label of a link: the sign of its change and its kind. Omits the kind if it is a usual one and all links
/// of the box have it, and the sign if the link did not change. Returns `None` if both are omitted.
fn format_link_label(arrow: &Arrow, has_several_kinds: bool, mark: ChangeMark) -> Option<String> {
    let is_plain = matches!(arrow.kind.as_str(), "unconditional" | "source") && !has_several_kinds;
    let kind = text::escape_line(&arrow.kind);
    match (mark, is_plain) {
        (ChangeMark::Unchanged, true) => None,
        (mark, true) => Some(mark.sign().to_owned()),
        (ChangeMark::Unchanged, false) => Some(kind),
        (mark, false) => Some(format!("{} {kind}", mark.sign())),
    }
}

/// Returns the label of a stub, for example `3 more`: the number of components that the picture omits there.
pub(super) fn format_stub_label(stub: &Stub) -> String {
    format!("{} more", stub.count)
}

/// Returns the approximate width of the text in pixels, rounded up and slightly more than common fonts need.
pub(super) fn text_width(text: &str) -> i32 {
    (width_in_hundredths(text) + 99) / 100
}

/// Returns the width of the label of a link in pixels. The label of a changed link begins with a sign and is bold, so
/// it is a quarter wider.
pub(super) fn link_label_width(text: &str) -> i32 {
    let width = text_width(text);
    if text.starts_with(['+', '\u{2212}']) {
        width * 5 / 4
    } else {
        width
    }
}

/// Returns the approximate width of the text, in hundredths of a pixel: the sum of the widths of its characters.
fn width_in_hundredths(text: &str) -> i32 {
    text.chars().map(char_width).sum()
}

/// Returns the approximate width of a character at [`FONT_SIZE`], in hundredths of a pixel. Characters of similar width
/// have the same value.
fn char_width(c: char) -> i32 {
    match c {
        'i' | 'j' | 'l' | '.' | ',' | '\'' | ':' | ';' | '|' | '!' => 350,
        'f' | 't' | 'r' | ' ' | '(' | ')' | '[' | ']' | '-' | 'I' => 430,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '\u{2026}' => 1080,
        's' | 'c' | 'k' | 'x' | 'y' | 'z' | 'v' | 'J' => 660,
        'A'..='Z' | '&' | '+' | '\u{2212}' | '~' => 880,
        c if c.is_ascii() => 720,
        c if unicode_width::UnicodeWidthChar::width(c) == Some(1) => 880,
        _ => WIDE_CHAR_WIDTH,
    }
}

/// Wraps a name into at most three lines with `suffix` at the end. A name that does not fit is shortened in the middle.
fn wrap_name(name: &str, suffix: &str) -> Vec<String> {
    let wrapper = LineWrapper::new(
        name.chars()
            .chain(suffix.chars())
            .take(MAX_WRAPPED_CHARS + 1)
            .collect(),
    );
    if wrapper.chars.len() > MAX_WRAPPED_CHARS {
        return cut_name(name, suffix);
    }
    LINE_SHAPES
        .into_iter()
        .find_map(|(line_count, max_width)| wrapper.balance_lines(line_count, max_width))
        .unwrap_or_else(|| cut_name(name, suffix))
}

/// A text with the positions at which it can be broken into lines.
struct LineWrapper {
    chars: Vec<char>,
    /// The width of the text up to each character, in hundredths of a pixel.
    widths: Vec<i32>,
    /// The penalty, in pixels, of a line that begins at each character; `None` if no line can begin there.
    penalties: Vec<Option<i32>>,
}

impl LineWrapper {
    /// Measures the text and rates each character as the start of a line: no penalty after a blank, a small penalty
    /// after a separator, and a large penalty inside a word, which is only broken if it is longer than a line.
    fn new(chars: Vec<char>) -> Self {
        let mut widths = vec![0; chars.len() + 1];
        for (index, c) in chars.iter().enumerate() {
            widths[index + 1] = widths[index] + char_width(*c);
        }
        let mut penalties: Vec<Option<i32>> = (0..chars.len())
            .map(|start| match start.checked_sub(1).map(|index| chars[index]) {
                None => Some(0),
                Some(c) if c.is_whitespace() => Some(0),
                Some('_' | '-' | '.' | '/' | ':' | ',' | ';' | '|') => Some(16),
                Some(_) => None,
            })
            .collect();
        // A word that is longer than a line can be broken inside. `widths` are in hundredths of a pixel.
        let mut word_starts: Vec<usize> = (0..chars.len())
            .filter(|start| penalties[*start].is_some())
            .collect();
        word_starts.push(chars.len());
        for word in word_starts.windows(2) {
            let [word_start, word_end] = *word else { continue };
            if widths[word_end] - widths[word_start] > 100 * MAX_LINE_WIDTH {
                for start in word_start + 1..word_end {
                    penalties[start] = Some(word_break_penalty(chars[start - 1], chars[start]));
                }
            }
        }
        Self {
            chars,
            widths,
            penalties,
        }
    }

    /// Returns the width of a line, in pixels, without the blanks around it.
    fn line_width(&self, start: usize, end: usize) -> i32 {
        let line = &self.chars[start..end];
        let leading_count = line.iter().take_while(|c| c.is_whitespace()).count();
        let trailing_count = line[leading_count..]
            .iter()
            .rev()
            .take_while(|c| c.is_whitespace())
            .count();
        (self.widths[end - trailing_count] - self.widths[start + leading_count] + 99) / 100
    }

    /// Wraps the text into `line_count` lines of at most `max_width` pixels; `None` if it does not fit. Chooses the
    /// breaks with the least cost, which grows with the width of the widest line and the penalties of the breaks. Finds
    /// them line by line: the best way to wrap more characters extends a best way with one line less.
    fn balance_lines(&self, line_count: usize, max_width: i32) -> Option<Vec<String>> {
        let length = self.chars.len();
        // For each number of characters, the cost of the best way to wrap them into the current number of lines.
        let mut best_costs: Vec<Option<i32>> = vec![None; length + 1];
        best_costs[0] = Some(0);
        // For each line and each possible end of it, the best start of the line.
        let mut line_starts: Vec<Vec<usize>> = Vec::new();
        for line in 1..=line_count {
            let mut next_costs: Vec<Option<i32>> = vec![None; length + 1];
            let mut starts = vec![0; length + 1];
            // The last line ends with the text, and the other lines end where another line can begin.
            let is_end = |end: usize| end == length || (line < line_count && self.penalties[end].is_some());
            for end in (1..=length).filter(|end| is_end(*end)) {
                // The line grows to the left until it is too wide.
                for start in (0..end).rev() {
                    let width = self.line_width(start, end);
                    if width > max_width {
                        break;
                    }
                    let (Some(cost), Some(Some(penalty))) = (best_costs[start], self.penalties.get(start))
                    else {
                        continue;
                    };
                    let cost = cost.max(width) + penalty;
                    if width > 0 && next_costs[end].is_none_or(|best_cost| cost < best_cost) {
                        next_costs[end] = Some(cost);
                        starts[end] = start;
                    }
                }
            }
            best_costs = next_costs;
            line_starts.push(starts);
        }
        best_costs[length]?;
        // The last line ends with the text. Each other line ends where the next one starts.
        let mut end = length;
        let mut lines = Vec::with_capacity(line_count);
        for starts in line_starts.iter().rev() {
            let line: String = self.chars[starts[end]..end].iter().collect();
            lines.push(line.trim().to_owned());
            end = starts[end];
        }
        lines.reverse();
        Some(lines)
    }
}

/// Returns the penalty of a break inside a word, between these two characters, in pixels of line width. The best
/// positions are before a capital letter and next to a number.
fn word_break_penalty(line_end: char, line_start: char) -> i32 {
    if line_end.is_lowercase() && line_start.is_uppercase() {
        40
    } else if line_end.is_ascii_digit() != line_start.is_ascii_digit() {
        60
    } else {
        400
    }
}

/// Shortens a name that does not fit into a box: returns its start in two lines, and an ellipsis, its end and `suffix`
/// in a third line.
fn cut_name(name: &str, suffix: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let used_width = 0;
    let first_end = find_line_end(&chars, count_fitting_chars(chars.iter(), used_width));
    let second_start = first_end
        + chars[first_end..]
            .iter()
            .take_while(|c| c.is_whitespace())
            .count();
    let second_line = &chars[second_start..];
    let fitting_length = count_fitting_chars(second_line.iter(), used_width);
    let fitting_end = second_start + find_line_end(second_line, fitting_length);
    let tail_length = count_fitting_chars(chars.iter().rev(), text_width(suffix) + text_width("\u{2026}"));
    let reversed_chars: Vec<char> = chars.iter().rev().copied().collect();
    let tail_start = chars
        .len()
        .saturating_sub(find_line_end(&reversed_chars, tail_length));
    // The second line is shortened if too few characters would be omitted between it and the third line.
    let second_end = fitting_end
        .min(find_omission_start(&chars[..tail_start]))
        .max(second_start);
    let lines = [
        chars[..first_end].iter().collect::<String>(),
        chars[second_start..second_end].iter().collect(),
        format!(
            "\u{2026}{}{suffix}",
            chars[tail_start..].iter().collect::<String>().trim_start()
        ),
    ];
    lines
        .into_iter()
        .map(|line| line.trim().to_owned())
        .filter(|line| !line.is_empty())
        .collect()
}

/// Returns where an omission begins at the latest that ends with these characters: it has at least
/// [`MIN_OMITTED_CHARS`] characters, without blanks and characters of no width.
fn find_omission_start(chars: &[char]) -> usize {
    let is_visible = |c: char| !c.is_whitespace() && unicode_width::UnicodeWidthChar::width(c) != Some(0);
    (0..chars.len())
        .rev()
        .filter(|index| is_visible(chars[*index]))
        .nth(MIN_OMITTED_CHARS - 1)
        .unwrap_or(0)
}

/// Returns where a line with at most `fitting_length` of these characters ends: at the last blank, if the line would
/// otherwise end inside a word, and if it is then at least half as long.
fn find_line_end(chars: &[char], fitting_length: usize) -> usize {
    let is_blank = |index: usize| chars.get(index).is_none_or(|c| c.is_whitespace());
    if is_blank(fitting_length) {
        return fitting_length;
    }
    (fitting_length / 2..fitting_length)
        .rev()
        .find(|index| is_blank(*index))
        .unwrap_or(fitting_length)
}

/// Returns the number of characters that fit the rest of a line, after the text that already uses `used_width`.
fn count_fitting_chars<'c>(chars: impl Iterator<Item = &'c char>, used_width: i32) -> usize {
    let mut width = 100 * used_width;
    chars
        .take_while(|c| {
            width += char_width(**c);
            width <= 100 * MAX_LINE_WIDTH
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_wrapped_at_best_separator() {
        assert_eq!(wrap_name("Load orders", ""), ["Load orders"]);
        assert_eq!(
            wrap_name("Rewrite GW_PROFIT_BY_ACCOUNT", ""),
            ["Rewrite", "GW_PROFIT_", "BY_ACCOUNT"]
        );
        assert_eq!(
            wrap_name("Load all orders of the last quarter", ""),
            ["Load all orders of", "the last quarter"]
        );
        assert_eq!(
            wrap_name("LoadAllOrdersOfTheLastQuarter", ""),
            ["LoadAllOrdersOf", "TheLastQuarter"]
        );
    }

    #[test]
    fn widest_line_fits_its_box_in_a_wide_font() {
        for width in [0, 60, 100, 125, 140, MAX_LINE_WIDTH] {
            assert!(
                10 * (box_width(width) - 2 * WIDE_FONT_MARGIN) >= 11 * width,
                "{width}"
            );
            assert!(box_width(width) <= MAX_BOX_WIDTH);
        }
        // A short text has its usual margin.
        assert_eq!(box_width(70), 70 + 2 * TEXT_MARGIN);
    }

    #[test]
    fn name_with_blanks_is_cut_between_words() {
        let name = "Load the orders of the whole day into the table of all orders of the whole year and the next one";
        let lines = wrap_name(name, "");
        assert_eq!(lines.len(), 3, "{lines:?}");
        let words: Vec<&str> = name.split(' ').collect();
        for line in &lines {
            for word in line.trim_start_matches('\u{2026}').split_whitespace() {
                assert!(words.contains(&word), "{lines:?}");
            }
        }
        // A long word still uses the whole line.
        let long_word = format!("a {}", "x".repeat(90));
        assert!(wrap_name(&long_word, "")[0].chars().count() > 10);
    }

    #[test]
    fn cut_of_name_omits_three_letters_beside_blanks() {
        for middle in [
            "a b c",
            "ab  c",
            "a\u{200b}\u{200b}b c",
            "a \u{200b} \u{200b} bc d",
        ] {
            for start_length in 20..45 {
                let name = format!("{}{middle}{}", "M".repeat(start_length), "W".repeat(14));
                let lines = cut_name(&name, "");
                let letters: String = lines.concat().replace('\u{2026}', "");
                let count_letters = |text: &str| text.chars().filter(char::is_ascii_alphabetic).count();
                assert!(
                    count_letters(&letters) + MIN_OMITTED_CHARS <= count_letters(&name),
                    "{name}: {lines:?}"
                );
            }
        }
    }

    #[test]
    fn name_that_does_not_fit_is_cut_in_middle() {
        let name = "SF_REPLICATE_OPPORTUNITY_LINE_ITEMS_INTO_THE_SILVER_SCHEMA_OF_THE_WAREHOUSE_2024";
        let lines = wrap_name(name, "");
        let (start, tail) = lines
            .iter()
            .partition::<Vec<_>, _>(|line| !line.starts_with('\u{2026}'));
        let start: String = start.into_iter().map(String::as_str).collect();
        let tail = tail[0].trim_start_matches('\u{2026}');
        assert!(name.starts_with(&start) && name.ends_with(tail), "{lines:?}");
        assert!(
            start.len() + tail.len() + MIN_OMITTED_CHARS <= name.len(),
            "{lines:?}"
        );
        assert_eq!(wrap_name(&"x".repeat(300), " (2)")[2].chars().last(), Some(')'));
        assert_eq!(wrap_name("\u{540d}\u{524d}\u{306e}\u{9577}\u{3044}", "").len(), 1);
    }
}
