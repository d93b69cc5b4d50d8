//! The warnings that the log has shown, and those that are deferred, because the report will show them.

use crate::session::Session;
use sluicegate_base::mutex_lock::lock_mutex;
use std::mem;

impl Session {
    /// Remembers that the log has shown this warning or cause of a failure, so that it is not shown again.
    pub(crate) fn add_shown_text(&self, text: &str) {
        lock_mutex(&self.shown_texts).push(text.to_owned());
    }

    /// Returns the warnings and causes of failures that the log has shown.
    pub(crate) fn shown_texts(&self) -> Vec<String> {
        lock_mutex(&self.shown_texts).clone()
    }

    /// Remembers that a warning in the log contains this reason why there is no base, so that no message repeats it.
    pub(crate) fn add_shown_reason(&self, reason: &str) {
        lock_mutex(&self.shown_reasons).push(reason.to_owned());
    }

    /// Returns whether a warning in the log contains this reason why there is no base.
    pub(crate) fn has_shown_reason(&self, reason: &str) -> bool {
        lock_mutex(&self.shown_reasons)
            .iter()
            .any(|shown_reason| shown_reason == reason)
    }

    /// Keeps a warning that the report will contain as a note. It is printed only if the log does not show such a
    /// report.
    pub(crate) fn defer_warning(&self, warning: String) {
        lock_mutex(&self.deferred_warnings).push(warning);
    }

    /// Forgets the deferred warnings, because the log has shown a report that contains them.
    pub(crate) fn discard_deferred_warnings(&self) {
        lock_mutex(&self.deferred_warnings).clear();
    }

    /// Forgets the deferred warnings that contain this reason, because a failure reports it.
    pub(crate) fn discard_deferred_warnings_about(&self, reason: &str) {
        lock_mutex(&self.deferred_warnings).retain(|warning| !warning.contains(reason));
    }

    /// Prints the deferred warnings, because the log does not show a report that contains them.
    pub(crate) fn print_deferred_warnings(&self) {
        let warnings = mem::take(&mut *lock_mutex(&self.deferred_warnings));
        for warning in warnings {
            self.ui.warn(&warning);
        }
    }
}
