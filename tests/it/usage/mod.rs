//! Arguments, settings and output options that all commands share.

mod invalid_input;
mod output_options;
mod pasted_secrets;
