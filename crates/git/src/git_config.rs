//! Reads and writes the git configuration of this clone.

use super::{GitError, Repository};
use git2::{Config, ErrorCode};

impl Repository {
    /// Returns the value of a setting in this clone's own configuration.
    pub fn read_local_setting(&self, name: &str) -> Result<Option<String>, GitError> {
        match self.open_local_config()?.get_string(name) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(GitError::library("read git's configuration")(error)),
        }
    }

    /// Writes a setting to this clone's own configuration, not to that of the user.
    pub fn set_local_setting(&self, name: &str, value: &str) -> Result<(), GitError> {
        self.open_local_config()?
            .set_str(name, value)
            .map_err(GitError::library("write git's configuration"))
    }

    /// Returns whether git's configuration allows a colored diff: `color.diff`, otherwise `color.ui`. Without either
    /// setting, color is allowed.
    pub fn allows_color(&self) -> bool {
        let Ok(config) = self.library.config() else {
            return true;
        };
        let value = config
            .get_string("color.diff")
            .or_else(|_| config.get_string("color.ui"));
        value.map_or(true, |value| {
            !matches!(
                value.to_lowercase().as_str(),
                "false" | "never" | "no" | "off" | "0"
            )
        })
    }

    /// Returns whether `core.autocrlf`, of this clone or of the user, makes git convert the line endings of all text
    /// files. The setting `core.eol` applies only to files with an attribute.
    pub(super) fn has_line_ending_conversion(&self) -> bool {
        let Ok(config) = self.library.config() else {
            return false;
        };
        // The value `input` is not a boolean.
        config
            .get_bool("core.autocrlf")
            .unwrap_or_else(|error| error.code() != ErrorCode::NotFound)
    }

    /// Opens the configuration file of this clone, without the settings of the user.
    fn open_local_config(&self) -> Result<Config, GitError> {
        Config::open(&self.common_dir.join("config")).map_err(GitError::library("read git's configuration"))
    }
}
