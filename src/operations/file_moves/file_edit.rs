//! Describes the values that a move replaces in a file.

use super::reference_reader::ReferenceReader;
use crate::document_content::NOT_CHECKED_OUT;
use crate::error::Failure;
use sluicegate_yaml::{DocumentError, NodeRef, Position, Value, replace_scalars};

/// The kind of value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Referrer {
    Call,
    Script,
    Shared,
    Waiver,
    Glob,
    RuleExample,
    Setting,
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
            Self::RuleExample => "rule example",
            Self::Setting => "setting",
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
    pub(crate) fn new(path: &str, old_bytes: Vec<u8>, values: Vec<ValueEdit>) -> Result<Self, DocumentError> {
        let texts = values.iter().map(|value| (value.position, value.new.clone()));
        let new_bytes = replace_scalars(&old_bytes, &texts.collect())?;
        Ok(Self {
            path: path.to_owned(),
            values,
            old_bytes,
            new_bytes,
        })
    }
}

/// Returns the file with these values replaced; `None` without values. Fails if the file is not checked out, because it
/// could not be written.
pub(super) fn build_file_edit(
    reader: &ReferenceReader<'_>,
    path: &str,
    bytes: Vec<u8>,
    values: Vec<ValueEdit>,
) -> Result<Option<FileEdit>, Failure> {
    if values.is_empty() {
        return Ok(None);
    }
    if !reader.is_on_disk(path) {
        let line = values.first().map_or(1, |value| value.position.line);
        return Err(Failure::usage(format!("{path}:{line}: {NOT_CHECKED_OUT}"))
            .with_hint("nothing was changed: check out the file, then run the command again"));
    }
    let edit = FileEdit::new(path, bytes, values).map_err(|error| {
        let line = error.position.map_or(1, |position| position.line);
        Failure::usage(format!("{path}:{line}: {}", error.message)).with_hint(
            "nothing was changed: write the value as plain or quoted text, then run the command again",
        )
    })?;
    Ok(Some(edit))
}

/// Returns the edit of the glob or path in this node; `None` if the move does not affect it. `move_text` returns the
/// glob or path after the move.
pub(super) fn build_value_edit(
    node: NodeRef<'_, '_>,
    referrer: Referrer,
    move_text: &dyn Fn(&str) -> Option<String>,
) -> Option<ValueEdit> {
    let Some(Value::Text(old)) = node.value() else {
        return None;
    };
    let position: Position = node.position();
    Some(ValueEdit {
        referrer,
        position,
        new: move_text(old)?,
        old: old.to_owned(),
    })
}
