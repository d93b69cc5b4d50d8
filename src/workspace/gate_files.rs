//! The paths of the gate configuration: the paths of the settings, waivers and rules, with every link on the way. A
//! change of one of them changes the gate.

use crate::job::policy::{self, GateFileVersion};
use crate::job::settings;
use crate::workspace::Workspace;
use sluicegate_git::{GitError, Snapshot};
use sluicegate_pipelines::pipelines::RULES_FILE;
use sluicegate_pipelines::waivers;

/// Maximum number of hidden links at the root that are followed to find the rules file.
const MOST_LINKS: usize = 64;

/// Maximum size of a waivers file, in bytes.
pub(crate) const WAIVERS_SIZE_LIMIT: u64 = 16 * 1024 * 1024;

/// The paths of the gate configuration, relative to the repository root.
#[derive(Debug, Default)]
pub(crate) struct GateFiles {
    settings: Vec<String>,
    waivers: Vec<String>,
    /// Only paths that contain a link; other rules files are recognized by their name.
    linked_rules: Vec<String>,
}

impl GateFiles {
    pub(crate) fn all(&self) -> Vec<String> {
        let all = self
            .settings
            .iter()
            .chain(&self.waivers)
            .chain(&self.linked_rules);
        all.cloned().collect()
    }

    /// Describes the changes in the file at this path.
    pub(crate) fn describe(&self, path: &str, old: &GateFileVersion, new: &GateFileVersion) -> Vec<String> {
        let has = |paths: &[String]| paths.iter().any(|known| known == path);
        if path.ends_with(RULES_FILE) || has(&self.linked_rules) {
            policy::describe_rules_file_changes(old, new)
        } else if has(&self.waivers) {
            policy::describe_waivers_file_changes(old, new)
        } else {
            policy::describe_config_file_changes(old, new, &settings::find_known_setting)
        }
    }

    fn add(&mut self, workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<(), GitError> {
        let repo = &workspace.repo;
        let way = |path: &str| Ok::<_, GitError>(policy::resolve_path(repo, snapshot, path)?.paths);
        if let Some(path) = &workspace.config_file {
            self.settings.extend(way(path)?);
        }
        self.waivers.extend(way(waivers::FILE_NAME)?);
        for path in workspace.linked_rules(snapshot)? {
            if !self.linked_rules.contains(&path) {
                self.linked_rules.push(path);
            }
        }
        Ok(())
    }
}

impl Workspace<'_> {
    /// Returns the paths of the gate configuration in any of these snapshots.
    pub(crate) fn gate_files<'s>(
        &self,
        snapshots: impl Iterator<Item = &'s Snapshot<'s>>,
    ) -> Result<GateFiles, GitError> {
        let mut files = GateFiles::default();
        for snapshot in snapshots {
            files.add(self, snapshot)?;
        }
        Ok(files)
    }

    /// Returns the paths on the way to a rules file behind a link: the file itself, the hidden directory or one below
    /// it. The platform reads commits and follows no links, so it ignores such a file; a change of it is still a change
    /// of the gate.
    pub(crate) fn linked_rules(&self, snapshot: &Snapshot<'_>) -> Result<Vec<String>, GitError> {
        let folders = match &self.named_folder {
            Some(name) => vec![name.clone()],
            None => hidden(snapshot)?,
        };
        let mut paths = Vec::new();
        for folder in folders {
            let way = policy::resolve_path(&self.repo, snapshot, &format!("{folder}/{RULES_FILE}"))?;
            if way.file.is_some() && way.paths.len() > 1 {
                paths.extend(way.paths);
            }
        }
        Ok(paths)
    }
}

/// Returns the hidden directories at the root, and the links that may lead to some.
pub(crate) fn hidden(snapshot: &Snapshot<'_>) -> Result<Vec<String>, GitError> {
    let is_hidden = |name: &String| name.starts_with('.');
    let folders = snapshot.list_root_folders()?.into_iter().filter(is_hidden);
    let links = snapshot.list_root_links()?.into_iter().filter(is_hidden);
    Ok(folders.chain(links.take(MOST_LINKS)).collect())
}
