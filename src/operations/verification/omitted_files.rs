//! Finds the gate configuration and the rules file that a statement omits, although the commits have them. Only a file
//! that the job would certainly have listed is a difference: a job may name other files, and a file that cannot be used
//! is treated as missing.

use crate::attestation::{FileDigest, PolicyDigests};
use crate::error::Failure;
use crate::job::cli::{GlobArgs, ReviewArgs};
use crate::job::policy::{self, DecidingVersion, GateFile, GateFileVersion, NamedText, UnusableFile};
use crate::job::settings::{self, FILE_NAME, SelectionPurpose, SettingSources};
use crate::session::Session;
use crate::workspace::empty_settings::{explain_unmatched_include, explain_unsuitable_config_dir};
use crate::workspace::find_config_dir_in;
use crate::workspace::gate_files::MAX_WAIVERS_BYTES;
use sluicegate_base::input;
use sluicegate_git::{CommitId, FileKind, Repository, Snapshot};
use sluicegate_pipelines::pipelines::rules_path;
use sluicegate_pipelines::team_rules::TEAM_RULES_FILE;
use sluicegate_pipelines::waivers;

/// Returns a difference for the configuration file and for the waivers file if the policy commit has the file, but the
/// statement does not list it. The configuration file is not reported if the statement lists another one, which the job
/// named.
pub(super) fn list_omitted_policy_files(
    session: &Session,
    policy: &PolicyDigests,
    repository: &Repository,
) -> Result<Vec<String>, Failure> {
    let mut differences = Vec::new();
    let id = policy.commit.as_deref().unwrap_or_default();
    let Some(commit) = repository.find_commit_with_id(id)? else {
        return Ok(differences);
    };
    let snapshot = repository.snapshot(commit.clone());
    let sources = read_usable_sources(session, repository, &snapshot)?;
    let team_rules_path = sources
        .as_ref()
        .and_then(|sources| {
            sources
                .resolve_team_rules_path(&session.global, Some(FILE_NAME))
                .ok()
        })
        .flatten();
    let mut has_config_file = false;
    let mut has_waivers_file = false;
    for file in &policy.files {
        has_waivers_file |= file.path == waivers::FILE_NAME;
        has_config_file |= ![waivers::FILE_NAME, TEAM_RULES_FILE].contains(&file.path.as_str())
            && team_rules_path.as_ref() != Some(&file.path);
    }
    if !has_config_file
        && let Some(sources) = sources
        && is_selection_usable(session, &sources, &snapshot)?
    {
        differences.push(describe_omitted_file("gate configuration", FILE_NAME, &commit));
    }
    let waivers_version =
        policy::read_gate_file_version(repository, &snapshot, waivers::FILE_NAME, MAX_WAIVERS_BYTES)?;
    if let GateFileVersion::Text(bytes) = waivers_version
        && !has_waivers_file
        && waivers::parse_waivers_file(&bytes, &|_| true).is_ok()
    {
        differences.push(describe_omitted_file(
            "gate configuration",
            waivers::FILE_NAME,
            &commit,
        ));
    }
    Ok(differences)
}

/// Returns a difference if the commit has a rules file, but the statement does not name one. The platform's hidden
/// directory is that of the settings, or else that of the policy commit or of this commit.
pub(super) fn find_omitted_rules_file(
    session: &Session,
    policy: &PolicyDigests,
    rules: Option<&FileDigest>,
    repository: &Repository,
    commit: &CommitId,
) -> Result<Option<String>, Failure> {
    if rules.is_some() {
        return Ok(None);
    }
    let id = policy.commit.as_deref().unwrap_or_default();
    let policy_commit = repository.find_commit_with_id(id)?;
    let snapshot = repository.snapshot(commit.clone());
    let policy_snapshot = repository.snapshot(policy_commit.unwrap_or_else(|| commit.clone()));
    let sources = read_usable_sources(session, repository, &policy_snapshot)?;
    let named_dir = match sources {
        Some(sources) => sources.resolve_config_dir(&session.global)?,
        None => settings::requested_config_dir(&session.global, &session.env),
    };
    let config_dir = match (named_dir, find_config_dir_in(&policy_snapshot)?) {
        (Some(name), _) | (None, Ok(Some(name))) => name,
        (None, _) => match find_config_dir_in(&snapshot)? {
            Ok(Some(name)) => name,
            _ => return Ok(None),
        },
    };
    let path = rules_path(&config_dir);
    let file = snapshot.find_file(&path)?;
    let is_regular = file.is_some_and(|file| file.kind == FileKind::Regular);
    Ok(is_regular.then(|| describe_omitted_file("rules file", &path, commit)))
}

/// Returns the settings with the configuration file of the snapshot; `None` if it is missing or cannot be used.
fn read_usable_sources<'r>(
    session: &'r Session,
    repository: &Repository,
    snapshot: &Snapshot<'_>,
) -> Result<Option<SettingSources<'r>>, Failure> {
    let version = policy::read_gate_file_version(repository, snapshot, FILE_NAME, policy::MAX_CONFIG_BYTES)?;
    let GateFileVersion::Text(bytes) = version else {
        return Ok(None);
    };
    let Ok(text) = input::decode_utf_8(bytes) else {
        return Ok(None);
    };
    let name = FILE_NAME.to_owned();
    let file = GateFile {
        deciding_version: DecidingVersion::Text(NamedText { name, text }),
        ..GateFile::default()
    };
    Ok(SettingSources::new(&session.env, &file, None, UnusableFile::Reject).ok())
}

/// Returns whether a run in CI uses the configuration file: its values are valid, and its globs and its hidden
/// directory match files.
fn is_selection_usable(
    session: &Session,
    sources: &SettingSources<'_>,
    snapshot: &Snapshot<'_>,
) -> Result<bool, Failure> {
    if sources.resolve_review_settings(&ReviewArgs::default()).is_err()
        || sources
            .resolve_team_rules_path(&session.global, Some(FILE_NAME))
            .is_err()
    {
        return Ok(false);
    }
    for purpose in [SelectionPurpose::Review, SelectionPurpose::Publish] {
        let Ok(selection) = sources.resolve_selection(&GlobArgs::default(), purpose) else {
            return Ok(false);
        };
        if explain_unmatched_include(snapshot, &selection)?.is_some() {
            return Ok(false);
        }
    }
    let Ok(config_dir) = sources.resolve_config_dir(&session.global) else {
        return Ok(false);
    };
    let file_dir = config_dir.filter(|name| sources.sets_config_dir(name));
    Ok(explain_unsuitable_config_dir(snapshot, file_dir.as_deref())?.is_none())
}

/// Returns the difference that the statement does not list this file of the commit.
fn describe_omitted_file(noun: &str, path: &str, commit: &CommitId) -> String {
    format!(
        "commit {} has the {noun} `{path}`, but the statement does not list it",
        commit.short()
    )
}
