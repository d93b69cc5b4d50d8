//! Fetches the commits that a run with `--deepen` lacks, and reads the settings again that may depend on them.

use super::target_revision::find_target_revision;
use super::{Workspace, choose_unusable_file_treatment};
use crate::error::Failure;
use crate::job::ci::HistoryFetch;
use crate::job::context::{
    self, BranchFetch, CommitSource, ContextError, DeepenSubject, PolicyRevision, RefetchBranch,
    RequestedRevisions,
};
use crate::job::policy::{self, CheckoutFiles};
use crate::job::settings;
use crate::session::Session;

impl<'a> Workspace<'a> {
    /// Fetches the missing commits if requested, and reports each step. Then reads the settings again if the fetch or
    /// another reviewed commit may change the policy revision, or if the policy or the target revision is unknown. Also
    /// records the note about the age of the target's commit.
    pub(crate) fn deepen(
        &mut self,
        session: &'a Session,
        revisions: &RequestedRevisions,
        subject: DeepenSubject,
    ) -> Result<(), Failure> {
        if revisions.deepen {
            self.ci.history_fetch = HistoryFetch::Requested;
        }
        let mut branch_fetch = None;
        if revisions.deepen {
            branch_fetch = self.fetch_missing_commits(session, revisions, subject)?;
            context::recognize_default_branch_run(&self.repo, &mut self.ci)?;
        }
        let commit_source = context::find_commit_source(&self.repo, &self.ci, revisions)?;
        let is_tip_unknown = matches!(self.policy_revision, PolicyRevision::Unknown { .. })
            || matches!(self.target_revision, PolicyRevision::Unknown { .. });
        if revisions.deepen || !commit_source.is_host() || is_tip_unknown {
            self.reread_policy_settings(session, commit_source)?;
        }
        self.target_age_note = context::describe_revision_age(
            &self.repo,
            &self.ci,
            commit_source,
            &self.target_revision,
            branch_fetch,
        )?;
        Ok(())
    }

    /// Finds the policy and the target revision again, and replaces the settings by those of the policy revision. Fails
    /// if the commit of such a revision is not proven to be the newest of its branch; the first reading allowed that.
    fn reread_policy_settings(
        &mut self,
        session: &'a Session,
        commit_source: CommitSource,
    ) -> Result<(), Failure> {
        let choice = settings::resolve_policy_source(&session.global, &session.env)?;
        let policy = policy::find_policy_revision(&self.repo, Some(&self.ci), choice, commit_source)?;
        let policy_settings = session.read_policy_settings(
            &self.repo,
            policy,
            CheckoutFiles::for_run(&self.repo, Some(&self.ci), &self.local_files)?,
            choose_unusable_file_treatment(&self.ci),
        )?;
        self.named_config_dir = policy_settings.named_config_dir;
        self.team_rules_path = policy_settings.team_rules_path;
        self.sources = policy_settings.sources;
        self.target_revision = find_target_revision(
            &self.repo,
            &self.ci,
            &policy_settings.policy_revision,
            commit_source,
        )?;
        self.policy_revision = policy_settings.policy_revision;
        Ok(())
    }

    /// Fetches the branch of the run, the branch with the policy, and the history between head and its base. Fetching
    /// the history may show which branch is the default branch, and whether the run reviews the host's commit. Both may
    /// determine another branch with the policy, so that branch is fetched at the end if it is missing or if the first
    /// fetch of it failed. Returns the result of the last fetch of the branch with the policy, or `None` if it was not
    /// fetched.
    fn fetch_missing_commits(
        &mut self,
        session: &Session,
        revisions: &RequestedRevisions,
        subject: DeepenSubject,
    ) -> Result<Option<BranchFetch>, ContextError> {
        let (repo, ci) = (&mut self.repo, &mut self.ci);
        let report = |step: &str| session.ui.say(step);
        let commit_source = context::find_commit_source(repo, ci, revisions)?;
        let run_fetch = context::fetch_run_branch(repo, ci, commit_source, &report)?;
        let policy_fetch =
            context::fetch_policy_branch(repo, ci, commit_source, RefetchBranch::IfAgeUnknown, &report)?;
        let has_fetched = context::fetch_missing_history(repo, ci, revisions, subject, &report)?;
        let commit_source = context::find_commit_source(repo, ci, revisions)?;
        // If only the first fetch failed, the remote can be reached again.
        let refetch = if has_fetched && policy_fetch == Some(BranchFetch::Failure) {
            RefetchBranch::IfAgeUnknown
        } else {
            RefetchBranch::IfMissing
        };
        let missing_fetch = context::fetch_policy_branch(repo, ci, commit_source, refetch, &report)?;
        // Without a fetch of its own, the branch with the policy is the branch of the run.
        Ok(missing_fetch.or(policy_fetch).or(run_fetch))
    }
}
