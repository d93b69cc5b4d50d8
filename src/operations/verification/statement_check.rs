//! Compares a statement with the published version and with a clone. Signatures are not checked.

use super::omitted_files::{find_omitted_rules_file, list_omitted_policy_files};
use super::{SubjectState, Verification, compare_with_platform, print_other_address};
use crate::attestation::{
    PolicyDigests, PredicateKind, PublicationPredicate, ReviewPredicate, SavedPredicate, SavedStatement,
    StatementError, compare_publication_with_details,
};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::gate::run::review_context::review_platform;
use crate::job::cli::OutputFormat;
use crate::publish::{Receipt, ReceiptOutcome};
use crate::session::{CommandResult, Session};
use serde_json::json;
use sluicegate_base::text::format_path;
use sluicegate_git::{CommitId, Repository, short_id};
use sluicegate_pipelines::findings::ReviewPlatform;
use std::path::Path;

/// Maximum size of a statement, in bytes.
const MAX_STATEMENT_BYTES: u64 = 64 * 1024 * 1024;

/// Hint for a file with a signature.
const ENVELOPE_HINT: &str = "check the file's signature, and extract the statement: `gh attestation verify \
     FILE --repo OWNER/NAME --predicate-type TYPE --format json --jq '.[0].verificationResult.statement'`";

/// Compares a saved statement with the clone and, if it is about a publication, with the platform. Prints the
/// differences, and a reminder that the signature was not checked.
pub(crate) fn verify_statement(session: &Session, path: &Path, output: OutputFormat) -> CommandResult {
    let full_path = session.env.current_dir().join(path);
    let bytes = session.read_user_file(&full_path, MAX_STATEMENT_BYTES)?;
    let statement = SavedStatement::parse(&bytes).map_err(|error| {
        Failure::usage(format!(
            "{} is not a statement about a review or a publication: {error}",
            format_path(&full_path)
        ))
        .with_hint(if matches!(error, StatementError::Signed) {
            ENVELOPE_HINT
        } else if Receipt::parse(&bytes).is_ok() {
            "the file is a receipt: pass it without --attestation"
        } else {
            "pass the file that `review --attestation` or `publish --attestation` wrote"
        })
    })?;
    let verification = match &statement.predicate {
        SavedPredicate::Review(predicate) => verify_review(session, &statement, predicate)?,
        SavedPredicate::Publication(predicate) => verify_publication(session, &statement, predicate)?,
    };
    session.ui.say(
        "the signature of the statement was not checked: run `gh attestation verify` or `cosign \
         verify-blob-attestation`",
    );
    verification.print(session, output)
}

/// Compares a statement about a review with the files of the reviewed commit. The clone must have the commit, because
/// there is nothing else to compare with.
fn verify_review(
    session: &Session,
    statement: &SavedStatement,
    predicate: &ReviewPredicate,
) -> Result<Verification<'static>, Failure> {
    let repository = session.open_repository()?;
    let Some(commit) = repository.find_commit_with_id(&predicate.commit)? else {
        let message = format!("the clone does not have the reviewed commit {}", predicate.commit);
        let hint = if repository.is_shallow() {
            "fetch the full history with `git fetch --unshallow`"
        } else {
            "fetch the commit, for example with `git fetch origin`"
        };
        return Err(Failure::from_message(ExitStatus::Context, message).with_hint(hint));
    };
    let mut differences = statement.compare_review_with_commit(predicate, &repository, &commit)?;
    differences.extend(compare_policy(session, &predicate.policy, &repository)?);
    let (policy, rules) = (&predicate.policy, predicate.rules.as_ref());
    differences.extend(find_omitted_rules_file(
        session,
        policy,
        rules,
        &repository,
        &commit,
    )?);
    Ok(Verification {
        subject: format!("the review of commit {}", short_id(&predicate.commit)),
        document: "statement",
        subject_state: SubjectState::Present,
        document_problems: statement.check_review(predicate),
        differences,
        facts: json!({
            "schema": "sluicegate.verification/v1",
            "predicateType": PredicateKind::Review.uri(),
            "commitHash": predicate.commit,
        }),
    })
}

/// Compares a statement about a publication with the published version on the platform and, if the clone has the
/// commit, with the files of the commit.
fn verify_publication(
    session: &Session,
    statement: &SavedStatement,
    predicate: &PublicationPredicate,
) -> Result<Verification<'static>, Failure> {
    let connection = session
        .read_setting_sources()?
        .resolve_connection(&session.global)?;
    let platform = session.create_platform_client(&connection)?;
    let (prefix, version) = (&predicate.prefix, &predicate.version_name);
    let mut verification = Verification {
        subject: format!("version {version} of {prefix}"),
        document: "statement",
        subject_state: if predicate.outcome.has_published_version() {
            SubjectState::Present
        } else {
            SubjectState::Unpublished
        },
        document_problems: statement.check_publication(predicate),
        differences: Vec::new(),
        facts: json!({
            "schema": "sluicegate.verification/v1",
            "predicateType": PredicateKind::Publication.uri(),
            "prefix": prefix,
            "versionName": version,
            "commitHash": predicate.commit,
        }),
    };
    // The statement or the settings of this run may lack the address of the platform or the project.
    if let (Some(publish_platform), Some(run_platform)) = (&predicate.platform, review_platform(&connection))
    {
        let difference = compare_platforms(session, publish_platform, &run_platform);
        verification.differences.extend(difference);
    }
    let differences = compare_with_platform(session, &platform, prefix, version, |details| {
        compare_publication_with_details(predicate, details)
    })?;
    verification.add_platform_differences(differences, prefix, version);
    let differences = compare_publication_with_clone(session, statement, predicate)?;
    verification.differences.extend(differences);
    Ok(verification)
}

/// Compares a statement about a publication with the files of the published commit. If the clone does not have the
/// commit, prints this and returns no differences.
fn compare_publication_with_clone(
    session: &Session,
    statement: &SavedStatement,
    predicate: &PublicationPredicate,
) -> Result<Vec<String>, Failure> {
    let Some((repository, commit)) = find_commit_in_clone(session, &predicate.commit)? else {
        session.ui.say(&format!(
            "commit {} is not available locally, so its files were not compared",
            predicate.commit
        ));
        return Ok(Vec::new());
    };
    let mut differences = statement.compare_publication_with_commit(predicate, &repository, &commit)?;
    differences.extend(compare_policy(session, &predicate.policy, &repository)?);
    // A rerun may not have had the older commit of an existing version, so its statement may omit the rules file.
    if predicate.outcome != ReceiptOutcome::AlreadyPublished {
        let (policy, rules) = (&predicate.policy, predicate.rules.as_ref());
        differences.extend(find_omitted_rules_file(
            session,
            policy,
            rules,
            &repository,
            &commit,
        )?);
    }
    Ok(differences)
}

/// Returns a difference if the version was published in another project. Another address is only printed, because a
/// platform can have several.
fn compare_platforms(
    session: &Session,
    publish_platform: &ReviewPlatform,
    run_platform: &ReviewPlatform,
) -> Option<String> {
    print_other_address(session, &publish_platform.url, &run_platform.url);
    (publish_platform.project != run_platform.project).then(|| {
        format!(
            "the version is in project {}, but this run uses project {}",
            publish_platform.project, run_platform.project
        )
    })
}

/// Returns the repository and the commit with this full id; `None` without a repository or if it does not have the
/// commit.
fn find_commit_in_clone(session: &Session, id: &str) -> Result<Option<(Repository, CommitId)>, Failure> {
    let Some(repository) = session.find_repository()? else {
        return Ok(None);
    };
    let commit = repository.find_commit_with_id(id)?;
    Ok(commit.map(|commit| (repository, commit)))
}

/// Compares the digests of the gate configuration in the statement with the files of its commit, and finds the files
/// that the statement omits. If the statement does not name a commit, or the clone does not have it, prints this and
/// returns no differences.
fn compare_policy(
    session: &Session,
    policy: &PolicyDigests,
    repository: &Repository,
) -> Result<Vec<String>, Failure> {
    let Some(mut differences) = policy.compare_with_commit(repository)? else {
        let reason = match &policy.commit {
            Some(commit) => {
                format!("the commit of the gate configuration, {commit}, is not available locally")
            }
            None => "the run read the gate configuration from disk".to_owned(),
        };
        session
            .ui
            .say(&format!("the gate configuration was not compared: {reason}"));
        return Ok(Vec::new());
    };
    differences.extend(list_omitted_policy_files(session, policy, repository)?);
    Ok(differences)
}
