//! Exports audit events, all of them and each once, for people and programs.
//!
//! The list of events grows while it is read, late events arrive behind newer ones, and the oldest expire.
//! [`collect`](fn@collect) reads until no event can be missing, [`Cursor`] lets the next run continue where the last
//! one ended, and the writers are pure functions.

mod collect;
mod cursor;
mod format;
mod window;

pub use collect::collect;
pub use cursor::{Cursor, CursorError};
pub use format::{csv, json_lines};
pub use window::{Window, WindowError, parse_time};
