//! Reads the value of a secret: from a variable or a file, never from a flag or the configuration.

use crate::error::Failure;
use crate::session::Session;
use secrecy::{ExposeSecret as _, SecretString};
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use sluicegate_base::unexpanded_value::UnexpandedValue;
use sluicegate_platform::definitions::provision::SecretSource;
use std::path::Path;

/// Maximum size of a secret, in bytes.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

/// Start of a private key (RFC 7468).
const PRIVATE_KEY_START: &str = "-----BEGIN ";

impl Session {
    /// Reads the secret; errors contain its source and never its value.
    pub(crate) fn read_secret(&self, source: &SecretSource) -> Result<SecretString, Failure> {
        let (text, source_name) = match source {
            SecretSource::Variable(name) => {
                let source_name = format!("the variable {name}");
                let value = self.env.secret(name);
                (
                    value.ok_or_else(|| Failure::usage(format!("{source_name} is not set or empty")))?,
                    source_name,
                )
            }
            SecretSource::File(path) => {
                let path = self.env.current_dir().join(path);
                (
                    self.read_secret_file(&path)?,
                    format!("the file {}", format_path(&path)),
                )
            }
        };
        normalize_secret(text.expose_secret())
            .map_err(|reason| Failure::usage(format!("{source_name} {reason}")))
    }

    /// Returns whether the variable is set, or the file exists.
    pub(crate) fn has_secret(&self, source: &SecretSource) -> bool {
        match source {
            SecretSource::Variable(name) => self.env.secret(name).is_some(),
            SecretSource::File(path) => self.env.current_dir().join(path).exists(),
        }
    }

    /// Reads a secret from a file, which must be UTF-8.
    fn read_secret_file(&self, path: &Path) -> Result<SecretString, Failure> {
        match input::decode_utf_8(self.read_user_file(path, MAX_SECRET_BYTES)?) {
            Ok(text) => Ok(text.into()),
            Err(reason) => Err(Failure::usage(format!(
                "could not read the secret file {}: {reason}",
                format_path(path)
            ))),
        }
    }
}

/// Returns the secret without a byte order mark at its start and without its final line break. A private key keeps its
/// line breaks; those that a variable contains as the two characters `\n`, as on many CI hosts, become real line
/// breaks. Returns the reason if the secret is empty or an unexpanded variable, or if a private key has lost its line
/// breaks.
fn normalize_secret(text: &str) -> Result<SecretString, &'static str> {
    let without_mark = text.strip_prefix('\u{feff}').unwrap_or(text);
    let without_newline = without_mark.strip_suffix('\n').unwrap_or(without_mark);
    let secret = without_newline.strip_suffix('\r').unwrap_or(without_newline);
    if secret.is_empty() {
        return Err("is empty");
    }
    if UnexpandedValue::find_as_secret(secret).is_some() {
        return Err("contains only a variable that was not replaced with its value");
    }
    if !secret.trim_start().starts_with(PRIVATE_KEY_START) {
        return Ok(secret.into());
    }
    let lines = secret.replace("\r\n", "\n").replace("\\n", "\n");
    if lines.trim().contains('\n') {
        Ok(lines.into())
    } else {
        Err("contains a private key on one line: its line breaks are lost")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<String, &'static str> {
        normalize_secret(text).map(|secret| secret.expose_secret().to_owned())
    }

    #[test]
    fn secret_loses_only_its_final_line_break() {
        assert_eq!(read("pass word \n"), Ok("pass word ".to_owned()));
        assert_eq!(read("a\\nb\r\n"), Ok("a\\nb".to_owned()));
        assert_eq!(read("\n"), Err("is empty"));
        assert_eq!(read("\u{feff}\r\n"), Err("is empty"));
    }

    #[test]
    fn private_key_keeps_its_lines() {
        let key = "-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----";
        assert_eq!(read(&format!("{key}\n")), Ok(key.to_owned()));
        assert_eq!(read(&key.replace('\n', "\\n")), Ok(key.to_owned()));
        assert_eq!(read(&key.replace('\n', "\r\n")), Ok(key.to_owned()));
        assert!(read(&key.replace('\n', " ")).is_err());
    }
}
