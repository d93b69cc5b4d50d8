//! Runs `sluicegate events export`: collects the events of the window, writes them, and only then advances the cursor.

use crate::atomic_file;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{EventFormat, EventsVerb, ExportArgs};
use crate::session::failure::not_written;
use crate::session::named_file::read_if_there;
use crate::session::{CommandResult, Run};
use jiff::Timestamp;
use sluicegate_platform::export::{self, Cursor, CursorError, Window, WindowError, parse_time};
use std::path::Path;

/// Maximum size of a cursor file, in bytes.
const CURSOR_LIMIT: u64 = 64 * 1024 * 1024;

pub(crate) fn run(run: &Run, verb: EventsVerb) -> CommandResult {
    let EventsVerb::Export(args) = verb;
    let now = Timestamp::now();
    let path = args.cursor.as_ref().map(|path| run.env.current_dir().join(path));
    let last = path.as_deref().map(cursor).transpose()?.flatten();
    let window = window(&args, last.as_ref(), path.as_deref(), now)?;
    let connection = run.sources()?.connection(&run.global)?;
    let platform = run.platform(&connection)?;
    let found = run.requests(export::collect_events(&platform, window))??;
    let events = match &last {
        Some(cursor) => cursor.select_new_events(found),
        None => found,
    };
    let shown = match args.output {
        EventFormat::Jsonl => export::render_json_lines(&events),
        EventFormat::Csv => export::render_csv(&events),
    };
    let Some(path) = path else {
        run.ui.print_result(&shown)?;
        return Ok(ExitStatus::Success);
    };
    run.ui.deliver_result(&shown)?;
    run.ui.finish()?;
    if let Some(cursor) = Cursor::with_events(last, &events) {
        atomic_file::write_file(&path, cursor.render().as_bytes())
            .map_err(not_written("the cursor ", &path))?;
    }
    Ok(ExitStatus::Success)
}

/// Returns the cursor of the last run, if there was one.
fn cursor(path: &Path) -> Result<Option<Cursor>, Failure> {
    match read_if_there(path, CURSOR_LIMIT)? {
        Some(bytes) => Ok(Some(Cursor::parse(&bytes, path)?)),
        None => Ok(None),
    }
}

/// Returns the cursor's window, or that of the flags without a cursor.
fn window(
    args: &ExportArgs,
    last: Option<&Cursor>,
    path: Option<&Path>,
    now: Timestamp,
) -> Result<Window, Failure> {
    let time = |text: &Option<String>| text.as_deref().map(parse_time).transpose();
    let (from, to) = (time(&args.from)?, time(&args.to)?);
    match (last, path) {
        (Some(cursor), Some(path)) => Ok(cursor.window(to, now, path)?),
        _ => Ok(Window { from, to }.check(now)?),
    }
}

impl From<WindowError> for Failure {
    fn from(error: WindowError) -> Self {
        Self::new(ExitStatus::Usage, error)
    }
}

impl From<CursorError> for Failure {
    fn from(error: CursorError) -> Self {
        let hint = match error {
            CursorError::TooOld { .. } => "remove the file to start over with the remaining events",
            CursorError::Unreadable { .. } => "use another file, or remove it to start over",
        };
        Self::new(ExitStatus::Usage, error).hint(hint)
    }
}
