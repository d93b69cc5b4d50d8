//! What people see while the program runs: results on standard output, everything else on standard error.

mod destination;
mod log;
mod progress;

pub(crate) use destination::Destination;
pub(crate) use log::start as start_log;
pub(crate) use progress::Bar;

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::text;
use crate::base::write::to_the_end;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use std::io::{self, IsTerminal as _, Write as _};

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two streams, and how to write to them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    /// The file that takes the place of standard output.
    out: Option<&'static Destination>,
    quiet: bool,
    color: ColorChoice,
    live: bool,
    lines: bool,
}

impl Ui {
    /// `ci` turns moving progress bars off even where the host offers a terminal, and into lines.
    pub(crate) fn new(quiet: bool, color: ColorChoice, ci: bool) -> Self {
        Self {
            out: None,
            quiet,
            color,
            live: !quiet && !ci && io::stderr().is_terminal(),
            lines: !quiet && ci,
        }
    }

    /// Writes results to a file, which is there for the rest of the process.
    #[must_use]
    pub(crate) fn with_destination(self, destination: Destination) -> Self {
        let out = Some(&*Box::leak(Box::new(destination)));
        Self { out, ..self }
    }

    /// Puts the file with the results in its place, if there is one.
    pub(crate) fn finish(self) -> Result<(), Failure> {
        self.out.map_or(Ok(()), Destination::finish)
    }

    /// Whether text on standard output is coloured.
    pub(crate) fn colors_output(self) -> bool {
        self.colors(self.out.is_none() && io::stdout().is_terminal())
    }

    /// Whether text on standard error is coloured.
    pub(crate) fn colors_messages(self) -> bool {
        self.colors(io::stderr().is_terminal())
    }

    /// Whether text for a pager that shows colours is coloured.
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

    /// Columns of the terminal that standard output is, if it is one.
    pub(crate) fn width(self) -> Option<usize> {
        let size = terminal_size::terminal_size_of(io::stdout()).filter(|_| self.out.is_none());
        size.map(|(width, _)| usize::from(width.0))
    }

    /// Writes a result to standard output. The text must be safe to show, or a machine format with its own escapes.
    /// A reader that went away ends the writing quietly.
    pub(crate) fn out(self, result: &str) -> Result<(), Failure> {
        self.out_in_pieces(|out| out.write_all(result.as_bytes()))
    }

    /// The same with what is made while it is written.
    pub(crate) fn out_in_pieces(
        self,
        fill: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.out {
            Some(destination) => destination.write(fill),
            None => write(io::stdout().lock(), fill),
        }
    }

    /// The same where what follows counts on it: a reader that went away is a failure.
    pub(crate) fn out_to_the_end(self, result: &str) -> Result<(), Failure> {
        if let Some(destination) = self.out {
            return destination.write(|out| out.write_all(result.as_bytes()));
        }
        let mut stream = io::stdout().lock();
        let written = stream.write_all(result.as_bytes()).and_then(|()| stream.flush());
        written.map_err(unwritable)
    }

    /// Writes a result to standard error: where standard output carries a report.
    pub(crate) fn out_beside(result: &str) -> Result<(), Failure> {
        write(io::stderr().lock(), |out| out.write_all(result.as_bytes()))
    }

    /// Whether only results and errors are wanted.
    pub(crate) const fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Says how things go, unless quiet was asked for.
    pub(crate) fn say(self, message: &str) {
        if !self.quiet {
            self.message("", Style::new(), message);
        }
    }

    /// Warns, also when quiet was asked for.
    pub(crate) fn warn(self, message: &str) {
        self.message("warning: ", AnsiColor::Yellow.on_default().bold(), message);
    }

    /// Shows a failure and gives its status.
    pub(crate) fn fail(self, failure: &Failure) -> ExitStatus {
        let shown = failure.render();
        let rest = shown.strip_prefix("error: ").unwrap_or(&shown).trim_end();
        self.message("error: ", AnsiColor::Red.on_default().bold(), rest);
        failure.status()
    }

    /// A progress bar on a terminal, some lines in CI, nothing elsewhere.
    pub(crate) fn progress(self, what: &str) -> Bar {
        Bar::new(self.live, self.lines, what)
    }

    fn message(self, label: &str, style: Style, message: &str) {
        let style = if self.colors_messages() {
            style
        } else {
            Style::new()
        };
        // Nobody is left to be told that standard error is closed.
        let _ = writeln!(
            io::stderr().lock(),
            "{style}{label}{style:#}{}",
            text::block(message)
        );
    }
}

fn unwritable(error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("the output cannot be written");
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
