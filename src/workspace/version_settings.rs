//! Reads the settings of another version of the configuration file than the one that applies to the run.

use crate::error::Failure;
use crate::job::policy::{self, GateFileVersion, NamedText};
use crate::job::settings::{Selection, SettingSources};
use crate::workspace::Workspace;
use sluicegate_base::input;
use sluicegate_git::{GitError, Repository, Snapshot};

impl<'w> Workspace<'w> {
    /// Returns the sources of settings with the snapshot's version of the configuration file. Returns `None` if that
    /// version is unknown, because the job sets a file outside the repository, or if it cannot be used.
    pub(crate) fn read_sources_at(
        &self,
        repository: &Repository,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<SettingSources<'w>>, GitError> {
        let Some(path) = &self.config_file else {
            return Ok(None);
        };
        match policy::read_gate_file_version(repository, snapshot, path, policy::MAX_CONFIG_BYTES)? {
            GateFileVersion::Missing => Ok(Some(self.sources.without_file())),
            GateFileVersion::Unreadable(_) => Ok(None),
            GateFileVersion::Text(bytes) => {
                let Ok(text) = input::decode_utf_8(bytes) else {
                    return Ok(None);
                };
                let name = path.clone();
                let sources = self
                    .sources
                    .with_file_version(&NamedText { name, text }, &|_| false);
                Ok(sources.ok())
            }
        }
    }

    /// Returns the selection of a publish of the snapshot, by the configuration file that the publish would read: the
    /// snapshot's version, or the file that the job names outside the repository. Returns `None` if the file sets no
    /// globs, or is missing or invalid.
    pub(crate) fn read_publish_selection(
        &self,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<Selection>, Failure> {
        let sources = match &self.config_file {
            Some(_) => self.read_sources_at(&self.repo, snapshot)?,
            None => Some(self.sources.clone()),
        };
        Ok(sources.and_then(|sources| sources.resolve_file_publish_selection().ok().flatten()))
    }
}
