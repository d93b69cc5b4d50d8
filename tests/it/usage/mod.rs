//! Arguments, settings and output options that all commands share.

mod conventions;
mod invalid_input;
mod output_options;
mod pasted_secrets;
mod synonyms;
