//! All tests that need the program or more than one package: the binary, real git repositories, real HTTP on loopback.
//!
//! There is one directory for each command or subject. CONTRIBUTING.md says which test belongs where.

#![allow(
    clippy::needless_borrows_for_generic_args,
    reason = "arguments are a text or a borrowed list"
)]
#![allow(unreachable_pub, reason = "the modules of a test share helpers")]
#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod action;
mod agent_fix;
mod architecture;
mod attestation;
mod base_commit;
mod check;
mod checkout;
mod ci;
mod compatibility;
mod context;
mod demo;
mod diff;
mod docs;
mod doctor;
mod fix;
mod gate_configuration;
mod hosts;
mod init;
mod local_platform;
mod local_setup;
mod messages;
mod mv;
mod new_only;
mod platform_api;
mod policy;
mod project_checks;
mod publish;
mod reports;
mod review;
mod rules;
mod selection;
mod serve;
mod setup;
mod shared_pipelines;
mod support;
mod team_rules;
mod usage;
mod waivers;
mod workflows;
