//! `sluicegate publish`, and the flags that `sluicegate ci` shares with it.

use super::{CompatArgs, GlobArgs, IfExists, OnIgnored, RequiredEngine, Select, Source};
use clap::Args;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate publish --prefix sales --version-name auto --receipt receipt.json
  sluicegate publish --prefix sales --version-name '{next}' --compat fail
  sluicegate publish --prefix sales --version-name test --dry-run

Placeholders of --version-name: {tag} {branch} {sha} {short-sha} {next} {date} {datetime} {run-number}; date and time
are those of the head commit in UTC, so that a rerun names the same version. auto is {date}-{short-sha}. {next} is the
semantic version after the latest enabled one: by what changed for consumers a major, a minor or a patch number higher.";

/// Publishes the shared pipelines as a version of an artifact.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct PublishArgs {
    /// What is published, and how.
    #[command(flatten)]
    pub what: PublishFlags,
    /// What a break of consumers means.
    #[command(flatten)]
    pub compat: CompatArgs,
    /// The revision to publish [env: SLUICEGATE_HEAD] [default: detected]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// The branch recorded with the version [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME")]
    pub branch: Option<String>,
    /// Fetch the commit to publish, and the one that was published last, if the clone lacks it, with git
    /// [env: SLUICEGATE_DEEPEN]
    #[arg(long)]
    pub deepen: bool,
    /// Which of them.
    #[command(flatten)]
    pub globs: GlobArgs,
    /// Refuse unless this JSON report of a review is of the commit to publish, covers every pipeline that is published,
    /// and passed [env: SLUICEGATE_REQUIRE_REVIEW]
    #[arg(long, value_name = "FILE.json")]
    pub require_review: Option<PathBuf>,
    /// Whose review that may be: the platform's, or any [env: SLUICEGATE_REQUIRE_REVIEW_ENGINE] [default: remote]
    #[arg(long, value_name = "ENGINE")]
    pub require_review_engine: Option<RequiredEngine>,
    /// Print the plan; no request but reads [env: SLUICEGATE_DRY_RUN]
    #[arg(long)]
    pub dry_run: bool,
    /// Print the plan of a dry run as JSON
    #[arg(long)]
    pub json: bool,
}

/// What is published, and how: the flags of every command that publishes.
#[derive(Debug, Clone, Default, Args)]
pub struct PublishFlags {
    /// The artifact's shared pipeline prefix [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// The version's name, a template, or auto [env: SLUICEGATE_VERSION_NAME]
    #[arg(long, value_name = "T")]
    pub version_name: Option<String>,
    /// The version that the interface is compared with [env: SLUICEGATE_AGAINST] [default: the latest enabled one]
    #[arg(long, value_name = "VERSION")]
    pub against: Option<String>,
    /// Which of the selected files: all, or only what the shared pipelines need [env: SLUICEGATE_SELECT] [default: all]
    #[arg(long, value_name = "WHICH")]
    pub select: Option<Select>,
    /// Where the files come from [env: SLUICEGATE_FROM] [default: commit]
    #[arg(long, value_name = "SOURCE")]
    pub from: Option<Source>,
    /// What an existing version means [env: SLUICEGATE_IF_EXISTS] [default: fail]
    #[arg(long, value_name = "ACTION")]
    pub if_exists: Option<IfExists>,
    /// What ignored resources mean [env: SLUICEGATE_ON_IGNORED] [default: fail]
    #[arg(long, value_name = "ACTION")]
    pub on_ignored: Option<OnIgnored>,
    /// Do not check the published artifact [env: SLUICEGATE_NO_VERIFY]
    #[arg(long)]
    pub no_verify: bool,
    /// How long to look for a version whose upload got no answer, or that is not shown yet
    /// [env: SLUICEGATE_LOOKUP_TIMEOUT] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub lookup_timeout: Option<u64>,
    /// Where to write the receipt, a JSON file [env: SLUICEGATE_RECEIPT]
    #[arg(long, value_name = "PATH")]
    pub receipt: Option<PathBuf>,
    /// Where to write the outcome as JUnit XML [env: SLUICEGATE_PUBLISH_JUNIT]
    #[arg(long, value_name = "PATH")]
    pub junit: Option<PathBuf>,
}
