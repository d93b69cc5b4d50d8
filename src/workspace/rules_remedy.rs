//! Determines how to provide the rules file that the reviewed files lack: it may be on disk, or in the target branch.

use crate::error::Failure;
use crate::job::context::PolicyTip;
use crate::job::policy;
use crate::workspace::gate_files::hidden;
use crate::workspace::platform_folder;
use crate::workspace::{Workspace, folder_in};
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::RULES_FILE;
use std::fs;

/// Maximum number of entries of the repository root that are searched for a rules file on disk.
const MAX_ROOT_ENTRIES: usize = 10_000;

/// The way to provide a missing rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RulesRemedy {
    /// The reviewed files have a rules file, so the platform looks in another directory.
    OtherDirectory { path: String },
    /// The file is behind a symbolic link.
    ReplaceLink,
    /// The file exists on disk only.
    Commit { path: String, is_ignored: bool },
    /// The target branch got the file after this branch started.
    MergeTarget { branch: String, path: String },
    /// No file exists; the command writes one.
    Create { command: String },
}

impl RulesRemedy {
    /// Returns the hint for a review that found no rules file.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::OtherDirectory { path } => format!(
                "`{path}` is in the commit, but the platform did not find it: check that its directory is the one in \
                 the platform's documentation"
            ),
            Self::ReplaceLink => {
                "replace the symbolic link with the rules file itself, and commit the file".to_owned()
            }
            Self::Commit { path, is_ignored } => {
                let ignored = if *is_ignored {
                    " (git ignores it: use `git add --force`)"
                } else {
                    ""
                };
                format!(
                    "`{path}` exists on disk but is not in the reviewed commit: commit the file{ignored}, and push"
                )
            }
            Self::MergeTarget { branch, path } => format!(
                "merge `{branch}` into this branch: `{branch}` got `{path}` after this branch started"
            ),
            Self::Create { command } => format!("run `{command}` to create a rules file"),
        }
    }
}

impl Workspace<'_> {
    /// Returns how to provide the rules file that a review of the snapshot does not find. `deleted_folder` is the
    /// hidden directory from which the change deletes the file, if any.
    pub(crate) fn rules_remedy(
        &self,
        snapshot: &Snapshot<'_>,
        deleted_folder: Option<&str>,
    ) -> Result<RulesRemedy, Failure> {
        if let Some(file) = self.rules_file(snapshot)? {
            return Ok(RulesRemedy::OtherDirectory { path: file.path });
        }
        if !self.linked_rules(snapshot)?.is_empty() {
            return Ok(RulesRemedy::ReplaceLink);
        }
        if let Some(path) = self.rules_path_on_disk() {
            return Ok(RulesRemedy::Commit {
                is_ignored: self.repo.is_ignored(&path),
                path,
            });
        }
        if let Some((branch, path)) = self.rules_added_to_target(snapshot)? {
            return Ok(RulesRemedy::MergeTarget { branch, path });
        }
        let command = self.create_rules_command(snapshot, deleted_folder)?;
        Ok(RulesRemedy::Create { command })
    }

    /// Returns the command that writes a rules file. `deleted_folder` is the hidden directory that the change empties,
    /// if any.
    pub(crate) fn create_rules_command(
        &self,
        snapshot: &Snapshot<'_>,
        deleted_folder: Option<&str>,
    ) -> Result<String, Failure> {
        let command = "sluicegate rules init";
        Ok(match (self.config_dir(snapshot)?, deleted_folder) {
            (Some(_), _) => command.to_owned(),
            (None, Some(folder)) if platform_folder::is_name(folder) => {
                platform_folder::suggest_command(command, &[folder.to_owned()])
            }
            (None, _) => platform_folder::suggest_command(command, &platform_folder::candidates(snapshot)?),
        })
    }

    /// Returns whether any hidden directory of the snapshot has a rules file, also behind a link.
    pub(crate) fn has_rules_file(&self, snapshot: &Snapshot<'_>) -> Result<bool, Failure> {
        for folder in hidden(snapshot)?.iter().chain(&self.named_folder) {
            let path = format!("{folder}/{RULES_FILE}");
            let has_path = snapshot.has_path(&path)?;
            if has_path || policy::resolve_path(&self.repo, snapshot, &path)?.file.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether any hidden directory on disk has a rules file, whether git tracks it or not.
    pub(crate) fn has_rules_file_on_disk(&self) -> bool {
        let folders = self.hidden_folders_on_disk();
        let mut folders = folders.iter().chain(&self.named_folder);
        folders.any(|folder| self.repo.root().join(folder).join(RULES_FILE).exists())
    }

    /// Returns the path of a rules file on disk, whether git tracks it or not.
    fn rules_path_on_disk(&self) -> Option<String> {
        let folders = match &self.named_folder {
            Some(folder) => vec![folder.clone()],
            None => self.hidden_folders_on_disk(),
        };
        let mut paths = folders.into_iter().map(|folder| format!("{folder}/{RULES_FILE}"));
        paths.find(|path| self.repo.root().join(path).is_file())
    }

    /// Returns the names of the hidden entries of the root on disk, sorted.
    fn hidden_folders_on_disk(&self) -> Vec<String> {
        if self.repo.is_bare() {
            return Vec::new();
        }
        let entries = fs::read_dir(self.repo.root()).into_iter().flatten();
        let entries = entries.take(MAX_ROOT_ENTRIES).flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with('.'))
            .collect();
        names.sort();
        names
    }

    /// Returns the target branch and the path of its rules file, if the target got the file after this branch started.
    fn rules_added_to_target(&self, snapshot: &Snapshot<'_>) -> Result<Option<(String, String)>, Failure> {
        let Some((branch, tip)) = self.target_branch()? else {
            return Ok(None);
        };
        let Some(path) = self.rules_path_at(&tip)? else {
            return Ok(None);
        };
        let head = match snapshot.commit() {
            Some(head) => head.clone(),
            None => match self.repo.head() {
                Ok(head) => head.commit,
                Err(_) => return Ok(None),
            },
        };
        // In a shallow clone the merge-base may be missing, but the branch lacks the file in any case.
        let bases = self.repo.merge_bases(&head, &tip).unwrap_or_default();
        for base in &bases {
            if self.repo.find_file(base, &path)?.is_some() {
                return Ok(None);
            }
        }
        Ok(Some((branch, path)))
    }

    /// Returns the target branch and its tip: in a local run, the remote's default branch.
    pub(crate) fn target_branch(&self) -> Result<Option<(String, CommitId)>, Failure> {
        if let PolicyTip::Commit { commit, branch, .. } = &self.target_tip {
            return Ok(Some((branch.clone(), commit.clone())));
        }
        if !self.ci.host.is_local() {
            return Ok(None);
        }
        let branch = self.repo.likely_default_branch()?;
        Ok(branch.map(|branch| (branch.branch, branch.tip)))
    }

    /// Returns the path of the rules file in the commit.
    fn rules_path_at(&self, commit: &CommitId) -> Result<Option<String>, Failure> {
        let snapshot = self.repo.snapshot(commit.clone());
        let folder = match &self.named_folder {
            Some(folder) => Some(folder.clone()),
            None => folder_in(&snapshot)?.ok().flatten(),
        };
        let Some(folder) = folder else {
            return Ok(None);
        };
        let path = format!("{folder}/{RULES_FILE}");
        Ok(snapshot.find_file(&path)?.map(|file| file.path))
    }
}
