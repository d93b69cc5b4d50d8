//! Files that somebody took for the gate's own: a slip in a name must not leave a gate without its settings in silence.

use super::workspace::Workspace;
use crate::commands::Run;
use crate::job::settings;
use crate::model::waivers;

impl Workspace<'_> {
    /// Warns of files at the root that differ from the gate's own by their ending alone, which nobody reads.
    pub(super) fn warn_of_misnamed(&self, run: &Run) {
        for name in [settings::FILE_NAME, waivers::FILE_NAME] {
            let other = name.replace(".yaml", ".yml");
            let is_read = self.config_file.as_deref() == Some(&*other);
            if !is_read && self.repo.root().join(&other).is_file() {
                run.ui
                    .warn(&format!("{other} is not read: the file is called {name}"));
            }
        }
    }
}
