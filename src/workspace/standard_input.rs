//! Reads a pipeline from standard input, for editors and agents: it is checked as if it were saved at its path.

use super::Workspace;
use crate::error::Failure;
use crate::job::cli::CheckArgs;
use crate::session::Session;
use sluicegate_base::input;
use sluicegate_git::Snapshot;
use sluicegate_yaml::MAX_DOCUMENT_BYTES;
use std::io::{self, Write as _};
use std::path::Path;
use tempfile::NamedTempFile;

/// The content of standard input, in a temporary file that is deleted on drop.
pub(crate) struct StandardInput {
    file: NamedTempFile,
    path: String,
}

impl StandardInput {
    /// Reads standard input into a temporary file if `-` is the only path and `--stdin-path` names the pipeline's path.
    /// Returns `None` if neither of these two arguments is used. Fails if only one of them is used, or if there are
    /// other paths.
    pub(crate) fn read_if_requested(
        session: &Session,
        workspace: &Workspace<'_>,
        args: &CheckArgs,
    ) -> Result<Option<Self>, Failure> {
        let paths = &args.selection.paths;
        let is_requested = paths.iter().any(|path| path == Path::new("-"));
        let Some(path) = &args.stdin_path else {
            if !is_requested {
                return Ok(None);
            }
            return Err(Failure::usage(
                "could not check standard input: the path of the pipeline is missing",
            )
            .with_hint("add --stdin-path PATH, the path of the pipeline in the repository"));
        };
        if !is_requested || paths.len() > 1 {
            return Err(Failure::usage("--stdin-path needs `-` as the only path")
                .with_hint("run `sluicegate check - --stdin-path PATH`"));
        }
        let path = workspace.resolve_typed_path(session, path)?;
        let content = input::read_bytes(io::stdin().lock(), MAX_DOCUMENT_BYTES)
            .map_err(|error| Failure::usage(format!("could not read standard input: {error}")))?;
        let file = write_to_temporary_file(&content).map_err(|error| {
            Failure::usage(format!(
                "could not write standard input to a temporary file: {error}"
            ))
        })?;
        Ok(Some(Self { file, path }))
    }

    /// Adds the text of standard input to the snapshot, at the path from `--stdin-path`, and returns that path.
    pub(crate) fn add_to_snapshot(&self, snapshot: &mut Snapshot<'_>) -> String {
        snapshot.substitute_file(&self.path, self.file.path().to_owned());
        self.path.clone()
    }
}

/// Writes the content to a temporary file, because a snapshot reads files. The file is removed when the returned value
/// is dropped.
fn write_to_temporary_file(content: &[u8]) -> io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(content)?;
    Ok(file)
}
