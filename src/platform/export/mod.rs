//! Audit events, all of them and each once, as people and programs take them.
//!
//! The list of events grows while it is read, late events come in behind newer ones, and the oldest fall out of the
//! window. [`collect`](fn@collect) reads until nothing can have slipped through, [`Cursor`] lets the next run go on where the last
//! one ended, and the writers are pure.

mod collect;
mod cursor;
mod format;
mod window;

pub(crate) use collect::collect;
pub(crate) use cursor::{Cursor, CursorError};
pub(crate) use format::{csv, json_lines};
pub(crate) use window::{Window, WindowError, parse_time};
