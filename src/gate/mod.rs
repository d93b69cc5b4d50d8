//! One run of the gate, from the selection to the verdict. `run` has the steps in their order:
//!
//! 1. `check_subject`: the files of a check, and what they are compared with (a review has a commit)
//! 2. `selection`: the changed pipelines, or all; `gate_changes` and `stricter_target` for the gate configuration
//! 3. `baseline`: what existed before, for `new-only`
//! 4. `local_review` or `remote_review`: the engine that evaluates the pipelines
//! 5. `team_review` and `project_checks`, then `waivers`
//! 6. `interface_changes`: what the change breaks for consumers
//! 7. `evaluation`: the findings with the causes (`verdict_causes`), the notes and limits of the run
//! 8. `verdict`: the pure function that turns causes into a verdict; every verdict of the program comes from it
//!
//! `changes` lists the changes for the reports, and `reports` reads reports of earlier runs. One rule applies to all of
//! them: an uncertain result never passes.

pub(crate) mod baseline;
pub(crate) mod changes;
pub(crate) mod check_subject;
pub(crate) mod evaluation;
mod gate_action;
pub(crate) mod gate_changes;
pub(crate) mod interface_changes;
mod later_effect;
pub(crate) mod local_review;
pub(crate) mod pipeline_positions;
pub(crate) mod project_checks;
pub(crate) mod remote_review;
pub(crate) mod reports;
mod reviewed_waivers;
pub(crate) mod run;
mod run_findings;
pub(crate) mod selection;
mod shard_selection;
pub(crate) mod stricter_target;
pub(crate) mod team_review;
mod tip_comparison;
mod verdict;
mod verdict_causes;
mod waiver_notes;
pub(crate) mod waivers;

pub(crate) use baseline::base_results::{
    BasePaths, OldPaths, list_old_paths, mark_known_findings, mark_known_in_files,
};
pub(crate) use baseline::known_comparison::{BaseFile, BaseGap, KnownComparison, mark_new_and_known};
pub(crate) use changes::changed_contents::{ChangedContents, VersionPairs};
pub(crate) use gate_action::GateAction;
pub(crate) use local_review::rule_evaluation::evaluate_files;
pub(crate) use project_checks::collected_facts::CollectedFacts;
pub(crate) use project_checks::project_scope::{
    ChangedFacts, ChooseOtherFiles, OtherFiles, ProjectContents, ProjectFindings, ProjectScope, read_script,
};
pub(crate) use remote_review::batch::{
    BatchError, BatchResponse, Batching, ReviewParameters, review_in_batches,
};
pub(crate) use remote_review::failed_batch::build_failed_batches;
pub(crate) use remote_review::positions::Positions;
pub(crate) use remote_review::response_gaps::needs_result;
pub(crate) use remote_review::response_merge::merge_responses;
pub(crate) use run_findings::{RunFindings, UnevaluatedFile, merge_results};
pub(crate) use selection::compared_changes::{Candidate, ComparedChanges};
pub(crate) use selection::lookalike::looks_like_pipeline;
pub(crate) use selection::named_files::select_named_files;
pub(crate) use selection::other_changes::has_changes_outside_gate;
pub(crate) use selection::selected_pipelines::{SelectedPipelines, select_pipelines};
pub(crate) use selection::selection_scope::{SelectionScope, is_within, is_within_any};
pub(crate) use shard_selection::{ShardSelection, describe_partial_coverage, explain_unusable_review};
pub(crate) use verdict::{Cause, decide_verdict, exit_status, find_report_causes, has_undecided_cause};
pub(crate) use verdict_causes::find_verdict_causes;
