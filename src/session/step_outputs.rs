//! Writes the outputs of a step, which later steps of the job read.

use crate::atomic_file;
use crate::env::Env;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::session::Session;
use crate::session::host_file::append_to_host_file;
use crate::ui::Ui;
use sluicegate_base::mutex_lock::lock_mutex;
use sluicegate_reports::{Verdict, azure, github};
use std::path::Path;
use std::sync::atomic::Ordering;
use uuid::Uuid;

/// GitHub, Gitea and Forgejo: the file for a step's outputs.
const STEP_OUTPUT: &str = "GITHUB_OUTPUT";

impl Session {
    /// Appends step outputs if the host reads them from a file.
    pub(crate) fn append_outputs(&self, pairs: &[(&str, String)]) -> Result<(), Failure> {
        append_outputs(&self.env, pairs)
    }

    /// Writes step outputs to the file that the host reads, or on Azure as commands to the log.
    pub(crate) fn write_outputs(&self, pairs: &[(&str, String)]) -> Result<(), Failure> {
        write_outputs(&self.env, self.host(), pairs)
    }

    /// Fails if the file for step outputs cannot be written, so that a step does not change anything first. A device or
    /// a pipe is not opened, as in [`atomic_file::check_writable`].
    pub(crate) fn require_writable_outputs(&self) -> Result<(), Failure> {
        let path = self.env.get(STEP_OUTPUT);
        if path.is_some_and(|path| atomic_file::is_stream(Path::new(path))) {
            return Ok(());
        }
        append_to_host_file(&self.env, STEP_OUTPUT, |_| String::new())
    }

    /// Writes the verdict of a review that ended before it had a report to the step outputs, because later steps read
    /// it. Does nothing for other commands, and if a report or a failure was already shown.
    pub(crate) fn write_undecided_output(&self) {
        let is_review = lock_mutex(&self.unfinished_results).description.is_some();
        if !is_review || self.has_reported.load(Ordering::Relaxed) || !self.has_outputs() {
            return;
        }
        if let Err(failure) = self.write_outputs(&undecided_output()) {
            self.ui.warn_of_failure("", &failure);
        }
    }

    /// Returns whether the host reads step outputs.
    pub(crate) fn has_outputs(&self) -> bool {
        self.host() == Host::Azure || self.env.get(STEP_OUTPUT).is_some()
    }
}

/// Returns the step output of a command that has no verdict because it did not finish.
pub(super) fn undecided_output() -> [(&'static str, String); 1] {
    [("verdict", Verdict::Undecided.to_string())]
}

/// Writes step outputs to the file that the host reads, or on Azure as commands to the log.
pub(super) fn write_outputs(env: &Env, host: Host, pairs: &[(&str, String)]) -> Result<(), Failure> {
    if host == Host::Azure {
        let commands = azure::format_outputs(pairs);
        Ui::print_to_stderr(&(commands.join("\n") + "\n"))?;
    }
    append_outputs(env, pairs)
}

/// Appends step outputs if the host reads them from a file.
fn append_outputs(env: &Env, pairs: &[(&str, String)]) -> Result<(), Failure> {
    append_to_host_file(env, STEP_OUTPUT, |_| {
        github::format_outputs(pairs, Uuid::new_v4())
    })
}
