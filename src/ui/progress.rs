//! A progress bar on a terminal; a CI log gets lines instead.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of progress lines in a log. The end of the action has no line.
const MAX_LINES: u64 = 20;

/// A progress bar that counts items or bytes.
#[derive(Debug, Clone)]
pub(crate) struct ProgressDisplay {
    bar: ProgressBar,
    lines: Option<ProgressLines>,
}

/// Progress lines for a log.
#[derive(Debug, Clone)]
struct ProgressLines {
    label: String,
    unit: Option<&'static str>,
    last_step: Arc<AtomicU64>,
}

impl ProgressLines {
    /// Prints a line whenever another twentieth is done. The end gets no line, because the next message reports it.
    /// Progress in bytes has no unit and gets no lines.
    fn print_step(&self, done_count: u64, total_count: u64) {
        let step = done_count.saturating_mul(MAX_LINES) / total_count.max(1);
        let Some(unit) = self.unit.filter(|_| done_count < total_count) else {
            return;
        };
        if self.last_step.fetch_max(step, Ordering::Relaxed) < step {
            // If standard error is closed, the error cannot be shown anywhere.
            let _ = writeln!(
                io::stderr().lock(),
                "{}: {done_count} of {total_count} {unit}",
                self.label
            );
        }
    }
}

impl ProgressDisplay {
    /// Creates the progress display of the action that `label` names: a bar, lines in a log, or neither.
    pub(super) fn new(has_bar: bool, has_lines: bool, label: &str) -> Self {
        let lines = has_lines.then(|| ProgressLines {
            label: label.to_owned(),
            unit: None,
            last_step: Arc::default(),
        });
        let length = None;
        let bar = ProgressBar::with_draw_target(
            length,
            if has_bar {
                ProgressDrawTarget::stderr()
            } else {
                ProgressDrawTarget::hidden()
            },
        );
        // Setting the message later would draw the bar before it has its style.
        Self {
            bar: bar.with_message(label.to_owned()),
            lines,
        }
    }

    /// Shows the progress as a number of files.
    #[must_use]
    pub(crate) fn with_file_count(mut self) -> Self {
        if let Some(lines) = &mut self.lines {
            lines.unit = Some("files");
        }
        self.with_style("{msg} [{bar:30}] {pos}/{len} files")
    }

    /// Makes the bar count bytes, with the rate and the remaining time.
    #[must_use]
    pub(crate) fn with_byte_count(self) -> Self {
        self.with_style("{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left")
    }

    /// Sets the template of the bar, in the syntax of `indicatif`. If it is invalid, the bar keeps its style.
    fn with_style(self, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self
    }

    /// Sets the progress to `done_count` of `total_count`.
    pub(crate) fn show(&self, done_count: u64, total_count: u64) {
        self.bar.set_length(total_count);
        self.bar.set_position(done_count);
        if let Some(lines) = &self.lines {
            lines.print_step(done_count, total_count);
        }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
