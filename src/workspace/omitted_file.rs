//! Protects the files that a sparse checkout omits.

use crate::document_content::NOT_CHECKED_OUT;
use crate::error::Failure;
use sluicegate_git::Repository;

/// Fails if a sparse checkout omits the file at this path: a new file on disk would replace the tracked one.
pub(crate) fn reject_omitted_file(repository: &Repository, path: &str) -> Result<(), Failure> {
    if repository.omits_from_disk(path)? {
        let message = format!("{path}: {NOT_CHECKED_OUT}");
        return Err(Failure::usage(message)
            .with_hint("add its directory with `git sparse-checkout add`, then run the command again"));
    }
    Ok(())
}
