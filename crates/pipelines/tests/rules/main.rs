//! The rules as seen from outside: their input in a pipeline, and their results.

#![allow(unreachable_pub, reason = "the modules of a test share helpers")]
#![allow(clippy::too_many_lines, reason = "a test tells its story in one piece")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod documents;
mod errors;
mod graph_rules;
mod hostile;
mod lint;
mod manual;
mod other_rules;
mod properties;
mod results;
mod support;
