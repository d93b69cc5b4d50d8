//! Every setting once: its variable, what it means, its flag, its key in `sluicegate.yaml`, and who may say it.
//!
//! The reader of the file, its JSON schema, the table in `docs/book/settings.md` and the warning about unknown
//! variables are made from it. What a flag does for one command stands with the flag.

use crate::base::env::Env;
use crate::base::text::nearest;

/// Who may say a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// Where secrets go and what runs: the job alone.
    Trust,
    /// Which commit is judged, and whether at all: the job alone.
    Judged,
    /// What counts: the job, else the policy.
    Counts,
    /// The facts, and how it is told and sent: the job, else the policy, also where only the checkout has one.
    Told,
}

impl SettingKind {
    /// Who may say it, for people.
    pub const fn said_by(self) -> &'static str {
        match self {
            Self::Trust | Self::Judged => "the job alone",
            Self::Counts => "the job, else the policy",
            Self::Told => "the job, else the file",
        }
    }

    /// Whether the configuration file may say it.
    pub const fn is_in_file(self) -> bool {
        matches!(self, Self::Counts | Self::Told)
    }
}

/// A setting.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Its variable.
    pub variable: &'static str,
    /// Its flag; empty where it has none.
    pub flag: &'static str,
    /// Its key in the file, section first; of what only the job may say, the name that is refused there. Empty where it
    /// has none.
    pub key: &'static str,
    /// Who may say it.
    pub kind: SettingKind,
    meaning: &'static str,
}

impl Setting {
    /// What it means, for people.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }

    /// Section and name of its key; the section is empty at the top of the file.
    pub(super) fn place(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').unwrap_or(("", self.key))
    }
}

/// Declares the settings: the name of each variable as a constant, and the table of them all.
macro_rules! settings {
    ($($(#[doc = $meaning:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal;)+) => {
        /// The names of the variables.
        pub mod variable {
            $($(#[doc = $meaning])+ pub const $name: &str = $variable;)+
        }

        /// Every setting, in the order of the reference.
        pub const SETTINGS: &[Setting] = &[$(Setting {
            variable: $variable,
            flag: $flag,
            key: $key,
            kind: SettingKind::$kind,
            meaning: concat!($($meaning),+),
        }),+];
    };
}

settings! {
    /// The configuration file (default: `sluicegate.yaml` at the repository root).
    CONFIG = "SLUICEGATE_CONFIG", "--config", Judged, "config";
    /// The platform's base URL, with or without a trailing `/` or `/v1`.
    BASE_URL = "SLUICEGATE_BASE_URL", "--base-url", Trust, "base-url";
    /// The project's UUID.
    PROJECT_ID = "SLUICEGATE_PROJECT_ID", "--project-id", Told, "project-id";
    /// The `Agent-Version` header of a review.
    AGENT_VERSION = "SLUICEGATE_AGENT_VERSION", "--agent-version", Told, "agent-version";
    /// The bearer token.
    TOKEN = "SLUICEGATE_TOKEN", "", Trust, "token";
    /// A file that holds the token.
    TOKEN_FILE = "SLUICEGATE_TOKEN_FILE", "--token-file", Trust, "token-file";
    /// A command whose output is the token.
    TOKEN_COMMAND = "SLUICEGATE_TOKEN_COMMAND", "--token-command", Trust, "token-command";
    /// OAuth 2 client id.
    CLIENT_ID = "SLUICEGATE_CLIENT_ID", "", Trust, "client-id";
    /// OAuth 2 client secret.
    CLIENT_SECRET = "SLUICEGATE_CLIENT_SECRET", "", Trust, "client-secret";
    /// Where OAuth 2 client credentials are turned into a token.
    TOKEN_URL = "SLUICEGATE_TOKEN_URL", "", Trust, "token-url";
    /// OAuth 2 audience, if the token URL wants one.
    TOKEN_AUDIENCE = "SLUICEGATE_TOKEN_AUDIENCE", "", Trust, "token-audience";
    /// The git repository (default: found from the current folder).
    REPO = "SLUICEGATE_REPO", "--repo", Judged, "repo";
    /// The platform's hidden folder at the repository root (default: found).
    CONFIG_DIR = "SLUICEGATE_CONFIG_DIR", "--config-dir", Counts, "config-dir";
    /// A PEM file with extra root certificates.
    CA_CERT = "SLUICEGATE_CA_CERT", "--ca-cert", Trust, "ca-cert";
    /// One request's limit in seconds.
    TIMEOUT = "SLUICEGATE_TIMEOUT", "--timeout", Told, "timeout";
    /// Tries after the first.
    RETRIES = "SLUICEGATE_RETRIES", "--retries", Told, "retries";
    /// The CI host, instead of detecting it.
    CI = "SLUICEGATE_CI", "--ci", Judged, "ci";
    /// Which version of the configuration file counts: auto, base or head.
    POLICY = "SLUICEGATE_POLICY", "--policy", Judged, "policy";
    /// What a change of the gate's own files, together with others, means: warn or fail.
    GATE_CHANGES = "SLUICEGATE_GATE_CHANGES", "--gate-changes", Judged, "gate-changes";
    /// Colour: auto, always or never.
    COLOR = "SLUICEGATE_COLOR", "--color", Told, "";
    /// Review every pipeline of the head commit.
    ALL = "SLUICEGATE_ALL", "--all", Judged, "all";
    /// The revision to compare with.
    BASE = "SLUICEGATE_BASE", "--base", Judged, "base";
    /// The revision to review or publish.
    HEAD = "SLUICEGATE_HEAD", "--head", Judged, "head";
    /// The branch name sent to the platform.
    BRANCH = "SLUICEGATE_BRANCH", "--branch", Judged, "branch";
    /// Fetch the history that a shallow clone lacks, in bounded steps.
    DEEPEN = "SLUICEGATE_DEEPEN", "--deepen", Trust, "deepen";
    /// Globs of the files to take, one a line.
    INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "include";
    /// Globs of the files to leave, one a line.
    EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "exclude";
    /// Globs of the files to review, instead of `include`.
    REVIEW_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "review.include";
    /// Globs of the files to leave out of the review, instead of `exclude`.
    REVIEW_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "review.exclude";
    /// What fails the gate: error, warn or never.
    FAIL_ON = "SLUICEGATE_FAIL_ON", "--fail-on", Counts, "review.fail-on";
    /// Only findings that the base does not have count.
    NEW_ONLY = "SLUICEGATE_NEW_ONLY", "--new-only", Told, "review.new-only";
    /// The most findings that may be known; more fail the gate.
    MAX_KNOWN = "SLUICEGATE_MAX_KNOWN", "--max-known", Judged, "max-known";
    /// What an unreachable platform means: fail or pass.
    ON_UNAVAILABLE = "SLUICEGATE_ON_UNAVAILABLE", "--on-unavailable", Counts, "review.on-unavailable";
    /// What a change from a fork means: fail or check.
    FORK = "SLUICEGATE_FORK", "--fork", Counts, "review.fork";
    /// Reports to write, `FORMAT=PATH`, one a line.
    REPORT = "SLUICEGATE_REPORT", "--report", Told, "review.report";
    /// Annotations: auto, github, azure or none.
    ANNOTATIONS = "SLUICEGATE_ANNOTATIONS", "--annotations", Told, "review.annotations";
    /// Keep one comment with the result on the pull or merge request.
    COMMENT = "SLUICEGATE_COMMENT", "--comment", Told, "review.comment";
    /// Say in reports what changed in the pipelines: auto or none.
    CHANGES = "SLUICEGATE_CHANGES", "--changes", Told, "review.changes";
    /// Tells this review from others of the same commit, in SARIF and in the comment.
    CATEGORY = "SLUICEGATE_CATEGORY", "--category", Told, "review.category";
    /// The findings to list for people: all, new, none, or at most this many.
    SHOW = "SLUICEGATE_SHOW", "--show", Told, "review.show";
    /// The part of the selected files to review, `I/N`.
    SHARD = "SLUICEGATE_SHARD", "--shard", Judged, "shard";
    /// Where Bitbucket's proxy for Code Insights listens (default: `http://localhost:29418`).
    BITBUCKET_PROXY = "SLUICEGATE_BITBUCKET_PROXY", "", Trust, "bitbucket-proxy";
    /// Fields of a review request: pipelines or file-paths.
    REVIEW_REQUEST = "SLUICEGATE_REVIEW_REQUEST", "--review-request", Told, "review.request";
    /// Data warehouse type that a review request with `filePaths` names.
    DATA_WAREHOUSE = "SLUICEGATE_DATA_WAREHOUSE", "--data-warehouse", Told, "review.data-warehouse";
    /// Files in one review request.
    BATCH_SIZE = "SLUICEGATE_BATCH_SIZE", "--batch-size", Told, "review.batch-size";
    /// Review requests at the same time.
    CONCURRENCY = "SLUICEGATE_CONCURRENCY", "--concurrency", Told, "review.concurrency";
    /// Globs of the files to publish, instead of `include`.
    PUBLISH_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "publish.include";
    /// Globs of the files not to publish, instead of `exclude`.
    PUBLISH_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "publish.exclude";
    /// The artifact's shared pipeline prefix.
    PREFIX = "SLUICEGATE_PREFIX", "--prefix", Told, "publish.prefix";
    /// The artifact's version name, a template.
    VERSION_NAME = "SLUICEGATE_VERSION_NAME", "--version-name", Told, "publish.version-name";
    /// What it means that consumers of shared pipelines would break: fail, warn or off.
    COMPAT = "SLUICEGATE_COMPAT", "--compat", Counts, "publish.compat";
    /// Why consumers may break, this time.
    ACCEPT_BREAKING = "SLUICEGATE_ACCEPT_BREAKING", "--accept-breaking", Judged, "accept-breaking";
    /// The version that a publish is compared with (default: the latest enabled one).
    AGAINST = "SLUICEGATE_AGAINST", "--against", Judged, "against";
    /// Which of the selected files are published: all or closure.
    SELECT = "SLUICEGATE_SELECT", "--select", Counts, "publish.select";
    /// Where published files come from: commit or worktree.
    FROM = "SLUICEGATE_FROM", "--from", Counts, "publish.from";
    /// What an existing version means: fail or same-content.
    IF_EXISTS = "SLUICEGATE_IF_EXISTS", "--if-exists", Counts, "publish.if-exists";
    /// What ignored resources mean: fail, disable or warn.
    ON_IGNORED = "SLUICEGATE_ON_IGNORED", "--on-ignored", Counts, "publish.on-ignored";
    /// Skip the check of the published artifact.
    NO_VERIFY = "SLUICEGATE_NO_VERIFY", "--no-verify", Counts, "publish.no-verify";
    /// How long, in seconds, a version is looked for after a lost answer.
    LOOKUP_TIMEOUT = "SLUICEGATE_LOOKUP_TIMEOUT", "--lookup-timeout", Told, "publish.lookup-timeout";
    /// The JSON report of a review that must have passed on the commit to publish.
    REQUIRE_REVIEW = "SLUICEGATE_REQUIRE_REVIEW", "--require-review", Counts, "publish.require-review";
    /// Whose review that may be: `remote` (the default) or `any`.
    REQUIRE_REVIEW_ENGINE = "SLUICEGATE_REQUIRE_REVIEW_ENGINE", "--require-review-engine", Judged, "require-review-engine";
    /// Globs of the branches on which `ci` publishes, one a line.
    PUBLISH_ON_BRANCHES = "SLUICEGATE_PUBLISH_ON_BRANCHES", "--publish-on-branch", Counts, "publish-on.branches";
    /// Globs of the tags on which `ci` publishes, one a line.
    PUBLISH_ON_TAGS = "SLUICEGATE_PUBLISH_ON_TAGS", "--publish-on-tag", Counts, "publish-on.tags";
    /// Say what would be done, and send nothing.
    DRY_RUN = "SLUICEGATE_DRY_RUN", "--dry-run", Judged, "dry-run";
    /// Where to write the publish receipt.
    RECEIPT = "SLUICEGATE_RECEIPT", "--receipt", Told, "publish.receipt";
    /// Where to write the outcome of a publish as JUnit XML.
    PUBLISH_JUNIT = "SLUICEGATE_PUBLISH_JUNIT", "--junit", Told, "publish.junit";
    /// The environment that pipelines and agents run in.
    ENVIRONMENT = "SLUICEGATE_ENVIRONMENT", "--environment", Counts, "environment";
    /// Seconds between the first looks at what is waited for.
    POLL_INTERVAL = "SLUICEGATE_POLL_INTERVAL", "--poll-interval", Told, "poll-interval";
    /// The status that terminates an execution.
    CANCEL_STATUS = "SLUICEGATE_CANCEL_STATUS", "--cancel-status", Told, "cancel-status";
    /// The warehouse kind that authenticates by key pair.
    WAREHOUSE_A = "SLUICEGATE_WAREHOUSE_A", "--warehouse-a", Told, "vocabulary.WAREHOUSE_A";
    /// The warehouse kind that authenticates by password.
    WAREHOUSE_B = "SLUICEGATE_WAREHOUSE_B", "--warehouse-b", Told, "vocabulary.WAREHOUSE_B";
    /// The git provider of project repositories.
    GIT_PROVIDER = "SLUICEGATE_GIT_PROVIDER", "--git-provider", Told, "vocabulary.git_provider_a";
    /// The secret type of the cloud secrets manager.
    KEY_VAULT = "SLUICEGATE_KEY_VAULT", "--key-vault", Told, "vocabulary.CLOUD_A_KEY_VAULT";
}

/// Names that are no settings of the program and are refused in the file too, with the variable that says it.
const REFUSED: [(&str, &str); 3] = [
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
];

/// The setting with this variable.
pub(super) fn by_variable(variable: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.variable == variable)
}

/// The variable to use instead of a key that must not stand in the file, wherever it stands there.
pub(super) fn refused(key: &str) -> Option<&'static str> {
    let own = SETTINGS.iter().find(|it| !it.kind.is_in_file() && it.key == key);
    let other = || REFUSED.iter().find(|(name, _)| *name == key);
    own.map(|it| it.variable)
        .or_else(|| other().map(|(_, variable)| *variable))
}

/// A warning for each variable that begins like ours and is none, with the nearest one that is.
pub fn unknown_variables(env: &Env) -> Vec<String> {
    let known: Vec<&str> = SETTINGS.iter().map(|setting| setting.variable).collect();
    let ours = env.names().filter(|name| name.starts_with("SLUICEGATE_"));
    ours.filter(|name| !known.contains(name))
        .map(|name| match nearest(name, &known) {
            Some(meant) => format!("the variable {name} is unknown; did you mean {meant}?"),
            None => format!("the variable {name} is unknown"),
        })
        .collect()
}
