//! Gives libgit2 the settings from the variables of git's environment, such as `GIT_CONFIG_GLOBAL`
//! (<https://git-scm.com/docs/git-config#ENVIRONMENT>), which libgit2 does not know.

use super::git_environment::passed_environment;
use super::stand_in::{create_temporary_directory, entry_value, write_settings};
use super::url_replacement::UrlReplacement;
use super::{GitError, Repository};
use git2::{Config, ConfigLevel};
use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

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

/// The variables that name other files with settings, or add settings.
#[derive(Default)]
struct ConfigVariables {
    /// The files that replace those that libgit2 finds, each with its level; `None` if no file replaces them.
    replaced_files: Vec<(ConfigLevel, Option<PathBuf>)>,
    /// The settings of numbered variables and of `git -c`, each with its name and value. They override all files.
    settings: Vec<(String, String)>,
}

/// The settings outside of the repository that libgit2 does not apply.
#[derive(Default)]
struct EnvironmentSettings {
    /// The values of `safe.directory`.
    safe_directories: Vec<String>,
    url_replacements: Vec<UrlReplacement>,
}

impl Repository {
    /// Replaces the settings outside of the repository that libgit2 has read, if variables add settings or name other
    /// files.
    pub(super) fn apply_environment_settings(&mut self) -> Result<(), GitError> {
        let variables = ConfigVariables::from_environment(passed_environment());
        if variables.replaced_files.is_empty() && variables.settings.is_empty() {
            return Ok(());
        }
        let config_error = GitError::library("read git's configuration");
        // This object is the one that libgit2 uses for the repository.
        let mut config = self.library.config().map_err(&config_error)?;
        // A file cannot contain another one, so this path never exists, and libgit2 accepts a missing file.
        let missing_file = self.library.path().join("HEAD").join("config");
        let replaces_level = true;
        for (level, file) in &variables.replaced_files {
            config
                .add_file(file.as_ref().unwrap_or(&missing_file), *level, replaces_level)
                .map_err(&config_error)?;
        }
        if let Some((folder, file)) = variables.write_file()? {
            config
                .add_file(&file, ConfigLevel::App, replaces_level)
                .map_err(&config_error)?;
            self.settings_dir = Some(folder);
        }
        let mut settings = EnvironmentSettings::default();
        settings.read_files(&config).map_err(&config_error)?;
        for (name, value) in &variables.settings {
            settings.add_setting(name, value);
        }
        if settings.is_safe_directory(self.root(), find_home().as_deref()) {
            self.program.set_safe();
        }
        self.url_replacements = settings.url_replacements;
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

impl ConfigVariables {
    /// Reads the variables that git reads. An empty path names no file.
    fn from_environment(environment: impl Iterator<Item = (OsString, OsString)>) -> Self {
        let values: HashMap<OsString, OsString> = environment.collect();
        let find_value = |name: &str| values.get(&OsString::from(name));
        let find_text = |name: &str| find_value(name)?.to_str();
        let mut variables = Self::default();
        let ignores_system =
            find_text("GIT_CONFIG_NOSYSTEM").is_some_and(|value| Config::parse_bool(value) == Ok(true));
        let system_path = find_value("GIT_CONFIG_SYSTEM").filter(|_| !ignores_system);
        if ignores_system || system_path.is_some() {
            variables.replace_file(ConfigLevel::ProgramData, None);
            variables.replace_file(ConfigLevel::System, system_path);
        }
        if let Some(path) = find_value("GIT_CONFIG_GLOBAL") {
            variables.replace_file(ConfigLevel::XDG, None);
            variables.replace_file(ConfigLevel::Global, Some(path));
        }
        let count = find_text("GIT_CONFIG_COUNT").and_then(|count| count.parse::<usize>().ok());
        // Each setting has variables of its own, so a larger count is wrong.
        for index in 0..count.unwrap_or_default().min(values.len()) {
            let name = find_text(&format!("GIT_CONFIG_KEY_{index}"));
            let value = find_text(&format!("GIT_CONFIG_VALUE_{index}"));
            if let (Some(name), Some(value)) = (name, value) {
                variables.settings.push((name.to_owned(), value.to_owned()));
            }
        }
        // The settings of `git -c` are the last, because they have precedence. One without a value is true: it is `'KEY'`
        // or, since git 2.31, `'KEY'=`.
        let parameters = find_text("GIT_CONFIG_PARAMETERS").unwrap_or_default();
        let words = shlex::split(parameters).unwrap_or_default();
        let bare_keys: Vec<&str> = parameters
            .split(' ')
            .filter_map(|word| word.strip_prefix('\'')?.strip_suffix("'="))
            .collect();
        for word in &words {
            let (name, value) = match word.split_once('=') {
                Some((name, "")) if bare_keys.contains(&name) => (name, "true"),
                Some((name, value)) => (name, value),
                None => (word.as_str(), "true"),
            };
            variables.settings.push((name.to_owned(), value.to_owned()));
        }
        variables
    }

    fn replace_file(&mut self, level: ConfigLevel, path: Option<&OsString>) {
        let file = path.filter(|path| !path.is_empty()).map(PathBuf::from);
        self.replaced_files.push((level, file));
    }

    /// Writes the settings that libgit2 uses to a file that it can read. Returns the file with its directory, which must
    /// exist as long as libgit2 may read the file again; `None` without such a setting.
    fn write_file(&self) -> Result<Option<(TempDir, PathBuf)>, GitError> {
        let mut used_settings = self.settings.clone();
        used_settings.retain(|(name, _)| USED_SETTINGS.contains(&name.to_ascii_lowercase().as_str()));
        if used_settings.is_empty() {
            return Ok(None);
        }
        let folder = create_temporary_directory("sluicegate-config-")?;
        let file = folder.path().join("config");
        write_settings(&used_settings, &file)?;
        Ok(Some((folder, file)))
    }
}

impl EnvironmentSettings {
    /// Reads the settings of the user and the system. Those of the repository cannot declare it safe.
    fn read_files(&mut self, config: &Config) -> Result<(), git2::Error> {
        config.entries(None)?.for_each(|entry| {
            if matches!(entry.level(), ConfigLevel::Local | ConfigLevel::Worktree) {
                return;
            }
            if let (Ok(name), Some(value)) = (entry.name(), entry_value(entry)) {
                self.add_setting(name, &value);
            }
        })
    }

    fn add_setting(&mut self, name: &str, value: &str) {
        if name.eq_ignore_ascii_case("safe.directory") {
            self.safe_directories.push(value.to_owned());
        } else if let Some(base) = parse_replacement_base(name) {
            self.url_replacements.push(UrlReplacement {
                prefix: value.to_owned(),
                base: base.to_owned(),
            });
        }
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

/// Returns the base of a setting `url.BASE.insteadOf`. Upper and lower case differ only in the base.
fn parse_replacement_base(name: &str) -> Option<&str> {
    let (section, name_in_section) = name.split_once('.')?;
    let (base, key) = name_in_section.rsplit_once('.')?;
    (section.eq_ignore_ascii_case("url") && key.eq_ignore_ascii_case("insteadof")).then_some(base)
}

/// Returns the user's home directory in the environment that git gets.
fn find_home() -> Option<PathBuf> {
    let (_, home) = passed_environment().find(|(name, _)| name == "HOME")?;
    Some(PathBuf::from(home))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(values: &[(&str, &str)]) -> ConfigVariables {
        let environment = values.iter().map(|(name, value)| (name.into(), value.into()));
        ConfigVariables::from_environment(environment)
    }

    #[test]
    fn settings_of_variables_are_read_like_git() {
        let settings = variables(&[
            ("GIT_CONFIG_COUNT", "3"),
            ("GIT_CONFIG_KEY_0", "Core.AutoCRLF"),
            ("GIT_CONFIG_VALUE_0", "true"),
            ("GIT_CONFIG_KEY_1", "core.eol"),
            ("GIT_CONFIG_KEY_2", "http.extraHeader"),
            ("GIT_CONFIG_VALUE_2", "secret"),
            ("GIT_CONFIG_KEY_3", "core.symlinks"),
            ("GIT_CONFIG_VALUE_3", "false"),
            (
                "GIT_CONFIG_PARAMETERS",
                r"'color.ui'='it'\''s' 'core.excludesFile=a b' 'core.safecrlf' 'core.filemode'= 'core.longpaths'=''",
            ),
        ])
        .settings;
        let pairs: Vec<(&str, &str)> = settings
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        let expected_pairs = [
            ("Core.AutoCRLF", "true"),
            ("http.extraHeader", "secret"),
            ("color.ui", "it's"),
            ("core.excludesFile", "a b"),
            ("core.safecrlf", "true"),
            ("core.filemode", "true"),
            ("core.longpaths", ""),
        ];
        assert_eq!(pairs, expected_pairs);
    }

    #[test]
    fn huge_or_unreadable_count_adds_no_setting() {
        for count in ["18446744073709551615", "-1", "x", ""] {
            assert!(variables(&[("GIT_CONFIG_COUNT", count)]).settings.is_empty());
        }
    }

    #[test]
    fn files_are_replaced_like_in_git() {
        let replaced_files = |values: &[(&str, &str)]| variables(values).replaced_files;
        let file = |path: &str| Some(PathBuf::from(path));
        let no_system_files = [(ConfigLevel::ProgramData, None), (ConfigLevel::System, None)];
        assert_eq!(replaced_files(&[]), []);
        assert_eq!(replaced_files(&[("GIT_CONFIG_NOSYSTEM", "0")]), []);
        assert_eq!(replaced_files(&[("GIT_CONFIG_NOSYSTEM", "1")]), no_system_files);
        let both_variables = [("GIT_CONFIG_NOSYSTEM", "true"), ("GIT_CONFIG_SYSTEM", "/s")];
        assert_eq!(replaced_files(&both_variables), no_system_files);
        let system_files = [
            (ConfigLevel::ProgramData, None),
            (ConfigLevel::System, file("/s")),
        ];
        assert_eq!(replaced_files(&[("GIT_CONFIG_SYSTEM", "/s")]), system_files);
        let global_files = [(ConfigLevel::XDG, None), (ConfigLevel::Global, file("/g"))];
        assert_eq!(replaced_files(&[("GIT_CONFIG_GLOBAL", "/g")]), global_files);
        let no_global_files = [(ConfigLevel::XDG, None), (ConfigLevel::Global, None)];
        assert_eq!(replaced_files(&[("GIT_CONFIG_GLOBAL", "")]), no_global_files);
    }

    #[test]
    fn replacements_of_urls_are_recognized_in_any_case() {
        let mut settings = EnvironmentSettings::default();
        for name in [
            "url.https://T@h/.insteadof",
            "URL.https://u@h/.insteadOf",
            "url.https://p@h/.pushInsteadOf",
            "http.insteadOf",
        ] {
            settings.add_setting(name, "gh:");
        }
        let bases: Vec<&str> = settings
            .url_replacements
            .iter()
            .map(|replacement| replacement.base.as_str())
            .collect();
        assert_eq!(bases, ["https://T@h/", "https://u@h/"]);
    }

    #[test]
    fn file_of_variables_contains_only_settings_that_are_used() {
        let settings = variables(&[(
            "GIT_CONFIG_PARAMETERS",
            "'core.eol'='lf' 'http.extraheader'='secret' 'url.https://t@h/.insteadof'='gh:'",
        )]);
        let (_folder, file) = settings.write_file().unwrap().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        assert!(
            text.contains("eol = lf") && !text.contains("secret") && !text.contains("t@h"),
            "{text}"
        );
        let secret_settings = variables(&[("GIT_CONFIG_PARAMETERS", "'http.extraheader'='secret'")]);
        assert!(secret_settings.write_file().unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn directory_with_settings_is_private() {
        use std::os::unix::fs::PermissionsExt as _;
        let settings = variables(&[("GIT_CONFIG_PARAMETERS", "'core.eol'='lf'")]);
        let (folder, _) = settings.write_file().unwrap().unwrap();
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
