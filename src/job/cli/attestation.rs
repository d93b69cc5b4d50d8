//! Flags for the statement about a review, shared by `review`, `ci` and `report`.

use super::values::output_path_parser;
use clap::Args;
use std::path::PathBuf;

/// Flags for the statement about a passed review.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Reports")]
pub struct AttestationArgs {
    /// Write an in-toto statement about the passed review to this file, for a separate tool to sign; a review that did
    /// not pass has no statement [env: SLUICEGATE_ATTESTATION]
    #[arg(long, value_name = "FILE", value_parser = output_path_parser())]
    pub attestation: Option<PathBuf>,
    /// Write only the predicate of the in-toto statement to this file, for `actions/attest`
    /// [env: SLUICEGATE_ATTESTATION_PREDICATE]
    #[arg(long, value_name = "FILE", value_parser = output_path_parser())]
    pub attestation_predicate: Option<PathBuf>,
}
