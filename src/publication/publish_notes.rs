//! The notes of a publish: warnings about the version that consumers get. The user may never open the log, so the notes
//! are also annotations, and the step summary and the JUnit report contain them.

use super::Publication;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_base::text::format_note;
use std::sync::Mutex;

/// The title of the annotation of a note.
const NOTE_TITLE: &str = "Publish warning";

/// The notes, each on one line, in the order in which they were added.
#[derive(Debug, Default)]
pub(crate) struct PublishNotes(Mutex<Vec<String>>);

impl Publication<'_> {
    /// Shows a warning with an optional instruction to the user and to the CI host, and adds it to the notes.
    pub(super) fn add_note(&self, message: &str, hint: Option<&str>) {
        self.session.report_warning_as(NOTE_TITLE, message, hint);
        lock_mutex(&self.notes.0).push(format_note(message, hint));
    }

    /// Returns the notes.
    pub(super) fn list_notes(&self) -> Vec<String> {
        lock_mutex(&self.notes.0).clone()
    }
}
