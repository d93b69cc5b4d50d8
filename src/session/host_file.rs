//! Appends to the files in which a CI host reads the results of a step.

use crate::env::Env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use std::fs::File;
use std::io::{self, Write as _};

/// Appends to a file whose path is in a variable of the host; does nothing if the variable is not set. `content` gets
/// the length of the file.
pub(super) fn append_to_host_file(
    env: &Env,
    variable: &str,
    content: impl FnOnce(u64) -> String,
) -> Result<(), Failure> {
    let Some(path) = env.get(variable) else {
        return Ok(());
    };
    append_content(path, content).map_err(|error| {
        let description = format!("could not write {path} ({variable})");
        Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(description))
    })
}

/// Appends to the file, and creates it if it is missing. `content` gets the length of the file.
fn append_content(path: &str, content: impl FnOnce(u64) -> String) -> io::Result<()> {
    let mut file = File::options().append(true).create(true).open(path)?;
    let length = file.metadata()?.len();
    file.write_all(content(length).as_bytes())
}
