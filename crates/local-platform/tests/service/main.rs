//! The local platform over real HTTP: its responses, its permissions, and its stored data.

#![allow(
    clippy::needless_borrows_for_generic_args,
    reason = "arguments are a text or a borrowed list"
)]
#![allow(unreachable_pub, reason = "the modules of a test share helpers")]
#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test fails by panicking"
)]

mod access;
mod artifacts;
mod description;
mod durability;
mod events;
mod executions;
mod lifecycle;
mod load;
mod overrides;
mod platform;
mod projects;
mod publish;
mod reviews;
mod streaming;
mod tasks;
mod variables;
mod vocabulary;
