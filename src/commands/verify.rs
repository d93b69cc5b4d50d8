//! Runs `sluicegate verify`: compares a published version with a receipt, or a statement with its subject.

use crate::attestation::SavedStatement;
use crate::error::Failure;
use crate::job::cli::VerifyArgs;
use crate::job::settings;
use crate::operations::verification::{
    Verification, compare_with_commit, compare_with_platform, print_other_address, verify_statement,
};
use crate::publication::compare_smoke_runs;
use crate::publish::version_name::needs_next_version;
use crate::publish::{MAX_RECEIPT_BYTES, Receipt, is_same_commit, list_ignored_files};
use crate::session::{CommandResult, Session};
use serde_json::json;
use sluicegate_pipelines::interface::Compatibility;
use sluicegate_platform::api::Platform;
use std::path::Path;

/// Runs `sluicegate verify`: compares a statement, or the receipt of a publish, with the platform and the clone.
pub(crate) fn run(session: &Session, args: &VerifyArgs) -> CommandResult {
    if let Some(statement) = &args.attestation {
        return verify_statement(session, statement, args.output.output);
    }
    let receipt = settings::requested_receipt(args.receipt.as_ref(), &session.env)?
        .ok_or_else(|| Failure::usage("pass the path of a receipt, or of a statement with --attestation"))?;
    verify_receipt(session, &receipt)?.print(session, args.output.output)
}

/// Compares a published version with the receipt of its publish. Also checks that the receipt is consistent in itself,
/// and verifies the files of its commit, its changes for consumers and its smoke runs.
fn verify_receipt(session: &Session, path: &Path) -> Result<Verification<'static>, Failure> {
    let receipt = read_receipt(session, path)?;
    let (prefix, version) = (&receipt.prefix, &receipt.version_name);
    let mut differences = receipt.check_consistency();
    let facts = json!({
        "schema": "sluicegate.verification/v1",
        "prefix": prefix,
        "versionName": version,
        "commitHash": receipt.commit_hash,
    });
    if needs_next_version(version) {
        differences
            .push("no version was published: the publish failed before it had a version name".to_owned());
        return Ok(Verification {
            subject: format!("the publish of {prefix}"),
            document: "receipt",
            differences,
            facts,
        });
    }
    for omission in list_ignored_files(receipt.ignored_resources()) {
        session.ui.say(&format!("at the publish, {omission}"));
    }
    let connection = session
        .read_setting_sources()?
        .resolve_connection(&session.global)?;
    let platform = session.create_platform_client(&connection)?;
    if let Some(publish_address) = &receipt.platform {
        print_other_address(
            session,
            publish_address,
            &connection.require_base_url()?.to_string(),
        );
    }
    differences.extend(compare_with_platform(
        session,
        &platform,
        prefix,
        version,
        |details| receipt.compare_with_details(details),
    )?);
    differences.extend(compare_with_commit(session, &receipt)?);
    differences.extend(compare_consumer_changes(session, &platform, &receipt)?);
    differences.extend(compare_smoke_runs(session, &platform, &receipt)?);
    Ok(Verification {
        subject: format!("version {version} of {prefix}"),
        document: "receipt",
        differences,
        facts,
    })
}

/// Reads the receipt of a publish. Fails with a hint if the file is a statement.
fn read_receipt(session: &Session, path: &Path) -> Result<Receipt, Failure> {
    let path = session.env.current_dir().join(path);
    let bytes = session.read_user_file(&path, MAX_RECEIPT_BYTES)?;
    Receipt::parse(&bytes).map_err(|error| {
        let failure = Failure::usage(format!(
            "{} is not a receipt of a publish: {error}",
            path.display()
        ));
        if SavedStatement::is_statement(&bytes) {
            failure.with_hint("the file is a statement: pass it with --attestation")
        } else {
            failure
        }
    })
}

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
fn compare_consumer_changes(
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
    let commit_differences = match session.find_repository()? {
        Some(repository) => receipt.compare_recorded_changes(&repository)?,
        None => None,
    };
    match commit_differences {
        Some(found_differences) => differences.extend(found_differences),
        None => session.ui.say(
            "the changes for consumers were not verified, because a commit is not available locally or the receipt \
             lists only changed ids",
        ),
    }
    Ok(differences)
}
