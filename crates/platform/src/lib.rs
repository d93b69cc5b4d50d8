//! Everything that uses the network, and the files that define the desired state of the platform.
//!
//! Start with [`http`]: the client with its limits, retries and secrets. [`api`] contains the platform's resources,
//! [`hosts`] the calls to CI hosts. [`follow`] waits for operations on the platform, [`desired`] compares files with
//! the platform and applies them, [`export`] exports audit events.

pub mod api;
pub(crate) mod desired;
pub(crate) mod export;
pub(crate) mod follow;
pub(crate) mod hosts;
pub mod http;
