//! Runs `sluicegate events export`: collects the events of the window, writes them, and only then advances the cursor.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{EventFormat, EventsVerb, ExportArgs};
use crate::operations::cursor_file;
use crate::session::failure_conversion::to_write_failure;
use crate::session::{CommandResult, Session};
use jiff::Timestamp;
use sluicegate_base::text;
use sluicegate_base::text::format_path;
use sluicegate_platform::api::{ApiValue, Event};
use sluicegate_platform::export::{self, Cursor, Window, WindowError, parse_time};
use std::fs;
use std::path::Path;

/// Runs `sluicegate events`: exports the audit events of the platform, with `--cursor` those since the last run.
pub(crate) fn run(session: &Session, verb: EventsVerb) -> CommandResult {
    let EventsVerb::Export(args) = verb;
    let now = Timestamp::now();
    let path = args
        .cursor
        .as_ref()
        .map(|path| session.env.current_dir().join(path));
    if let Some(path) = &path {
        let no_inputs = [];
        session.guard_outputs(&no_inputs).reject_output_path(path)?;
    }
    let connection = session
        .read_setting_sources()?
        .resolve_account_connection(&session.global)?;
    let base_url = connection.require_base_url()?.to_string();
    // Another run with the same cursor would export the same events.
    let _lock = path.as_deref().map(cursor_file::lock_cursor).transpose()?;
    let last_cursor = match &path {
        Some(path) => cursor_file::read_cursor(path, &base_url)?,
        None => None,
    };
    if last_cursor.is_some() {
        reject_filled_output(session)?;
    }
    let window = choose_window(&args, last_cursor.as_ref(), path.as_deref(), now)?;
    let platform = session.create_platform_client(&connection)?;
    let collected_events = session.block_on(export::collect_events(&platform, window, now))??;
    // The window starts before the cursor, because events may arrive late. Events of earlier exports are removed here.
    let events = match &last_cursor {
        Some(cursor) => cursor.select_new_events(collected_events),
        None => collected_events,
    };
    let text = match args.output {
        EventFormat::Jsonl => export::render_json_lines(&events),
        EventFormat::Csv if path.is_some() => {
            // The output of later runs is appended to that of the first one. A file of `--out` is a table of its own.
            let is_first_part = last_cursor.is_none() && !events.is_empty();
            export::render_csv_part(&events, is_first_part || session.global.out.is_some())
        }
        EventFormat::Csv => export::render_csv(&events),
    };
    let Some(path) = path else {
        session.ui.print_result(&text)?;
        return Ok(ExitStatus::Success);
    };
    // The cursor moves only after the events were delivered, so that no event is lost.
    session.ui.deliver_result(&text)?;
    session.ui.finish_output_file()?;
    warn_of_future_events(session, &events, now);
    if let Some(cursor) = Cursor::build_next_cursor(last_cursor, &events, &base_url, window, now) {
        atomic_file::write_file(&path, cursor.render().as_bytes())
            .map_err(to_write_failure("the cursor ", &path))?;
    }
    Ok(ExitStatus::Success)
}

/// Warns of events in the future: the cursor does not move to their times.
fn warn_of_future_events(session: &Session, events: &[ApiValue<Event>], now: Timestamp) {
    if let Some(event) = events.iter().find(|event| export::is_in_future(event, now)) {
        session.ui.warn(&format!(
            "the time of event {} is in the future, so the cursor does not move to it; if events of today have such a \
             time, correct the clock of this machine",
            text::escape_line(event.event_id.as_deref().unwrap_or("without an id")),
        ));
    }
}

/// Rejects a file of `--out` that contains the events of an earlier run with the cursor: no later run would export them
/// again.
fn reject_filled_output(session: &Session) -> Result<(), Failure> {
    let Some(output_path) = &session.global.out else {
        return Ok(());
    };
    let path = session.env.current_dir().join(output_path);
    let is_filled = fs::metadata(&path).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
    if is_filled {
        let message = format!(
            "could not write {}: the file has a content, and this export contains only the events since the last one",
            format_path(output_path)
        );
        return Err(Failure::usage(message)
            .with_hint("append the events to the file with `>>` instead of --out, or pass another path"));
    }
    Ok(())
}

/// Returns the window of time to export. With a cursor of the last run, the window starts at the cursor and `--from`
/// does not apply. Without a cursor, `--from` and `--to` set the window. An error names the file of the cursor.
fn choose_window(
    args: &ExportArgs,
    last_cursor: Option<&Cursor>,
    cursor_path: Option<&Path>,
    now: Timestamp,
) -> Result<Window, Failure> {
    let from = args.from.as_deref().map(parse_time).transpose()?;
    let end = args.to.as_deref().map(parse_time).transpose()?;
    match (last_cursor, cursor_path) {
        (Some(cursor), Some(cursor_path)) => Ok(cursor.build_window(end, now, cursor_path)?),
        _ => Ok(Window { from, to: end }.validate(now)?),
    }
}

impl From<WindowError> for Failure {
    /// Converts an unusable time window to a usage error.
    fn from(error: WindowError) -> Self {
        Self::new(ExitStatus::Usage, error)
    }
}
