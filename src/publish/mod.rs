//! Publishing an artifact: collect, plan, upload, verify.
//!
//! A version name can be used once and a published version never changes, so everything that can be known is settled
//! before anything is sent: [`plan`] finds the files and proves the shared pipelines whole, and gives a [`Plan`],
//! which is data. [`publish`] carries it out and judges the answer; [`receipt`] records what became of it.

mod closure;
mod collect;
mod contents;
mod drift;
mod error;
mod hash;
mod hashing;
mod listing;
mod outcome;
mod plan;
pub mod receipt;
mod references;
mod upload;
mod verify;
pub mod version;
mod wish;

pub use collect::plan;
pub use error::{Problem, PublishError};
pub use hash::digest;
pub use outcome::{IfExists, OnIgnored, Options, Outcome, OutcomeKind};
pub use plan::{Content, Plan, PlannedFile, SharedPipelineRef};
pub use receipt::Receipt;
pub use upload::{Progress, publish};
pub use wish::{Source, Wish};
