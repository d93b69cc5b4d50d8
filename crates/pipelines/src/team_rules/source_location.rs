//! Finds the position in the file of a character of a YAML scalar.

use sluicegate_yaml::Position;

/// The text of a file, to find positions in it.
#[derive(Debug)]
pub(super) struct SourceText {
    lines: Vec<Vec<char>>,
}

impl SourceText {
    /// Divides the file into lines of characters, without a byte order mark.
    pub(super) fn new(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        Self {
            lines: text.split('\n').map(|line| line.chars().collect()).collect(),
        }
    }

    /// Returns the position in the file of the character at `offset` in a scalar that begins at `start`. YAML folds
    /// lines and removes indentation, but keeps all other characters, so the position is found by comparing these
    /// characters one by one. If they differ from the file, returns `start`.
    pub(super) fn locate(&self, start: Position, scalar: &str, offset: usize) -> Position {
        self.find_character(start, scalar, offset).unwrap_or(start)
    }

    /// Returns the position of the character at `offset` as [`Self::locate`] does, or `None` if the scalar differs from
    /// the file.
    fn find_character(&self, start: Position, scalar: &str, offset: usize) -> Option<Position> {
        let mut cursor = SourceCursor::new(self, start)?;
        let mut position = start;
        for (index, character) in scalar.chars().enumerate() {
            if index > offset {
                break;
            }
            if character.is_whitespace() {
                // Blanks are not compared, because YAML folds lines. Each one is assumed to be one column wide.
                position.column = position.column.saturating_add(1);
            } else {
                position = cursor.advance_past(character)?;
            }
        }
        // The end of a scalar is the column after its last character.
        let is_after_end = offset >= scalar.trim_end().chars().count();
        if is_after_end {
            position.column = position.column.saturating_add(1);
        }
        Some(position)
    }
}

/// The position in the file of the next character of a scalar.
struct SourceCursor<'s> {
    lines: &'s [Vec<char>],
    line_index: usize,
    column_index: usize,
    quote: Option<char>,
}

impl<'s> SourceCursor<'s> {
    /// Creates a cursor at the first character of the scalar, after its quote or its block indicator. Returns `None` if
    /// the file has no such position.
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

    /// Moves past the next character in the file that is not blank, and returns its position. An escaped character is
    /// one character, at the position of its escape. Returns `None` if the character is not `character`, or at the end
    /// of the file.
    fn advance_past(&mut self, character: char) -> Option<Position> {
        loop {
            let line = self.lines.get(self.line_index)?;
            let Some(source_character) = line.get(self.column_index) else {
                // The end of the line.
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
            // In double quotes, `\` escapes a character. In single quotes, a quote is written twice.
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
