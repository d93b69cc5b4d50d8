//! The gate: which files are reviewed, how they are asked for, what the answers come to.
//!
//! Begin with `select`: what changed, or everything. `batch` sends it, `merge` makes findings of the answers, `known` marks those that were
//! there before, `decide` lists what decides, `judgement` takes in the rest and makes the
//! report, and `verdict` says what the causes come to: a pure function that every verdict of the program
//! comes from. The rule that runs through all of them: what is not certain is never a pass.

mod batch;
mod changed;
mod compare;
mod decide;
mod evaluate;
mod evidence;
mod judgement;
mod known;
mod lookalike;
mod merge;
mod named;
mod part;
mod past;
mod positions;
mod project;
mod select;
mod verdict;

pub(crate) use batch::{BatchAnswer, BatchError, Batching, ReviewAsked, review_in_batches};
pub(crate) use changed::{ChangedContents, Pairs};
pub(crate) use compare::compare;
pub(crate) use decide::decide;
pub(crate) use evaluate::evaluate;
pub(crate) use evidence::expects_result;
pub(crate) use judgement::{Judgement, ReportedRun};
pub(crate) use known::{Before, KnownComparison, mark};
pub(crate) use lookalike::looks_like_pipeline;
pub(crate) use merge::{Tally, merge};
pub(crate) use named::select_named;
pub(crate) use part::{Part, why_partial};
pub(crate) use past::{Moved, Places, mark_files, mark_known, moved};
pub(crate) use positions::Positions;
pub(crate) use project::{ProjectScope, SeenFacts};
pub(crate) use select::{Candidate, ComparedChanges, Scope, Selected, is_within, select, touches_more};
pub(crate) use verdict::{Cause, causes, is_open, status, verdict};
