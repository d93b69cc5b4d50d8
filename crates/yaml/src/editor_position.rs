//! The positions of a text in the units of editors and of SARIF.

/// A position as editors and SARIF count it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EditorPosition {
    pub line: u32,
    /// The column, from 1 as the line, in UTF-16 code units.
    pub column: u32,
}

/// A position that moves forward through a text, so that many positions are found in one pass.
pub(crate) struct EditorCursor<'t> {
    text: &'t str,
    offset: usize,
    position: EditorPosition,
}

impl<'t> EditorCursor<'t> {
    /// Creates a cursor at the beginning of the text.
    pub(crate) const fn new(text: &'t str) -> Self {
        Self {
            text,
            offset: 0,
            position: EditorPosition { line: 1, column: 1 },
        }
    }

    /// Moves the cursor to a byte offset, which must not be before its current offset, and returns the position there.
    /// Columns are counted in UTF-16 code units, as editors and SARIF do.
    pub(crate) fn move_to(&mut self, offset: usize) -> EditorPosition {
        let mut chars = self
            .text
            .get(self.offset..offset)
            .unwrap_or_default()
            .chars()
            .peekable();
        while let Some(c) = chars.next() {
            let is_line_break = c == '\n' || (c == '\r' && chars.peek() != Some(&'\n'));
            if is_line_break {
                self.position.line = self.position.line.saturating_add(1);
                self.position.column = 1;
            } else {
                let unit_count = if c.len_utf16() == 1 { 1 } else { 2 };
                self.position.column = self.position.column.saturating_add(unit_count);
            }
        }
        self.offset = self.offset.max(offset);
        self.position
    }
}
