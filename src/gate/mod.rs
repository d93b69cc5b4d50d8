//! The gate: which files are reviewed, how they are asked for, what the answers come to.
//!
//! Four steps, each a file: select what changed, send it in batches, merge the answers into findings, decide. The
//! rule that runs through all of them: what is not certain is never a pass.

mod batch;
mod compare;
mod decide;
mod evidence;
mod known;
mod lookalike;
mod merge;
mod named;
mod positions;
mod select;
mod verdict;

pub use batch::{BatchAnswer, BatchError, BatchProgress, Batching, ReviewAsked, review_in_batches};
pub use compare::{ReportGaps, compare};
pub use decide::decide;
pub use evidence::expects_result;
pub use known::{Before, KnownComparison, mark};
pub use lookalike::looks_like_pipeline;
pub use merge::{Tally, merge};
pub use named::select_named;
pub use positions::Positions;
pub use select::{Candidate, SUBMODULE, Scope, Selected, is_within, select, touches_more};
pub use verdict::{Cause, causes, is_open, status, verdict};
