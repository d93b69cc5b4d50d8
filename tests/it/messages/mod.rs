//! The messages that a user sees.

mod hints;
mod log_texts;
mod repeated_texts;
