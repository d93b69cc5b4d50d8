//! The settings of a check: those of a review that apply without a platform.

use super::selection::Of;
use super::{Judging, Revisions, Selection, SettingsError, Sources};
use crate::job::cli::CheckArgs;

#[derive(Debug, Clone)]
pub struct CheckSettings {
    /// Which commit, against which base; without a head the working tree or the index.
    pub revisions: Revisions,
    pub selection: Selection,
    /// What fails the gate, and where it is told.
    pub judging: Judging,
    /// The index instead of the working tree.
    pub staged: bool,
    /// Files that are named are checked whether they changed or not.
    pub takes_named: bool,
}

impl Sources<'_> {
    pub fn check(&self, args: &CheckArgs) -> Result<CheckSettings, SettingsError> {
        Ok(CheckSettings {
            revisions: self.checked(args)?,
            selection: self.selection(&args.selection.globs, Of::Review)?,
            judging: self.judging(&args.gate)?,
            staged: args.staged,
            takes_named: args.selection.range.base.is_none(),
        })
    }
    /// Which commit, against which base: for the job alone to say.
    pub fn checked(&self, args: &CheckArgs) -> Result<Revisions, SettingsError> {
        let mut revisions = self.revisions(&args.selection, None)?;
        if args.staged {
            revisions.head = None;
        }
        Ok(revisions)
    }
}
