//! `sluicegate ci`.

use super::{PublishFlags, ReviewArgs};
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate ci --prefix sales --version-name auto --publish-on-branch main
  sluicegate ci --prefix sales --version-name '{tag}' --publish-on-tag 'v*' \\
      --report junit=review.xml

Or once for all jobs, in sluicegate.yaml:
  publish-on:
    branches: [main]
    tags: ['v*']";

/// Reviews, and publishes if that passed and the event says so.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct CiArgs {
    /// What is reviewed.
    #[command(flatten)]
    pub review: ReviewArgs,
    /// What is published.
    #[command(flatten)]
    pub publish: PublishFlags,
    /// Publish on branches that match; repeatable [env: SLUICEGATE_PUBLISH_ON_BRANCHES, one a line]
    #[arg(long, value_name = "GLOB")]
    pub publish_on_branch: Vec<String>,
    /// Publish on tags that match; repeatable [env: SLUICEGATE_PUBLISH_ON_TAGS, one a line]
    #[arg(long, value_name = "GLOB")]
    pub publish_on_tag: Vec<String>,
}
