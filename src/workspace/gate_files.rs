//! The paths of the gate configuration: the paths of the settings, waivers and rules, and of every symbolic link that
//! leads to them. A change to one of these files changes the gate.

use crate::job::policy::{
    self, ChangeDescription, Difference, DifferenceScope, GateFileVersion, UnknownEffects,
};
use crate::job::settings::{self, SettingSources};
use crate::workspace::{Workspace, find_config_dir_in};
use sluicegate_git::{GitError, Repository, Snapshot};
use sluicegate_pipelines::pipelines::{is_platform_file, is_rules_path, rules_path};
use sluicegate_pipelines::waivers;
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of hidden links at the root that are followed to find the rules file.
const MAX_LINKS: usize = 64;

/// Maximum size of a waivers file, in bytes.
pub(crate) const MAX_WAIVERS_BYTES: u64 = 16 * 1024 * 1024;

/// The paths of the gate configuration, relative to the repository root.
#[derive(Debug, Default)]
pub(crate) struct GateFiles {
    /// The kinds of the files that each path leads to: a link may lead to several. Rules files are only those whose path
    /// contains a link, and those that a version of the settings selects; others are recognized by their name.
    kinds: BTreeMap<String, BTreeSet<GateFileKind>>,
    /// The paths from which links are followed, without the links on the way.
    sources: BTreeSet<String>,
}

/// The kind of a gate configuration file. A path of several kinds is compared as the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GateFileKind {
    /// The platform's rules.
    Rules,
    Waivers,
    TeamRules,
    Settings,
}

/// The paths of the rules files by the settings of one version of the repository.
#[derive(Debug, Default)]
pub(crate) struct RulesPaths {
    platform: Option<String>,
    pub(crate) team: Option<String>,
}

/// A rules file to which a change moves the gate by its settings. The settings can turn the team's rules on or off.
#[derive(PartialEq, Eq)]
pub(crate) enum MovedRulesFile {
    Moved { old_path: String, new_path: String },
    TurnedOn { new_path: String },
    TurnedOff { old_path: String },
}

impl MovedRulesFile {
    /// Returns the move between the paths that two versions of the settings select; `None` if they are equal.
    fn find_move(old_path: Option<String>, new_path: Option<String>) -> Option<Self> {
        match (old_path, new_path) {
            (Some(old_path), Some(new_path)) => {
                (old_path != new_path).then_some(Self::Moved { old_path, new_path })
            }
            (None, Some(new_path)) => Some(Self::TurnedOn { new_path }),
            (Some(old_path), None) => Some(Self::TurnedOff { old_path }),
            (None, None) => None,
        }
    }

    pub(crate) fn old_path(&self) -> Option<&str> {
        match self {
            Self::Moved { old_path, .. } | Self::TurnedOff { old_path } => Some(old_path),
            Self::TurnedOn { .. } => None,
        }
    }

    pub(crate) fn new_path(&self) -> Option<&str> {
        match self {
            Self::Moved { new_path, .. } | Self::TurnedOn { new_path } => Some(new_path),
            Self::TurnedOff { .. } => None,
        }
    }

    /// Returns the path to report the change at: the new one or, if the rules were turned off, the old one.
    pub(crate) fn reported_path(&self) -> &str {
        match self {
            Self::Moved { new_path, .. } | Self::TurnedOn { new_path } => new_path,
            Self::TurnedOff { old_path } => old_path,
        }
    }
}

impl GateFiles {
    /// Returns the paths of the gate configuration, except rules files that are recognized by their name.
    pub(crate) fn paths(&self) -> Vec<String> {
        self.kinds.keys().cloned().collect()
    }

    /// Returns the paths from which links are followed.
    pub(crate) fn sources(&self) -> impl Iterator<Item = &str> {
        self.sources.iter().map(String::as_str)
    }

    /// Describes how the file at this path changed, for people.
    pub(crate) fn describe_changes(
        &self,
        path: &str,
        old: &GateFileVersion,
        new: &GateFileVersion,
    ) -> ChangeDescription {
        ChangeDescription::from_differences(self.compare_gate_files(path, old, new, DifferenceScope::Short))
    }

    /// Lists the differences by which the new version of the file at this path is stricter, if only in one respect.
    pub(crate) fn list_stricter_differences(
        &self,
        path: &str,
        old: &GateFileVersion,
        new: &GateFileVersion,
        unknown_effects: UnknownEffects,
    ) -> Vec<Difference> {
        let mut differences = self.compare_gate_files(path, old, new, DifferenceScope::Complete);
        differences.retain(|difference| difference.is_stricter(unknown_effects));
        differences
    }

    /// Compares two versions of the file at this path.
    fn compare_gate_files(
        &self,
        path: &str,
        old: &GateFileVersion,
        new: &GateFileVersion,
        scope: DifferenceScope,
    ) -> Vec<Difference> {
        match self.kind_of(path) {
            Some(GateFileKind::Rules) => policy::compare_rules_files(old, new),
            Some(GateFileKind::Waivers) => policy::compare_waivers_files(old, new, scope),
            Some(GateFileKind::TeamRules) => policy::compare_team_rules_files(old, new),
            Some(GateFileKind::Settings) | None => {
                policy::compare_config_files(old, new, &settings::find_known_setting)
            }
        }
    }

    /// Returns the first kind of the file at this path, or `None` if the path is not one of the gate configuration.
    fn kind_of(&self, path: &str) -> Option<GateFileKind> {
        if is_platform_file(path) {
            return Some(GateFileKind::Rules);
        }
        self.kinds.get(path)?.first().copied()
    }

    /// Returns whether the path leads to a file of this kind.
    fn has_kind(&self, path: &str, kind: GateFileKind) -> bool {
        self.kinds.get(path).is_some_and(|kinds| kinds.contains(&kind))
    }

    /// Returns whether the file may be a link. The platform reads the other files, and follows no links.
    pub(crate) fn may_be_link(&self, path: &str) -> bool {
        let mut kinds = self.kinds.get(path).into_iter().flatten();
        kinds.any(|kind| *kind != GateFileKind::Rules)
    }

    /// Returns whether the path is that of the configuration file, or of a link to it.
    pub(crate) fn is_settings(&self, path: &str) -> bool {
        self.has_kind(path, GateFileKind::Settings)
    }

    /// Returns whether the path is that of the team's rules file, or of a link to it.
    pub(crate) fn is_team_rules(&self, path: &str) -> bool {
        self.has_kind(path, GateFileKind::TeamRules)
    }

    /// Adds the paths of the gate configuration in this snapshot, and of the symbolic links that lead to its files. The
    /// snapshot's own settings may select other rules files than the policy does.
    fn add_gate_paths(&mut self, workspace: &Workspace<'_>, snapshot: &Snapshot<'_>) -> Result<(), GitError> {
        let repo = &workspace.repo;
        if let Some(path) = &workspace.config_file {
            self.add_source(repo, snapshot, path, GateFileKind::Settings)?;
        }
        self.add_source(repo, snapshot, waivers::FILE_NAME, GateFileKind::Waivers)?;
        let rules_paths = workspace.find_rules_paths(snapshot)?;
        let team_rules_paths = [&workspace.team_rules_path, &rules_paths.team];
        for path in team_rules_paths.into_iter().flatten() {
            self.add_source(repo, snapshot, path, GateFileKind::TeamRules)?;
        }
        let linked_rules = workspace.find_linked_rules(snapshot)?;
        self.sources
            .extend(linked_rules.iter().filter(|path| is_rules_path(path)).cloned());
        for path in linked_rules.into_iter().chain(rules_paths.platform) {
            self.kinds.entry(path).or_default().insert(GateFileKind::Rules);
        }
        Ok(())
    }

    /// Adds a path from which links are followed, with the links on the way.
    fn add_source(
        &mut self,
        repo: &Repository,
        snapshot: &Snapshot<'_>,
        path: &str,
        kind: GateFileKind,
    ) -> Result<(), GitError> {
        self.sources.insert(path.to_owned());
        for path in policy::follow_links(repo, snapshot, path)?.paths {
            self.kinds.entry(path).or_default().insert(kind);
        }
        Ok(())
    }
}

impl Workspace<'_> {
    /// Returns the paths of the gate configuration in all these snapshots together, because a change may move or delete
    /// a file.
    pub(crate) fn find_gate_files<'s>(
        &self,
        snapshots: impl Iterator<Item = &'s Snapshot<'s>>,
    ) -> Result<GateFiles, GitError> {
        let mut files = GateFiles::default();
        for snapshot in snapshots {
            files.add_gate_paths(self, snapshot)?;
        }
        Ok(files)
    }

    /// Returns the paths of the rules files by the settings of this snapshot. The job's settings have precedence, and
    /// those of the policy are used if the snapshot's configuration file is unknown or cannot be used.
    pub(crate) fn find_rules_paths(&self, snapshot: &Snapshot<'_>) -> Result<RulesPaths, GitError> {
        let sources = self.read_sources_at(&self.repo, snapshot)?;
        let team = match &sources {
            Some(sources) if !self.has_team_rules_of_job => {
                let path = sources.find_policy_team_rules_path(self.config_file.as_deref());
                path.ok().flatten()
            }
            _ => self.team_rules_path.clone(),
        };
        let config_dir = self.select_config_dir(sources.as_ref(), snapshot)?;
        Ok(RulesPaths {
            platform: config_dir.map(|config_dir| rules_path(&config_dir)),
            team,
        })
    }

    /// Returns the hidden directory by the settings of this snapshot, as [`Self::find_rules_paths`] does. If the
    /// snapshot is that of a change, this directory applies after the merge.
    pub(crate) fn find_own_config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, GitError> {
        let sources = self.read_sources_at(&self.repo, snapshot)?;
        self.select_config_dir(sources.as_ref(), snapshot)
    }

    /// Returns the hidden directory that the job or these settings name, otherwise the only one of the snapshot.
    fn select_config_dir(
        &self,
        sources: Option<&SettingSources<'_>>,
        snapshot: &Snapshot<'_>,
    ) -> Result<Option<String>, GitError> {
        let named_config_dir = match sources {
            Some(sources) if !self.has_config_dir_of_job => sources.find_policy_config_dir(),
            _ => self.named_config_dir.clone(),
        };
        match named_config_dir {
            Some(name) => Ok(Some(name)),
            None => Ok(find_config_dir_in(snapshot)?.ok().flatten()),
        }
    }

    /// Returns whether one of the files that `--policy` selects differs between the two snapshots.
    pub(crate) fn has_other_settings(&self, policy: &Snapshot<'_>, snapshot: &Snapshot<'_>) -> bool {
        self.find_other_gate_file(self.config_file.as_deref(), Some(policy), snapshot)
            .is_some()
    }

    /// Returns the path of the first file that `--policy` selects and that differs between the two snapshots. A run
    /// that uses no gate configuration has no `policy`. `config_file` is the configuration file, if the repository has
    /// it.
    pub(super) fn find_other_gate_file<'p>(
        &'p self,
        config_file: Option<&'p str>,
        policy: Option<&Snapshot<'_>>,
        snapshot: &Snapshot<'_>,
    ) -> Option<&'p str> {
        let paths = [
            config_file,
            Some(waivers::FILE_NAME),
            self.team_rules_path.as_deref(),
        ];
        paths.into_iter().flatten().find(|path| {
            let policy_version = policy.map_or(GateFileVersion::Missing, |policy| {
                self.read_linked_gate_file(policy, path)
            });
            policy_version != self.read_linked_gate_file(snapshot, path)
        })
    }

    /// Returns the rules files that the settings of `snapshot` select in place of those of `base`. Without a hidden
    /// directory, the path of the platform's rules is unknown, so these rules are not moved.
    pub(crate) fn find_moved_rules(
        &self,
        base: &Snapshot<'_>,
        snapshot: &Snapshot<'_>,
    ) -> Result<Vec<MovedRulesFile>, GitError> {
        let (old, new) = (self.find_rules_paths(base)?, self.find_rules_paths(snapshot)?);
        let platform_file = MovedRulesFile::find_move(old.platform, new.platform)
            .filter(|moved_file| matches!(moved_file, MovedRulesFile::Moved { .. }));
        let team_file = MovedRulesFile::find_move(old.team, new.team);
        Ok(platform_file.into_iter().chain(team_file).collect())
    }

    /// Returns the paths that lead to a rules file behind a symbolic link: the links, and the file. The platform does
    /// not follow links, so it ignores such a file. Callers tell the user that the file is behind a link, and report
    /// changes to these paths as changes to the gate configuration.
    pub(crate) fn find_linked_rules(&self, snapshot: &Snapshot<'_>) -> Result<Vec<String>, GitError> {
        let config_dirs = match &self.named_config_dir {
            Some(name) => vec![name.clone()],
            None => list_hidden_root_entries(snapshot)?,
        };
        let mut paths = Vec::new();
        for config_dir in config_dirs {
            let resolved_path = policy::follow_links(&self.repo, snapshot, &rules_path(&config_dir))?;
            if resolved_path.file.is_some() && resolved_path.paths.len() > 1 {
                paths.extend(resolved_path.paths);
            }
        }
        Ok(paths)
    }
}

/// Returns the hidden directories at the root, and up to [`MAX_LINKS`] hidden links, which may lead to directories.
pub(crate) fn list_hidden_root_entries(snapshot: &Snapshot<'_>) -> Result<Vec<String>, GitError> {
    let mut entries = snapshot.list_hidden_root_folders()?;
    let hidden_links = snapshot
        .list_root_links()?
        .into_iter()
        .filter(|name| name.starts_with('.'))
        .take(MAX_LINKS);
    entries.extend(hidden_links);
    Ok(entries)
}
