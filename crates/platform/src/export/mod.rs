//! Exports audit events, all of them and each once, for people and programs.
//!
//! The list of events grows while it is read, late events arrive behind newer ones, and the oldest expire.
//! [`collect_events`] reads until no event can be missing, [`Cursor`] lets the next run continue where the last
//! one ended, and the writers are pure functions.

mod collected_events;
mod cursor;
mod format;
mod window;

pub use collected_events::{collect_events, is_in_future};
pub use cursor::{Cursor, CursorError};
pub use format::{render_csv, render_csv_part, render_json_lines};
pub use window::{Window, WindowError, parse_time};
