//! `sluicegate review`.

use super::{CompatArgs, DestinationArgs, FailOn, Fork, OnUnavailable, ProjectChecks, ReviewRequestFields};
use clap::Args;
use clap::builder::Resettable;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate review --new-only --report junit=review.xml
  sluicegate review --base origin/release sales
  sluicegate review --dry-run";

/// Reviews the pipelines that changed between base and head.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReviewArgs {
    /// Which pipelines.
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// The branch name sent to the platform [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub branch: Option<String>,
    /// What fails it, and where it is told.
    #[command(flatten)]
    pub gate: GateArgs,
    /// What a platform without a usable answer means [env: SLUICEGATE_ON_UNAVAILABLE] [default: fail]
    #[arg(long, value_name = "ACTION", help_heading = "Verdict")]
    pub on_unavailable: Option<OnUnavailable>,
    /// What a change from a fork means, which the platform cannot read: `check` judges it on this machine
    /// [env: SLUICEGATE_FORK] [default: fail]
    #[arg(long, value_name = "ACTION", help_heading = "Verdict")]
    pub fork: Option<Fork>,
    /// Fields of the review request, if the platform rejects `pipelines` [env: SLUICEGATE_REVIEW_REQUEST]
    /// [default: pipelines]
    #[arg(long, value_name = "FIELDS", help_heading = "Connection")]
    pub review_request: Option<ReviewRequestFields>,
    /// Data warehouse type that a request with `filePaths` names, for example SNOWFLAKE or DATABRICKS
    /// [env: SLUICEGATE_DATA_WAREHOUSE]
    #[arg(long, value_name = "TYPE", help_heading = "Connection")]
    pub data_warehouse: Option<String>,
    /// Files in one request [env: SLUICEGATE_BATCH_SIZE] [default: 100]
    #[arg(long, value_name = "N", help_heading = "Connection")]
    pub batch_size: Option<usize>,
    /// Requests at the same time [env: SLUICEGATE_CONCURRENCY] [default: 4]
    #[arg(long, value_name = "N", help_heading = "Connection")]
    pub concurrency: Option<usize>,
    /// Say what would be sent, and send nothing [env: SLUICEGATE_DRY_RUN]
    #[arg(long)]
    pub dry_run: bool,
}

/// What fails the gate, and where it is told.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct GateArgs {
    /// What fails the gate [env: SLUICEGATE_FAIL_ON] [default: error]
    #[arg(long, value_name = "LEVEL")]
    pub fail_on: Option<FailOn>,
    /// Only findings that the base does not have count; those that were there before are told as known
    /// [env: SLUICEGATE_NEW_ONLY]
    #[arg(long)]
    pub new_only: bool,
    /// The most findings that may be known, so that their number can only fall: more end in 1; with --new-only
    /// [env: SLUICEGATE_MAX_KNOWN]
    #[arg(long, value_name = "N")]
    pub max_known: Option<usize>,
    /// Checks of the project, which find references that lead nowhere: their levels stand in `project-checks` of the
    /// configuration file [env: SLUICEGATE_PROJECT_CHECKS] [default: auto]
    #[arg(long, value_name = "WHETHER")]
    pub project_checks: Option<ProjectChecks>,
    /// What a break of consumers means.
    #[command(flatten)]
    pub compat: CompatArgs,
    /// Where the result goes.
    #[command(flatten)]
    pub destinations: DestinationArgs,
    /// One part of N alone: the parts together are the whole [env: SLUICEGATE_SHARD, or CI_NODE_INDEX and CI_NODE_TOTAL]
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub shard: Option<String>,
}

/// Which pipelines of which commit, against which base.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Files or folders that restrict the selection, relative to the current folder
    #[arg(value_name = "PATHS", help_heading = Resettable::Reset)]
    pub paths: Vec<PathBuf>,
    /// All pipelines of the head commit, changed or not [env: SLUICEGATE_ALL]
    #[arg(long)]
    pub all: bool,
    /// Which commit, against which base.
    #[command(flatten)]
    pub range: RangeArgs,
    /// Which of them.
    #[command(flatten)]
    pub globs: GlobArgs,
}

/// Which commit, against which base.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct RangeArgs {
    /// Compare with the merge-base of this revision and head [env: SLUICEGATE_BASE] [default: detected]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// The revision to review [env: SLUICEGATE_HEAD] [default: detected]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// Fetch the commits and the history that the clone lacks, in bounded steps, with git [env: SLUICEGATE_DEEPEN]
    #[arg(long)]
    pub deepen: bool,
}

/// Which files, by globs over paths from the repository root.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct GlobArgs {
    /// Take only files that match; repeatable [env: SLUICEGATE_INCLUDE, one a line]
    /// [default: **/*.orch.yaml, **/*.tran.yaml]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Leave files that match; repeatable [env: SLUICEGATE_EXCLUDE, one a line]
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}
