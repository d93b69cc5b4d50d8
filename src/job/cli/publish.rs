//! `sluicegate publish`, and the flags that `sluicegate ci` shares with it.

use super::values::output_path_parser;
use super::{
    CompatArgs, FileSelection, FileSource, GlobArgs, IfExists, OnIgnored, OutputFormat, RequiredEngine,
    SmokeFlags,
};
use clap::Args;
use clap::builder::Resettable;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate publish --prefix sales --version-name auto --receipt receipt.json
  sluicegate publish --prefix sales --version-name '{next}' --compat fail
  sluicegate publish --prefix sales --version-name test --dry-run
  sluicegate publish --prefix sales --version-name auto \\
      --attestation publication.intoto.json
  sluicegate publish --prefix sales --version-name 1.1.0 \\
      --smoke 'sales/load orders' --smoke-environment production \\
      --smoke-project 6f1d3c1e-8a3b-4c56-9a0e-0d7b6c1f2a10

--version-name may contain the placeholders {tag}, {branch}, {sha}, {short-sha}, {next}, {date},
{datetime} and {run-number}.
{date} and {datetime} come from the head commit, in UTC, so that a rerun gets the same name.
{next} is the semantic version after the latest enabled one; the changes for consumers determine
whether the major, minor or patch number increases. auto is {date}-{short-sha}.";

/// Publishes the shared pipelines as a version of an artifact.
#[derive(Debug, Clone, Default, Args)]
#[command(
    after_help = EXAMPLES,
    mut_arg("publish_attestation", |arg| arg.long("attestation")),
    mut_arg("publish_attestation_predicate", |arg| arg.long("attestation-predicate")),
)]
pub struct PublishArgs {
    #[command(flatten)]
    pub flags: PublishFlags,
    #[command(flatten)]
    pub compat: CompatArgs,
    /// Revision to publish [env: SLUICEGATE_HEAD] [default: detected]
    #[arg(long, value_name = "REV", help_heading = "Selection")]
    pub head: Option<String>,
    /// Branch name to record with the version [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub branch: Option<String>,
    /// Fetch the commit to publish and the last published commit with git; for shallow clones
    /// [env: SLUICEGATE_DEEPEN]
    #[arg(long, help_heading = "Selection")]
    pub deepen: bool,
    #[command(flatten)]
    pub globs: GlobArgs,
    /// Publish only if this JSON report shows a passed review of the same commit and of every published pipeline
    /// [env: SLUICEGATE_REQUIRE_REVIEW]
    #[arg(long, value_name = "FILE.json", help_heading = "Publish")]
    pub require_review: Option<PathBuf>,
    /// Reviews to accept for --require-review [env: SLUICEGATE_REQUIRE_REVIEW_ENGINE] [default: remote]
    #[arg(long, value_name = "ENGINE", help_heading = "Publish")]
    pub require_review_engine: Option<RequiredEngine>,
    /// Print the publish plan without changing anything on the platform [env: SLUICEGATE_DRY_RUN]
    #[arg(long, help_heading = Resettable::Reset)]
    pub dry_run: bool,
    /// Output format; json is the receipt, or with --dry-run the plan [default: text]
    #[arg(short, long, value_name = "FORMAT", help_heading = Resettable::Reset)]
    pub output: Option<OutputFormat>,
    /// Print JSON, as -o json does
    #[arg(long, conflicts_with = "output", hide = true)]
    pub json: bool,
}

/// Flags of every command that publishes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Publish")]
pub struct PublishFlags {
    /// Prefix of the artifact: its name on the platform, for example sales [env: SLUICEGATE_PREFIX]
    #[arg(long, value_name = "P")]
    pub prefix: Option<String>,
    /// Name of the new version: a name, a template with placeholders, or auto [env: SLUICEGATE_VERSION_NAME]
    #[arg(long, value_name = "T")]
    pub version_name: Option<String>,
    /// Compare the interface of the shared pipelines with this version [env: SLUICEGATE_AGAINST] [default: the latest
    /// enabled version]
    #[arg(long, value_name = "VERSION")]
    pub against: Option<String>,
    /// Which of the selected files to publish [env: SLUICEGATE_SELECT] [default: all]
    #[arg(long, value_name = "WHICH")]
    pub select: Option<FileSelection>,
    /// Where to read the published files from [env: SLUICEGATE_FROM] [default: commit]
    #[arg(long, value_name = "SOURCE")]
    pub from: Option<FileSource>,
    /// What to do if the version already exists [env: SLUICEGATE_IF_EXISTS] [default: fail]
    #[arg(long, value_name = "ACTION")]
    pub if_exists: Option<IfExists>,
    /// What to do if the platform ignores some of the uploaded files [env: SLUICEGATE_ON_IGNORED] [default: fail]
    #[arg(long, value_name = "ACTION")]
    pub on_ignored: Option<OnIgnored>,
    /// Skip the check of the published version after the upload [env: SLUICEGATE_NO_VERIFY]
    #[arg(long)]
    pub no_verify: bool,
    /// Maximum time in seconds to look for the uploaded version if the response was lost or the platform does not list
    /// the version yet [env: SLUICEGATE_LOOKUP_TIMEOUT] [default: 10]
    #[arg(long, value_name = "SECONDS")]
    pub lookup_timeout: Option<u64>,
    /// Write the receipt to this JSON file [env: SLUICEGATE_RECEIPT]
    #[arg(long, value_name = "PATH", value_parser = output_path_parser())]
    pub receipt: Option<PathBuf>,
    /// Write the outcome to this file as JUnit XML [env: SLUICEGATE_PUBLISH_JUNIT]
    #[arg(long, value_name = "PATH", value_parser = output_path_parser())]
    pub junit: Option<PathBuf>,
    /// Write an in-toto statement about the published version to this file, for a separate tool to sign
    /// [env: SLUICEGATE_PUBLISH_ATTESTATION]
    #[arg(long, value_name = "FILE", value_parser = output_path_parser())]
    pub publish_attestation: Option<PathBuf>,
    /// Write only the predicate of the in-toto statement to this file, for `actions/attest`
    /// [env: SLUICEGATE_PUBLISH_ATTESTATION_PREDICATE]
    #[arg(long, value_name = "FILE", value_parser = output_path_parser())]
    pub publish_attestation_predicate: Option<PathBuf>,
    #[command(flatten)]
    pub smoke: SmokeFlags,
}
