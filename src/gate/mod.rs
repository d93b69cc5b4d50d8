//! The gate: selects the files to review, requests their review, and derives the verdict from the responses.
//!
//! Start with `select`: it selects the changed pipelines, or all of them. `batch` sends the requests, `merge` turns the
//! responses into findings, `known` marks the findings that existed at the base, `decide` lists the causes of the
//! verdict, `judgement` adds further causes and creates the report, and `verdict` is the pure function that turns
//! causes into a verdict; every verdict of the program comes from it. One rule applies to all of them: an uncertain
//! result never passes.

mod batch;
mod changed;
mod compare;
mod component_renames;
mod consequences;
mod decide;
mod evaluate;
mod evidence;
mod failed_batch;
mod judgement;
mod known;
mod lookalike;
mod merge;
mod named;
mod part;
mod past;
mod positions;
mod project;
mod replaced_directories;
mod requested_paths;
mod select;
mod verdict;

pub(crate) use batch::{BatchAnswer, BatchError, Batching, ReviewAsked, review_in_batches};
pub(crate) use changed::{ChangedContents, Pairs};
pub(crate) use compare::compare;
pub(crate) use component_renames::ComponentRenames;
pub(crate) use consequences::is_enforced;
pub(crate) use decide::decide;
pub(crate) use evaluate::evaluate;
pub(crate) use evidence::expects_result;
pub(crate) use failed_batch::list_failed_files;
pub(crate) use judgement::{Judgement, ReportedRun};
pub(crate) use known::{Before, KnownComparison, mark};
pub(crate) use lookalike::looks_like_pipeline;
pub(crate) use merge::{Tally, merge};
pub(crate) use named::select_named;
pub(crate) use part::{Part, why_partial};
pub(crate) use past::{Moved, Places, mark_files, mark_known, moved};
pub(crate) use positions::Positions;
pub(crate) use project::{ChangedFacts, ChooseOthers, OtherFiles, ProjectScope, SeenFacts, script_defect};
pub(crate) use select::{Candidate, ComparedChanges, Scope, Selected, is_within, select, touches_more};
pub(crate) use verdict::{Cause, causes, is_open, status, verdict};
