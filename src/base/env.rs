//! The process environment, read once at the start.
//!
//! Everything after [`Env::capture`] works on this copy, so a CI host is a fixture in a test and tests run in
//! parallel. The variables of the program itself stand in the table of `settings`, a host's own in the host's file under
//! `ci/`.

use crate::base::input;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Turns colour off when set to anything, see <https://no-color.org>.
pub const NO_COLOR: &str = "NO_COLOR";

/// The index that git gives to its hooks, where it is not the repository's own, see
/// <https://git-scm.com/docs/git#Documentation/git.txt-GITINDEXFILE>.
pub const GIT_INDEX_FILE: &str = "GIT_INDEX_FILE";

/// GitHub (and Gitea, Forgejo): the file that holds the event's payload.
pub const GITHUB_EVENT_PATH: &str = "GITHUB_EVENT_PATH";

/// The largest event payload that is read, in bytes. GitHub caps a payload at 25 MB.
const PAYLOAD_LIMIT: u64 = 64 * 1024 * 1024;

/// How the names of variables end that hold a secret.
const SECRET_ENDS: [&str; 4] = ["TOKEN", "SECRET", "PASSWORD", "_KEY"];

/// The captured environment. What by its name is a secret stands apart: it cannot be printed, and [`Env::get`] does not
/// give it.
#[derive(Clone, Default)]
pub struct Env {
    variables: BTreeMap<String, String>,
    secrets: BTreeMap<String, SecretString>,
    current_dir: PathBuf,
    payload: OnceLock<Option<Result<serde_json::Value, String>>>,
}

impl Env {
    /// Reads the process environment, the current folder.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that reads the environment"
    )]
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

    /// An environment made of `variables`, as it would be captured in `current_dir`.
    pub fn from_parts(variables: impl IntoIterator<Item = (String, String)>, current_dir: PathBuf) -> Self {
        let is_secret = |name: &str| SECRET_ENDS.iter().any(|end| name.ends_with(end));
        let (secrets, variables): (Vec<_>, Vec<_>) =
            variables.into_iter().partition(|(name, _)| is_secret(name));
        let secrets = secrets.into_iter().filter(|(_, value)| !value.is_empty());
        Self {
            variables: variables.into_iter().collect(),
            secrets: secrets
                .map(|(name, value)| (name, SecretString::from(value)))
                .collect(),
            current_dir,
            payload: OnceLock::new(),
        }
    }

    /// The same environment with this event payload.
    #[cfg(test)]
    #[must_use]
    pub fn with_payload(mut self, payload: serde_json::Value) -> Self {
        self.payload = OnceLock::from(Some(Ok(payload)));
        self
    }

    /// The variable's value; an empty one counts as not set, as CI hosts set many to nothing.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The value of a variable that holds a secret, whatever its name; an empty one counts as not set.
    pub fn secret(&self, name: &str) -> Option<SecretString> {
        let named = self.secrets.get(name).cloned();
        named.or_else(|| self.get(name).map(SecretString::from))
    }

    /// The names of the variables that are set to something.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let set = self.variables.iter().filter(|(_, value)| !value.is_empty());
        let names = set.map(|(name, _)| name).chain(self.secrets.keys());
        names.map(String::as_str)
    }

    /// The folder that relative paths start from.
    pub fn current_dir(&self) -> &Path {
        &self.current_dir
    }

    /// The event payload that the CI host put into a file, read when it is first asked for; the error says why it
    /// could not be read.
    pub fn payload(&self) -> Result<Option<&serde_json::Value>, &str> {
        let read = || self.get(GITHUB_EVENT_PATH).map(read_payload);
        match self.payload.get_or_init(read) {
            None => Ok(None),
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(why)) => Err(why),
        }
    }
}

fn read_payload(path: &str) -> Result<serde_json::Value, String> {
    let describe = |why: &dyn std::fmt::Display| format!("{path} ({GITHUB_EVENT_PATH}): {why}");
    let bytes = input::file(Path::new(path), PAYLOAD_LIMIT).map_err(|e| describe(&e))?;
    serde_json::from_slice(&bytes).map_err(|e| describe(&e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use secrecy::ExposeSecret as _;

    #[test]
    fn a_secret_is_given_as_one_alone() {
        let variables = [("X_TOKEN", "s3cret"), ("GITLAB_TOKEN", ""), ("PIN", "1234")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env = Env::from_parts(variables, "/".into());
        let secret = |name| env.secret(name).map(|it| it.expose_secret().to_owned());
        assert_eq!(env.get("X_TOKEN"), None);
        assert_eq!(secret("X_TOKEN").as_deref(), Some("s3cret"));
        assert_eq!(secret("GITLAB_TOKEN"), None);
        assert_eq!(secret("PIN").as_deref(), Some("1234"), "a user's own name");
        assert_eq!(env.names().collect::<Vec<_>>(), ["PIN", "X_TOKEN"]);
    }
}
