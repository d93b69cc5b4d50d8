//! Replaces the files that an earlier run left at the destinations of a call that fails before its command runs.

use crate::delivery::run_opening::NamedDestinations;
use crate::delivery::unfinished_files::{record_failure_in_reports, replace_files_named_by_flags};
use crate::error::Failure;
use crate::job::cli::Command;
use crate::job::policy::CheckoutFiles;
use crate::session::Session;
use crate::workspace::Workspace;
use std::path::PathBuf;

/// Replaces or removes the files that an earlier run left at the destinations that the configuration file names, or
/// else the default reports, for a call that fails before its command runs.
pub(crate) fn replace_files_of_failed_call(session: &Session, command: &Command) {
    let destinations = match command {
        Command::Review(args) => NamedDestinations::for_review(args, None),
        Command::Ci(args) => NamedDestinations::for_review(&args.review, Some(&args.publish)),
        Command::Check(args) => NamedDestinations::for_check(args),
        Command::Report(args) => NamedDestinations {
            reports: &args.destinations,
            publish: None,
            attestation: Some(&args.attestation),
        },
        Command::Publish(args) => {
            // The call already fails for another reason, here and below.
            let _ = open_workspace(session)
                .and_then(|workspace| session.replace_publish_files_named_by_policy(&workspace, args));
            return;
        }
        _ => return,
    };
    match open_workspace(session) {
        Ok(workspace) => {
            let _ = destinations.replace_old_reports(session, &workspace);
        }
        Err(_) => session.replace_default_reports(destinations.reports),
    }
}

/// Opens the workspace of the call, although its gate configuration may be hidden by git's index.
fn open_workspace(session: &Session) -> Result<Workspace<'_>, Failure> {
    session.open_workspace_in(session.open_repository()?, CheckoutFiles::OnDisk)
}

/// Replaces or removes the files that an earlier run left at the destinations of a call whose arguments are invalid.
/// `command` contains the valid part of the arguments, and `other_inputs` the files that the others may name: these are
/// kept. `failure` describes the invalid argument.
pub(crate) fn replace_files_of_rejected_call(
    session: &Session,
    command: &Command,
    other_inputs: Vec<PathBuf>,
    failure: &Failure,
) {
    // The call fails because of its arguments, whatever else fails.
    let _ = replace_files_named_by_flags(session, command, other_inputs);
    replace_files_of_failed_call(session, command);
    record_failure_in_reports(session, failure);
}
