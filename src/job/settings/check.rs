//! The settings of a local check: the settings of a review that need no platform.

use super::platform::path_text;
use super::selection::Of;
use super::table::variable;
use super::{GateSettings, Revisions, SettingsError, Sources};
use crate::job::cli::CheckArgs;
use std::path::PathBuf;

#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// Without a head, the working tree or the index is checked.
    pub gate: GateSettings,
    /// Checks the index instead of the working tree.
    pub staged: bool,
    /// The rules file to evaluate, instead of the project's. Only the job may set it.
    pub rules: Option<PathBuf>,
    /// Checks named files even if they did not change.
    pub takes_named: bool,
}

impl Sources<'_> {
    pub fn check(&self, args: &CheckArgs) -> Result<CheckSettings, SettingsError> {
        Ok(CheckSettings {
            gate: GateSettings {
                revisions: self.checked(args)?,
                selection: self.selection(&args.selection.globs, Of::Review)?,
                judging: self.judging(&args.gate)?,
            },
            staged: args.staged,
            rules: self
                .layers()
                .text(path_text(args.rules.as_ref()), variable::RULES, None)
                .map(PathBuf::from),
            takes_named: args.selection.range.base.is_none(),
        })
    }
    /// Returns the commit to check and its base. Only the job may set them.
    pub fn checked(&self, args: &CheckArgs) -> Result<Revisions, SettingsError> {
        let mut revisions = self.revisions(&args.selection, None)?;
        if args.staged {
            revisions.head = None;
        }
        Ok(revisions)
    }
}
