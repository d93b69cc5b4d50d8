//! The program's output: results on standard output, everything else on standard error.

mod log;
mod output_file;
mod progress;

pub(crate) use log::start_log;
pub(crate) use output_file::OutputFile;
pub(crate) use progress::ProgressDisplay;

use crate::atomic_file::write_buffered;
use crate::error::{Detail, Failure, render_details};
use crate::exit::ExitStatus;
use anstyle::{AnsiColor, Style};
use clap::ValueEnum;
use sluicegate_base::text;
use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;

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
    output_file: Option<&'static OutputFile>,
    quiet: bool,
    color: ColorChoice,
    shows_bars: bool,
    shows_lines: bool,
}

impl Ui {
    /// Creates the user interface of a run. In CI, lines show the progress instead of moving bars, even if the host
    /// offers a terminal. `is_quiet` hides both.
    pub(crate) fn new(is_quiet: bool, color: ColorChoice, is_ci: bool) -> Self {
        Self {
            output_file: None,
            quiet: is_quiet,
            color,
            shows_bars: !is_quiet && !is_ci && io::stderr().is_terminal(),
            shows_lines: !is_quiet && is_ci,
        }
    }

    /// Returns a copy that writes results to a file instead of standard output. The value `output_file` is never freed,
    /// because each copy of the `Ui` refers to it.
    #[must_use]
    pub(crate) fn with_output_file(self, output_file: OutputFile) -> Self {
        Self {
            output_file: Some(Box::leak(Box::new(output_file))),
            ..self
        }
    }

    /// Returns a copy that prints only results, warnings and errors if `is_quiet` is set or the original does so.
    #[must_use]
    pub(crate) const fn with_quiet(self, is_quiet: bool) -> Self {
        Self {
            quiet: self.quiet || is_quiet,
            shows_bars: self.shows_bars && !is_quiet,
            shows_lines: self.shows_lines && !is_quiet,
            ..self
        }
    }

    /// Moves the file with the results to its final path, if results are written to a file.
    pub(crate) fn finish_output_file(self) -> Result<(), Failure> {
        self.output_file.map_or(Ok(()), OutputFile::finish)
    }

    /// Returns whether text on standard output is colored.
    pub(crate) fn colors_output(self) -> bool {
        self.uses_color(self.output_file.is_none() && io::stdout().is_terminal())
    }

    /// Returns whether text on standard error is colored.
    pub(crate) fn colors_messages(self) -> bool {
        self.uses_color(io::stderr().is_terminal())
    }

    /// Returns whether names on standard output are links: in colored text, if the terminal supports links.
    pub(crate) fn links_output(self) -> bool {
        self.colors_output() && supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout)
    }

    /// Returns whether names on standard error are links.
    pub(crate) fn links_messages(self) -> bool {
        self.colors_messages() && supports_hyperlinks::on(supports_hyperlinks::Stream::Stderr)
    }

    /// Returns whether text for a pager is colored: the pager is assumed to show it on a terminal.
    pub(crate) fn colors_pager(self) -> bool {
        let is_terminal = true;
        self.uses_color(is_terminal)
    }

    /// Returns whether to use colors: by the choice of the user, or else if the stream is a terminal.
    fn uses_color(self, is_terminal: bool) -> bool {
        match self.color {
            ColorChoice::Auto => is_terminal,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        }
    }

    /// Returns the width of the terminal in columns. Returns `None` if results are written to a file, or if standard
    /// output is not a terminal.
    pub(crate) fn width(self) -> Option<usize> {
        if self.output_file.is_some() {
            return None;
        }
        let (width, _) = terminal_size::terminal_size_of(io::stdout())?;
        Some(usize::from(width.0))
    }

    /// Writes a result to standard output. The text must be safe to show, or a machine-readable format with its own
    /// escapes. If the reader has closed the stream, writing ends without an error.
    pub(crate) fn print_result(self, result: &str) -> Result<(), Failure> {
        self.print_result_with(|stream| stream.write_all(result.as_bytes()))
    }

    /// Writes a result as [`Self::print_result`] does, but generates it while it is written.
    pub(crate) fn print_result_with(
        self,
        write_content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match self.output_file {
            Some(output_file) => output_file.write(write_content),
            None => write_result(io::stdout().lock(), write_content),
        }
    }

    /// Writes a result as [`Self::print_result`] does, but fails if the reader has closed the stream, also before the
    /// start, for callers that rely on delivery.
    pub(crate) fn deliver_result(self, result: &str) -> Result<(), Failure> {
        if let Some(output_file) = self.output_file {
            return output_file.write(|file| file.write_all(result.as_bytes()));
        }
        if !result.is_empty() && is_output_discarded() {
            let error = io::Error::other("standard output is closed or discarded");
            return Err(
                unwritable_output_failure(error).with_hint("pass --out FILE to write the result to a file")
            );
        }
        let mut stream = io::stdout().lock();
        stream
            .write_all(result.as_bytes())
            .and_then(|()| stream.flush())
            .map_err(unwritable_output_failure)
    }

    /// Writes text to standard error, for callers that must keep it out of the result on standard output.
    pub(crate) fn print_to_stderr(result: &str) -> Result<(), Failure> {
        write_result(io::stderr().lock(), |stream| stream.write_all(result.as_bytes()))
    }

    /// Returns whether only results, warnings and errors are shown.
    pub(crate) const fn is_quiet(self) -> bool {
        self.quiet
    }

    /// Shows a progress message, unless `--quiet` is set.
    pub(crate) fn say(self, message: &str) {
        if !self.quiet {
            self.print_lines("", Style::new(), &text::escape_line(message));
        }
    }

    /// Shows a warning, even if `--quiet` is set.
    pub(crate) fn warn(self, message: &str) {
        self.print_warning(&text::escape_line(message));
    }

    /// Shows a warning with details below it.
    pub(crate) fn warn_with_details(self, message: &str, details: &[Detail]) {
        self.print_warning(&(text::escape_line(message) + &render_details(details)));
    }

    /// Shows a warning with an instruction for the user. The hint is not part of `message`, because a name in the
    /// message could contain the line of a hint.
    pub(crate) fn warn_with_hint(self, message: &str, hint: &str) {
        self.print_warning(&format!(
            "{}\nhint: {}",
            text::escape_line(message),
            text::escape_line(hint)
        ));
    }

    /// Shows a failure that does not end the run as a warning. `fact` precedes the description of the failure; it may
    /// be empty.
    pub(crate) fn warn_of_failure(self, fact: &str, failure: &Failure) {
        self.print_warning(&format!("{}{}", text::escape_line(fact), failure.describe()));
    }

    /// Shows a failure and returns its exit status.
    pub(crate) fn print_failure(self, failure: &Failure) -> ExitStatus {
        let message = failure.describe();
        self.print_lines("error: ", AnsiColor::Red.on_default().bold(), message.trim_end());
        failure.status()
    }

    /// Shows an error in the arguments, with its labels in color. The text is safe to print.
    pub(crate) fn print_usage_error(self, message: &str) {
        let mut output = String::with_capacity(message.len());
        for line in message.split_inclusive('\n') {
            let (label, style) = match line.split_once(": ") {
                Some(("error", _)) => ("error:", AnsiColor::Red.on_default().bold()),
                Some(("hint", _)) => ("hint:", AnsiColor::Cyan.on_default().bold()),
                Some(("Usage", _)) => ("Usage:", Style::new().bold()),
                _ => ("", Style::new()),
            };
            let style = if self.colors_messages() {
                style
            } else {
                Style::new()
            };
            let remainder = line.strip_prefix(label).unwrap_or(line);
            let _ =
                std::fmt::Write::write_fmt(&mut output, format_args!("{style}{label}{style:#}{remainder}"));
        }
        // If standard error is closed, the error cannot be shown anywhere.
        let _ = write!(io::stderr().lock(), "{output}");
    }

    /// Creates a progress display: a moving bar on a terminal, lines in CI, hidden elsewhere.
    pub(crate) fn create_progress_display(self, label: &str) -> ProgressDisplay {
        ProgressDisplay::new(self.shows_bars, self.shows_lines, label)
    }

    /// Prints the lines of a warning, which are safe to show.
    fn print_warning(self, lines: &str) {
        self.print_lines("warning: ", AnsiColor::Yellow.on_default().bold(), lines);
    }

    /// Prints lines to standard error, with a label in this style. The lines are safe to show.
    fn print_lines(self, label: &str, style: Style, lines: &str) {
        let style = if self.colors_messages() {
            style
        } else {
            Style::new()
        };
        // If standard error is closed, the error cannot be shown anywhere.
        let _ = writeln!(io::stderr().lock(), "{style}{label}{style:#}{lines}");
    }
}

/// Returns whether standard output is a null device that is open for reading and writing. Rust opens it so if standard
/// output was closed when the program started, and so do some programs that discard the output on purpose. A shell
/// opens it only for writing. Only Linux shows this without unsafe code; on other systems, returns false.
fn is_output_discarded() -> bool {
    let target = fs::read_link("/proc/self/fd/1").unwrap_or_default();
    let facts = fs::read_to_string("/proc/self/fdinfo/1").unwrap_or_default();
    let flags = facts.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
    // The lowest two bits are the access mode; 2 is both reading and writing.
    target == Path::new("/dev/null") && flags.is_some_and(|flags| flags & 3 == 2)
}

/// Returns the failure that the results cannot be written.
fn unwritable_output_failure(error: io::Error) -> Failure {
    let error = anyhow::Error::new(error).context("could not write the output");
    Failure::new(ExitStatus::Usage, error)
}

/// Converts the result of a write to an output stream. A closed pipe is not a failure, because its reader chose to
/// stop.
pub(crate) fn accept_closed_output(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(unwritable_output_failure(error)),
        _ => Ok(()),
    }
}

/// Writes a result to the stream with `write_content`, and flushes it. A reader that has closed the stream does not
/// cause an error.
fn write_result(
    stream: impl io::Write,
    write_content: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
) -> Result<(), Failure> {
    accept_closed_output(write_buffered(stream, write_content))
}
