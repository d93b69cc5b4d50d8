//! Where a review's result goes: the flags that `review` and `report` share.

use super::{Annotations, Changes, ReportFlag, Show};
use clap::Args;

/// Where the result goes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reports")]
pub struct DestinationArgs {
    /// A report to write, to a file or `-` for standard output; repeatable [env: SLUICEGATE_REPORT, one a line]
    /// [default: what the CI host looks for]. FORMAT is junit, junit-strict, json, sarif, gitlab, markdown or html
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<ReportFlag>,
    /// Annotations for the CI host [env: SLUICEGATE_ANNOTATIONS] [default: auto]
    #[arg(long, value_name = "STYLE")]
    pub annotations: Option<Annotations>,
    /// Keep one comment with the result on the pull or merge request (GitHub by GITHUB_TOKEN, GitLab by GITLAB_TOKEN)
    /// [env: SLUICEGATE_COMMENT]
    #[arg(long)]
    pub comment: bool,
    /// What changed in the pipelines, above the findings of each file in comment, summary, Markdown, HTML and JSON
    /// [env: SLUICEGATE_CHANGES] [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub changes: Option<Changes>,
    /// Tells this review from others of the same commit, in SARIF and in the comment [env: SLUICEGATE_CATEGORY]
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
    /// The findings to list for people, the worst first: `all`, `new`, `none`, or at most this many [env: SLUICEGATE_SHOW]
    /// [default: 50]
    #[arg(long, value_name = "WHICH")]
    pub show: Option<Show>,
}
