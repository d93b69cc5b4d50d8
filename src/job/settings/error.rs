//! Errors about invalid settings.

use sluicegate_base::text::format_note;

/// An error about an invalid setting, with a hint.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct SettingsError {
    message: String,
    hint: Option<String>,
    is_job_key: bool,
}

impl SettingsError {
    /// Creates an error without a hint.
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            hint: None,
            is_job_key: false,
        }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Marks the error as one about a key that only the job may set.
    pub(super) fn for_job_key(mut self) -> Self {
        self.is_job_key = true;
        self
    }

    /// Returns what the user can do about the error, if there is anything to add to the message.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the message and the hint in one line, for a note.
    pub fn to_note(&self) -> String {
        format_note(&self.message, self.hint())
    }

    /// Returns whether the error is about a key in the configuration file that only the job may set.
    pub const fn is_job_key(&self) -> bool {
        self.is_job_key
    }
}
