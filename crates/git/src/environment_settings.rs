//! Gives libgit2 the settings from the variables of git's environment, such as `GIT_CONFIG_GLOBAL`
//! (<https://git-scm.com/docs/git-config#ENVIRONMENT>). libgit2 does not know these variables, so the git program lists
//! the settings.

use super::git_environment::passed_environment;
use super::stand_in::{create_temporary_directory, write_settings};
use super::url_replacement::UrlReplacement;
use super::{GitError, Repository};
use git2::ConfigLevel;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// The variables that add settings, or name other files with settings.
const CONFIG_VARIABLES: [&str; 5] = [
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_NOSYSTEM",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CONFIG_SYSTEM",
];

/// The levels of settings outside of the repository.
const REPLACED_LEVELS: [ConfigLevel; 5] = [
    ConfigLevel::ProgramData,
    ConfigLevel::System,
    ConfigLevel::XDG,
    ConfigLevel::Global,
    ConfigLevel::App,
];

/// The settings that libgit2 uses here. None of them can contain a token.
const USED_SETTINGS: [&str; 14] = [
    "color.diff",
    "color.ui",
    "core.attributesfile",
    "core.autocrlf",
    "core.eol",
    "core.excludesfile",
    "core.filemode",
    "core.ignorecase",
    "core.longpaths",
    "core.precomposeunicode",
    "core.protecthfs",
    "core.protectntfs",
    "core.safecrlf",
    "core.symlinks",
];

/// The settings outside of the repository, each with its name and value.
#[derive(Default)]
struct EnvironmentSettings {
    /// The settings of the user and the system, which those of the repository override.
    user: Vec<(String, String)>,
    /// The settings of variables and of `git -c`, which override those of the repository.
    command: Vec<(String, String)>,
    /// The values of `safe.directory`.
    safe_directories: Vec<String>,
    url_replacements: Vec<UrlReplacement>,
}

impl Repository {
    /// Replaces the settings outside of the repository that libgit2 has read with those that the git program finds, if
    /// a variable may change them. Keeps those of libgit2 if the git program is missing or fails, or if no temporary
    /// file can be written.
    pub(super) fn apply_environment_settings(&mut self) -> Result<(), GitError> {
        if !has_config_variable() {
            return Ok(());
        }
        let Ok(list) = self.program.list_settings(self.root()) else {
            return Ok(());
        };
        let settings = EnvironmentSettings::parse(&list);
        let Ok(folder) = settings.write_files() else {
            return Ok(());
        };
        self.replace_library_settings(folder.path())?;
        if settings.is_safe_directory(self.root(), find_home().as_deref()) {
            self.program.set_safe();
        }
        self.settings_dir = Some(folder);
        self.url_replacements = settings.url_replacements;
        Ok(())
    }

    /// Replaces the settings outside of the repository that libgit2 has read with those in the files of this directory.
    fn replace_library_settings(&self, folder: &Path) -> Result<(), GitError> {
        let config_error = GitError::library("replace git's configuration");
        // This object is the one that libgit2 uses for the repository.
        let mut config = self.library.config().map_err(&config_error)?;
        let replaces_level = true;
        for level in REPLACED_LEVELS {
            config
                .add_file(&folder.join(format!("{level:?}")), level, replaces_level)
                .map_err(&config_error)?;
        }
        Ok(())
    }

    /// Returns the URL that replaces this one, by the longest matching prefix; `None` if the settings of git's
    /// environment do not replace it.
    pub(super) fn replace_url(&self, url: &str) -> Option<String> {
        let (replacement, path) = self
            .url_replacements
            .iter()
            .filter_map(|replacement| Some((replacement, url.strip_prefix(&replacement.prefix)?)))
            .min_by_key(|(_, path)| path.len())?;
        Some(format!("{}{path}", replacement.base))
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
            } else if USED_SETTINGS.contains(&name) {
                level_settings.push((name.to_owned(), value.to_owned()));
            } else if let Some(base) = parse_replacement_base(name) {
                settings.url_replacements.push(UrlReplacement {
                    prefix: value.to_owned(),
                    base: base.to_owned(),
                });
            }
        }
        settings
    }

    /// Writes the settings of each level to a file that libgit2 can read. Returns the directory of the files, which
    /// must exist as long as libgit2 may read them again.
    fn write_files(&self) -> Result<TempDir, GitError> {
        let folder = create_temporary_directory("sluicegate-config-")?;
        for level in REPLACED_LEVELS {
            let level_settings: &[(String, String)] = match level {
                ConfigLevel::Global => &self.user,
                ConfigLevel::App => &self.command,
                _ => &[],
            };
            let path = folder.path().join(format!("{level:?}"));
            std::fs::write(&path, "").map_err(|source| GitError::TemporaryFile { source })?;
            write_settings(level_settings, &path)?;
        }
        Ok(folder)
    }

    /// Returns whether a setting declares the directory safe, although it belongs to another user. An empty value
    /// revokes the values before it (<https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory>).
    fn is_safe_directory(&self, root: &Path, home: Option<&Path>) -> bool {
        let mut is_safe = false;
        for value in &self.safe_directories {
            is_safe = !value.is_empty() && (is_safe || matches_safe_directory(value, root, home));
        }
        is_safe
    }
}

/// Returns whether a value of `safe.directory` is about this directory: `*`, its path, or `PATH/*` for all directories
/// below a path. A path may begin with `~/`.
fn matches_safe_directory(value: &str, root: &Path, home: Option<&Path>) -> bool {
    if value == "*" {
        return true;
    }
    let (path, includes_directories_below) = match value.strip_suffix("/*") {
        Some(parent) => (format!("{parent}/"), true),
        None => (value.to_owned(), false),
    };
    let path = match path.strip_prefix("~/") {
        Some(path_at_home) => match home {
            Some(home) => home.join(path_at_home),
            None => return false,
        },
        None => PathBuf::from(path),
    };
    let path = path.canonicalize().unwrap_or(path);
    if includes_directories_below {
        path.is_absolute() && root.starts_with(&path) && root != path
    } else {
        root == path
    }
}

/// Returns the base of a setting `url.BASE.insteadOf`, whose name git lists in lowercase except for the base.
fn parse_replacement_base(name: &str) -> Option<&str> {
    name.strip_prefix("url.")?.strip_suffix(".insteadof")
}

/// Returns the user's home directory in the environment that git gets.
fn find_home() -> Option<PathBuf> {
    let (_, home) = passed_environment().find(|(name, _)| name == "HOME")?;
    Some(PathBuf::from(home))
}

/// Returns whether a variable is set that adds settings, or that names other files with settings.
fn has_config_variable() -> bool {
    passed_environment().any(|(name, _)| CONFIG_VARIABLES.iter().any(|variable| name == *variable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_used_settings_outside_of_the_repository_are_kept() {
        let list = "global\0core.autocrlf\0global\0core.excludesfile\na\nb\0local\0core.eol\nlf\0\
                    command\0color.ui\nfalse\0command\0core.hookspath\n/dev/null\0\
                    global\0remote.o.url\nhttps://u:secret@h/\0global\0url.https://t@h/.insteadof\ngh:\0\
                    global\0url.https://p@h/.pushinsteadof\np:\0global\0http.extraheader\nsecret\0";
        let settings = EnvironmentSettings::parse(list);
        let to_pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let user_settings = [
            to_pair("core.autocrlf", "true"),
            to_pair("core.excludesfile", "a\nb"),
        ];
        assert_eq!(settings.user, user_settings);
        assert_eq!(settings.command, [to_pair("color.ui", "false")]);
        let prefixes: Vec<&str> = settings
            .url_replacements
            .iter()
            .map(|replacement| replacement.prefix.as_str())
            .collect();
        assert_eq!(prefixes, ["gh:"]);
    }

    #[cfg(unix)]
    #[test]
    fn directory_with_settings_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = EnvironmentSettings::default().write_files().unwrap();
        let mode = folder.path().metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
    }

    #[test]
    fn safe_directory_matches_as_in_git() {
        let is_safe = |values: &[&str]| {
            let settings = EnvironmentSettings {
                safe_directories: values.iter().map(|value| (*value).to_owned()).collect(),
                ..EnvironmentSettings::default()
            };
            settings.is_safe_directory(Path::new("/missing/a/b"), Some(Path::new("/missing")))
        };
        for values in [
            &["*"][..],
            &["/missing/a/b"],
            &["/missing/a/b/"],
            &["/missing/a/*"],
            &["/missing/*"],
            &["/*"],
            &["~/a/b"],
            &["~/*"],
            &["/missing/a/b", "/other"],
            &["", "/missing/a/b"],
        ] {
            assert!(is_safe(values), "{values:?}");
        }
        for values in [
            &[][..],
            &["/missing/a"],
            &["/missing/a/b/*"],
            &["/missing/a/bc"],
            &["missing/a/b"],
            &["/miss/*"],
            &["~/b"],
            &["*", ""],
            &["/missing/a/b", "", "/other"],
        ] {
            assert!(!is_safe(values), "{values:?}");
        }
    }
}
