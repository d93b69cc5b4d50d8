//! `sluicegate review`.

use super::{
    AttestationArgs, CompatArgs, DestinationArgs, FailOn, Fork, OnUnavailable, ProjectCheckMode,
    ReviewRequestFields,
};
use clap::Args;
use clap::builder::Resettable;
use std::path::PathBuf;

const EXAMPLES: &str = "Examples:
  sluicegate review --new-only --report junit=review.xml
  sluicegate review --base origin/release sales
  sluicegate review --attestation review.intoto.json
  sluicegate review --dry-run";

/// Reviews the pipelines that changed between base and head.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct ReviewArgs {
    #[command(flatten)]
    pub selection: SelectionArgs,
    /// Branch name to send to the platform [env: SLUICEGATE_BRANCH] [default: detected]
    #[arg(long, value_name = "NAME", help_heading = "Selection")]
    pub branch: Option<String>,
    #[command(flatten)]
    pub gate: GateArgs,
    #[command(flatten)]
    pub attestation: AttestationArgs,
    /// What to do if the platform cannot be reached or gives no usable response
    /// [env: SLUICEGATE_ON_UNAVAILABLE] [default: fail]
    #[arg(long, value_name = "ACTION", help_heading = "Verdict")]
    pub on_unavailable: Option<OnUnavailable>,
    /// How to review a change from a fork, which the platform cannot read [env: SLUICEGATE_FORK] [default: fail]
    #[arg(long, value_name = "ACTION", help_heading = "Verdict")]
    pub fork: Option<Fork>,
    /// Fields of the review request; pass file-paths if the platform rejects `pipelines`
    /// [env: SLUICEGATE_REVIEW_REQUEST] [default: pipelines]
    #[arg(long, value_name = "FIELDS", help_heading = "Connection")]
    pub review_request: Option<ReviewRequestFields>,
    /// Data warehouse type to send with --review-request file-paths, for example SNOWFLAKE or DATABRICKS
    /// [env: SLUICEGATE_DATA_WAREHOUSE]
    #[arg(long, value_name = "TYPE", help_heading = "Connection")]
    pub data_warehouse: Option<String>,
    /// Maximum number of files in one review request [env: SLUICEGATE_BATCH_SIZE] [default: 100]
    #[arg(long, value_name = "N", help_heading = "Connection")]
    pub batch_size: Option<usize>,
    /// Maximum number of concurrent review requests [env: SLUICEGATE_CONCURRENCY] [default: 4]
    #[arg(long, value_name = "N", help_heading = "Connection")]
    pub concurrency: Option<usize>,
    /// Print the requests without sending them [env: SLUICEGATE_DRY_RUN]
    #[arg(long, help_heading = Resettable::Reset)]
    pub dry_run: bool,
}

/// Flags for the verdict and for the reports of `review` and `check`.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Verdict")]
pub struct GateArgs {
    /// Lowest severity that fails the gate [env: SLUICEGATE_FAIL_ON] [default: error]
    #[arg(long, value_name = "LEVEL")]
    pub fail_on: Option<FailOn>,
    /// Fail only on findings that this change introduces; report existing findings as known
    /// [env: SLUICEGATE_NEW_ONLY]
    #[arg(long)]
    pub new_only: bool,
    /// Fail if there are more than N known findings (requires --new-only) [env: SLUICEGATE_MAX_KNOWN]
    #[arg(long, value_name = "N")]
    pub max_known: Option<usize>,
    /// Whether to run the project checks, which find broken references. The section `project-checks` of the
    /// configuration file sets their levels [env: SLUICEGATE_PROJECT_CHECKS] [default: auto]
    #[arg(long, value_name = "MODE")]
    pub project_checks: Option<ProjectCheckMode>,
    #[command(flatten)]
    pub compat: CompatArgs,
    #[command(flatten)]
    pub destinations: DestinationArgs,
    /// Select only shard I of N; `sluicegate report` merges the shards
    /// [env: SLUICEGATE_SHARD, or CI_NODE_INDEX and CI_NODE_TOTAL in a job of GitLab's `parallel: N`]
    #[arg(long, value_name = "I/N", help_heading = "Selection")]
    pub shard: Option<String>,
}

/// Flags that select the pipelines, the commit and its base.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct SelectionArgs {
    /// Restrict the selection to these files or directories (relative to the current directory)
    #[arg(value_name = "PATHS", help_heading = Resettable::Reset)]
    pub paths: Vec<PathBuf>,
    /// Select all pipelines of the head commit, changed or not [env: SLUICEGATE_ALL]
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub range: RangeArgs,
    #[command(flatten)]
    pub globs: GlobArgs,
}

/// Flags that set the commit and its base.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct RangeArgs {
    /// Compare with the merge-base of this revision and head [env: SLUICEGATE_BASE] [default: detected]
    #[arg(long, value_name = "REV")]
    pub base: Option<String>,
    /// Revision to review [env: SLUICEGATE_HEAD] [default: detected]
    #[arg(long, value_name = "REV")]
    pub head: Option<String>,
    /// Fetch missing commits and history with git, step by step; for shallow clones [env: SLUICEGATE_DEEPEN]
    #[arg(long)]
    pub deepen: bool,
}

/// Flags that filter files by globs over paths relative to the repository root.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Selection")]
pub struct GlobArgs {
    /// Select only files that match this glob (repeatable) [env: SLUICEGATE_INCLUDE, one per line] [default:
    /// **/*.orch.yaml, **/*.tran.yaml]
    #[arg(long, value_name = "GLOB")]
    pub include: Vec<String>,
    /// Skip files that match this glob (repeatable) [env: SLUICEGATE_EXCLUDE, one per line]
    #[arg(long, value_name = "GLOB")]
    pub exclude: Vec<String>,
}
