//! Finds the place of a character of a YAML scalar in the file.

use crate::yaml::Position;

/// The text of a file, to find places in it.
#[derive(Debug)]
pub(super) struct SourceText {
    lines: Vec<Vec<char>>,
}

impl SourceText {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self {
            lines: text.split('\n').map(|line| line.chars().collect()).collect(),
        }
    }

    /// Returns the position of the character with this offset in a scalar that begins at `start`. YAML folds lines and
    /// removes indentation, but keeps all other characters, so both texts are followed from one character to the next.
    /// If they differ, returns the start of the scalar.
    pub(super) fn locate(&self, start: Position, scalar: &str, offset: usize) -> Position {
        self.find_character(start, scalar, offset).unwrap_or(start)
    }

    /// Returns the position as [`Self::locate`] does; `None` if the scalar differs from the file.
    fn find_character(&self, start: Position, scalar: &str, offset: usize) -> Option<Position> {
        let mut cursor = SourceCursor::new(self, start)?;
        let mut position = start;
        for (index, character) in scalar.chars().enumerate() {
            if index > offset {
                break;
            }
            if character.is_whitespace() {
                position.column = position.column.saturating_add(1);
            } else {
                position = cursor.find_next(character)?;
            }
        }
        // The end of the expression is behind its last character.
        let is_behind = offset >= scalar.trim_end().chars().count();
        if is_behind {
            position.column = position.column.saturating_add(1);
        }
        Some(position)
    }
}

/// A place in the file, in front of the next character of a scalar.
struct SourceCursor<'s> {
    lines: &'s [Vec<char>],
    line_index: usize,
    column_index: usize,
    quote: Option<char>,
}

impl<'s> SourceCursor<'s> {
    /// Creates a cursor at the first character of the scalar: behind its quote or its block indicator.
    fn new(source: &'s SourceText, start: Position) -> Option<Self> {
        let line_index = usize::try_from(start.line).ok()?.checked_sub(1)?;
        let column_index = usize::try_from(start.column).ok()?.checked_sub(1)?;
        let mut cursor = Self {
            lines: &source.lines,
            line_index,
            column_index,
            quote: None,
        };
        match cursor.lines.get(line_index)?.get(column_index)? {
            quote @ ('"' | '\'') => {
                cursor.quote = Some(*quote);
                cursor.column_index += 1;
            }
            '|' | '>' => {
                cursor.line_index += 1;
                cursor.column_index = 0;
            }
            _ => {}
        }
        Some(cursor)
    }

    /// Moves behind the next character of the scalar, and returns its position. `None` if it is another one.
    fn find_next(&mut self, character: char) -> Option<Position> {
        loop {
            let line = self.lines.get(self.line_index)?;
            let Some(source_character) = line.get(self.column_index) else {
                self.line_index += 1;
                self.column_index = 0;
                continue;
            };
            let position = Position {
                line: u32::try_from(self.line_index + 1).ok()?,
                column: u32::try_from(self.column_index + 1).ok()?,
            };
            let next_character = line.get(self.column_index + 1);
            self.column_index += 1;
            if source_character.is_whitespace() {
                continue;
            }
            let is_escape = match self.quote {
                Some('"') => *source_character == '\\',
                Some(quote) => *source_character == quote && next_character == Some(&quote),
                None => false,
            };
            if is_escape {
                self.column_index += 1;
                return (next_character == Some(&character)).then_some(position);
            }
            return (*source_character == character).then_some(position);
        }
    }
}
