//! Finds and reads the platform's own files in a snapshot: the hidden directory, and the rules file in it.

use super::Workspace;
use crate::document_content::{describe_doubt, read_document_blob, read_document_on_disk};
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::interface_version::has_shared_pipelines;
use crate::job::context::PolicyRevision;
use crate::job::policy::UnusableFile;
use sluicegate_base::text::format_path;
use sluicegate_git::{FileContent, FileKind, GitError, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{self, ConfigDirError, rules_path};
use sluicegate_pipelines::rules::{MissingRulesFile, RuleSet};
use sluicegate_yaml::DocumentError;

impl Workspace<'_> {
    /// Returns the name of the hidden directory that contains the platform's files: the name that the user set,
    /// otherwise the directory that [`Self::search_config_dir`] finds.
    pub(crate) fn find_config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, Failure> {
        match &self.named_config_dir {
            Some(name) => Ok(Some(name.clone())),
            None => self.search_config_dir(snapshot),
        }
    }

    /// Returns the name of the hidden directory that contains the shared-pipelines file. If a setting names a directory
    /// from which the change moved this file to the one that its own settings name, returns the new directory, because
    /// a publish after the merge reads the file there. The rules of the change are never read from there.
    pub(crate) fn find_shared_config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, Failure> {
        if let Some(name) = &self.named_config_dir
            && !has_shared_pipelines(snapshot, name)?
            && let Some(own_config_dir) = self.find_own_config_dir(snapshot)?
            && has_shared_pipelines(snapshot, &own_config_dir)?
        {
            return Ok(Some(own_config_dir));
        }
        self.find_config_dir(snapshot)
    }

    /// Returns the name of the hidden directory that a run uses if the user does not set one: the directory in the
    /// commit that the gate configuration is read from, otherwise the one in the snapshot. The snapshot comes last,
    /// because a change could otherwise choose its rules by adding another directory.
    pub(super) fn search_config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, Failure> {
        if let PolicyRevision::Commit { commit, .. } = &self.policy_revision {
            let policy_snapshot = self.repo.snapshot(commit.clone());
            // If this commit has several such directories, the snapshot decides.
            if let Ok(Some(config_dir)) = find_config_dir_in(&policy_snapshot)? {
                return Ok(Some(config_dir));
            }
        }
        match find_config_dir_in(snapshot)? {
            Ok(config_dir) => Ok(config_dir),
            // In CI, several directories are treated like none; in a local run, the user must choose one.
            Err(ConfigDirError::Several(_))
                if self.unusable_file_treatment() == UnusableFile::TreatAsMissing =>
            {
                Ok(None)
            }
            Err(error) => Err(Failure::usage(error.to_string())
                .with_hint("set the directory with --config-dir or SLUICEGATE_CONFIG_DIR")),
        }
    }

    /// Returns the rules file of the snapshot, or `None` if it is missing. A link is treated as missing, because the
    /// platform does not follow links.
    pub(crate) fn find_rules_file(&self, snapshot: &Snapshot<'_>) -> Result<Option<SnapshotFile>, Failure> {
        let Some(config_dir) = self.find_config_dir(snapshot)? else {
            return Ok(None);
        };
        let file = snapshot.find_file(&rules_path(&config_dir))?;
        Ok(file.filter(|file| file.kind == FileKind::Regular))
    }

    /// Returns an empty rule set for a snapshot without a rules file. It contains the reason: there is no file, only
    /// one behind a symbolic link, or several hidden directories could be the platform's.
    pub(crate) fn create_rule_set_without_file(&self, snapshot: &Snapshot<'_>) -> Result<RuleSet, Failure> {
        let reason = if !self.find_linked_rules(snapshot)?.is_empty() {
            MissingRulesFile::SymbolicLink
        } else if self.find_ambiguous_config_dirs(snapshot)?.is_some() {
            MissingRulesFile::SeveralDirectories
        } else {
            MissingRulesFile::NoFile
        };
        Ok(RuleSet::for_missing_file(reason))
    }

    /// Returns the hidden directories of the snapshot that contain files of the platform, if there are several and
    /// nothing shows which of them is the platform's.
    pub(crate) fn find_ambiguous_config_dirs(
        &self,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<Vec<String>>, Failure> {
        if self.find_config_dir(snapshot)?.is_some() {
            return Ok(None);
        }
        Ok(match find_config_dir_in(snapshot)? {
            Err(ConfigDirError::Several(names)) => Some(names),
            Ok(_) => None,
        })
    }

    /// Returns the hidden directory that the settings name, otherwise the only one of the snapshot. An ambiguous
    /// directory is treated as missing.
    pub(crate) fn find_config_dir_at(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, GitError> {
        match &self.named_config_dir {
            Some(name) => Ok(Some(name.clone())),
            None => Ok(find_config_dir_in(snapshot)?.ok().flatten()),
        }
    }

    /// Returns the rules of the snapshot, or `None` without a rules file.
    pub(crate) fn read_rules_at(&self, snapshot: &Snapshot<'_>) -> Result<Option<RuleSet>, Failure> {
        self.read_rules(self.find_rules_file(snapshot)?.as_ref())
    }

    /// Reads the rules in this rules file; `None` without a file.
    pub(crate) fn read_rules(&self, file: Option<&SnapshotFile>) -> Result<Option<RuleSet>, Failure> {
        let document = file.map(|file| self.read_document(file)).transpose()?;
        Ok(document.map(|document| RuleSet::from_document(&document)))
    }

    /// Reads the content of a file of the platform. The inner error is a fault of the file, for example that it is too
    /// large. The outer error means that the file cannot be read, or that it is in doubt: a commit would store another
    /// content than is on disk.
    pub(crate) fn read_document(
        &self,
        file: &SnapshotFile,
    ) -> Result<Result<Vec<u8>, DocumentError>, Failure> {
        let path = match &file.content {
            FileContent::Blob(blob) => return Ok(read_document_blob(&self.repo, blob)?),
            FileContent::Disk(disk_path) => disk_path,
        };
        if let Some(doubt) = file.doubt {
            let message = format!(
                "could not evaluate {}: {}",
                format_path(path),
                describe_doubt(doubt)
            );
            return Err(Failure::from_message(ExitStatus::Undecided, message));
        }
        read_document_on_disk(path).map_err(|error| {
            let message = format!("could not read {}", format_path(path));
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(message))
        })
    }
}

/// Returns the only hidden directory of the snapshot that contains files of the platform. Several such directories are
/// the inner error, because some callers ignore them.
pub(crate) fn find_config_dir_in(
    snapshot: &Snapshot<'_>,
) -> Result<Result<Option<String>, ConfigDirError>, GitError> {
    let root_dirs = snapshot.list_root_folders()?;
    pipelines::find_config_dir(&root_dirs, &|path| Ok(snapshot.find_file(path)?.is_some()))
}
