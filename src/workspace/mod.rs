//! Opens the repository, its settings and the CI host's context, which every command in a repository needs first.

pub(crate) mod checkout_files;
pub(crate) mod checkout_lock;
pub(crate) mod config_dir_prompt;
pub(crate) mod empty_settings;
mod file_edits;
pub(crate) mod gate_file_problems;
pub(crate) mod gate_files;
mod hidden_gate_files;
pub(crate) mod lock_file;
pub(crate) mod misnamed_files;
mod missing_commits;
pub(crate) mod omitted_file;
mod path_repository;
mod platform_files;
mod policy_digests;
mod policy_settings;
mod policy_warning;
pub(crate) mod rules_remedy;
pub(crate) mod standard_input;
mod target_revision;
pub(crate) mod team_rules;
pub(crate) mod typed_paths;
pub(crate) mod unusable_gate_files;
pub(crate) mod unusable_publish_settings;
mod unusable_settings;
mod version_settings;

pub(crate) use platform_files::find_config_dir_in;
pub(crate) use policy_warning::WarningTiming;

use crate::attestation::FileDigest;
use crate::env;
use crate::error::Failure;
use crate::job::ci::{self, CiContext, Host};
use crate::job::cli::GateChanges;
use crate::job::context::{
    self, CommitSource, Comparison, ContextError, PolicyRevision, RequestedRevisions, RunSubject, Target,
};
use crate::job::policy::{self, CheckoutFiles, FilePresence, GateFile, UnusableFile};
use crate::job::settings::{self, SettingSources};
use crate::session::Session;
use crate::session::worker_threads::start_worker_threads;
use crate::workspace::target_revision::{allow_unproven_tip, find_target_revision};
use sluicegate_git::{GitError, Repository, Snapshot};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::waivers;
use std::path::Path;

/// A repository with its settings and the host's context.
pub(crate) struct Workspace<'a> {
    pub(crate) repo: Repository,
    pub(crate) sources: SettingSources<'a>,
    /// The hidden directory, if it is set and not to be searched.
    pub(crate) named_config_dir: Option<String>,
    pub(crate) ci: CiContext,
    /// The version of the gate configuration that a local run reads: the files on disk or the staged ones.
    pub(crate) local_files: CheckoutFiles,
    /// The revision that the gate configuration is read from.
    pub(crate) policy_revision: PolicyRevision,
    /// The newest commit of the target branch, regardless of `--policy`.
    pub(crate) target_revision: PolicyRevision,
    /// The note with the date of `target_revision`, if nothing shows that it is not outdated.
    pub(crate) target_age_note: Option<String>,
    /// How to treat a change that edits the gate configuration together with other files.
    pub(crate) gate_changes: GateChanges,
    /// The configuration file's path in the repository; `None` if the job sets one outside.
    pub(crate) config_file: Option<String>,
    /// The digest of the configuration file that the job sets outside the repository.
    pub(crate) config_digest_of_job: Option<FileDigest>,
    /// The path of the team's rules file in the repository; `None` if the job turns the rules off.
    pub(crate) team_rules_path: Option<String>,
    /// Whether a flag or a variable of the job names the hidden directory.
    pub(crate) has_config_dir_of_job: bool,
    /// Whether a flag or a variable of the job names the team's rules file or turns the rules off.
    pub(crate) has_team_rules_of_job: bool,
}

impl Session {
    /// Opens the repository, and reads the settings and the context of the run. Fails in a local run if git's index
    /// hides changes to a file of the gate configuration.
    pub(crate) fn open_workspace(&self) -> Result<Workspace<'_>, Failure> {
        let workspace = self.open_workspace_in(self.open_repository()?, CheckoutFiles::OnDisk)?;
        workspace.reject_hidden_gate_files(self)?;
        Ok(workspace)
    }

    /// Returns the files that a local run reads: with `--staged` (`is_staged`) those of the index, otherwise those on
    /// disk. In a git hook, the index is the one that git passes to the hook.
    pub(crate) fn choose_local_files(&self, repo: &Repository, is_staged: bool) -> CheckoutFiles {
        if is_staged {
            CheckoutFiles::Staged(self.hook_index_path(repo).map(Path::to_owned))
        } else {
            CheckoutFiles::OnDisk
        }
    }

    /// Reads the settings and the context of the run for this repository. A local run reads them from `local_files`. A
    /// policy or target revision that is not yet proven to be the branch's newest commit is allowed, because
    /// [`Workspace::deepen`] may fetch what is missing. The caller rejects hidden files of the gate configuration after
    /// it has replaced the reports of an earlier run.
    pub(crate) fn open_workspace_in(
        &self,
        repo: Repository,
        local_files: CheckoutFiles,
    ) -> Result<Workspace<'_>, Failure> {
        start_worker_threads()?;
        let mut ci = self.read_ci_context()?;
        context::recognize_default_branch_run(&repo, &mut ci)?;
        let commit_source = context::find_commit_source(&repo, &ci, &RequestedRevisions::default())?;
        let choice = settings::resolve_policy_source(&self.global, &self.env)?;
        let policy = allow_unproven_tip(policy::find_policy_revision(
            &repo,
            Some(&ci),
            choice,
            commit_source,
        ))?;
        let checkout = CheckoutFiles::for_run(&repo, Some(&ci), &local_files)?;
        let policy_settings =
            self.read_policy_settings(&repo, policy, checkout, choose_unusable_file_treatment(&ci))?;
        Ok(Workspace {
            local_files,
            target_revision: allow_unproven_tip(find_target_revision(
                &repo,
                &ci,
                &policy_settings.policy_revision,
                commit_source,
            ))?,
            named_config_dir: policy_settings.named_config_dir,
            sources: policy_settings.sources,
            policy_revision: policy_settings.policy_revision,
            target_age_note: None,
            gate_changes: settings::resolve_gate_changes(&self.global, &self.env)?,
            config_file: policy_settings.config_file,
            config_digest_of_job: policy_settings.config_digest_of_job,
            team_rules_path: policy_settings.team_rules_path,
            has_config_dir_of_job: settings::requested_config_dir(&self.global, &self.env).is_some(),
            has_team_rules_of_job: settings::requested_team_rules(&self.global, &self.env).is_some(),
            repo,
            ci,
        })
    }

    /// Reads what the CI host states about this job, such as the commit and the event, from its variables. Adds the
    /// URLs of the target's repository that the job names.
    pub(crate) fn read_ci_context(&self) -> Result<CiContext, Failure> {
        let host = settings::requested_host(&self.global, &self.env)?;
        let mut ci = ci::detect_context(&self.env, host).map_err(ContextError::from)?;
        let target_urls = settings::requested_target_urls(&self.global, &self.env)?;
        ci.target_repository.urls.extend(target_urls);
        Ok(ci)
    }

    /// Returns the path of the index that git passes to its hooks; `None` outside a hook, and for another repository
    /// than the hook's.
    pub(crate) fn hook_index_path(&self, repo: &Repository) -> Option<&Path> {
        let index_path = self.env.get(env::GIT_INDEX_FILE).map(Path::new);
        index_path.filter(|path| repo.can_own_index(path))
    }

    /// Opens the repository. A bare repository is opened only if the job names it, because one inside a checkout
    /// belongs to the change.
    pub(crate) fn open_repository(&self) -> Result<Repository, GitError> {
        match settings::requested_repository(&self.global, &self.env) {
            Some(dir) => Repository::open(&dir),
            None => Repository::discover(self.env.current_dir()),
        }
        .map(|repository| repository.with_document_predicate(is_pipeline))
    }

    /// Returns the repository, or `None` if the current directory is in none. A repository that cannot be opened is an
    /// error, and so is a directory that the job names with `--repo` and that is none.
    pub(crate) fn find_repository(&self) -> Result<Option<Repository>, GitError> {
        match self.open_repository() {
            Ok(repository) => Ok(Some(repository)),
            Err(GitError::NotARepository { .. } | GitError::BareRepository { .. })
                if !self.has_named_repository() =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns whether the job names the repository with `--repo`.
    pub(crate) fn has_named_repository(&self) -> bool {
        settings::requested_repository(&self.global, &self.env).is_some()
    }

    /// Reads the settings of a command that needs no repository. Inside a repository, the gate configuration of the
    /// policy revision applies, as in a review; elsewhere, only the configuration file that the job names, if any. A
    /// file that cannot be used is an error.
    pub(crate) fn read_setting_sources(&self) -> Result<SettingSources<'_>, Failure> {
        let host = settings::requested_host(&self.global, &self.env)?;
        if let Some(repo) = self.find_repository()? {
            let ci = ci::detect_context(&self.env, host).ok();
            let choice = settings::resolve_policy_source(&self.global, &self.env)?;
            // Such a command does not review a commit, so no reviewed commit differs from the host's.
            let policy = allow_unproven_tip(policy::find_policy_revision(
                &repo,
                ci.as_ref(),
                choice,
                CommitSource::Host,
            ))?;
            let checkout = CheckoutFiles::for_run(&repo, ci.as_ref(), &CheckoutFiles::OnDisk)?;
            let policy_settings = self.read_policy_settings(&repo, policy, checkout, UnusableFile::Reject)?;
            return Ok(policy_settings.sources);
        }
        let file = match settings::requested_config_file(&self.global, &self.env) {
            Some(file) => policy::read_job_file(&file, FilePresence::Required)?,
            None => GateFile::default(),
        };
        Ok(SettingSources::new(&self.env, &file, None, UnusableFile::Reject)?)
    }
}

/// Returns what to do with a file of the gate configuration that cannot be used: an error in a local run; in CI it is
/// treated as missing, because otherwise it would stop the change that repairs it.
fn choose_unusable_file_treatment(ci: &CiContext) -> UnusableFile {
    match ci.host {
        Host::None => UnusableFile::Reject,
        _ => UnusableFile::TreatAsMissing,
    }
}

impl Workspace<'_> {
    /// Returns what to do with a file of the gate configuration that cannot be used: in CI, it is treated as missing.
    pub(crate) fn unusable_file_treatment(&self) -> UnusableFile {
        choose_unusable_file_treatment(&self.ci)
    }

    /// Returns whether the gate configuration is read from another revision than the reviewed one.
    pub(crate) const fn has_separate_policy(&self) -> bool {
        !matches!(self.policy_revision, PolicyRevision::Head { .. })
    }

    /// Returns whether the policy revision is unknown, and the snapshot has a configuration file or waivers, which the
    /// run then ignores.
    pub(crate) fn ignores_config_in(&self, snapshot: &Snapshot<'_>) -> bool {
        matches!(self.policy_revision, PolicyRevision::Unknown { .. })
            && [self.config_file.as_deref(), Some(waivers::FILE_NAME)]
                .into_iter()
                .flatten()
                .any(|path| matches!(snapshot.find_file(path), Ok(Some(_))))
    }

    /// Returns the path and the revision from which the configuration file is read, or the reason why none is read, for
    /// display.
    pub(crate) fn describe_config_file_source(&self) -> String {
        match (&self.config_file, &self.policy_revision) {
            (None, _) => "the file set by the job, outside the repository".to_owned(),
            (Some(path), PolicyRevision::Head { reason })
                if !self.local_files.has_file(&self.repo, path).unwrap_or(true) =>
            {
                format!("none: the checkout has no {path} ({reason})")
            }
            (Some(path), PolicyRevision::Head { reason }) => format!("{path} of the checkout: {reason}"),
            (
                Some(path),
                PolicyRevision::Commit {
                    commit,
                    branch,
                    source,
                },
            ) => {
                format!("{path} of `{branch}` at {} ({source})", commit.short())
            }
            (Some(_), PolicyRevision::Unknown { reason }) => format!("none: {reason}"),
        }
    }

    /// Returns an error if the CI host is unknown and the policy revision is, too: nothing then shows which branch a
    /// change goes to, so any result could be wrong.
    pub(crate) fn require_policy_on_unknown_host(&self) -> Result<(), ContextError> {
        match &self.policy_revision {
            PolicyRevision::Unknown { reason } if self.ci.host == Host::Unknown => {
                Err(ContextError::UnknownHost {
                    missing: "the policy",
                    reason: reason.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Resolves the commit to review, its branch and its base, and prints the warnings. Fails on an unknown CI host for
    /// which no policy revision is found.
    pub(crate) fn resolve_target(
        &self,
        session: &Session,
        revisions: &RequestedRevisions,
    ) -> Result<Target, Failure> {
        self.require_policy_on_unknown_host()?;
        let target = context::resolve_target(&self.repo, &self.ci, revisions)?;
        print_warnings(session, &target);
        Ok(target)
    }

    /// Resolves the base for a review of the working tree or the index, and prints the warnings. Fails on an unknown CI
    /// host for which no policy revision is found.
    pub(crate) fn resolve_checkout_comparison(
        &self,
        session: &Session,
        revisions: &RequestedRevisions,
    ) -> Result<Comparison, Failure> {
        self.require_policy_on_unknown_host()?;
        let comparison = context::resolve_checkout(&self.repo, &self.ci, revisions)?;
        print_warnings(session, &comparison);
        Ok(comparison)
    }
}

/// Prints the warnings about the head and the base, and records that they were shown so that the report does not repeat
/// them.
pub(crate) fn print_warnings<H>(session: &Session, subject: &RunSubject<H>) {
    for warning in &subject.warnings {
        session.ui.warn(warning);
        session.add_shown_text(warning);
    }
    for reason in &subject.explained_reasons {
        session.add_shown_reason(reason);
    }
}
