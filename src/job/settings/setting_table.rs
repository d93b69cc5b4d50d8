//! The table of all settings: the variable, meaning, flag and key in `sluicegate.yaml` of each setting, who may set it,
//! and the format of its value with bounds, default and strictness.
//!
//! The table generates the structures that the file is read into, its JSON schema, the bounds and defaults of the
//! resolver, the report of a changed file, the table in `docs/book/settings.md` and the warning about unknown
//! variables. The effect of a flag on one command is documented with the flag.

use super::file_values::{
    deserialize_globs, deserialize_optional_enum, deserialize_path_globs, deserialize_ref_globs,
    deserialize_reports, deserialize_section, deserialize_show,
};
use super::setting::{Setting, SettingSection};
use super::setting_format::{GlobSubject, PIPELINE_GLOBS, SettingFormat, build_enumeration_schema};
use super::setting_kind::SettingKind;
use crate::job::cli;
use crate::job::policy::Strictness;
use serde::Deserialize;
use std::path::PathBuf;

/// Declares the settings: the names of the variables, the table, and the structures for the file. If the file may set
/// a setting, its row continues after `=>` with the field, type and reader of the value, its format, and its
/// strictness if it affects the verdict.
macro_rules! settings {
    (
        root $Root:ident { $($root:tt)* }
        $($(#[doc = $description:literal])+ section $section:literal $field:ident: $Section:ident { $($row:tt)* })+
    ) => {
        /// The names of the environment variables.
        pub mod variable {
            variables! { $($root)* }
            $(variables! { $($row)* })+
        }

        /// Every section, in the order of the reference.
        pub(super) const SECTIONS: &[SettingSection] = &[
            SettingSection { name: "", description: "", settings: rows! { "" => $($root)* } },
            $(SettingSection {
                name: $section,
                description: concat!($($description),+),
                settings: rows! { concat!($section, ".") => $($row)* },
            }),+
        ];

        section_struct! { pub $Root { $($root)* } $($section $field: $Section;)+ }
        $(section_struct! { pub(super) $Section { $($row)* } })+
    };
}

macro_rules! variables {
    ($($(#[doc = $description:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
        $(=> $field:ident: $type:ty $(as $reader:literal)?, $format:expr $(, $strictness:expr)?)?;)*) => {
        $($(#[doc = $description])+ pub const $name: &str = $variable;)*
    };
}

macro_rules! rows {
    ($prefix:expr => $($(#[doc = $description:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
        $(=> $field:ident: $type:ty $(as $reader:literal)?, $format:expr $(, $strictness:expr)?)?;)*) => {
        &[$(Setting {
            variable: $variable,
            flag: $flag,
            key: concat!($prefix, $key),
            kind: SettingKind::$kind,
            format: [$($format,)? SettingFormat::NotInFile][0],
            strictness: [$($($strictness,)?)? Strictness::Neutral][0],
            description: concat!($($description),+),
        }),*]
    };
}

/// Declares the structure for one section of the file. Every key is optional.
macro_rules! section_struct {
    ($visibility:vis $Name:ident {
        $($(#[doc = $description:literal])+ $name:ident = $variable:literal, $flag:literal, $kind:ident, $key:literal
            $(=> $field:ident: $type:ty $(as $reader:literal)?, $format:expr $(, $strictness:expr)?)?;)*
    } $($section:literal $section_field:ident: $Section:ident;)*) => {
        #[derive(Debug, Clone, Default, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        $visibility struct $Name {
            $($(#[serde(rename = $key $(, deserialize_with = $reader)?)] pub(super) $field: Option<$type>,)?)*
            $(#[serde(rename = $section, deserialize_with = "deserialize_section")] pub(super) $section_field: $Section,)*
        }

        impl $Name {
            /// Removes the settings that may affect the verdict, because a change that adds the configuration file must
            /// not configure its own gate. All settings are checked here, so code that uses the file does not have to.
            pub(super) fn retain_first_file_settings(&mut self) {
                $($(if !SettingKind::$kind.is_in_first_file() {
                    self.$field = None;
                })?)*
                $(self.$section_field.retain_first_file_settings();)*
            }
        }
    };
}

settings! {
    root FileConfig {
        /// Configuration file to read (default: `sluicegate.yaml` at the repository root).
        CONFIG = "SLUICEGATE_CONFIG", "--config", Subject, "config";
        /// URL of the platform, with or without a trailing `/` or `/v1`.
        BASE_URL = "SLUICEGATE_BASE_URL", "--base-url", Trust, "base-url";
        /// UUID of the project on the platform.
        PROJECT_ID = "SLUICEGATE_PROJECT_ID", "--project-id", Operational, "project-id"
            => project_id: String, SettingFormat::Uuid;
        /// Version of the agent that runs the project's pipelines; a review sends it to the platform.
        AGENT_VERSION = "SLUICEGATE_AGENT_VERSION", "--agent-version", Operational, "agent-version"
            => agent_version: String, SettingFormat::Text("9.0.0");
        /// Bearer token for the platform.
        TOKEN = "SLUICEGATE_TOKEN", "", Secret, "token";
        /// File that contains the token.
        TOKEN_FILE = "SLUICEGATE_TOKEN_FILE", "--token-file", Trust, "token-file";
        /// Command that prints the token.
        TOKEN_COMMAND = "SLUICEGATE_TOKEN_COMMAND", "--token-command", Secret, "token-command";
        /// OAuth 2 client ID.
        CLIENT_ID = "SLUICEGATE_CLIENT_ID", "", Trust, "client-id";
        /// OAuth 2 client secret.
        CLIENT_SECRET = "SLUICEGATE_CLIENT_SECRET", "", Secret, "client-secret";
        /// Token endpoint for the OAuth 2 client credentials.
        TOKEN_URL = "SLUICEGATE_TOKEN_URL", "", Trust, "token-url";
        /// OAuth 2 audience, if the token endpoint requires one.
        TOKEN_AUDIENCE = "SLUICEGATE_TOKEN_AUDIENCE", "", Trust, "token-audience";
        /// Path of the git repository (default: detected from the current directory).
        REPO = "SLUICEGATE_REPO", "--repo", Subject, "repo";
        /// Name of the platform's hidden directory at the repository root (default: detected).
        CONFIG_DIR = "SLUICEGATE_CONFIG_DIR", "--config-dir", Verdict, "config-dir"
            => config_dir: String, SettingFormat::Text(".platform");
        /// PEM file with additional root certificates to trust.
        CA_CERT = "SLUICEGATE_CA_CERT", "--ca-cert", Trust, "ca-cert";
        /// Client certificate for the platform: a PEM file, or the PEM itself.
        CLIENT_CERT = "SLUICEGATE_CLIENT_CERT", "--client-cert", Secret, "client-cert";
        /// Key of the client certificate: a PEM file, or the PEM itself (default: in the file of the certificate).
        CLIENT_KEY = "SLUICEGATE_CLIENT_KEY", "--client-key", Secret, "client-key";
        /// Timeout for each request, in seconds.
        TIMEOUT = "SLUICEGATE_TIMEOUT", "--timeout", Operational, "timeout"
            => timeout: u64, SettingFormat::Integer { minimum: 1, maximum: 24 * 60 * 60, default: 60 };
        /// Maximum number of retries for a failed request.
        RETRIES = "SLUICEGATE_RETRIES", "--retries", Operational, "retries"
            => retries: u64, SettingFormat::Integer { minimum: 0, maximum: 100, default: 4 };
        /// CI host of the job, instead of the detected one.
        CI = "SLUICEGATE_CI", "--ci", Subject, "ci";
        /// Additional URLs of the repository that the change goes to, for example of a mirror that the job clones (one
        /// per line).
        TARGET_REPOSITORY = "SLUICEGATE_TARGET_REPOSITORY", "--target-repository", Subject, "target-repository";
        /// Where to read the gate configuration from: auto, base or head.
        POLICY = "SLUICEGATE_POLICY", "--policy", Subject, "policy";
        /// How to treat a change that edits the gate configuration together with other files: warn or fail.
        GATE_CHANGES = "SLUICEGATE_GATE_CHANGES", "--gate-changes", Subject, "gate-changes";
        /// When to color the output: auto, always or never.
        COLOR = "SLUICEGATE_COLOR", "--color", Operational, "";
        /// Review every pipeline of the head commit.
        ALL = "SLUICEGATE_ALL", "--all", Subject, "all";
        /// Revision to compare with.
        BASE = "SLUICEGATE_BASE", "--base", Subject, "base";
        /// Revision to review or publish.
        HEAD = "SLUICEGATE_HEAD", "--head", Subject, "head";
        /// Branch name to send to the platform.
        BRANCH = "SLUICEGATE_BRANCH", "--branch", Subject, "branch";
        /// Fetch missing commits and history of a shallow clone, step by step.
        DEEPEN = "SLUICEGATE_DEEPEN", "--deepen", Trust, "deepen";
        /// Globs of the files to select, one per line.
        INCLUDE = "SLUICEGATE_INCLUDE", "--include", Verdict, "include"
            => include: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, Some(&PIPELINE_GLOBS)), Strictness::TighteningList;
        /// Globs of the files to skip, one per line.
        EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Verdict, "exclude"
            => exclude: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, Some(&[])), Strictness::RelaxingList;
        /// Whether to run the project checks: auto, or off to skip them in this job.
        PROJECT_CHECKS = "SLUICEGATE_PROJECT_CHECKS", "--project-checks", Subject, "";
        /// Rules file that `check` uses instead of the project's rules file. In CI, the file must be outside the
        /// checkout.
        RULES = "SLUICEGATE_RULES", "--rules", Subject, "rules";
        /// Maximum number of known findings; the gate fails if there are more known findings.
        MAX_KNOWN = "SLUICEGATE_MAX_KNOWN", "--max-known", Subject, "max-known";
        /// Shard of the selected files to review, `I/N`.
        SHARD = "SLUICEGATE_SHARD", "--shard", Subject, "shard";
        /// URL of Bitbucket's proxy for Code Insights (default: `http://localhost:29418`).
        BITBUCKET_PROXY = "SLUICEGATE_BITBUCKET_PROXY", "", Trust, "bitbucket-proxy";
        /// Reason to accept changes that break consumers, in this run.
        ACCEPT_BREAKING = "SLUICEGATE_ACCEPT_BREAKING", "--accept-breaking", Subject, "accept-breaking";
        /// Version to compare a publish with (default: the latest enabled version).
        AGAINST = "SLUICEGATE_AGAINST", "--against", Subject, "against";
        /// Reviews to accept for the required review: `remote` (the default) or `any`.
        REQUIRE_REVIEW_ENGINE = "SLUICEGATE_REQUIRE_REVIEW_ENGINE", "--require-review-engine", Subject, "require-review-engine";
        /// Print the requests or the publish plan without changing anything on the platform.
        DRY_RUN = "SLUICEGATE_DRY_RUN", "--dry-run", Subject, "dry-run";
        /// Let `ci` publish from a local run, which otherwise only prints what it would publish.
        PUBLISH = "SLUICEGATE_PUBLISH", "--publish", Subject, "";
        /// Environment to run pipelines and agents in.
        ENVIRONMENT = "SLUICEGATE_ENVIRONMENT", "--environment", Verdict, "environment"
            => environment: String, SettingFormat::Text("production");
        /// Seconds between the first polls while waiting.
        POLL_INTERVAL = "SLUICEGATE_POLL_INTERVAL", "--poll-interval", Operational, "poll-interval"
            => poll_interval: f64, SettingFormat::Seconds { minimum: 0.001, maximum: 3600.0, default: 1.0 };
        /// Status to send to terminate an execution.
        CANCEL_STATUS = "SLUICEGATE_CANCEL_STATUS", "--cancel-status", Operational, "cancel-status"
            => cancel_status: String, SettingFormat::Name("CANCELLED");
    }

    /// Real names behind the neutral names of the platform's API document.
    section "vocabulary" vocabulary: VocabularySection {
        /// Name of the data warehouse type whose connections use a key pair.
        WAREHOUSE_A = "SLUICEGATE_WAREHOUSE_A", "--warehouse-a", Operational, "WAREHOUSE_A"
            => warehouse_a: String, SettingFormat::Name("WAREHOUSE_A");
        /// Name of the data warehouse type whose connections use a password.
        WAREHOUSE_B = "SLUICEGATE_WAREHOUSE_B", "--warehouse-b", Operational, "WAREHOUSE_B"
            => warehouse_b: String, SettingFormat::Name("WAREHOUSE_B");
        /// Git provider of project repositories.
        GIT_PROVIDER = "SLUICEGATE_GIT_PROVIDER", "--git-provider", Operational, "git_provider_a"
            => git_provider: String, SettingFormat::Name("git_provider_a");
        /// Secret type of the cloud secrets manager.
        KEY_VAULT = "SLUICEGATE_KEY_VAULT", "--key-vault", Operational, "CLOUD_A_KEY_VAULT"
            => key_vault: String, SettingFormat::Name("CLOUD_A_KEY_VAULT");
    }

    /// Settings for the review: the selected files, the verdict and the reports.
    section "review" review: ReviewSection {
        /// Globs of the files to review, instead of `include`.
        REVIEW_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Verdict, "include"
            => include: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, None), Strictness::TighteningList;
        /// Globs of the files to skip in the review, instead of `exclude`.
        REVIEW_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Verdict, "exclude"
            => exclude: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, None), Strictness::RelaxingList;
        /// File with the rules of the team, relative to the repository root, or off (default: `sluicegate-rules.yaml`
        /// in the directory of the configuration file).
        TEAM_RULES = "SLUICEGATE_TEAM_RULES", "--team-rules", Verdict, "team-rules"
            => team_rules: String, SettingFormat::Text("gate/sluicegate-rules.yaml");
        /// Lowest severity that fails the gate: error, warn or never.
        FAIL_ON = "SLUICEGATE_FAIL_ON", "--fail-on", Verdict, "fail-on"
            => fail_on: cli::FailOn as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::FailOn>), Strictness::Scale(&["warn", "error", "never"]);
        /// Fail only on findings that the change introduces.
        NEW_ONLY = "SLUICEGATE_NEW_ONLY", "--new-only", Operational, "new-only"
            => new_only: bool, SettingFormat::Switch, Strictness::Scale(&["false", "true"]);
        /// What to do if the platform cannot be reached or gives no usable response: fail or pass.
        ON_UNAVAILABLE = "SLUICEGATE_ON_UNAVAILABLE", "--on-unavailable", Verdict, "on-unavailable"
            => on_unavailable: cli::OnUnavailable as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::OnUnavailable>), Strictness::Scale(&["fail", "pass"]);
        /// How to review a change from a fork: fail or check.
        FORK = "SLUICEGATE_FORK", "--fork", Verdict, "fork"
            => fork: cli::Fork as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::Fork>), Strictness::Scale(&["fail", "check"]);
        /// Reports to write, `FORMAT=PATH`, one per line.
        REPORT = "SLUICEGATE_REPORT", "--report", Operational, "report"
            => report: Vec<cli::ReportFlag> as "deserialize_reports", SettingFormat::Reports;
        /// File to write an in-toto statement about a passed review to.
        ATTESTATION = "SLUICEGATE_ATTESTATION", "--attestation", Operational, "attestation"
            => attestation: PathBuf, SettingFormat::Text("review.intoto.json");
        /// File to write the predicate of the in-toto statement about a passed review to.
        ATTESTATION_PREDICATE = "SLUICEGATE_ATTESTATION_PREDICATE", "--attestation-predicate", Operational, "attestation-predicate"
            => attestation_predicate: PathBuf, SettingFormat::Text("review-predicate.json");
        /// Style of the annotations for the CI host: auto, github, azure or none.
        ANNOTATIONS = "SLUICEGATE_ANNOTATIONS", "--annotations", Operational, "annotations"
            => annotations: cli::Annotations as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::Annotations>);
        /// Post one comment with the result on the pull or merge request, and update it in later runs.
        COMMENT = "SLUICEGATE_COMMENT", "--comment", Operational, "comment"
            => comment: bool, SettingFormat::Switch;
        /// Whether reports list the changes in the pipelines: auto or none.
        CHANGES = "SLUICEGATE_CHANGES", "--changes", Operational, "changes"
            => changes: cli::Changes as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::Changes>);
        /// Name that separates this review from other reviews of the same commit, in SARIF and in the comment.
        CATEGORY = "SLUICEGATE_CATEGORY", "--category", Operational, "category"
            => category: String, SettingFormat::Text("nightly");
        /// Findings to list in human-readable output: all, new, none, concise, or a maximum number.
        SHOW = "SLUICEGATE_SHOW", "--show", Operational, "show"
            => show: cli::ShowMode as "deserialize_show", SettingFormat::Show;
        /// Fields of the review request: pipelines or file-paths.
        REVIEW_REQUEST = "SLUICEGATE_REVIEW_REQUEST", "--review-request", Operational, "request"
            => request: cli::ReviewRequestFields as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::ReviewRequestFields>);
        /// Data warehouse type to send with a `file-paths` review request.
        DATA_WAREHOUSE = "SLUICEGATE_DATA_WAREHOUSE", "--data-warehouse", Operational, "data-warehouse"
            => data_warehouse: String, SettingFormat::Text("SNOWFLAKE");
        /// Maximum number of files in one review request.
        BATCH_SIZE = "SLUICEGATE_BATCH_SIZE", "--batch-size", Operational, "batch-size"
            => batch_size: u64, SettingFormat::Integer { minimum: 1, maximum: 10_000, default: 100 };
        /// Maximum number of concurrent review requests.
        CONCURRENCY = "SLUICEGATE_CONCURRENCY", "--concurrency", Operational, "concurrency"
            => concurrency: u64, SettingFormat::Integer { minimum: 1, maximum: 64, default: 4 };
    }

    /// Level of each project check, which finds broken references between files.
    section "project-checks" project_checks: ProjectChecksSection {
        /// Level for a call of a pipeline that does not exist: error, warn or off.
        CHECK_CALL = "", "", Verdict, "call"
            => call: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Level for a component whose script does not exist: error, warn or off.
        CHECK_SCRIPT = "", "", Verdict, "script"
            => script: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Level for a link to a component that does not exist: error, warn or off.
        CHECK_LINK = "", "", Verdict, "link"
            => link: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Level for a call that sets a variable that the called pipeline does not have: error, warn or off.
        CHECK_ARGUMENT = "", "", Verdict, "argument"
            => argument: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Level for an entry of the shared-pipelines file that does not match its pipeline: error, warn or off.
        CHECK_SHARED = "", "", Verdict, "shared"
            => shared: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Level for pipelines that call each other in a cycle: error, warn or off.
        CHECK_CYCLE = "", "", Verdict, "cycle"
            => cycle: cli::CheckLevel as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CheckLevel>), Strictness::Scale(&["error", "warn", "off"]);
        /// Globs of called pipelines and scripts that are outside the project.
        CHECK_EXTERNAL = "", "", Verdict, "external"
            => external: Vec<String> as "deserialize_globs", SettingFormat::Globs(GlobSubject::CallTargets, Some(&[])), Strictness::RelaxingList;
    }

    /// Settings for publishing.
    section "publish" publish: PublishSection {
        /// Globs of the files to publish, instead of `include`.
        PUBLISH_INCLUDE = "SLUICEGATE_INCLUDE", "--include", Verdict, "include"
            => include: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, None);
        /// Globs of the files to skip when publishing, instead of `exclude`.
        PUBLISH_EXCLUDE = "SLUICEGATE_EXCLUDE", "--exclude", Verdict, "exclude"
            => exclude: Vec<String> as "deserialize_path_globs", SettingFormat::Globs(GlobSubject::Paths, None);
        /// Prefix of the artifact: its name on the platform, for example sales.
        PREFIX = "SLUICEGATE_PREFIX", "--prefix", Operational, "prefix"
            => prefix: String, SettingFormat::Text("sales");
        /// Name of the new version, or a template for it.
        VERSION_NAME = "SLUICEGATE_VERSION_NAME", "--version-name", Operational, "version-name"
            => version_name: String, SettingFormat::Text("auto");
        /// How to treat a change that breaks consumers of shared pipelines: fail, warn or off.
        COMPAT = "SLUICEGATE_COMPAT", "--compat", Verdict, "compat"
            => compat: cli::CompatMode as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::CompatMode>), Strictness::Scale(&["fail", "warn", "off"]);
        /// Which of the selected files to publish: all, or closure (only those that the shared pipelines need).
        SELECT = "SLUICEGATE_SELECT", "--select", Verdict, "select"
            => select: cli::FileSelection as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::FileSelection>);
        /// Where to read the published files from: commit or worktree.
        FROM = "SLUICEGATE_FROM", "--from", Verdict, "from"
            => from: cli::FileSource as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::FileSource>), Strictness::Scale(&["commit", "worktree"]);
        /// What to do if the version already exists: fail or same-content.
        IF_EXISTS = "SLUICEGATE_IF_EXISTS", "--if-exists", Verdict, "if-exists"
            => if_exists: cli::IfExists as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::IfExists>), Strictness::Scale(&["fail", "same-content"]);
        /// What to do if the platform ignores some of the uploaded files: fail, disable or warn.
        ON_IGNORED = "SLUICEGATE_ON_IGNORED", "--on-ignored", Verdict, "on-ignored"
            => on_ignored: cli::OnIgnored as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::OnIgnored>), Strictness::Scale(&["disable", "fail", "warn"]);
        /// Skip the check of the published version after the upload.
        NO_VERIFY = "SLUICEGATE_NO_VERIFY", "--no-verify", Verdict, "no-verify"
            => no_verify: bool, SettingFormat::Switch, Strictness::Scale(&["false", "true"]);
        /// Maximum time in seconds to look for the uploaded version after a lost response.
        LOOKUP_TIMEOUT = "SLUICEGATE_LOOKUP_TIMEOUT", "--lookup-timeout", Operational, "lookup-timeout"
            => lookup_timeout: u64, SettingFormat::Integer { minimum: 0, maximum: 60 * 60, default: 10 };
        /// JSON report of a passed review that a publish of the same commit requires.
        REQUIRE_REVIEW = "SLUICEGATE_REQUIRE_REVIEW", "--require-review", Verdict, "require-review"
            => require_review: PathBuf, SettingFormat::Text("review.json"), Strictness::Requirement;
        /// File to write the publish receipt to.
        RECEIPT = "SLUICEGATE_RECEIPT", "--receipt", Operational, "receipt"
            => receipt: PathBuf, SettingFormat::Text("receipt.json");
        /// File to write the outcome of a publish to, as JUnit XML.
        PUBLISH_JUNIT = "SLUICEGATE_PUBLISH_JUNIT", "--junit", Operational, "junit"
            => junit: PathBuf, SettingFormat::Text("publish.xml");
        /// File to write an in-toto statement about a published version to (in `publish`: `--attestation`).
        PUBLISH_ATTESTATION = "SLUICEGATE_PUBLISH_ATTESTATION", "--publish-attestation", Operational, "attestation"
            => attestation: PathBuf, SettingFormat::Text("publication.intoto.json");
        /// File to write the predicate of the in-toto statement to (in `publish`: `--attestation-predicate`).
        PUBLISH_ATTESTATION_PREDICATE = "SLUICEGATE_PUBLISH_ATTESTATION_PREDICATE", "--publish-attestation-predicate", Operational, "attestation-predicate"
            => attestation_predicate: PathBuf, SettingFormat::Text("publication-predicate.json");
        /// Published pipelines to run after a publish, one per line; if one fails, the version is disabled.
        SMOKE = "SLUICEGATE_SMOKE", "--smoke", Verdict, "smoke"
            => smoke: Vec<String>, SettingFormat::Names("sales/load orders"), Strictness::TighteningList;
        /// UUIDs of the projects for the smoke runs, one per line: one UUID for all runs, or one UUID for each
        /// run.
        SMOKE_PROJECT = "SLUICEGATE_SMOKE_PROJECT", "--smoke-project", Verdict, "smoke-project"
            => smoke_project: Vec<String>, SettingFormat::Names("6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10");
        /// Environments for the smoke runs, one per line: one environment for all runs, or one environment for
        /// each run.
        SMOKE_ENVIRONMENT = "SLUICEGATE_SMOKE_ENVIRONMENT", "--smoke-environment", Verdict, "smoke-environment"
            => smoke_environment: Vec<String>, SettingFormat::Names("production");
        /// Maximum time to wait for all smoke runs together, in seconds.
        SMOKE_TIMEOUT = "SLUICEGATE_SMOKE_TIMEOUT", "--smoke-timeout", Verdict, "smoke-timeout"
            => smoke_timeout: u64, SettingFormat::Integer { minimum: 1, maximum: 24 * 60 * 60, default: 1_800 };
        /// Action to take on the version if a smoke run does not succeed: disable or keep.
        ON_SMOKE_FAILURE = "SLUICEGATE_ON_SMOKE_FAILURE", "--on-smoke-failure", Verdict, "on-smoke-failure"
            => on_smoke_failure: cli::OnSmokeFailure as "deserialize_optional_enum", SettingFormat::Enumeration(build_enumeration_schema::<cli::OnSmokeFailure>), Strictness::Scale(&["disable", "keep"]);
    }

    /// Branches and tags on which `sluicegate ci` publishes after a passed review.
    section "publish-on" publish_on: PublishOnSection {
        /// Globs of the branches on which `ci` publishes, one per line or separated by blanks.
        PUBLISH_ON_BRANCHES = "SLUICEGATE_PUBLISH_ON_BRANCHES", "--publish-on-branch", Verdict, "branches"
            => branches: Vec<String> as "deserialize_ref_globs", SettingFormat::Globs(GlobSubject::Refs, Some(&[])), Strictness::RelaxingList;
        /// Globs of the tags on which `ci` publishes, one per line or separated by blanks.
        PUBLISH_ON_TAGS = "SLUICEGATE_PUBLISH_ON_TAGS", "--publish-on-tag", Verdict, "tags"
            => tags: Vec<String> as "deserialize_ref_globs", SettingFormat::Globs(GlobSubject::Refs, Some(&[])), Strictness::RelaxingList;
    }
}

/// Returns every setting, in the order of the reference.
pub fn all_settings() -> impl Iterator<Item = &'static Setting> {
    SECTIONS.iter().flat_map(|section| section.settings)
}
