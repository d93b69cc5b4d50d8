//! Detects misnamed gate files, so that a typo in a name does not silently drop the gate's settings.

use super::Workspace;
use crate::job::settings;
use crate::session::Session;
use sluicegate_pipelines::team_rules::TEAM_RULES_FILE;
use sluicegate_pipelines::waivers;

impl Workspace<'_> {
    /// Warns of files at the root that are named almost like a gate file, because such files are ignored.
    pub(super) fn warn_of_misnamed_files(&self, session: &Session) {
        for name in [settings::FILE_NAME, waivers::FILE_NAME, TEAM_RULES_FILE] {
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
