//! Opens the workspace of a run that writes reports. First replaces the reports of an earlier run, so that they do not
//! remain if this run does not finish.

use crate::error::Failure;
use crate::job::cli::{AttestationArgs, CheckArgs, DestinationArgs, PublishFlags, ReviewArgs};
use crate::job::context::{DeepenSubject, RequestedRevisions};
use crate::job::policy::CheckoutFiles;
use crate::session::Session;
use crate::workspace::{WarningTiming, Workspace};
use sluicegate_git::Repository;

/// The destinations that the flags of a run name.
pub(crate) struct NamedDestinations<'a> {
    pub(crate) reports: &'a DestinationArgs,
    /// The flags of a publish that may follow.
    pub(crate) publish: Option<&'a PublishFlags>,
    /// The flags of the review's statement; `None` for a command that does not write one.
    pub(crate) attestation: Option<&'a AttestationArgs>,
}

impl<'a> NamedDestinations<'a> {
    /// Returns the destinations that the arguments name for a review and for the publish that may follow it.
    pub(crate) fn for_review(args: &'a ReviewArgs, publish: Option<&'a PublishFlags>) -> Self {
        Self {
            reports: &args.gate.destinations,
            publish,
            attestation: Some(&args.attestation),
        }
    }

    /// Returns the destinations that the arguments name for a check, which neither publishes nor writes a statement.
    pub(crate) const fn for_check(args: &'a CheckArgs) -> Self {
        Self {
            reports: &args.gate.destinations,
            publish: None,
            attestation: None,
        }
    }
}

impl NamedDestinations<'_> {
    /// Opens the workspace of `repo`, replaces the files that an earlier run left at the destinations, and fetches
    /// missing commits if requested. If the workspace cannot be opened, replaces the default reports. A local run reads
    /// the gate configuration from `local_files`. `find_revisions` returns the requested revisions, and whether a
    /// commit or the checkout is reviewed.
    pub(crate) fn replace_reports_and_open<'a>(
        &self,
        session: &'a Session,
        repo: Result<Repository, impl Into<Failure>>,
        local_files: CheckoutFiles,
        find_revisions: impl FnOnce(&Workspace<'_>) -> Result<(RequestedRevisions, DeepenSubject), Failure>,
    ) -> Result<(Workspace<'a>, RequestedRevisions), Failure> {
        let mut workspace = repo
            .map_err(Into::into)
            .and_then(|repo| session.open_workspace_in(repo, local_files))
            .inspect_err(|_| session.replace_default_reports(self.reports))?;
        self.replace_old_reports(session, &workspace)?;
        let (revisions, subject) = find_revisions(&workspace)?;
        workspace.deepen(session, &revisions, subject)?;
        if revisions.deepen {
            // The fetched gate configuration may name other destinations.
            self.replace_old_reports(session, &workspace)?;
        }
        workspace.warn_of_config_files(session, WarningTiming::IfNotReported);
        Ok((workspace, revisions))
    }

    /// Replaces the reports that an earlier run left at the destinations with undecided ones, and removes statements.
    pub(super) fn replace_old_reports(
        &self,
        session: &Session,
        workspace: &Workspace<'_>,
    ) -> Result<(), Failure> {
        let statement_result = match self.attestation {
            Some(args) => session.remove_statements_named_by_policy(workspace, args, self.publish),
            None => Ok(()),
        };
        // A statement that must stay does not keep old reports.
        statement_result.and(session.replace_files_named_by_policy(workspace, self.reports, self.publish))
    }
}
