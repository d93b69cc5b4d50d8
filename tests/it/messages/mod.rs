//! The messages that a user sees.

mod forged_names;
mod hints;
mod log_texts;
mod repeated_texts;
