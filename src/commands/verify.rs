//! Runs `sluicegate verify`: compares a published version with a receipt, or a statement with its subject.

use crate::attestation::SavedStatement;
use crate::error::Failure;
use crate::job::cli::VerifyArgs;
use crate::job::settings;
use crate::operations::verification::{
    SubjectState, Verification, compare_consumer_changes, compare_with_commit, compare_with_platform,
    print_other_address, verify_statement,
};
use crate::publication::compare_smoke_runs;
use crate::publish::version_name::needs_next_version;
use crate::publish::{MAX_RECEIPT_BYTES, Receipt, list_ignored_files};
use crate::session::{CommandResult, Session};
use serde_json::json;
use sluicegate_base::text::format_path;
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
    let mut verification = Verification {
        subject: format!("version {version} of {prefix}"),
        document: "receipt",
        subject_state: if receipt.has_published_version() {
            SubjectState::Present
        } else {
            SubjectState::Unpublished
        },
        document_problems: receipt.check_consistency(),
        differences: Vec::new(),
        facts: json!({
            "schema": "sluicegate.verification/v1",
            "prefix": prefix,
            "versionName": version,
            "commitHash": receipt.commit_hash,
        }),
    };
    if needs_next_version(version) {
        verification.subject_state = SubjectState::Unpublished;
        verification
            .document_problems
            .push("no version was published: the publish failed before it had a version name".to_owned());
        return Ok(verification);
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
    let differences = compare_with_platform(session, &platform, prefix, version, |details| {
        receipt.compare_with_details(details)
    })?;
    verification.add_platform_differences(differences, prefix, version);
    let other_differences = [
        compare_with_commit(session, &receipt)?,
        compare_consumer_changes(session, &platform, &receipt)?,
        compare_smoke_runs(session, &platform, &receipt)?,
    ];
    verification
        .differences
        .extend(other_differences.into_iter().flatten());
    Ok(verification)
}

/// Reads the receipt of a publish. Fails with a hint if the file is a statement.
fn read_receipt(session: &Session, path: &Path) -> Result<Receipt, Failure> {
    let path = session.env.current_dir().join(path);
    let bytes = session.read_user_file(&path, MAX_RECEIPT_BYTES)?;
    Receipt::parse(&bytes).map_err(|error| {
        let failure = Failure::usage(format!(
            "{} is not a receipt of a publish: {error}",
            format_path(&path)
        ));
        if SavedStatement::is_statement(&bytes) {
            failure.with_hint("the file is a statement: pass it with --attestation")
        } else {
            failure
        }
    })
}
