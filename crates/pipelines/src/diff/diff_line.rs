//! A line of the description of a change, with its sign.

use anstyle::{AnsiColor, Style};
use sluicegate_base::text;
use std::fmt;

/// The kind of change that a line shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// No change: a heading, or a remark.
    None,
    Added,
    Removed,
    Changed,
}

impl Sign {
    /// Returns the character that is shown before the line; empty if nothing changed.
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Changed => "~",
        }
    }

    /// Returns the word for the sign, which the HTML report uses in CSS classes and for screen readers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "same",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }

    /// Returns the color of the line in a terminal.
    fn style(self) -> Style {
        match self {
            Self::None => Style::new(),
            Self::Added => AnsiColor::Green.on_default(),
            Self::Removed => AnsiColor::Red.on_default(),
            Self::Changed => AnsiColor::Yellow.on_default(),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// The indentation level; the line of the file has 0.
    pub depth: usize,
    pub sign: Sign,
    /// Whether the line belongs to a value, and not to a text of this program.
    pub is_value: bool,
    pub text: String,
    /// The component that this line introduces, so that an HTML page can link the line to the component's picture.
    pub component: Option<String>,
    /// The number of lines that this line only counts; 0 for any other line.
    pub omitted_line_count: usize,
}

impl fmt::Display for DiffLine {
    /// Writes the line with its indentation and sign. A value line without a sign is indented as far as one with a
    /// sign.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = self.depth * 2;
        match self.sign {
            Sign::None if self.is_value => write!(f, "{:indent$}  {}", "", self.text),
            Sign::None => write!(f, "{:indent$}{}", "", self.text),
            sign => write!(f, "{:indent$}{} {}", "", sign.symbol(), self.text),
        }
    }
}

impl DiffLine {
    /// Creates the first line about a file, which has no indentation and no sign.
    pub fn heading(content: &str) -> Self {
        Self {
            depth: 0,
            ..Self::remark(content)
        }
    }

    /// Creates a remark about a file: a line without a sign, indented below the file's heading.
    pub fn remark(content: &str) -> Self {
        Self {
            depth: 1,
            sign: Sign::None,
            is_value: false,
            text: text::escape_line(content),
            component: None,
            omitted_line_count: 0,
        }
    }

    /// Returns the line with the escape codes of its color; headings are bold.
    pub fn format_colored(&self) -> String {
        let style = match self.depth {
            0 => Style::new().bold(),
            _ => self.sign.style(),
        };
        format!("{style}{self}{style:#}")
    }
}
