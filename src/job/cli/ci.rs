//! `sluicegate ci`.

use super::{PublishFlags, ReviewArgs};
use clap::Args;

const EXAMPLES: &str = "Examples:
  sluicegate ci --prefix sales --version-name auto --publish-on-branch main
  sluicegate ci --prefix sales --version-name '{tag}' --publish-on-tag 'v*' \\
      --report junit=review.xml

To set the branches and tags for all jobs, add them to sluicegate.yaml:
  publish-on:
    branches: [main]
    tags: ['v*']";

/// Reviews the change, then publishes if the review passed and the branch or tag matches; a local run publishes only
/// with --publish.
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = EXAMPLES)]
pub struct CiArgs {
    #[command(flatten)]
    pub review: ReviewArgs,
    #[command(flatten)]
    pub publish: PublishFlags,
    /// Publish from a local run too; without this flag, only a CI job publishes, and a local run prints what it would
    /// publish [env: SLUICEGATE_PUBLISH]
    #[arg(long = "publish")]
    pub local_publish: bool,
    /// Publish on branches that match this glob (repeatable) [env: SLUICEGATE_PUBLISH_ON_BRANCHES, one per line
    /// or separated by blanks]
    #[arg(long, value_name = "GLOB")]
    pub publish_on_branch: Vec<String>,
    /// Publish on tags that match this glob (repeatable) [env: SLUICEGATE_PUBLISH_ON_TAGS, one per line or
    /// separated by blanks]
    #[arg(long, value_name = "GLOB")]
    pub publish_on_tag: Vec<String>,
}
