//! Starts pipelines on the platform, and follows their executions.

pub(crate) mod ended;
pub(crate) mod execute;

/// Default time to wait for the end of an execution, in seconds.
pub(crate) const PATIENCE: u64 = 3600;
