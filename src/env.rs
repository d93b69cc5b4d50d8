//! The process environment, read once at the start.
//!
//! Everything after [`Env::capture`] works on this copy, so a CI host is a fixture in a test and tests run in
//! parallel. The variables of the program itself are the constants below; a host's own variables are named in the
//! host's file under `ci/`.

use crate::input;
use secrecy::SecretString;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Declares the program's variables, each with its meaning, and the list of them all.
macro_rules! variables {
    ($($(#[doc = $doc:literal])+ $name:ident = $value:literal;)+) => {
        $($(#[doc = $doc])+ pub const $name: &str = $value;)+
        /// Every variable of the program: name and meaning, in the order of the reference.
        pub const VARIABLES: &[(&str, &str)] = &[$(($value, concat!($($doc),+))),+];
    };
}

variables! {
    /// The configuration file (default: `sluicegate.yaml` at the repository root).
    CONFIG = "SLUICEGATE_CONFIG";
    /// The platform's base URL, with or without a trailing `/` or `/v1`.
    BASE_URL = "SLUICEGATE_BASE_URL";
    /// The project's UUID.
    PROJECT_ID = "SLUICEGATE_PROJECT_ID";
    /// The `Agent-Version` header of a review.
    AGENT_VERSION = "SLUICEGATE_AGENT_VERSION";
    /// The bearer token.
    TOKEN = "SLUICEGATE_TOKEN";
    /// A file that holds the token.
    TOKEN_FILE = "SLUICEGATE_TOKEN_FILE";
    /// A command whose output is the token.
    TOKEN_COMMAND = "SLUICEGATE_TOKEN_COMMAND";
    /// OAuth 2 client id.
    CLIENT_ID = "SLUICEGATE_CLIENT_ID";
    /// OAuth 2 client secret.
    CLIENT_SECRET = "SLUICEGATE_CLIENT_SECRET";
    /// Where OAuth 2 client credentials are turned into a token.
    TOKEN_URL = "SLUICEGATE_TOKEN_URL";
    /// OAuth 2 audience, if the token URL wants one.
    TOKEN_AUDIENCE = "SLUICEGATE_TOKEN_AUDIENCE";
    /// The git repository (default: found from the current folder).
    REPO = "SLUICEGATE_REPO";
    /// The platform's hidden folder at the repository root (default: found).
    CONFIG_DIR = "SLUICEGATE_CONFIG_DIR";
    /// A PEM file with extra root certificates.
    CA_CERT = "SLUICEGATE_CA_CERT";
    /// One request's limit in seconds.
    TIMEOUT = "SLUICEGATE_TIMEOUT";
    /// Tries after the first.
    RETRIES = "SLUICEGATE_RETRIES";
    /// The CI host, instead of detecting it.
    CI = "SLUICEGATE_CI";
    /// Which version of the configuration file counts: auto, base or head.
    POLICY = "SLUICEGATE_POLICY";
    /// What a change of the gate's own files, together with others, means: warn or fail.
    GATE_CHANGES = "SLUICEGATE_GATE_CHANGES";
    /// Colour: auto, always or never.
    COLOR = "SLUICEGATE_COLOR";
    /// Review every pipeline of the head commit.
    ALL = "SLUICEGATE_ALL";
    /// The revision to compare with.
    BASE = "SLUICEGATE_BASE";
    /// The revision to review or publish.
    HEAD = "SLUICEGATE_HEAD";
    /// The branch name sent to the platform.
    BRANCH = "SLUICEGATE_BRANCH";
    /// Fetch the history that a shallow clone lacks, in bounded steps.
    DEEPEN = "SLUICEGATE_DEEPEN";
    /// Globs of the files to take, one a line.
    INCLUDE = "SLUICEGATE_INCLUDE";
    /// Globs of the files to leave, one a line.
    EXCLUDE = "SLUICEGATE_EXCLUDE";
    /// What fails the gate: error, warn or never.
    FAIL_ON = "SLUICEGATE_FAIL_ON";
    /// What an unreachable platform means: fail or pass.
    ON_UNAVAILABLE = "SLUICEGATE_ON_UNAVAILABLE";
    /// What a change from a fork means: fail or check.
    FORK = "SLUICEGATE_FORK";
    /// Reports to write, `FORMAT=PATH`, one a line.
    REPORT = "SLUICEGATE_REPORT";
    /// Annotations: auto, github, azure or none.
    ANNOTATIONS = "SLUICEGATE_ANNOTATIONS";
    /// Keep one comment with the result on the pull or merge request.
    COMMENT = "SLUICEGATE_COMMENT";
    /// Tells this review from others of the same commit, in SARIF and in the comment.
    CATEGORY = "SLUICEGATE_CATEGORY";
    /// The findings to list for people: all, new, none, or at most this many.
    SHOW = "SLUICEGATE_SHOW";
    /// The part of the selected files to review, `I/N`.
    SHARD = "SLUICEGATE_SHARD";
    /// Where Bitbucket's proxy for Code Insights listens (default: `http://localhost:29418`).
    BITBUCKET_PROXY = "SLUICEGATE_BITBUCKET_PROXY";
    /// Files in one review request.
    BATCH_SIZE = "SLUICEGATE_BATCH_SIZE";
    /// Review requests at the same time.
    CONCURRENCY = "SLUICEGATE_CONCURRENCY";
    /// The artifact's shared pipeline prefix.
    PREFIX = "SLUICEGATE_PREFIX";
    /// The artifact's version name, a template.
    VERSION_NAME = "SLUICEGATE_VERSION_NAME";
    /// Which of the selected files are published: all or closure.
    SELECT = "SLUICEGATE_SELECT";
    /// Where published files come from: commit or worktree.
    FROM = "SLUICEGATE_FROM";
    /// What an existing version means: fail or same-content.
    IF_EXISTS = "SLUICEGATE_IF_EXISTS";
    /// What ignored resources mean: fail, disable or warn.
    ON_IGNORED = "SLUICEGATE_ON_IGNORED";
    /// Skip the check of the published artifact.
    NO_VERIFY = "SLUICEGATE_NO_VERIFY";
    /// How long, in seconds, a version is looked for after a lost answer.
    LOOKUP_TIMEOUT = "SLUICEGATE_LOOKUP_TIMEOUT";
    /// The JSON report of a review that must have passed on the commit to publish.
    REQUIRE_REVIEW = "SLUICEGATE_REQUIRE_REVIEW";
    /// Whose review that may be: `remote` (the default) or `any`.
    REQUIRE_REVIEW_ENGINE = "SLUICEGATE_REQUIRE_REVIEW_ENGINE";
    /// Globs of the branches on which `ci` publishes, one a line.
    PUBLISH_ON_BRANCHES = "SLUICEGATE_PUBLISH_ON_BRANCHES";
    /// Globs of the tags on which `ci` publishes, one a line.
    PUBLISH_ON_TAGS = "SLUICEGATE_PUBLISH_ON_TAGS";
    /// Say what would be done, and send nothing.
    DRY_RUN = "SLUICEGATE_DRY_RUN";
    /// Where to write the publish receipt.
    RECEIPT = "SLUICEGATE_RECEIPT";
    /// The environment that pipelines and agents run in.
    ENVIRONMENT = "SLUICEGATE_ENVIRONMENT";
    /// Seconds between the first looks at what is waited for.
    POLL_INTERVAL = "SLUICEGATE_POLL_INTERVAL";
    /// The status that terminates an execution.
    CANCEL_STATUS = "SLUICEGATE_CANCEL_STATUS";
    /// The warehouse kind that authenticates by key pair.
    WAREHOUSE_A = "SLUICEGATE_WAREHOUSE_A";
    /// The warehouse kind that authenticates by password.
    WAREHOUSE_B = "SLUICEGATE_WAREHOUSE_B";
    /// The git provider of project repositories.
    GIT_PROVIDER = "SLUICEGATE_GIT_PROVIDER";
    /// The secret type of the cloud secrets manager.
    KEY_VAULT = "SLUICEGATE_KEY_VAULT";
}

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

    /// The event payload that the CI host put into a file, read when it is first asked for; the error says why it could not be read.
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
        let variables = [(TOKEN, "s3cret"), ("GITLAB_TOKEN", ""), ("PIN", "1234")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env = Env::from_parts(variables, "/".into());
        let secret = |name| env.secret(name).map(|it| it.expose_secret().to_owned());
        assert_eq!(env.get(TOKEN), None);
        assert_eq!(secret(TOKEN).as_deref(), Some("s3cret"));
        assert_eq!(secret("GITLAB_TOKEN"), None);
        assert_eq!(secret("PIN").as_deref(), Some("1234"), "a user's own name");
        assert_eq!(env.names().collect::<Vec<_>>(), ["PIN", TOKEN]);
    }
}
