//! Flags that several commands for the platform share.

use super::values::{parse_name, parse_seconds};
use clap::Args;

/// Flags that set how long to wait and how often to poll.
///
/// The `--timeout` of these commands limits the complete wait. The global timeout of a single request is
/// `--request-timeout` here: clap omits a global flag if the command uses its id. The flag of the command that makes it
/// wait is in the group `waiting`.
#[derive(Debug, Clone, Default, Args)]
pub struct PaceArgs {
    /// Maximum time to wait, in seconds [default: 3600]. If the command does not wait, the timeout for each request
    /// [default: 60]
    #[arg(id = "wait_timeout", long = "timeout", value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// Seconds between the first polls; the interval grows to at most 15 times this value [env:
    /// SLUICEGATE_POLL_INTERVAL] [default: 1]
    #[arg(long, value_name = "SECONDS", requires = "waiting", value_parser = parse_seconds)]
    pub poll_interval: Option<f64>,
    /// Timeout for each request, in seconds (other commands call it --timeout) [env: SLUICEGATE_TIMEOUT] [default: 60]
    #[arg(
        id = "timeout",
        long = "request-timeout",
        value_name = "SECONDS",
        help_heading = "Global options"
    )]
    pub request_timeout: Option<u64>,
}

/// Flags for the real names behind the neutral names of the API document.
#[derive(Debug, Clone, Default, Args)]
pub struct VocabularyArgs {
    /// Name of the data warehouse type whose connections use a key pair [env: SLUICEGATE_WAREHOUSE_A]
    /// [default: WAREHOUSE_A]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub warehouse_a: Option<String>,
    /// Name of the data warehouse type whose connections use a password [env: SLUICEGATE_WAREHOUSE_B]
    /// [default: WAREHOUSE_B]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub warehouse_b: Option<String>,
    /// Platform's name for the git provider [env: SLUICEGATE_GIT_PROVIDER] [default: git_provider_a]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub git_provider: Option<String>,
}
