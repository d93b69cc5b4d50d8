//! Errors in a file, with their position.

use sluicegate_base::text::format_path;
use sluicegate_yaml::{Position, format_place};
use std::path::{Path, PathBuf};

/// An error that prevents a file from being applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {message}", format_place(&format_path(file), *position))]
pub struct DefinitionError {
    file: PathBuf,
    position: Option<Position>,
    message: String,
    hint: Option<String>,
}

impl DefinitionError {
    pub(super) fn new(file: &Path, position: Option<Position>, message: impl Into<String>) -> Self {
        Self {
            file: file.to_owned(),
            position,
            message: message.into(),
            hint: None,
        }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}
