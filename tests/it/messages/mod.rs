//! The messages that a user sees.

mod log_texts;
mod repeated_texts;
