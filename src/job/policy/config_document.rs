//! Parses the document of a configuration file.

use serde::de::DeserializeOwned;

/// Parses the document of a configuration file as a run reads it: `yes` and `on` are not boolean values, and errors do
/// not quote the lines of the file.
pub fn parse_config_document<T: DeserializeOwned>(text: &str) -> Result<T, serde_yaml::Error> {
    let options = serde_yaml::options! { strict_booleans: true, with_snippet: false };
    serde_yaml::from_str_with_options(text, options)
}
