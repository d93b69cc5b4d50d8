//! The gate: which files are reviewed, how they are asked for, what the answers come to.
//!
//! Begin with `select`: what changed, or everything. `batch` sends it, `merge` makes findings of the answers, `known` marks those that were
//! there before, `decide` lists what decides, and `verdict` says what the causes come to: a pure function that every verdict of the program
//! comes from. The rule that runs through all of them: what is not certain is never a pass.

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

pub use batch::{BatchAnswer, BatchError, Batching, ReviewAsked, review_in_batches};
pub use compare::compare;
pub use decide::decide;
pub use evidence::expects_result;
pub use known::{Before, KnownComparison, mark};
pub use lookalike::looks_like_pipeline;
pub use merge::{Tally, merge};
pub use named::select_named;
pub use positions::Positions;
pub use select::{Candidate, Scope, Selected, is_within, select, touches_more};
pub use verdict::{Cause, causes, is_open, status, verdict};
