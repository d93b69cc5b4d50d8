//! Publishes an artifact: plan, upload, verify.
//!
//! A version name can be used once and a published version never changes, so everything possible is checked before
//! anything is sent: [`build_plan`] finds the files, proves that the shared pipelines are complete, and returns a
//! [`Plan`], which is data. [`execute_plan`] uploads the files, looks up the result of an upload whose response was
//! lost, and determines the outcome; `receipt` records it.

mod call_graph;
mod closure_check;
mod committed_files;
mod content_hashes;
mod content_reader;
mod error;
mod file_listing;
mod latest_version;
mod lfs_files;
mod offered_parameters;
mod old_versions;
mod outcome;
mod pipeline_reader;
mod pipeline_scripts;
mod plan;
mod plan_changes;
mod plan_execution;
mod plan_files;
mod plan_upload;
mod plan_warnings;
mod publish_request;
mod published_files;
mod read_ahead;
mod receipt;
mod receipt_outcome;
mod receipt_verification;
mod shared_pipelines_file;
mod smoke_record;
mod unusable_scripts;
mod upload_outcome;
mod version_differences;
mod version_lookup;
pub mod version_name;
mod version_origin;
mod version_withdrawal;
mod worktree_drift;

pub use call_graph::{CallGraph, DirectCallers, MAX_LISTED_CALLERS, TransitiveCaller};
pub use committed_files::{DocumentFile, compare_with_committed_files, hash_blob};
pub use content_hashes::{compute_digest, hash_bytes};
pub use error::{PublishError, SharedPipelineProblem};
pub use latest_version::{
    LatestVersion, poll_latest_after_disabling, poll_latest_until_version, request_latest_version,
};
pub use old_versions::{
    VersionOrderError, find_newer_version, is_last_enabled_version, list_surplus_versions,
};
pub use outcome::{
    IfExists, OnIgnored, OnSmokeFailure, Outcome, OutcomeKind, PublishOptions, PublishProblem, Withdrawal,
};
pub use plan::{Plan, PlannedFile, SharedPipelineRef};
pub use plan_changes::{PlanChanges, compare_plans};
pub use plan_execution::{disable_version, execute_plan};
pub use plan_files::{build_plan, build_version_name};
pub use plan_upload::{UploadControl, UploadProgress};
pub use publish_request::{FileSelection, FileSource, PublishRequest};
pub use published_files::{PublishedFiles, PublishedSelection, compare_with_published_files};
pub use receipt::{MAX_RECEIPT_BYTES, Receipt, ReviewEvidence};
pub use receipt_outcome::ReceiptOutcome;
pub use receipt_verification::check_document_files;
pub use smoke_record::{SmokeExecution, SmokeRecord};
pub use upload_outcome::{UNKNOWN_OMISSIONS, assess_existing_version, list_ignored_files};
pub(crate) use version_differences::{CommitMatch, is_same_commit, match_commit};
pub use version_differences::{
    VersionDifference, can_details_prove_completeness, compare_with_document, compare_with_plan,
};
pub use version_lookup::poll_until;
pub use version_withdrawal::{RequestedState, has_state, poll_until_state, withdraw_version};
