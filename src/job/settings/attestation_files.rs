//! The files of the statements about a review and about a publication, and the path of a receipt.

use super::layers::{SettingSource, reject_unexpanded_value};
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::env::Env;
use crate::job::cli::{AttestationArgs, PublishFlags, describe_invalid_path};
use sluicegate_base::unexpanded_value::UnexpandedValue;
use std::path::{Path, PathBuf};

/// The files that a statement is written to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AttestationFiles {
    pub statement: Option<PathBuf>,
    /// The file for the predicate of the statement alone.
    pub predicate: Option<PathBuf>,
}

impl AttestationFiles {
    /// Returns whether the file of the statement or the file of its predicate is requested.
    pub const fn is_requested(&self) -> bool {
        self.statement.is_some() || self.predicate.is_some()
    }

    /// Returns the paths of the requested files: the statement and its predicate.
    pub fn list_paths(&self) -> impl Iterator<Item = &Path> {
        [&self.statement, &self.predicate]
            .into_iter()
            .flatten()
            .map(PathBuf::as_path)
    }
}

/// Returns the files for the statement about a review that a flag or a variable of the job sets. They are known before
/// the configuration file is read, so that old files can be removed even if it is invalid.
pub fn requested_review_attestation(args: &AttestationArgs, env: &Env) -> AttestationFiles {
    AttestationFiles {
        statement: requested_path(args.attestation.as_ref(), variable::ATTESTATION, env),
        predicate: requested_path(
            args.attestation_predicate.as_ref(),
            variable::ATTESTATION_PREDICATE,
            env,
        ),
    }
}

/// Returns the files for the statement about a publication that a flag or a variable of the job sets. They are known
/// before the configuration file is read, so that old files can be removed even if it is invalid.
pub(super) fn requested_publish_attestation(flags: &PublishFlags, env: &Env) -> AttestationFiles {
    AttestationFiles {
        statement: requested_path(
            flags.publish_attestation.as_ref(),
            variable::PUBLISH_ATTESTATION,
            env,
        ),
        predicate: requested_path(
            flags.publish_attestation_predicate.as_ref(),
            variable::PUBLISH_ATTESTATION_PREDICATE,
            env,
        ),
    }
}

/// Returns the path that a flag or its environment variable sets. A path with a variable that was not replaced, and one
/// that is not the path of a file, is skipped, because its error is reported when all settings are resolved.
pub(super) fn requested_path(flag: Option<&PathBuf>, variable: &str, env: &Env) -> Option<PathBuf> {
    let path = flag.cloned().or_else(|| env.get(variable).map(PathBuf::from));
    path.filter(|path| UnexpandedValue::find(&path.to_string_lossy()).is_none())
        .filter(|path| describe_invalid_path(path).is_none())
}

/// Returns the path of the receipt to read, which an argument or the variable names. Fails if the variable contains no
/// path.
pub fn requested_receipt(argument: Option<&PathBuf>, env: &Env) -> Result<Option<PathBuf>, SettingsError> {
    if argument.is_some() {
        return Ok(argument.cloned());
    }
    let Some(text) = env.get(variable::RECEIPT) else {
        return Ok(None);
    };
    reject_unexpanded_value(text, SettingSource::Variable, variable::RECEIPT)?;
    let path = PathBuf::from(text);
    reject_invalid_output(&path, variable::RECEIPT)?;
    Ok(Some(path))
}

/// Fails if the path of an output is not the path of a file. `name` is the setting or its variable.
pub(super) fn reject_invalid_output(path: &Path, name: &str) -> Result<(), SettingsError> {
    match describe_invalid_path(path) {
        Some(reason) => Err(SettingsError::new(format!("`{name}`: {reason}"))),
        None => Ok(()),
    }
}

impl SettingSources<'_> {
    /// Resolves the files for the statement about a review from flags, variables and the configuration file.
    pub fn resolve_review_attestation(
        &self,
        args: &AttestationArgs,
    ) -> Result<AttestationFiles, SettingsError> {
        let file = &self.file.review;
        Ok(AttestationFiles {
            statement: self.resolve_output(
                variable::ATTESTATION,
                args.attestation.as_ref(),
                file.attestation.as_ref(),
            )?,
            predicate: self.resolve_output(
                variable::ATTESTATION_PREDICATE,
                args.attestation_predicate.as_ref(),
                file.attestation_predicate.as_ref(),
            )?,
        })
    }

    /// Resolves the files for the statement about a publication from flags, variables and the configuration file.
    pub(super) fn resolve_publish_attestation(
        &self,
        flags: &PublishFlags,
    ) -> Result<AttestationFiles, SettingsError> {
        let file = &self.file.publish;
        Ok(AttestationFiles {
            statement: self.resolve_output(
                variable::PUBLISH_ATTESTATION,
                flags.publish_attestation.as_ref(),
                file.attestation.as_ref(),
            )?,
            predicate: self.resolve_output(
                variable::PUBLISH_ATTESTATION_PREDICATE,
                flags.publish_attestation_predicate.as_ref(),
                file.attestation_predicate.as_ref(),
            )?,
        })
    }
}
