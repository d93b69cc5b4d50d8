//! A line of the words of a change, with its sign.

use crate::base::text;
use anstyle::{AnsiColor, Style};
use std::fmt;

/// What a line says of its thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sign {
    /// Nothing: a heading, or a remark.
    None,
    Added,
    Removed,
    Changed,
}

impl Sign {
    pub(crate) const fn mark(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Added => "+",
            Self::Removed => "-",
            Self::Changed => "~",
        }
    }

    /// The word that says the same.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::None => "same",
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Changed => "changed",
        }
    }

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
pub(crate) struct Line {
    /// How far in: the file has 0.
    pub depth: usize,
    pub sign: Sign,
    /// Whether it is a line of a value, and not words of ours.
    pub is_value: bool,
    pub text: String,
    /// The component that it begins, for what leads there.
    pub component: Option<String>,
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indent = self.depth * 2;
        match self.sign {
            Sign::None if self.is_value => write!(f, "{:indent$}  {}", "", self.text),
            Sign::None => write!(f, "{:indent$}{}", "", self.text),
            sign => write!(f, "{:indent$}{} {}", "", sign.mark(), self.text),
        }
    }
}

impl Line {
    pub(crate) fn heading(words: &str) -> Self {
        Self {
            depth: 0,
            ..Self::remark(words)
        }
    }

    /// Words of ours about a file.
    pub(crate) fn remark(words: &str) -> Self {
        Self {
            depth: 1,
            sign: Sign::None,
            is_value: false,
            text: text::line(words),
            component: None,
        }
    }

    /// The line for a terminal with colours.
    pub(crate) fn coloured(&self) -> String {
        let style = match self.depth {
            0 => Style::new().bold(),
            _ => self.sign.style(),
        };
        format!("{style}{self}{style:#}")
    }
}
