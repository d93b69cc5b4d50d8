//! The log on standard error: the program's `tracing` events, at the requested level.

use sluicegate_base::text;
use std::io::{self, Write};
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::FilterExt as _;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer as _, filter, fmt};

/// Starts the log at the level for the number of `-v` flags. Only this program's own events are shown, because an event
/// of a library could contain request headers, and with them a token.
pub(crate) fn start_log(verbose: u8) {
    let level = match verbose {
        0 => LevelFilter::WARN,
        1 => LevelFilter::INFO,
        _ => LevelFilter::DEBUG,
    };
    let own_events = filter::filter_fn(|line| line.target().starts_with("sluicegate"));
    let layer = fmt::layer()
        .with_target(false)
        .with_ansi(false)
        .without_time()
        .with_writer(|| SafeLines);
    // A second start, as in tests of the library, keeps the first log.
    let _ = tracing_subscriber::registry()
        .with(layer.with_filter(own_events.and(level)))
        .try_init();
}

/// A writer to standard error that writes each event as one safe line, because an event may contain text from a file or
/// a response.
struct SafeLines;

impl Write for SafeLines {
    /// Writes an event on one line of the log. The event ends with a line break.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let event = String::from_utf8_lossy(bytes);
        let line = text::escape_line(event.trim_end()) + "\n";
        io::stderr().lock().write_all(line.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}
