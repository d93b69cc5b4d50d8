//! The gate: selects the files to review, requests their review, and derives the verdict from the responses.
//!
//! Start with `select`: it selects the changed pipelines, or all of them. `batch` sends the requests, `merge` turns the
//! responses into findings, `known` marks the findings that existed at the base, `decide` lists the causes of the
//! verdict, `judgement` adds further causes and creates the report, and `verdict` is the pure function that turns
//! causes into a verdict; every verdict of the program comes from it. One rule applies to all of them: an uncertain
//! result never passes.

mod adoption;
mod base_results;
pub(crate) mod baseline;
mod batch;
pub(crate) mod change_list;
mod changed_contents;
pub(crate) mod changes_ahead;
pub(crate) mod check_paths;
pub(crate) mod check_rules;
pub(crate) mod comparison_notes;
mod component_renames;
mod consequences;
mod decide;
pub(crate) mod empty_selection;
mod evaluate;
pub(crate) mod evaluation;
mod evidence;
mod failed_batch;
pub(crate) mod gate_changes;
pub(crate) mod interface_changes;
pub(crate) mod interface_comparison;
mod judgement;
mod known;
pub(crate) mod local_fallback;
pub(crate) mod local_review;
mod lookalike;
mod merge;
pub(crate) mod merged_reports;
mod named_files;
mod part;
pub(crate) mod pipeline_change;
mod positions;
pub(crate) mod project_checks;
mod project_scope;
pub(crate) mod remote_review;
pub(crate) mod renamed_components;
mod replaced_directories;
mod report_comparison;
pub(crate) mod reported_commit;
mod requested_paths;
pub(crate) mod saved_report;
mod select;
pub(crate) mod selection;
pub(crate) mod stricter_target;
pub(crate) mod unanswered;
mod verdict;
pub(crate) mod waivers;

pub(crate) use base_results::{Moved, Places, mark_files, mark_known, moved};
pub(crate) use batch::{BatchAnswer, BatchError, Batching, ReviewAsked, review_in_batches};
pub(crate) use changed_contents::{ChangedContents, Pairs};
pub(crate) use component_renames::ComponentRenames;
pub(crate) use consequences::{has_folded, is_enforced};
pub(crate) use decide::decide;
pub(crate) use evaluate::evaluate;
pub(crate) use evidence::expects_result;
pub(crate) use failed_batch::list_failed_files;
pub(crate) use judgement::{Judgement, ReportedRun};
pub(crate) use known::{Before, KnownComparison, mark};
pub(crate) use lookalike::looks_like_pipeline;
pub(crate) use merge::{Tally, merge};
pub(crate) use named_files::select_named;
pub(crate) use part::{Part, why_partial};
pub(crate) use positions::Positions;
pub(crate) use project_scope::{
    ChangedFacts, ChooseOthers, OtherFiles, ProjectScope, SeenFacts, script_defect,
};
pub(crate) use report_comparison::compare;
pub(crate) use select::{Candidate, ComparedChanges, Scope, Selected, is_within, select, touches_more};
pub(crate) use verdict::{Cause, causes, is_open, status, verdict};
