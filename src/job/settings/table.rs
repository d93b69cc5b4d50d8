//! Every setting once: its variable, what it means, its flag, its key in `sluicegate.yaml`, who may say it, and what its value
//! looks like there, with bounds, default and which value is the stricter one.
//!
//! The structures that the file is read into, its JSON schema, the bounds and defaults of the resolver, what a change of the file is
//! told as, the table in `docs/book/settings.md` and the warning about unknown variables are made from it. What a flag does for
//! one command stands with the flag.

use super::given::{globs, reports, section, shown, word};
use super::look::{Look, PIPELINE_GLOBS, words};
use crate::job::cli;
use crate::job::policy::Strictness;
use serde::Deserialize;
use std::path::PathBuf;

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

#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub variable: &'static str,
    /// Its flag; empty where it has none.
    pub flag: &'static str,
    /// Its key in the file, section first; of what only the job may say, the name that is refused there. Empty where it
    /// has none.
    pub key: &'static str,
    pub kind: SettingKind,
    /// What its value looks like in the file.
    pub(super) look: Look,
    /// Which of two values lets more through.
    pub(super) strictness: Strictness,
    meaning: &'static str,
}

impl Setting {
    /// What it means, for people.
    pub fn meaning(&self) -> &'static str {
        self.meaning.trim()
    }
}

/// A section of the file with its settings; the top of the file has no name.
pub(super) struct SettingSection {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) settings: &'static [Setting],
}

/// Declares the settings: the names of the variables, the table, and what the file is read into. Of a setting that the file may
/// say, `=>` is followed by the field that the value is read into, its type and reader, its look, and its strictness if it decides what
/// counts.
macro_rules! settings {
    (
        root $Root:ident { $($root:tt)* }
        $($(#[doc = $about:literal])+ section $section:literal $field:ident: $Section:ident { $($row:tt)* })+
    ) => {
        /// The names of the variables.
        pub mod variable {
            variables! { $($root)* }
            $(variables! { $($row)* })+
        }

        /// Every section, in the order of the reference.
        pub(super) const SECTIONS: &[SettingSection] = &[
            SettingSection { name: "", about: "", settings: rows! { "" => $($root)* } },
            $(SettingSection {
                name: $section,
                about: concat!($($about),+),
                settings: rows! { concat!($section, ".") => $($row)* },
            }),+
        ];

        read_into! { pub $Root { $($root)* } $($section $field: $Section;)+ }
        $(read_into! { pub(super) $Section { $($row)* } })+
    };
}

macro_rules! variables {
    ($($(#[doc = $meaning:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
        $(=> $field:ident: $type:ty $(as $reader:literal)?, $look:expr $(, $strictness:expr)?)?;)*) => {
        $($(#[doc = $meaning])+ pub const $name: &str = $variable;)*
    };
}

macro_rules! rows {
    ($prefix:expr => $($(#[doc = $meaning:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
        $(=> $field:ident: $type:ty $(as $reader:literal)?, $look:expr $(, $strictness:expr)?)?;)*) => {
        &[$(Setting {
            variable: $variable,
            flag: $flag,
            key: concat!($prefix, $key),
            kind: SettingKind::$kind,
            look: [$($look,)? Look::NotInFile][0],
            strictness: [$($($strictness,)?)? Strictness::Neutral][0],
            meaning: concat!($($meaning),+),
        }),*]
    };
}

/// Every key is optional.
macro_rules! read_into {
    ($visibility:vis $Name:ident {
        $($(#[doc = $meaning:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
            $(=> $field:ident: $type:ty $(as $reader:literal)?, $look:expr $(, $strictness:expr)?)?;)*
    } $($section:literal $section_field:ident: $Section:ident;)*) => {
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        $visibility struct $Name {
            $($(#[serde(rename = $key $(, deserialize_with = $reader)?)] pub(super) $field: Option<$type>,)?)*
            $(#[serde(rename = $section, deserialize_with = "section")] pub(super) $section_field: $Section,)*
        }
    };
}

settings! {
    root FileConfig {
        /// The configuration file (default: `sluicegate.yaml` at the repository root).
        CONFIG = "SLUICEGATE_CONFIG", "--config", Judged, "config";
        /// The platform's base URL, with or without a trailing `/` or `/v1`.
        BASE_URL = "SLUICEGATE_BASE_URL", "--base-url", Trust, "base-url";
        /// The project's UUID.
        PROJECT_ID = "SLUICEGATE_PROJECT_ID", "--project-id", Told, "project-id"
            => project_id: String, Look::Uuid;
        /// The `Agent-Version` header of a review.
        AGENT_VERSION = "SLUICEGATE_AGENT_VERSION", "--agent-version", Told, "agent-version"
            => agent_version: String, Look::Text("9.0.0");
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
        CONFIG_DIR = "SLUICEGATE_CONFIG_DIR", "--config-dir", Counts, "config-dir"
            => config_dir: String, Look::Text(".platform");
        /// A PEM file with extra root certificates.
        CA_CERT = "SLUICEGATE_CA_CERT", "--ca-cert", Trust, "ca-cert";
        /// One request's limit in seconds.
        TIMEOUT = "SLUICEGATE_TIMEOUT", "--timeout", Told, "timeout"
            => timeout: u64, Look::Whole { least: 1, most: 24 * 60 * 60, default: 60 };
        /// Tries after the first.
        RETRIES = "SLUICEGATE_RETRIES", "--retries", Told, "retries"
            => retries: u64, Look::Whole { least: 0, most: 100, default: 4 };
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
        INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "include"
            => include: Vec<String> as "globs", Look::Globs(Some(&PIPELINE_GLOBS)), Strictness::Taking;
        /// Globs of the files to leave, one a line.
        EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "exclude"
            => exclude: Vec<String> as "globs", Look::Globs(Some(&[])), Strictness::Letting;
        /// Checks of the project: auto, or off to leave them out of this job.
        PROJECT_CHECKS = "SLUICEGATE_PROJECT_CHECKS", "--project-checks", Judged, "";
        /// The most findings that may be known; more fail the gate.
        MAX_KNOWN = "SLUICEGATE_MAX_KNOWN", "--max-known", Judged, "max-known";
        /// The part of the selected files to review, `I/N`.
        SHARD = "SLUICEGATE_SHARD", "--shard", Judged, "shard";
        /// Where Bitbucket's proxy for Code Insights listens (default: `http://localhost:29418`).
        BITBUCKET_PROXY = "SLUICEGATE_BITBUCKET_PROXY", "", Trust, "bitbucket-proxy";
        /// Why consumers may break, this time.
        ACCEPT_BREAKING = "SLUICEGATE_ACCEPT_BREAKING", "--accept-breaking", Judged, "accept-breaking";
        /// The version that a publish is compared with (default: the latest enabled one).
        AGAINST = "SLUICEGATE_AGAINST", "--against", Judged, "against";
        /// Whose review that may be: `remote` (the default) or `any`.
        REQUIRE_REVIEW_ENGINE = "SLUICEGATE_REQUIRE_REVIEW_ENGINE", "--require-review-engine", Judged, "require-review-engine";
        /// Say what would be done, and send nothing.
        DRY_RUN = "SLUICEGATE_DRY_RUN", "--dry-run", Judged, "dry-run";
        /// The environment that pipelines and agents run in.
        ENVIRONMENT = "SLUICEGATE_ENVIRONMENT", "--environment", Counts, "environment"
            => environment: String, Look::Text("production");
        /// Seconds between the first looks at what is waited for.
        POLL_INTERVAL = "SLUICEGATE_POLL_INTERVAL", "--poll-interval", Told, "poll-interval"
            => poll_interval: f64, Look::Seconds { least: 0.001, most: 3600.0, default: 1.0 };
        /// The status that terminates an execution.
        CANCEL_STATUS = "SLUICEGATE_CANCEL_STATUS", "--cancel-status", Told, "cancel-status"
            => cancel_status: String, Look::Name("CANCELLED");
    }

    /// The product's own names behind the neutral tokens of the platform's API document.
    section "vocabulary" vocabulary: VocabularySection {
        /// The warehouse kind that authenticates by key pair.
        WAREHOUSE_A = "SLUICEGATE_WAREHOUSE_A", "--warehouse-a", Told, "WAREHOUSE_A"
            => warehouse_a: String, Look::Name("WAREHOUSE_A");
        /// The warehouse kind that authenticates by password.
        WAREHOUSE_B = "SLUICEGATE_WAREHOUSE_B", "--warehouse-b", Told, "WAREHOUSE_B"
            => warehouse_b: String, Look::Name("WAREHOUSE_B");
        /// The git provider of project repositories.
        GIT_PROVIDER = "SLUICEGATE_GIT_PROVIDER", "--git-provider", Told, "git_provider_a"
            => git_provider: String, Look::Name("git_provider_a");
        /// The secret type of the cloud secrets manager.
        KEY_VAULT = "SLUICEGATE_KEY_VAULT", "--key-vault", Told, "CLOUD_A_KEY_VAULT"
            => key_vault: String, Look::Name("CLOUD_A_KEY_VAULT");
    }

    /// What is reviewed, what fails it, and where it is told.
    section "review" review: ReviewSection {
        /// Globs of the files to review, instead of `include`.
        REVIEW_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "include"
            => include: Vec<String> as "globs", Look::Globs(None), Strictness::Taking;
        /// Globs of the files to leave out of the review, instead of `exclude`.
        REVIEW_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "exclude"
            => exclude: Vec<String> as "globs", Look::Globs(None), Strictness::Letting;
        /// What fails the gate: error, warn or never.
        FAIL_ON = "SLUICEGATE_FAIL_ON", "--fail-on", Counts, "fail-on"
            => fail_on: cli::FailOn as "word", Look::Words(words::<cli::FailOn>), Strictness::Scale(&["warn", "error", "never"]);
        /// Only findings that the base does not have count.
        NEW_ONLY = "SLUICEGATE_NEW_ONLY", "--new-only", Told, "new-only"
            => new_only: bool, Look::Switch, Strictness::Scale(&["false", "true"]);
        /// What an unreachable platform means: fail or pass.
        ON_UNAVAILABLE = "SLUICEGATE_ON_UNAVAILABLE", "--on-unavailable", Counts, "on-unavailable"
            => on_unavailable: cli::OnUnavailable as "word", Look::Words(words::<cli::OnUnavailable>), Strictness::Scale(&["fail", "pass"]);
        /// What a change from a fork means: fail or check.
        FORK = "SLUICEGATE_FORK", "--fork", Counts, "fork"
            => fork: cli::Fork as "word", Look::Words(words::<cli::Fork>), Strictness::Scale(&["fail", "check"]);
        /// Reports to write, `FORMAT=PATH`, one a line.
        REPORT = "SLUICEGATE_REPORT", "--report", Told, "report"
            => report: Vec<cli::ReportFlag> as "reports", Look::Reports;
        /// Annotations: auto, github, azure or none.
        ANNOTATIONS = "SLUICEGATE_ANNOTATIONS", "--annotations", Told, "annotations"
            => annotations: cli::Annotations as "word", Look::Words(words::<cli::Annotations>);
        /// Keep one comment with the result on the pull or merge request.
        COMMENT = "SLUICEGATE_COMMENT", "--comment", Told, "comment"
            => comment: bool, Look::Switch;
        /// Say in reports what changed in the pipelines: auto or none.
        CHANGES = "SLUICEGATE_CHANGES", "--changes", Told, "changes"
            => changes: cli::Changes as "word", Look::Words(words::<cli::Changes>);
        /// Tells this review from others of the same commit, in SARIF and in the comment.
        CATEGORY = "SLUICEGATE_CATEGORY", "--category", Told, "category"
            => category: String, Look::Text("nightly");
        /// The findings to list for people: all, new, none, or at most this many.
        SHOW = "SLUICEGATE_SHOW", "--show", Told, "show"
            => show: cli::Show as "shown", Look::Show;
        /// Fields of a review request: pipelines or file-paths.
        REVIEW_REQUEST = "SLUICEGATE_REVIEW_REQUEST", "--review-request", Told, "request"
            => request: cli::ReviewRequestFields as "word", Look::Words(words::<cli::ReviewRequestFields>);
        /// Data warehouse type that a review request with `filePaths` names.
        DATA_WAREHOUSE = "SLUICEGATE_DATA_WAREHOUSE", "--data-warehouse", Told, "data-warehouse"
            => data_warehouse: String, Look::Text("SNOWFLAKE");
        /// Files in one review request.
        BATCH_SIZE = "SLUICEGATE_BATCH_SIZE", "--batch-size", Told, "batch-size"
            => batch_size: u64, Look::Whole { least: 1, most: 10_000, default: 100 };
        /// Review requests at the same time.
        CONCURRENCY = "SLUICEGATE_CONCURRENCY", "--concurrency", Told, "concurrency"
            => concurrency: u64, Look::Whole { least: 1, most: 64, default: 4 };
    }

    /// Level of each check of the project: references between files that lead nowhere.
    section "project-checks" project_checks: ProjectChecksSection {
        /// A call leads to no pipeline: error, warn or off.
        CHECK_CALL = "", "", Counts, "call"
            => call: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// A component names a script that is not there: error, warn or off.
        CHECK_SCRIPT = "", "", Counts, "script"
            => script: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// A link leads to no component: error, warn or off.
        CHECK_LINK = "", "", Counts, "link"
            => link: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// A call sets a variable that the called pipeline does not have: error, warn or off.
        CHECK_ARGUMENT = "", "", Counts, "argument"
            => argument: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// An entry of the shared-pipelines file does not fit its pipeline: error, warn or off.
        CHECK_SHARED = "", "", Counts, "shared"
            => shared: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Pipelines call each other in a circle: error, warn or off.
        CHECK_CYCLE = "", "", Counts, "cycle"
            => cycle: cli::CheckLevel as "word", Look::Words(words::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Globs of called pipelines and named scripts that lie outside of the project.
        CHECK_EXTERNAL = "", "", Counts, "external"
            => external: Vec<String> as "globs", Look::Globs(Some(&[])), Strictness::Letting;
    }

    /// What is published, and how.
    section "publish" publish: PublishSection {
        /// Globs of the files to publish, instead of `include`.
        PUBLISH_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Counts, "include"
            => include: Vec<String> as "globs", Look::Globs(None);
        /// Globs of the files not to publish, instead of `exclude`.
        PUBLISH_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Counts, "exclude"
            => exclude: Vec<String> as "globs", Look::Globs(None);
        /// The artifact's shared pipeline prefix.
        PREFIX = "SLUICEGATE_PREFIX", "--prefix", Told, "prefix"
            => prefix: String, Look::Text("sales");
        /// The artifact's version name, a template.
        VERSION_NAME = "SLUICEGATE_VERSION_NAME", "--version-name", Told, "version-name"
            => version_name: String, Look::Text("auto");
        /// What it means that consumers of shared pipelines would break: fail, warn or off.
        COMPAT = "SLUICEGATE_COMPAT", "--compat", Counts, "compat"
            => compat: cli::Compat as "word", Look::Words(words::<cli::Compat>), Strictness::Scale(&["fail", "warn", "off"]);
        /// Which of the selected files are published: all or closure.
        SELECT = "SLUICEGATE_SELECT", "--select", Counts, "select"
            => select: cli::Select as "word", Look::Words(words::<cli::Select>);
        /// Where published files come from: commit or worktree.
        FROM = "SLUICEGATE_FROM", "--from", Counts, "from"
            => from: cli::Source as "word", Look::Words(words::<cli::Source>), Strictness::Scale(&["commit", "worktree"]);
        /// What an existing version means: fail or same-content.
        IF_EXISTS = "SLUICEGATE_IF_EXISTS", "--if-exists", Counts, "if-exists"
            => if_exists: cli::IfExists as "word", Look::Words(words::<cli::IfExists>), Strictness::Scale(&["fail", "same-content"]);
        /// What ignored resources mean: fail, disable or warn.
        ON_IGNORED = "SLUICEGATE_ON_IGNORED", "--on-ignored", Counts, "on-ignored"
            => on_ignored: cli::OnIgnored as "word", Look::Words(words::<cli::OnIgnored>), Strictness::Scale(&["disable", "fail", "warn"]);
        /// Skip the check of the published artifact.
        NO_VERIFY = "SLUICEGATE_NO_VERIFY", "--no-verify", Counts, "no-verify"
            => no_verify: bool, Look::Switch, Strictness::Scale(&["false", "true"]);
        /// How long, in seconds, a version is looked for after a lost answer.
        LOOKUP_TIMEOUT = "SLUICEGATE_LOOKUP_TIMEOUT", "--lookup-timeout", Told, "lookup-timeout"
            => lookup_timeout: u64, Look::Whole { least: 0, most: 60 * 60, default: 10 };
        /// The JSON report of a review that must have passed on the commit to publish.
        REQUIRE_REVIEW = "SLUICEGATE_REQUIRE_REVIEW", "--require-review", Counts, "require-review"
            => require_review: PathBuf, Look::Text("review.json"), Strictness::Demand;
        /// Where to write the publish receipt.
        RECEIPT = "SLUICEGATE_RECEIPT", "--receipt", Told, "receipt"
            => receipt: PathBuf, Look::Text("receipt.json");
        /// Where to write the outcome of a publish as JUnit XML.
        PUBLISH_JUNIT = "SLUICEGATE_PUBLISH_JUNIT", "--junit", Told, "junit"
            => junit: PathBuf, Look::Text("publish.xml");
    }

    /// On which branches and tags `sluicegate ci` publishes, after a review that passed.
    section "publish-on" publish_on: PublishOnSection {
        /// Globs of the branches on which `ci` publishes, one a line.
        PUBLISH_ON_BRANCHES = "SLUICEGATE_PUBLISH_ON_BRANCHES", "--publish-on-branch", Counts, "branches"
            => branches: Vec<String> as "globs", Look::Globs(Some(&[])), Strictness::Letting;
        /// Globs of the tags on which `ci` publishes, one a line.
        PUBLISH_ON_TAGS = "SLUICEGATE_PUBLISH_ON_TAGS", "--publish-on-tag", Counts, "tags"
            => tags: Vec<String> as "globs", Look::Globs(Some(&[])), Strictness::Letting;
    }
}

/// Every setting, in the order of the reference.
pub fn all() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}

/// The keys whose values are globs over paths of the repository, each with whether they are held against what calls say, which may
/// leave out the extension.
pub fn globs_over_paths() -> impl Iterator<Item = (&'static str, bool)> {
    let globs = all().filter(|setting| matches!(setting.look, Look::Globs(_)));
    let over_paths = globs.filter(|setting| !setting.key.starts_with("publish-on."));
    over_paths.map(|setting| (setting.key, setting.key == "project-checks.external"))
}

/// The setting with this variable.
pub(super) fn by_variable(variable: &str) -> Option<&'static Setting> {
    all().find(|setting| setting.variable == variable)
}
