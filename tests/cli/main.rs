//! The program as a user runs it: the binary, real git repositories, real HTTP on loopback.

#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

#[path = "../../crates/local-platform/tests/service/bodies.rs"]
mod bodies;
#[path = "../support/dice.rs"]
mod dice;
#[path = "../support/geometry.rs"]
mod geometry;
#[path = "../support/program.rs"]
mod program;
#[path = "../support/repo.rs"]
mod repo;
#[path = "../support/schema.rs"]
mod schema;
#[path = "../support/scratch.rs"]
mod scratch;
#[path = "../support/tls_server.rs"]
mod tls_server;

mod action;
mod adopt;
mod agreement;
mod bad_rules;
mod breaks;
mod changes;
mod chaos;
mod check;
mod compare;
mod compat;
mod compat_documents;
mod context;
mod contract;
mod default_branch;
mod demo;
mod diff;
mod doctor;
mod events;
mod faults;
mod first_hour;
mod first_version;
mod gate;
mod histories;
mod hostile;
mod hosts;
mod init;
mod judged;
mod kill;
mod local;
mod messages;
mod moving;
mod new_only;
mod next_version;
mod outputs;
mod pasted_secrets;
mod pipelines;
mod plain_directory;
mod policy;
mod pre_commit_hook;
mod project;
mod projects;
mod provision;
mod proxies;
mod publish;
mod publish_preview;
mod release;
mod reports;
mod reproduced;
mod review;
mod rules;
mod selected;
mod serve;
mod setup;
mod shared_pipelines;
mod standard_input;
mod step_summaries;
mod streaming;
mod suggestions;
mod tasks;
mod unexpanded;
mod usage;
mod users_path;
mod variables;
mod verdict;
mod waivers;
mod world;
