//! Reads the settings of another version of the configuration file than the one that applies to the run.

use crate::error::Failure;
use crate::job::policy::{self, GateFileVersion, NamedText};
use crate::job::settings::{Selection, SettingSources};
use crate::workspace::Workspace;
use sluicegate_git::Snapshot;

impl<'w> Workspace<'w> {
    /// Returns the sources of settings with the snapshot's version of the configuration file at this path. Returns
    /// `None` if the snapshot has no valid version.
    pub(super) fn read_sources_at(
        &self,
        snapshot: &Snapshot<'_>,
        config_path: &str,
    ) -> Result<Option<SettingSources<'w>>, Failure> {
        let version =
            policy::read_gate_file_version(&self.repo, snapshot, config_path, policy::MAX_FILE_BYTES)?;
        let GateFileVersion::Text(bytes) = version else {
            return Ok(None);
        };
        let text = NamedText {
            name: config_path.to_owned(),
            text: String::from_utf8_lossy(&bytes).into_owned(),
        };
        Ok(self.sources.with_file_version(&text, &|_| false).ok())
    }

    /// Returns the selection of a publish of the snapshot, by the configuration file that the publish would read: the
    /// snapshot's version, or the file that the job names outside the repository. Returns `None` if the file sets no
    /// globs, or is missing or invalid.
    pub(crate) fn read_publish_selection(
        &self,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<Selection>, Failure> {
        let sources = match &self.config_file {
            Some(path) => self.read_sources_at(snapshot, path)?,
            None => Some(self.sources.clone()),
        };
        Ok(sources.and_then(|sources| sources.resolve_file_publish_selection().ok().flatten()))
    }
}
