//! Everything over the wire, and the files that say how the platform should be.
//!
//! Begin with [`http`]: the client with its limits, retries and secrets. [`api`] has the platform's resources on it, [`hosts`] what the CI
//! hosts take. [`follow`] waits for what runs on the platform, [`desired`] compares files with it and carries them out, [`export`]
//! brings its audit events along.

pub mod api;
pub(crate) mod desired;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod hosts;
pub mod http;
