//! Protects the files that a sparse checkout omits.

use crate::document_content::NOT_CHECKED_OUT;
use crate::error::Failure;
use crate::job::policy::is_omitted_from_disk;
use sluicegate_git::Repository;

/// Fails if a sparse checkout omits the file at this path, or the file that a link there leads to: a new file on disk would replace the tracked one.
pub(crate) fn reject_omitted_file(repository: &Repository, path: &str) -> Result<(), Failure> {
    if is_omitted_from_disk(repository, path)? {
        let message = format!("{path}: {NOT_CHECKED_OUT}");
        return Err(Failure::usage(message)
            .with_hint("add its directory with `git sparse-checkout add`, then run the command again"));
    }
    Ok(())
}
