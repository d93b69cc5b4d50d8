//! Flags for the reports of a review, shared by `review`, `check` and `report`.

use super::{Annotations, Changes, OutputFormat, ReportFlag, ShowMode};
use clap::Args;

/// Flags for reports, annotations and the comment.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reports")]
pub struct DestinationArgs {
    /// Format of the result on standard output; json is the document that `--report json=-` writes [default: text]
    #[arg(short, long, value_name = "FORMAT")]
    pub output: Option<OutputFormat>,
    /// Write a report to a file, or to standard output with `-` (repeatable). FORMAT is junit, junit-strict, json,
    /// sarif, gitlab, markdown, html, rdjson, checkstyle or github [env: SLUICEGATE_REPORT, one per line] [default: the
    /// reports that the CI host reads]
    #[arg(long, value_name = "FORMAT=PATH")]
    pub report: Vec<ReportFlag>,
    /// Style of the annotations to write for the CI host [env: SLUICEGATE_ANNOTATIONS] [default: auto]
    #[arg(long, value_name = "STYLE")]
    pub annotations: Option<Annotations>,
    /// Post one comment with the result on the pull or merge request, and update it in later runs. Requires
    /// GITHUB_TOKEN on GitHub, GITLAB_TOKEN on GitLab or SYSTEM_ACCESSTOKEN on Azure Pipelines [env:
    /// SLUICEGATE_COMMENT]
    #[arg(long)]
    pub comment: bool,
    /// Whether to list the changes in each pipeline. The comment, the job summary and the Markdown, HTML and JSON
    /// reports show these changes [env: SLUICEGATE_CHANGES] [default: auto]
    #[arg(long, value_name = "WHEN")]
    pub changes: Option<Changes>,
    /// Name that separates this review from other reviews of the same commit, in SARIF and in the comment [env:
    /// SLUICEGATE_CATEGORY]
    #[arg(long, value_name = "NAME")]
    pub category: Option<String>,
    /// Findings to list in human-readable output, most severe first: `all`, `new`, `none`, `concise` (one line each),
    /// or a maximum number. The default limits only the log [env: SLUICEGATE_SHOW] [default: 50]
    #[arg(long, value_name = "WHICH")]
    pub show: Option<ShowMode>,
}
