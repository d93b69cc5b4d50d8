//! Reads the value of a secret: from a variable or a file, never from a flag or the configuration.

use crate::error::Failure;
use crate::session::Run;
use crate::session::named_file::read_bounded;
use secrecy::{ExposeSecret as _, SecretString};
use sluicegate_base::input;
use sluicegate_platform::desired::provision::SecretSource;
use std::path::Path;

/// Maximum size of a secret, in bytes.
const LIMIT: u64 = 64 * 1024;

/// Start of a private key (RFC 7468).
const KEY: &str = "-----BEGIN ";

impl Run {
    /// Reads the secret; errors contain its source and never its value.
    pub(crate) fn secret(&self, source: &SecretSource) -> Result<SecretString, Failure> {
        let (text, named) = match source {
            SecretSource::Variable(name) => {
                let named = format!("the variable {name}");
                let value = self.env.secret(name);
                (
                    value.ok_or_else(|| Failure::usage(format!("{named} is not set")))?,
                    named,
                )
            }
            SecretSource::File(path) => {
                let path = self.env.current_dir().join(path);
                (file(&path)?, format!("the file {}", path.display()))
            }
        };
        whole(text.expose_secret()).map_err(|why| Failure::usage(format!("{named} {why}")))
    }
}

fn file(path: &Path) -> Result<SecretString, Failure> {
    match input::utf_8(read_bounded(path, LIMIT)?) {
        Ok(text) => Ok(text.into()),
        Err(reason) => Err(Failure::usage(format!(
            "could not read the secret's file {}: {reason}",
            path.display()
        ))),
    }
}

/// Returns the secret without its final line break. A private key needs its line breaks: if a variable contains them as
/// the two characters `
/// `, as on many CI hosts, they become real ones, which JSON then sends as escapes.
fn whole(text: &str) -> Result<SecretString, &'static str> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let text = text.strip_suffix('\r').unwrap_or(text);
    if text.is_empty() {
        return Err("is empty");
    }
    if !text.trim_start().starts_with(KEY) {
        return Ok(text.into());
    }
    let lines = text.replace("\r\n", "\n").replace("\\n", "\n");
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
        whole(text).map(|secret| secret.expose_secret().to_owned())
    }

    #[test]
    fn last_line_break_is_not_part_of_it() {
        assert_eq!(read("pass word \n"), Ok("pass word ".to_owned()));
        assert_eq!(read("a\\nb\r\n"), Ok("a\\nb".to_owned()));
        assert_eq!(read("\n"), Err("is empty"));
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
