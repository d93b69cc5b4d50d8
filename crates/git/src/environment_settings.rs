//! Gives libgit2 the settings from the variables of git's environment, such as `GIT_CONFIG_GLOBAL`
//! (<https://git-scm.com/docs/git-config#ENVIRONMENT>). libgit2 does not know these variables, so the git program lists
//! the settings.

use super::git_environment::passed_environment;
use super::stand_in::write_settings;
use super::{GitError, Repository};
use git2::ConfigLevel;
use std::path::Path;
use tempfile::TempDir;

/// The variables that add settings, or name other files with settings.
const CONFIG_VARIABLES: [&str; 5] = [
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
];

/// The sections with settings that the program or libgit2 uses.
const USED_SECTIONS: [&str; 5] = ["branch.", "color.", "core.", "remote.", "url."];

/// The settings outside of the repository, each with its name and value.
#[derive(Default)]
struct EnvironmentSettings {
    /// The settings of the user and the system, which those of the repository override.
    user: Vec<(String, String)>,
    /// The settings of variables and of `git -c`, which override those of the repository.
    command: Vec<(String, String)>,
    /// The values of `safe.directory`.
    safe_directories: Vec<String>,
}

impl Repository {
    /// Replaces the settings outside of the repository that libgit2 has read with those that the git program finds, if
    /// a variable may change them. Keeps those of libgit2 if the git program is missing or fails, or if no temporary
    /// file can be written.
    pub(super) fn apply_environment_settings(&mut self) {
        if !has_config_variable() {
            return;
        }
        let Ok(list) = self.program.list_settings(self.root()) else {
            return;
        };
        let settings = EnvironmentSettings::parse(&list);
        if settings.is_safe_directory(self.root()) {
            self.program.set_safe();
        }
        self.settings_dir = self.replace_library_settings(&settings).ok();
    }

    /// Replaces the settings outside of the repository that libgit2 has read. Returns the directory with the new
    /// files, which libgit2 may read again.
    fn replace_library_settings(&self, settings: &EnvironmentSettings) -> Result<TempDir, GitError> {
        let folder = tempfile::Builder::new()
            .prefix("sluicegate-config-")
            .tempdir()
            .map_err(|source| GitError::TemporaryDirectory { source })?;
        let no_settings = Vec::new();
        let levels = [
            (ConfigLevel::ProgramData, &no_settings),
            (ConfigLevel::System, &no_settings),
            (ConfigLevel::XDG, &no_settings),
            (ConfigLevel::Global, &settings.user),
            (ConfigLevel::App, &settings.command),
        ];
        for (level, level_settings) in levels {
            let path = folder.path().join(format!("{level:?}"));
            std::fs::write(&path, "").map_err(|source| GitError::TemporaryDirectory { source })?;
            write_settings(level_settings, &path)?;
        }
        let config_error = GitError::library("replace git's configuration");
        // This object is the one that libgit2 uses for the repository.
        let mut config = self.library.config().map_err(&config_error)?;
        let replaces_level = true;
        for (level, _) in levels {
            let path = folder.path().join(format!("{level:?}"));
            config
                .add_file(&path, level, replaces_level)
                .map_err(&config_error)?;
        }
        Ok(folder)
    }
}

impl EnvironmentSettings {
    /// Parses the output of [`GitProgram::list_settings`](super::git_program::GitProgram::list_settings): for each
    /// setting its scope, and its name and value in two lines. A setting without a value is true.
    fn parse(list: &str) -> Self {
        let fields: Vec<&str> = list.split('\0').collect();
        let mut settings = Self::default();
        for field_pair in fields.chunks_exact(2) {
            let (name, value) = field_pair[1].split_once('\n').unwrap_or((field_pair[1], "true"));
            let level_settings = match field_pair[0] {
                "system" | "global" => &mut settings.user,
                "command" => &mut settings.command,
                _ => continue,
            };
            if name == "safe.directory" {
                settings.safe_directories.push(value.to_owned());
            } else if USED_SECTIONS.iter().any(|section| name.starts_with(section)) {
                level_settings.push((name.to_owned(), value.to_owned()));
            }
        }
        settings
    }

    /// Returns whether a setting declares the directory safe, although it belongs to another user. An empty value
    /// revokes the values before it (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory>).
    fn is_safe_directory(&self, root: &Path) -> bool {
        let mut is_safe = false;
        for value in &self.safe_directories {
            is_safe = !value.is_empty() && (is_safe || value == "*" || Path::new(value) == root);
        }
        is_safe
    }
}

/// Returns whether a variable is set that adds settings, or that names other files with settings.
fn has_config_variable() -> bool {
    passed_environment().any(|(name, _)| CONFIG_VARIABLES.iter().any(|variable| name == *variable))
}
