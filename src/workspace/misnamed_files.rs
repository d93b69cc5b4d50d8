//! Detects misnamed and misplaced gate files, so that a typo or a directory does not silently drop the gate's settings.

use super::Workspace;
use crate::job::settings;
use crate::session::Session;
use sluicegate_base::text::{format_path, quote_shell_word};
use sluicegate_git::Repository;
use sluicegate_pipelines::pipelines::{CONFIG_FILE, TEAM_RULES_FILE, WAIVERS_FILE};

/// A configuration file that is not read, because it is neither at the root of the repository nor named by the job.
pub(crate) struct UnreadConfigFile {
    /// States that the file at its path in the repository is not read.
    pub(crate) fact: String,
    /// The instruction to pass its path from the current directory.
    pub(crate) hint: String,
}

impl Session {
    /// Warns of a configuration file that is not read, see [`Session::find_unread_config_file`].
    pub(crate) fn warn_of_unread_config_file(&self, repo: &Repository) {
        if let Some(file) = self.find_unread_config_file(repo) {
            self.ui.warn_with_hint(&file.fact, &file.hint);
        }
    }

    /// Returns the configuration file in the current directory, or in the nearest one between it and the root, if the
    /// job does not name a file. Returns `None` in the root and outside of the repository.
    pub(crate) fn find_unread_config_file(&self, repo: &Repository) -> Option<UnreadConfigFile> {
        if settings::requested_config_file(&self.global, &self.env).is_some() {
            return None;
        }
        let root = repo.root().canonicalize().ok()?;
        let current_dir = self.env.current_dir().canonicalize().ok()?;
        let mut directory = current_dir.as_path();
        let mut typed_path = CONFIG_FILE.to_owned();
        while directory != root {
            let path = directory.join(CONFIG_FILE);
            if path.is_file() {
                return Some(UnreadConfigFile {
                    fact: format!("{} is not read", format_path(path.strip_prefix(&root).ok()?)),
                    hint: format!("pass --config {} to use it", quote_shell_word(&typed_path)),
                });
            }
            typed_path.insert_str(0, "../");
            directory = directory.parent()?;
        }
        None
    }
}

impl Workspace<'_> {
    /// Warns of files at the root that are named almost like a gate file, because such files are ignored.
    pub(super) fn warn_of_misnamed_files(&self, session: &Session) {
        for name in [CONFIG_FILE, WAIVERS_FILE, TEAM_RULES_FILE] {
            for misnamed_file in self.list_misnamed_files(name) {
                session
                    .ui
                    .warn(&format!("{misnamed_file} is ignored: rename it to {name}"));
            }
        }
    }

    /// Returns the files at the root that are named almost like this gate file, except those that the run reads.
    pub(crate) fn list_misnamed_files(&self, name: &str) -> Vec<String> {
        let short_name = name.replace(".yaml", ".yml");
        let mut misnamed_files = Vec::new();
        for misnamed_file in [format!(".{name}"), format!(".{short_name}"), short_name] {
            let is_read = [&self.config_file, &self.team_rules_path]
                .into_iter()
                .any(|path| path.as_ref() == Some(&misnamed_file));
            if !is_read && self.repo.root().join(&misnamed_file).is_file() {
                misnamed_files.push(misnamed_file);
            }
        }
        misnamed_files
    }
}
