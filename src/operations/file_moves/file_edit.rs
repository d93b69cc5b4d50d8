//! Describes the values that a move replaces in a file.

use crate::error::Failure;
use sluicegate_yaml::{Position, replace_scalars};

/// The kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Referrer {
    Call,
    Script,
    Shared,
    Waiver,
    Glob,
}

impl Referrer {
    /// Returns the noun with which messages count edits of this kind.
    pub(crate) const fn noun(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Script => "script name",
            Self::Shared => "shared pipeline",
            Self::Waiver => "waiver",
            Self::Glob => "glob",
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct ValueEdit {
    pub referrer: Referrer,
    pub position: Position,
    pub old: String,
    pub new: String,
}

/// A file with its new content.
#[derive(Debug)]
pub(crate) struct FileEdit {
    /// The path before the move.
    pub path: String,
    pub values: Vec<ValueEdit>,
    pub old_bytes: Vec<u8>,
    pub new_bytes: Vec<u8>,
}

impl FileEdit {
    /// Computes the file's new content by replacing these values. All other bytes stay the same. Fails if a value is
    /// written in a YAML style that cannot be replaced.
    pub(crate) fn new(path: &str, old_bytes: Vec<u8>, values: Vec<ValueEdit>) -> Result<Self, Failure> {
        let texts = values.iter().map(|value| (value.position, value.new.clone()));
        let new_bytes = replace_scalars(&old_bytes, &texts.collect()).map_err(|error| {
            let line = error.position.map_or(1, |position| position.line);
            Failure::usage(format!("{path}:{line}: {}", error.message)).with_hint(
                "nothing was changed: write the value as plain or quoted text, then run the command again",
            )
        })?;
        Ok(Self {
            path: path.to_owned(),
            values,
            old_bytes,
            new_bytes,
        })
    }
}
