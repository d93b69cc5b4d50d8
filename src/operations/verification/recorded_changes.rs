//! Verifies the changes for consumers that a receipt lists since an older version.

use crate::error::Failure;
use crate::publish::{Receipt, is_same_commit};
use crate::session::Session;
use sluicegate_pipelines::interface::Compatibility;
use sluicegate_platform::api::Platform;

/// Returns whether the platform reports the commit of the older version that the receipt records.
fn is_recorded_commit(published_commit: Option<&str>, compat: &Compatibility) -> bool {
    match &compat.against_commit {
        Some(recorded_commit) => is_same_commit(published_commit, recorded_commit),
        None => published_commit.is_none(),
    }
}

/// Returns the difference if the platform does not have the older version from the commit in the receipt.
fn compare_older_version(
    session: &Session,
    platform: &Platform,
    receipt: &Receipt,
    compat: &Compatibility,
    version: &str,
) -> Result<Option<String>, Failure> {
    let problem = match session.block_on(platform.find_artifact(&receipt.prefix, version))?? {
        Some(details) if is_recorded_commit(details.artifact.commit_hash.as_deref(), compat) => {
            return Ok(None);
        }
        Some(_) => "that version was built from a different commit",
        None => "the platform does not have that version",
    };
    Ok(Some(format!(
        "the receipt lists the changes since version {version}, but {problem}"
    )))
}

/// Verifies the changes for consumers that the receipt lists since an older version. The platform must have that
/// version from the commit in the receipt, and a comparison of both commits must find the same changes. Returns the
/// differences, or an empty list if the publish did not compare with an older version.
pub(crate) fn compare_consumer_changes(
    session: &Session,
    platform: &Platform,
    receipt: &Receipt,
) -> Result<Vec<String>, Failure> {
    let Some(compat) = receipt.compat.as_ref().filter(|compat| !compat.is_first()) else {
        return Ok(Vec::new());
    };
    let mut differences = Vec::new();
    if let Some(version) = &compat.against {
        differences.extend(compare_older_version(
            session, platform, receipt, compat, version,
        )?);
    }
    let verification = match session.find_repository()? {
        Some(repository) => receipt.compare_recorded_changes(&repository)?,
        None => None,
    };
    match verification {
        Some(verification) => {
            differences.extend(verification.differences);
            if let Some(note) = verification.note {
                session.ui.say(&note);
            }
        }
        None => session.ui.say(
            "the changes for consumers were not verified, because a commit is not available locally or the receipt \
             lists only changed ids",
        ),
    }
    Ok(differences)
}
