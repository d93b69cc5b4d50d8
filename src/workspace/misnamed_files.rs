//! Detects misnamed gate files, so that a typo in a name does not silently drop the gate's settings.

use super::Workspace;
use crate::job::settings;
use crate::session::Run;
use sluicegate_pipelines::team_rules::TEAM_RULES_FILE;
use sluicegate_pipelines::waivers;

impl Workspace<'_> {
    /// Warns of files at the root that are named almost like a gate file, because such files are ignored.
    pub(super) fn warn_of_misnamed_files(&self, run: &Run) {
        for name in [settings::FILE_NAME, waivers::FILE_NAME, TEAM_RULES_FILE] {
            let short_name = name.replace(".yaml", ".yml");
            for misnamed_file in [format!(".{name}"), format!(".{short_name}"), short_name] {
                let is_read = [&self.config_file, &self.team_rules_path]
                    .into_iter()
                    .any(|path| path.as_ref() == Some(&misnamed_file));
                if !is_read && self.repo.root().join(&misnamed_file).is_file() {
                    run.ui
                        .warn(&format!("{misnamed_file} is ignored: rename it to {name}"));
                }
            }
        }
    }
}
