//! Flags that several commands for remote runs share.

use super::values::parse_seconds;
use clap::Args;

/// How long and how often to look.
///
/// These commands have a `--timeout` of their own, for the whole wait. The global one, for a single request, is
/// `--request-timeout` beside it: clap leaves a global flag out where its id is taken.
#[derive(Debug, Clone, Default, Args)]
pub struct PaceArgs {
    /// How long to wait in all, in seconds
    #[arg(id = "wait_timeout", long = "timeout", value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Seconds between the first looks; later ones are up to 15 times as far apart
    /// [env: SLUICEGATE_POLL_INTERVAL] [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    pub poll_interval: Option<f64>,
    /// One request's limit in seconds: elsewhere --timeout [env: SLUICEGATE_TIMEOUT] [default: 60]
    #[arg(
        id = "timeout",
        long = "request-timeout",
        value_name = "SECONDS",
        help_heading = "Global options"
    )]
    pub request_timeout: Option<u64>,
}

/// The names that the API document neutralises.
#[derive(Debug, Clone, Default, Args)]
pub struct VocabularyArgs {
    /// The warehouse kind that authenticates by key pair [env: SLUICEGATE_WAREHOUSE_A] [default: WAREHOUSE_A]
    #[arg(long, value_name = "NAME")]
    pub warehouse_a: Option<String>,
    /// The warehouse kind that authenticates by password [env: SLUICEGATE_WAREHOUSE_B] [default: WAREHOUSE_B]
    #[arg(long, value_name = "NAME")]
    pub warehouse_b: Option<String>,
    /// The git provider [env: SLUICEGATE_GIT_PROVIDER] [default: git_provider_a]
    #[arg(long, value_name = "NAME")]
    pub git_provider: Option<String>,
}
