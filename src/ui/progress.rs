//! A progress bar for people at a terminal; a CI log gets lines instead.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar over things or bytes.
#[derive(Debug, Clone)]
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    pub(super) fn new(live: bool, what: &str) -> Self {
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
        }
    }

    /// Counts files.
    #[must_use]
    pub fn files(self) -> Self {
        self.styled("{msg} [{bar:30}] {pos}/{len} files")
    }

    /// Counts bytes, with rate and time left.
    #[must_use]
    pub fn bytes(self) -> Self {
        self.styled("{msg} [{bar:30}] {bytes}/{total_bytes}, {bytes_per_sec}, {eta} left")
    }

    fn styled(self, template: &str) -> Self {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style.progress_chars("=> "));
        }
        self
    }

    /// Shows that `done` of `total` are done.
    pub fn set(&self, done: u64, total: u64) {
        self.bar.set_length(total);
        self.bar.set_position(done);
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}
