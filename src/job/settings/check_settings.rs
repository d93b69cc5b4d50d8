//! The settings of a local check: the settings of a review that do not depend on the platform.

use super::connection::path_to_text;
use super::selection::SelectionPurpose;
use super::setting_table::variable;
use super::{GateSettings, SettingSources, SettingsError};
use crate::job::cli::CheckArgs;
use crate::job::context::RequestedRevisions;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// The settings that a check and a review share. Without a head, the working tree or the index is checked.
    pub gate: GateSettings,
    /// Checks the index instead of the working tree.
    pub staged: bool,
    /// The rules file to evaluate, instead of the project's rules file. Only the job may set it.
    pub rules_file: Option<PathBuf>,
    /// Checks named files even if they did not change.
    pub checks_unchanged_paths: bool,
}

impl SettingSources<'_> {
    /// Resolves the settings of `sluicegate check`. Files that the user names are checked even if they did not change,
    /// unless `--base` or its variable restricts the check to changes.
    pub fn resolve_check_settings(&self, args: &CheckArgs) -> Result<CheckSettings, SettingsError> {
        let revisions = self.resolve_revisions_to_check(args)?;
        Ok(CheckSettings {
            checks_unchanged_paths: revisions.base.is_none(),
            gate: GateSettings {
                revisions,
                selection: self.resolve_selection(&args.selection.globs, SelectionPurpose::Review)?,
                verdict: self.resolve_verdict_settings(&args.gate)?,
            },
            staged: args.staged,
            rules_file: self
                .layers()
                .resolve_expanded_text(path_to_text(args.rules.as_ref()), variable::RULES, None)?
                .map(PathBuf::from),
        })
    }

    /// Returns the commit to check and its base, which only flags and variables of the job may set. With `--staged`,
    /// the index is checked instead of a commit.
    pub fn resolve_revisions_to_check(&self, args: &CheckArgs) -> Result<RequestedRevisions, SettingsError> {
        let mut revisions = self.resolve_revisions(&args.selection, None)?;
        if args.staged {
            revisions.head = None;
        }
        Ok(revisions)
    }
}
