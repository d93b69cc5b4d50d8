//! Arguments, settings and output options that all commands share.

mod client_certificate;
mod colors;
mod conventions;
mod effective_settings;
mod invalid_input;
mod output_options;
mod pasted_secrets;
mod synonyms;
mod system_limits;
mod unexpanded_settings;
