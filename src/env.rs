//! The process environment, read once at the start.
//!
//! Everything after [`Env::capture`] works on this copy, so a test can imitate any CI host and tests run in
//! parallel. The program's own variables are listed in the table of `settings`, those of a CI host in its file under
//! `ci/`.

use secrecy::SecretString;
use sluicegate_base::input;
use sluicegate_base::text::format_path;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Turns color off if it is set to any value, see <https://no-color.org>.
pub const NO_COLOR: &str = "NO_COLOR";

/// Turns color on, even without a terminal, see <https://force-color.org> and <https://bixense.com/clicolors>.
pub const FORCE_COLOR: [&str; 2] = ["FORCE_COLOR", "CLICOLOR_FORCE"];

/// Turns color off if it is `0`, see <https://bixense.com/clicolors>.
pub const CLICOLOR: &str = "CLICOLOR";

/// The type of the terminal. The value `dumb` turns colors off.
pub const TERM: &str = "TERM";

/// Path of the index that git passes to its hooks if it is not the repository's own, see
/// <https://git-scm.com/docs/git#Documentation/git.txt-GITINDEXFILE>.
pub const GIT_INDEX_FILE: &str = "GIT_INDEX_FILE";

/// Path of the file with the event payload, on GitHub, Gitea and Forgejo.
pub const GITHUB_EVENT_PATH: &str = "GITHUB_EVENT_PATH";

/// Maximum size of an event payload, in bytes. GitHub caps a payload at 25 MB.
const MAX_PAYLOAD_BYTES: u64 = 64 * 1024 * 1024;

/// The suffixes that mark a variable as a secret.
const SECRET_SUFFIXES: [&str; 4] = ["TOKEN", "SECRET", "PASSWORD", "_KEY"];

/// The captured environment. Variables whose names mark them as secrets are stored separately: they cannot be
/// printed, and [`Env::get`] does not return them.
#[derive(Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
    secrets: BTreeMap<String, SecretString>,
    current_dir: PathBuf,
    payload: OnceLock<Option<Result<serde_json::Value, String>>>,
}

impl Env {
    /// Reads the process environment and the current directory.
    #[expect(clippy::disallowed_methods, reason = "only this module reads the environment")]
    pub fn capture() -> Self {
        let variables = std::env::vars_os().map(|(name, value)| {
            (
                name.to_string_lossy().into_owned(),
                value.to_string_lossy().into_owned(),
            )
        });
        let current_dir = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        Self::from_parts(variables, current_dir)
    }

    /// Creates an environment from `variables`, as if captured in the directory `current_dir`. Variables whose names
    /// mark secrets are stored apart from the others.
    pub fn from_parts(variables: impl IntoIterator<Item = (String, String)>, current_dir: PathBuf) -> Self {
        let (secrets, variables): (Vec<_>, Vec<_>) =
            variables.into_iter().partition(|(name, _)| is_secret_name(name));
        Self {
            variables: variables.into_iter().collect(),
            secrets: secrets
                .into_iter()
                .filter(|(_, value)| !value.is_empty())
                .map(|(name, value)| (name, SecretString::from(value)))
                .collect(),
            current_dir,
            payload: OnceLock::new(),
        }
    }

    /// Returns this environment with `payload` as the event payload.
    #[cfg(test)]
    #[must_use]
    pub fn with_payload(mut self, payload: serde_json::Value) -> Self {
        self.payload = OnceLock::from(Some(Ok(payload)));
        self
    }

    /// Returns the variable's value. An empty or blank value is treated as not set, because CI hosts define many
    /// variables as empty. A variable whose name marks it as a secret is not returned; see [`Self::secret`].
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.trim().is_empty())
    }

    /// Returns a copy of the value that [`Self::get`] returns.
    pub fn get_owned(&self, name: &str) -> Option<String> {
        self.get(name).map(str::to_owned)
    }

    /// Returns the value of a variable as a secret, whatever its name. An empty value is treated as not set.
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        match self.secrets.get(name) {
            Some(secret) => Some(secret.clone()),
            None => self.get(name).map(SecretString::from),
        }
    }

    /// Returns the names of all variables that are not empty.
    pub fn variable_names(&self) -> impl Iterator<Item = &str> {
        self.variables
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, _)| name)
            .chain(self.secrets.keys())
            .map(String::as_str)
    }

    /// Returns the directory that relative paths are resolved against.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// Changes the directory that relative paths are resolved against, including in child processes. The error says why
    /// that is not possible.
    pub fn change_directory(&mut self, directory: &Path) -> Result<(), String> {
        let directory = self.current_dir.join(directory);
        std::env::set_current_dir(&directory).map_err(|error| {
            format!(
                "could not change to the directory {}: {error}",
                format_path(&directory)
            )
        })?;
        self.current_dir = directory;
        Ok(())
    }

    /// Returns the event payload from the file that the CI host wrote, or `None` if the host names no such file. The
    /// file is read at the first call; the error contains the reason if it could not be read.
    pub fn event_payload(&self) -> Result<Option<&serde_json::Value>, &str> {
        match self
            .payload
            .get_or_init(|| self.get(GITHUB_EVENT_PATH).map(read_payload))
        {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(reason)) => Err(reason),
        }
    }
}

fn read_payload(path: &str) -> Result<serde_json::Value, String> {
    let bytes = input::read_file(Path::new(path), MAX_PAYLOAD_BYTES)
        .map_err(|error| format!("{path} ({GITHUB_EVENT_PATH}): {error}"))?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{path} ({GITHUB_EVENT_PATH}): {error}"))
}

fn is_secret_name(name: &str) -> bool {
    SECRET_SUFFIXES.iter().any(|suffix| name.ends_with(suffix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    #[test]
    fn secret_variable_is_read_only_as_secret() {
        let variables = [("X_TOKEN", "s3cret"), ("GITLAB_TOKEN", ""), ("PIN", "1234")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env = Env::from_parts(variables, "/".into());
        let secret = |name| env.secret(name).map(|it| it.expose_secret().to_owned());
        assert_eq!(env.get("X_TOKEN"), None);
        assert_eq!(secret("X_TOKEN").as_deref(), Some("s3cret"));
        assert_eq!(secret("GITLAB_TOKEN"), None);
        assert_eq!(secret("PIN").as_deref(), Some("1234"), "a user's own name");
        assert_eq!(env.variable_names().collect::<Vec<_>>(), ["PIN", "X_TOKEN"]);
    }
}
