//! Every setting once: its variable, its flag, its key in `sluicegate.yaml`, and who may say it.
//!
//! The reader of the file, its JSON schema, the table in README and the warning about unknown variables are made from
//! it. What each setting means stands with its variable, in `env`.

use crate::env::{self, Env, VARIABLES};
use crate::text::nearest;

/// Who may say a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Where secrets go and what runs: the job alone.
    Trust,
    /// Which commit is judged, and whether at all: the job alone.
    Judged,
    /// What counts: the job, else the policy.
    Counts,
    /// The facts, and how it is told and sent: the job, else the policy, also where only the checkout has one.
    Told,
}

impl Kind {
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
    pub kind: Kind,
}

impl Setting {
    /// What it means.
    pub fn meaning(&self) -> &'static str {
        let found = VARIABLES.iter().find(|(name, _)| *name == self.variable);
        found.map_or("", |(_, meaning)| meaning.trim())
    }

    /// Section and name of its key; the section is empty at the top of the file.
    pub(super) fn place(&self) -> (&'static str, &'static str) {
        self.key.split_once('.').unwrap_or(("", self.key))
    }
}

const fn setting(variable: &'static str, flag: &'static str, kind: Kind, key: &'static str) -> Setting {
    Setting {
        variable,
        flag,
        key,
        kind,
    }
}

use Kind::{Counts, Judged, Told, Trust};

/// Every setting, in the order of the reference.
pub const SETTINGS: &[Setting] = &[
    setting(env::CONFIG, "--config", Judged, "config"),
    setting(env::BASE_URL, "--base-url", Trust, "base-url"),
    setting(env::PROJECT_ID, "--project-id", Told, "project-id"),
    setting(env::AGENT_VERSION, "--agent-version", Told, "agent-version"),
    setting(env::TOKEN, "", Trust, "token"),
    setting(env::TOKEN_FILE, "--token-file", Trust, "token-file"),
    setting(env::TOKEN_COMMAND, "--token-command", Trust, "token-command"),
    setting(env::CLIENT_ID, "", Trust, "client-id"),
    setting(env::CLIENT_SECRET, "", Trust, "client-secret"),
    setting(env::TOKEN_URL, "", Trust, "token-url"),
    setting(env::TOKEN_AUDIENCE, "", Trust, "token-audience"),
    setting(env::REPO, "--repo", Judged, "repo"),
    setting(env::CONFIG_DIR, "--config-dir", Counts, "config-dir"),
    setting(env::CA_CERT, "--ca-cert", Trust, "ca-cert"),
    setting(env::TIMEOUT, "--timeout", Told, "timeout"),
    setting(env::RETRIES, "--retries", Told, "retries"),
    setting(env::CI, "--ci", Judged, "ci"),
    setting(env::POLICY, "--policy", Judged, "policy"),
    setting(env::GATE_CHANGES, "--gate-changes", Judged, "gate-changes"),
    setting(env::COLOR, "--color", Told, ""),
    setting(env::ALL, "--all", Judged, "all"),
    setting(env::BASE, "--base", Judged, "base"),
    setting(env::HEAD, "--head", Judged, "head"),
    setting(env::BRANCH, "--branch", Judged, "branch"),
    setting(env::DEEPEN, "--deepen", Trust, "deepen"),
    setting(env::INCLUDE, "--include", Counts, "include"),
    setting(env::EXCLUDE, "--exclude", Counts, "exclude"),
    setting(env::FAIL_ON, "--fail-on", Counts, "review.fail-on"),
    setting(
        env::ON_UNAVAILABLE,
        "--on-unavailable",
        Counts,
        "review.on-unavailable",
    ),
    setting(env::FORK, "--fork", Counts, "review.fork"),
    setting(env::REPORT, "--report", Told, "review.report"),
    setting(env::ANNOTATIONS, "--annotations", Told, "review.annotations"),
    setting(env::COMMENT, "--comment", Told, "review.comment"),
    setting(env::CATEGORY, "--category", Told, "review.category"),
    setting(env::SHOW, "--show", Told, "review.show"),
    setting(env::SHARD, "--shard", Judged, "shard"),
    setting(env::BITBUCKET_PROXY, "", Trust, "bitbucket-proxy"),
    setting(env::BATCH_SIZE, "--batch-size", Told, "review.batch-size"),
    setting(env::CONCURRENCY, "--concurrency", Told, "review.concurrency"),
    setting(env::PREFIX, "--prefix", Told, "publish.prefix"),
    setting(env::VERSION_NAME, "--version-name", Told, "publish.version-name"),
    setting(env::SELECT, "--select", Counts, "publish.select"),
    setting(env::FROM, "--from", Counts, "publish.from"),
    setting(env::IF_EXISTS, "--if-exists", Counts, "publish.if-exists"),
    setting(env::ON_IGNORED, "--on-ignored", Counts, "publish.on-ignored"),
    setting(env::NO_VERIFY, "--no-verify", Counts, "publish.no-verify"),
    setting(
        env::LOOKUP_TIMEOUT,
        "--lookup-timeout",
        Told,
        "publish.lookup-timeout",
    ),
    setting(
        env::REQUIRE_REVIEW,
        "--require-review",
        Counts,
        "publish.require-review",
    ),
    setting(
        env::REQUIRE_REVIEW_ENGINE,
        "--require-review-engine",
        Judged,
        "require-review-engine",
    ),
    setting(
        env::PUBLISH_ON_BRANCHES,
        "--publish-on-branch",
        Counts,
        "publish-on.branches",
    ),
    setting(
        env::PUBLISH_ON_TAGS,
        "--publish-on-tag",
        Counts,
        "publish-on.tags",
    ),
    setting(env::DRY_RUN, "--dry-run", Judged, "dry-run"),
    setting(env::RECEIPT, "--receipt", Told, "publish.receipt"),
    setting(env::ENVIRONMENT, "--environment", Counts, "environment"),
    setting(env::POLL_INTERVAL, "--poll-interval", Told, "poll-interval"),
    setting(env::CANCEL_STATUS, "--cancel-status", Told, "cancel-status"),
    setting(env::WAREHOUSE_A, "--warehouse-a", Told, "vocabulary.WAREHOUSE_A"),
    setting(env::WAREHOUSE_B, "--warehouse-b", Told, "vocabulary.WAREHOUSE_B"),
    setting(
        env::GIT_PROVIDER,
        "--git-provider",
        Told,
        "vocabulary.git_provider_a",
    ),
    setting(
        env::KEY_VAULT,
        "--key-vault",
        Told,
        "vocabulary.CLOUD_A_KEY_VAULT",
    ),
];

/// Names that are no settings of the program and are refused in the file too, with the variable that says it, if any:
/// proxies, and what a later version may take from the job alone.
const REFUSED: [(&str, &str); 5] = [
    ("proxy", "HTTPS_PROXY"),
    ("http-proxy", "HTTP_PROXY"),
    ("https-proxy", "HTTPS_PROXY"),
    ("accept-breaking", ""),
    ("max-known", ""),
];

/// The setting with this variable.
pub(super) fn by_variable(variable: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.variable == variable)
}

/// The variable to use instead of a key that must not stand in the file, wherever it stands there; empty where there is
/// none.
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
