//! The client against servers with correct responses, wrong responses and no responses.

#![allow(unreachable_pub, reason = "the modules of a test share helpers")]
#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod errors;
mod events;
mod executions;
mod limits;
mod multipart;
mod projects;
mod raw;
mod redirects;
mod resources;
mod retries;
mod streaming;
mod success;
mod support;
mod tasks;
mod tls;
mod tokens;
mod upload;
mod variables;
mod waits;
