//! Reads and writes the git configuration of this clone.

use super::{GitError, Repository};
use git2::{Config, ErrorCode};

impl Repository {
    /// Returns the value of a setting in this clone's own configuration.
    pub fn local_setting(&self, name: &str) -> Result<Option<String>, GitError> {
        match self.local_configuration()?.get_string(name) {
            Ok(value) => Ok(Some(value)),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(GitError::library("read git's configuration")(error)),
        }
    }

    pub fn set_local_setting(&self, name: &str, value: &str) -> Result<(), GitError> {
        let written = self.local_configuration()?.set_str(name, value);
        written.map_err(GitError::library("write git's configuration"))
    }

    /// Returns whether git's configuration allows a colored diff: `color.diff`, otherwise `color.ui`, of this clone
    /// or of the user.
    pub fn wants_color(&self) -> bool {
        let open = [self.local_configuration().ok(), Config::open_default().ok()];
        let value = |name| open.iter().flatten().find_map(|open| open.get_string(name).ok());
        let value = value("color.diff").or_else(|| value("color.ui"));
        !value.is_some_and(|value| {
            matches!(
                value.to_lowercase().as_str(),
                "false" | "never" | "no" | "off" | "0"
            )
        })
    }

    fn local_configuration(&self) -> Result<Config, GitError> {
        Config::open(&self.configuration).map_err(GitError::library("read git's configuration"))
    }
}
