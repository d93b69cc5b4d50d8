//! The messages that a user sees.

mod forged_details;
mod forged_names;
mod forged_paths;
mod hints;
mod log_texts;
mod repeated_texts;
