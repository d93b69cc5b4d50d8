//! Replaces the files that an earlier run, or the change, left at the destinations of a call whose arguments are invalid.
//! The host would otherwise take them for results of this run.

use super::run_opening::NamedDestinations;
use super::unfinished_files::{record_failure_in_reports, replace_files_named_by_flags};
use crate::error::Failure;
use crate::job::cli::Command;
use crate::job::context::{DeepenSubject, RequestedRevisions};
use crate::job::policy::CheckoutFiles;
use crate::session::Run;

/// Replaces the files of an earlier run at the destinations of this command by undecided ones with the reason, or
/// removes them, and writes the verdict of a review to the step outputs. `message` is the usage error.
pub(crate) fn replace_old_files(run: &Run, command: &Command, message: &str) {
    // The only possible error is that the call would overwrite a file that it reads; such a file stays unchanged.
    let _ = replace_files_named_by_flags(run, command);
    replace_files_named_by_policy(run, command);
    run.write_undecided_output();
    record_failure_in_reports(run, &build_failure(message));
}

/// Replaces the files that the gate configuration names, and the reports at the paths where the host looks for them.
fn replace_files_named_by_policy(run: &Run, command: &Command) {
    let destinations = match command {
        Command::Review(args) => NamedDestinations::for_review(run, args, None),
        Command::Ci(args) => NamedDestinations::for_review(run, &args.review, Some(&args.publish)),
        Command::Check(args) => NamedDestinations {
            reports: &args.gate.destinations,
            publish: None,
            attestation: None,
            is_dry: false,
        },
        Command::Report(args) => return run.replace_default_reports(&args.destinations),
        Command::Publish(args) => {
            if let Ok(workspace) = run.open_workspace() {
                // As above, a file that the call reads stays unchanged.
                let _ = run.replace_publish_files_named_by_policy(&workspace, args);
            }
            return;
        }
        _ => return,
    };
    let repo = run.open_repository_for_paths(&[]);
    // An error in the repository or its configuration is not reported, because the usage error comes first.
    let _ = destinations.replace_reports_and_open(run, repo, CheckoutFiles::OnDisk, |_| {
        Ok((RequestedRevisions::default(), DeepenSubject::Checkout))
    });
}

/// Builds the failure with the first line of a usage error, which states the cause, and with its hint.
fn build_failure(message: &str) -> Failure {
    let first_line = message.lines().next().unwrap_or_default();
    let failure = Failure::usage(first_line.strip_prefix("error: ").unwrap_or(first_line));
    match message.lines().find_map(|line| line.strip_prefix("hint: ")) {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}
