//! Publishes an artifact: collect, plan, upload, verify.
//!
//! A version name can be used once and a published version never changes, so everything possible is checked before
//! anything is sent: [`plan`](fn@plan) finds the files, proves that the shared pipelines are complete, and returns a
//! [`Plan`], which is data. [`publish`] carries it out, looks up the result of an upload whose response was lost, and
//! determines the outcome; `receipt` records it.

mod callers;
mod carry_out;
mod changes;
mod closure;
mod collect;
mod contents;
mod drift;
mod error;
mod hash;
mod judge;
mod listing;
mod lookup;
mod outcome;
mod parameters;
mod plan;
mod proof;
mod receipt;
mod references;
mod shared_file;
mod since;
mod unchanged;
mod unusable;
mod upload;
mod verify;
pub mod version;
mod versions;
mod warnings;
mod wish;

pub use callers::{Callers, MOST_CALLERS, Reaching};
pub use carry_out::publish;
pub use changes::{PlanChanges, changes};
pub use collect::{plan, version_name};
pub use error::{Problem, PublishError};
pub use hash::{content_hash, digest};
pub use judge::withdraw;
pub use lookup::{Latest, latest_without};
pub use outcome::{IfExists, OnIgnored, Options, Outcome, OutcomeKind};
pub use plan::{Plan, PlannedFile, SharedPipelineRef};
pub use receipt::{Receipt, ReviewEvidence};
pub use since::{OldFiles, since};
pub use upload::Progress;
pub use versions::{VersionsError, is_last_enabled, surplus};
pub use wish::{Select, Source, Wish};
