//! Determines how to provide the rules file that the reviewed files lack: it may be on disk, or in the target branch.

use crate::error::Failure;
use crate::job::context::PolicyRevision;
use crate::job::policy;
use crate::workspace::Workspace;
use crate::workspace::config_dir_prompt;
use crate::workspace::gate_files::list_hidden_root_entries;
use sluicegate_base::text::{List, quote_shell_word};
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::{RULES_FILE, rules_path};
use std::fs;

/// Maximum number of entries of the repository root that are searched for a rules file on disk.
const MAX_ROOT_ENTRIES: usize = 10_000;

/// Maximum number of hidden directories in a hint.
const MAX_LISTED_DIRECTORIES: usize = 5;

/// The way to provide a missing rules file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RulesRemedy {
    /// The reviewed files have a rules file, so the platform looks in another directory.
    OtherDirectory { path: String },
    /// The reviewed files have a rules file in another hidden directory than the one that the user set.
    OtherName { path: String, config_dir: String },
    /// The change sets another hidden directory, which applies after its merge, and has a rules file there.
    OwnPolicy { config_dir: String },
    /// The reviewed files have a rules file in another hidden directory than the platform's.
    MoveBack { path: String, config_dir: String },
    /// The file is behind a symbolic link.
    ReplaceLink,
    /// Several hidden directories could be the platform's.
    ChooseDirectory { names: Vec<String> },
    /// The file exists on disk only.
    Commit { path: String, is_ignored: bool },
    /// The file was added to the target branch after this branch was created.
    MergeTarget { branch: String, path: String },
    /// The branch deletes the file, which the target branch still has.
    Restore {
        branch: String,
        tip: CommitId,
        path: String,
    },
    /// The checked-out commit has the file, but the reviewed commit lacks it.
    OtherCommit { path: String },
    /// No file exists; the command writes one.
    Create { command: String },
}

impl RulesRemedy {
    /// Returns the hint for a review that found no rules file.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::OtherDirectory { path } => format!(
                "the reviewed files contain `{path}`, but the platform did not find the file: check that the file \
                 is in the directory that the platform's documentation names"
            ),
            Self::OtherName { path, config_dir } => format!(
                "the rules file is `{path}`, but the hidden directory is set to `{config_dir}`: correct the setting \
                 (`--config-dir`), or move the file"
            ),
            Self::OwnPolicy { config_dir } => format!(
                "the change sets the hidden directory to `{config_dir}`, which applies after its merge: for this one \
                 change, set --policy head (SLUICEGATE_POLICY=head) in the job"
            ),
            Self::MoveBack { path, config_dir } => format!(
                "move `{path}` to `{config_dir}/{RULES_FILE}`: the platform's hidden directory is `{config_dir}`"
            ),
            Self::ReplaceLink => {
                "replace the symbolic link with the rules file itself, and commit the file".to_owned()
            }
            Self::ChooseDirectory { names } => format!(
                "keep the platform's files only in its own directory, or set it with --config-dir \
                 (SLUICEGATE_CONFIG_DIR); now {} have such files",
                List::with_limit(names, MAX_LISTED_DIRECTORIES)
            ),
            Self::Commit { path, is_ignored } => {
                let ignored_note = if *is_ignored {
                    " (git ignores it: use `git add --force`)"
                } else {
                    ""
                };
                format!(
                    "`{path}` exists on disk but is not in the reviewed commit: commit the file{ignored_note}, and push"
                )
            }
            Self::MergeTarget { branch, path } => format!(
                "merge `{branch}` into your branch: `{path}` was added to `{branch}` after your branch was created"
            ),
            Self::Restore { branch, tip, path } => format!(
                "`{branch}` has `{path}`, but the reviewed version does not: restore the file with `git checkout {} -- {}`",
                tip.short(),
                // The path begins at the root, whatever the current directory is.
                quote_shell_word(&format!(":/{path}"))
            ),
            Self::OtherCommit { path } => format!(
                "`{path}` is in the checked-out commit but not in the reviewed commit: merge or rebase the reviewed \
                 branch"
            ),
            Self::Create { command } => format!("run `{command}` to create a rules file"),
        }
    }
}

impl Workspace<'_> {
    /// Returns how the user can provide the rules file that the platform or this program did not find in the snapshot.
    /// If this program finds the file, the platform looks for it in another directory.
    /// `deleted_config_dir` is the hidden directory from which the change deletes the file, if any.
    pub(crate) fn find_rules_remedy(
        &self,
        snapshot: &Snapshot<'_>,
        deleted_config_dir: Option<&str>,
    ) -> Result<RulesRemedy, Failure> {
        if let Some(file) = self.find_rules_file(snapshot)? {
            return Ok(RulesRemedy::OtherDirectory { path: file.path });
        }
        if !self.find_linked_rules(snapshot)?.is_empty() {
            return Ok(RulesRemedy::ReplaceLink);
        }
        if let Some(names) = self.find_ambiguous_config_dirs(snapshot)? {
            return Ok(RulesRemedy::ChooseDirectory { names });
        }
        if let Some(config_dir) = self.find_config_dir(snapshot)?
            && let Some(path) = find_rules_in_other_directory(snapshot, &config_dir)?
        {
            let own_config_dir = self.find_own_config_dir(snapshot)?;
            return Ok(match (&self.named_config_dir, own_config_dir) {
                (Some(_), Some(own_config_dir)) if rules_path(&own_config_dir) == path => {
                    RulesRemedy::OwnPolicy {
                        config_dir: own_config_dir,
                    }
                }
                (Some(_), _) => RulesRemedy::OtherName { path, config_dir },
                (None, _) => RulesRemedy::MoveBack { path, config_dir },
            });
        }
        let disk_path = self.find_rules_path_on_disk();
        let is_committed = match (&disk_path, self.repo.head()) {
            // A snapshot of the index has no commit: the user has to add the file again.
            (Some(path), Ok(head)) if snapshot.commit().is_some() => {
                self.repo.find_file(&head.commit, path)?.is_some()
            }
            _ => false,
        };
        if let Some(path) = disk_path.clone().filter(|_| !is_committed) {
            return Ok(RulesRemedy::Commit {
                is_ignored: self.repo.is_ignored(&path),
                path,
            });
        }
        if let Some(remedy) = self.find_remedy_of_target(snapshot)? {
            return Ok(remedy);
        }
        if let Some(path) = disk_path {
            return Ok(RulesRemedy::OtherCommit { path });
        }
        let command = self.build_rules_init_command(snapshot, deleted_config_dir)?;
        Ok(RulesRemedy::Create { command })
    }

    /// Returns the command that writes a rules file. If the platform's hidden directory is unknown, the command names
    /// `deleted_config_dir`, from which the change deletes the file, or else the first candidate.
    pub(crate) fn build_rules_init_command(
        &self,
        snapshot: &Snapshot<'_>,
        deleted_config_dir: Option<&str>,
    ) -> Result<String, Failure> {
        let command = "sluicegate rules init";
        Ok(match (self.find_config_dir(snapshot)?, deleted_config_dir) {
            (Some(_), _) => command.to_owned(),
            (None, Some(dir)) if config_dir_prompt::is_hidden_dir_name(dir) => {
                config_dir_prompt::suggest_command(command, &[dir.to_owned()])
            }
            (None, _) => config_dir_prompt::suggest_command(
                command,
                &config_dir_prompt::find_config_dir_candidates(snapshot)?,
            ),
        })
    }

    /// Returns whether any hidden directory of the snapshot, or the directory that a setting names, has a rules file,
    /// even behind a link. If none has one, a local check may evaluate the default rules.
    pub(crate) fn has_rules_file(&self, snapshot: &Snapshot<'_>) -> Result<bool, Failure> {
        for dir in list_hidden_root_entries(snapshot)?
            .iter()
            .chain(&self.named_config_dir)
        {
            let path = rules_path(dir);
            let has_path = snapshot.has_path(&path)?;
            if has_path || policy::follow_links(&self.repo, snapshot, &path)?.file.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns whether any hidden directory on disk has a rules file, whether git tracks it or not.
    pub(crate) fn has_rules_file_on_disk(&self) -> bool {
        self.list_hidden_entries_on_disk()
            .iter()
            .chain(&self.named_config_dir)
            .any(|dir| self.repo.root().join(dir).join(RULES_FILE).exists())
    }

    /// Returns the path of a rules file on disk, whether git tracks it or not.
    fn find_rules_path_on_disk(&self) -> Option<String> {
        let dirs = match &self.named_config_dir {
            Some(dir) => vec![dir.clone()],
            None => self.list_hidden_entries_on_disk(),
        };
        dirs.into_iter()
            .map(|dir| rules_path(&dir))
            .find(|path| self.repo.root().join(path).is_file())
    }

    /// Returns the sorted names of the hidden entries of the repository root on disk, which may be files. Returns none
    /// for a bare repository or a root that cannot be read, and looks at no more than [`MAX_ROOT_ENTRIES`] entries.
    fn list_hidden_entries_on_disk(&self) -> Vec<String> {
        if self.repo.is_bare() {
            return Vec::new();
        }
        let mut names: Vec<String> = fs::read_dir(self.repo.root())
            .into_iter()
            .flatten()
            .take(MAX_ROOT_ENTRIES)
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| name.starts_with('.'))
            .collect();
        names.sort();
        names
    }

    /// Returns how to provide the rules file if the target branch has one: the file was added there after this branch
    /// was created, or this branch deletes it.
    fn find_remedy_of_target(&self, snapshot: &Snapshot<'_>) -> Result<Option<RulesRemedy>, Failure> {
        let Some((branch, tip)) = self.find_target_branch()? else {
            return Ok(None);
        };
        let Some(path) = self.find_rules_path_at(&tip)? else {
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
        let bases = self.repo.find_merge_bases(&head, &tip).unwrap_or_default();
        for base in &bases {
            if self.repo.find_file(base, &path)?.is_some() {
                return Ok(Some(RulesRemedy::Restore { branch, tip, path }));
            }
        }
        Ok(Some(RulesRemedy::MergeTarget { branch, path }))
    }

    /// Returns the name of the target branch and its newest known commit; in a local run, those of the remote's default
    /// branch. `None` if the branch is unknown.
    pub(crate) fn find_target_branch(&self) -> Result<Option<(String, CommitId)>, Failure> {
        if let PolicyRevision::Commit { commit, branch, .. } = &self.target_revision {
            return Ok(Some((branch.clone(), commit.clone())));
        }
        if !self.ci.host.is_local() {
            return Ok(None);
        }
        let branch = self.repo.find_likely_default_branch()?;
        Ok(branch.map(|branch| (branch.branch, branch.tip)))
    }

    /// Returns the path of the rules file in the commit; `None` if there is no such file, or if several hidden
    /// directories could be the platform's.
    fn find_rules_path_at(&self, commit: &CommitId) -> Result<Option<String>, Failure> {
        let snapshot = self.repo.snapshot(commit.clone());
        let Some(dir) = self.find_config_dir_at(&snapshot)? else {
            return Ok(None);
        };
        let path = rules_path(&dir);
        Ok(snapshot.find_file(&path)?.map(|file| file.path))
    }
}

/// Returns the path of a rules file in a hidden directory of the snapshot other than the platform's, `config_dir`.
fn find_rules_in_other_directory(
    snapshot: &Snapshot<'_>,
    config_dir: &str,
) -> Result<Option<String>, Failure> {
    let mut dirs = list_hidden_root_entries(snapshot)?;
    dirs.retain(|dir| dir != config_dir);
    for dir in dirs {
        let path = rules_path(&dir);
        if snapshot.find_file(&path)?.is_some() {
            return Ok(Some(path));
        }
    }
    Ok(None)
}
