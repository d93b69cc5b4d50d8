//! The program's output: results on standard output, everything else on standard error.

mod destination;
mod log;
mod progress;

pub(crate) use destination::Destination;
pub(crate) use log::start as start_log;
pub(crate) use progress::Bar;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::write::to_the_end;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use sluicegate_base::text;
use std::io::{self, IsTerminal as _, Write as _};

/// When to use color.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// Use color on a terminal.
    #[default]
    Auto,
    /// Always use color.
    Always,
    /// Never use color.
    Never,
}

/// The two output streams and their settings.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    /// The file that replaces standard output.
    out: Option<&'static Destination>,
    quiet: bool,
    color: ColorChoice,
    live: bool,
    lines: bool,
}

impl Ui {
    /// Creates the output. `ci` replaces moving progress bars with lines, even if the host offers a terminal.
    pub(crate) fn new(quiet: bool, color: ColorChoice, ci: bool) -> Self {
        Self {
            out: None,
            quiet,
            color,
            live: !quiet && !ci && io::stderr().is_terminal(),
            lines: !quiet && ci,
        }
    }

    /// Writes results to a file instead of standard output. The destination lives until the process ends.
    #[must_use]
    pub(crate) fn with_destination(self, destination: Destination) -> Self {
        let out = Some(&*Box::leak(Box::new(destination)));
        Self { out, ..self }
    }

    /// Moves the file with the results to its path, if there is one.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.out.map_or(Ok(()), Destination::finish)
    }

    /// Returns whether text on standard output is colored.
    pub(crate) fn colors_output(self) -> bool {
        self.colors(self.out.is_none() && io::stdout().is_terminal())
    }

    /// Returns whether text on standard error is colored.
    pub(crate) fn colors_messages(self) -> bool {
        self.colors(io::stderr().is_terminal())
    }

    /// Returns whether text is colored for a pager that supports colors.
    pub(crate) fn colors_pager(self) -> bool {
        self.colors(true)
    }

    fn colors(self, terminal: bool) -> bool {
        match self.color {
            ColorChoice::Auto => terminal,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }

    /// Returns the width of the terminal in columns, or `None` if standard output is not a terminal.
    pub(crate) fn width(self) -> Option<usize> {
        let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| self.out.is_none());
        size.map(|(width, _)| usize::from(width.0))
    }

    /// Writes a result to standard output. The text must be safe to show, or a machine-readable format with its own
    /// escapes. If the reader has closed the stream, writing ends without an error.
    pub(crate) fn out(self, result: &str) -> Result<(), Failure> {
        self.out_in_pieces(|out| out.write_all(result.as_bytes()))
    }

    /// Like [`Self::out`], for a result that is generated while it is written.
    pub(crate) fn out_in_pieces(
        self,
        fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.out {
            Some(destination) => destination.write(fill),
            None => write(io::stdout().lock(), fill),
        }
    }

    /// Like [`Self::out`], but fails if the reader has closed the stream, for callers that rely on delivery.
    pub(crate) fn out_to_the_end(self, result: &str) -> Result<(), Failure> {
        if let Some(destination) = self.out {
            return destination.write(|out| out.write_all(result.as_bytes()));
        }
        let mut stream = io::stdout().lock();
        let written = stream.write_all(result.as_bytes()).and_then(|()| stream.flush());
        written.map_err(unwritable)
    }

    /// Writes a result to standard error, because standard output carries a report.
    pub(crate) fn out_beside(result: &str) -> Result<(), Failure> {
        write(io::stderr().lock(), |out| out.write_all(result.as_bytes()))
    }

    /// Returns whether only results and errors are shown.
    pub(crate) const fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Shows a progress message, unless `--quiet` is set.
    pub(crate) fn say(self, message: &str) {
        if !self.quiet {
            self.message("", Style::new(), message);
        }
    }

    /// Shows a warning, even if `--quiet` is set.
    pub(crate) fn warn(self, message: &str) {
        self.message("warning: ", AnsiColor::Yellow.on_default().bold(), message);
    }

    /// Shows a failure and returns its exit status.
    pub(crate) fn fail(self, failure: &Failure) -> ExitStatus {
        let shown = failure.render();
        let rest = shown.strip_prefix("error: ").unwrap_or(&shown).trim_end();
        self.message("error: ", AnsiColor::Red.on_default().bold(), rest);
        failure.status()
    }

    /// Returns a progress bar: moving on a terminal, lines in CI, hidden elsewhere.
    pub(crate) fn progress(self, what: &str) -> Bar {
        Bar::new(self.live, self.lines, what)
    }

    fn message(self, label: &str, style: Style, message: &str) {
        let style = if self.colors_messages() {
            style
        } else {
            Style::new()
        };
        // If standard error is closed, the error cannot be shown anywhere.
        let _ = writeln!(
            io::stderr().lock(),
            "{style}{label}{style:#}{}",
            text::block(message)
        );
    }
}

fn unwritable(error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("could not write the output");
    Failure::new(ExitStatus::Usage, error)
}

fn write(
    stream: impl io::Write,
    fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Failure> {
    match to_the_end(stream, fill) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable(error)),
        _ => Ok(()),
    }
}
