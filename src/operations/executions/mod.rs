//! Starts pipelines on the platform, and follows their executions.

pub(crate) mod execute;
mod start_failure;

/// Default time to wait for the end of an execution, in seconds.
pub(crate) const DEFAULT_TIMEOUT_SECONDS: u64 = 3600;
