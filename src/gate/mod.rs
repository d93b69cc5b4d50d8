//! One run of the gate, from the selection to the verdict. `run` has the steps in their order:
//!
//! 1. `check_subject`: the files of a check, and what they are compared with (a review has a commit)
//! 2. `selection`: the changed pipelines, or all; `gate_changes` and `stricter_target` for the gate configuration
//! 3. `baseline`: what existed before, for `new-only`
//! 4. `local_review` or `remote_review`: the engine that evaluates the pipelines
//! 5. `project_checks`, then `waivers`
//! 6. `interface_changes`: what the change breaks for consumers
//! 7. `evaluation`: the findings with the causes (`decide`), the notes and limits of the run
//! 8. `verdict`: the pure function that turns causes into a verdict; every verdict of the program comes from it
//!
//! `changes` lists the changes for the reports, and `reports` reads reports of earlier runs. One rule applies to all of
//! them: an uncertain result never passes.

pub(crate) mod baseline;
pub(crate) mod changes;
pub(crate) mod check_subject;
mod decide;
pub(crate) mod evaluation;
pub(crate) mod gate_changes;
pub(crate) mod interface_changes;
pub(crate) mod local_review;
mod part;
pub(crate) mod project_checks;
pub(crate) mod remote_review;
pub(crate) mod reports;
pub(crate) mod run;
pub(crate) mod selection;
pub(crate) mod stricter_target;
mod verdict;
pub(crate) mod waivers;

pub(crate) use baseline::base_results::{Moved, Places, mark_files, mark_known, moved};
pub(crate) use baseline::known::{Before, KnownComparison, mark};
pub(crate) use changes::changed_contents::{ChangedContents, Pairs};
pub(crate) use decide::decide;
pub(crate) use local_review::evaluate::evaluate;
pub(crate) use part::{Part, why_partial};
pub(crate) use project_checks::consequences::is_enforced;
pub(crate) use project_checks::project_scope::{
    ChangedFacts, ChooseOthers, OtherFiles, ProjectScope, SeenFacts, script_defect,
};
pub(crate) use remote_review::batch::{BatchAnswer, BatchError, Batching, ReviewAsked, review_in_batches};
pub(crate) use remote_review::evidence::expects_result;
pub(crate) use remote_review::failed_batch::list_failed_files;
pub(crate) use remote_review::merge::{Tally, merge};
pub(crate) use remote_review::positions::Positions;
pub(crate) use selection::lookalike::looks_like_pipeline;
pub(crate) use selection::named_files::select_named;
pub(crate) use selection::select::{
    Candidate, ComparedChanges, Scope, Selected, is_within, select, touches_more,
};
pub(crate) use verdict::{Cause, causes, is_open, status, verdict};
