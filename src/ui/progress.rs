//! A progress bar on a terminal; a CI log gets lines instead.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Maximum number of progress lines in a log, without the end.
const STEPS: u64 = 20;

/// A progress bar that counts items or bytes.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    bar: ProgressBar,
    lines: Option<Lines>,
}

/// Progress lines for a log.
#[derive(Debug, Clone)]
struct Lines {
    what: String,
    unit: Option<&'static str>,
    last: Arc<AtomicU64>,
}

impl Lines {
    /// Prints a line at each twentieth. The end gets no line, because the next message reports it.
    fn set(&self, done: u64, total: u64) {
        let step = done.saturating_mul(STEPS) / total.max(1);
        let Some(unit) = self.unit.filter(|_| done < total) else {
            return;
        };
        if self.last.fetch_max(step, Ordering::Relaxed) < step {
            // If standard error is closed, the error cannot be shown anywhere.
            let _ = writeln!(io::stderr().lock(), "{}: {done} of {total} {unit}", self.what);
        }
    }
}

impl Bar {
    pub(super) fn new(live: bool, lines: bool, what: &str) -> Self {
        let lines = lines.then(|| Lines {
            what: what.to_owned(),
            unit: None,
            last: Arc::default(),
        });
        let bar = ProgressBar::with_draw_target(
            None,
            if live {
                ProgressDrawTarget::stderr()
            } else {
                ProgressDrawTarget::hidden()
            },
        );
        // Setting the message later would draw the bar before it has its style.
        Self {
            bar: bar.with_message(what.to_owned()),
            lines,
        }
    }

    #[must_use]
    pub(crate) fn files(mut self) -> Self {
        if let Some(lines) = &mut self.lines {
            lines.unit = Some("files");
        }
        self.styled("{msg} [{bar:30}] {pos}/{len} files")
    }

    /// Makes the bar count bytes, with the rate and the remaining time.
    #[must_use]
    pub(crate) fn bytes(self) -> Self {
        self.styled("{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left")
    }

    fn styled(self, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self
    }

    /// Sets the progress to `done` of `total`.
    pub(crate) fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
        if let Some(lines) = &self.lines {
            lines.set(done, total);
        }
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
