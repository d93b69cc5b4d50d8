//! Opens the repository, its settings and the CI host's context, which every command in a repository needs first.

pub(crate) mod checkout_files;
pub(crate) mod config_dir_prompt;
pub(crate) mod gate_files;
mod misnamed_files;
mod path_repository;
mod policy_settings;
mod policy_warning;
pub(crate) mod rules_remedy;
pub(crate) mod standard_input;
mod target_tip;
mod typed_paths;
pub(crate) mod unusable_gate_files;

use crate::document_content::{read_document_blob, read_document_on_disk};
use crate::env;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::{self, CiContext, Host};
use crate::job::cli::GateChanges;
use crate::job::context::{
    self, Comparison, ContextError, DeepenSubject, PolicyTip, RequestedRevisions, Target,
};
use crate::job::policy::{self, CheckoutFiles, GateFile, GateFileReader, UnusableFile, normalize};
use crate::job::settings::{self, Checkout, FILE_NAME, SettingSources};
use crate::session::Run;
use crate::workspace::target_tip::{find_newest_target_tip, or_unknown};
use sluicegate_git::{FileContent, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use sluicegate_pipelines::pipelines::{self, ConfigDirError, RULES_FILE, is_pipeline};
use sluicegate_pipelines::rules::RuleSet;
use sluicegate_pipelines::yaml::DocumentError;
use std::path::Path;

/// A repository with its settings and the host's context.
pub(crate) struct Workspace<'a> {
    pub(crate) repo: Repository,
    pub(crate) sources: SettingSources<'a>,
    /// The platform's hidden directory, if it is set and not to be searched.
    pub(crate) named_config_dir: Option<String>,
    pub(crate) ci: CiContext,
    /// The version of the gate configuration in force.
    pub(crate) policy: PolicyTip,
    /// The tip of the target branch, regardless of `--policy`.
    pub(crate) target_tip: PolicyTip,
    /// The note with the date of `target_tip`, if nothing shows that it is not outdated.
    pub(crate) tip_age: Option<String>,
    /// How to treat a change that edits the gate configuration together with other files.
    pub(crate) gate_changes: GateChanges,
    /// The configuration file's path in the repository; `None` if the job sets one outside.
    pub(crate) config_file: Option<String>,
}

impl Run {
    /// Opens the repository and reads its settings and context.
    pub(crate) fn workspace(&self) -> Result<Workspace<'_>, Failure> {
        self.workspace_in(self.open_repository()?)
    }

    /// Reads the settings and the context of a repository.
    pub(crate) fn workspace_in(&self, repo: Repository) -> Result<Workspace<'_>, Failure> {
        let host = settings::requested_host(&self.global, &self.env)?;
        let mut ci = ci::detect_context(&self.env, host).map_err(ContextError::from)?;
        let repositories = settings::target_repositories(&self.global, &self.env)?;
        ci.target_repository.urls.extend(repositories);
        let is_host_commit = context::reviews_host_commit(&repo, &ci, &RequestedRevisions::default())?;
        let choice = settings::policy_source(&self.global, &self.env)?;
        let policy = or_unknown(policy::find_policy_tip(&repo, Some(&ci), choice, is_host_commit))?;
        let settled_policy = self.settle_policy(&repo, policy, Some(&ci), unusable_file_treatment(&ci))?;
        Ok(Workspace {
            target_tip: or_unknown(find_newest_target_tip(
                &repo,
                &ci,
                &settled_policy.policy,
                is_host_commit,
            ))?,
            named_config_dir: settled_policy.named_config_dir,
            sources: settled_policy.sources,
            policy: settled_policy.policy,
            tip_age: None,
            gate_changes: settings::gate_changes(&self.global, &self.env)?,
            config_file: settled_policy.config_file,
            repo,
            ci,
        })
    }

    /// Reads the settings from the version of the configuration file in force.
    fn settle_policy(
        &self,
        repo: &Repository,
        policy: PolicyTip,
        ci: Option<&CiContext>,
        on_unusable: UnusableFile,
    ) -> Result<SettledPolicy<'_>, Failure> {
        let requested_file = settings::requested_config_file(&self.global, &self.env);
        let (is_named, file) = match requested_file {
            Some(file) => (true, file),
            None => (false, repo.root().join(FILE_NAME)),
        };
        let config_file = policy::path_in_repository(repo.root(), &file);
        let gate_file = match &config_file {
            Some(path) => {
                let reader = GateFileReader {
                    repo,
                    tip: &policy,
                    checkout: CheckoutFiles::for_run(repo, ci)?,
                    on_unusable,
                };
                reader.read_gate_file(path, is_named, policy::MAX_FILE_BYTES)?
            }
            None => policy::read_job_file(&normalize(&file), is_named)?,
        };
        let checkout = Checkout {
            root: repo.root(),
            // If git cannot tell, the file counts as tracked, so that it is not overwritten.
            is_tracked: &|path| repo.is_tracked(path, self.index()).unwrap_or(true),
        };
        let on_unusable = match config_file {
            Some(_) => on_unusable,
            None => UnusableFile::Reject,
        };
        let checkout = config_file.as_ref().map(|_| &checkout);
        let mut sources = SettingSources::new(&self.env, &gate_file, checkout, on_unusable)?;
        let named_config_dir = sources.resolve_settings(|sources| sources.config_dir(&self.global))?;
        Ok(SettledPolicy {
            sources,
            named_config_dir,
            policy,
            config_file,
        })
    }

    /// Returns the index that git passes to its hooks.
    pub(crate) fn index(&self) -> Option<&Path> {
        self.env.get(env::GIT_INDEX_FILE).map(Path::new)
    }

    /// Opens the repository. A bare repository is opened only if it is set explicitly: one inside a checkout belongs to
    /// the change.
    pub(crate) fn open_repository(&self) -> Result<Repository, GitError> {
        match settings::requested_repository(&self.global, &self.env) {
            Some(dir) => Repository::open(&dir),
            None => Repository::discover(self.env.current_dir()),
        }
        .map(|repository| repository.with_renames_by_name(is_pipeline))
    }

    /// Returns the repository, if there is one.
    pub(crate) fn repository(&self) -> Option<Repository> {
        self.open_repository().ok()
    }

    /// Returns the settings for commands that need no repository; reads the configuration file if there is one.
    pub(crate) fn sources(&self) -> Result<SettingSources<'_>, Failure> {
        let host = settings::requested_host(&self.global, &self.env)?;
        if let Some(repo) = self.repository() {
            let ci = ci::detect_context(&self.env, host).ok();
            let choice = settings::policy_source(&self.global, &self.env)?;
            let policy = or_unknown(policy::find_policy_tip(&repo, ci.as_ref(), choice, true))?;
            let settled_policy = self.settle_policy(&repo, policy, ci.as_ref(), UnusableFile::Reject)?;
            return Ok(settled_policy.sources);
        }
        let file = match settings::requested_config_file(&self.global, &self.env) {
            Some(file) => policy::read_job_file(&file, true)?,
            None => GateFile::default(),
        };
        Ok(SettingSources::new(&self.env, &file, None, UnusableFile::Reject)?)
    }
}

/// Returns what to do with a file of the gate configuration that cannot be used.
fn unusable_file_treatment(ci: &CiContext) -> UnusableFile {
    match ci.host {
        Host::None => UnusableFile::Reject,
        _ => UnusableFile::TreatAsMissing,
    }
}

/// The settings, and their source.
struct SettledPolicy<'a> {
    sources: SettingSources<'a>,
    named_config_dir: Option<String>,
    policy: PolicyTip,
    config_file: Option<String>,
}

impl<'a> Workspace<'a> {
    /// Fetches the missing commits if requested, and reports each step. Then reads the settings again: the version in
    /// force may have been fetched, or depend on the commit set by the job. Fails if the target's tip cannot be proven.
    pub(crate) fn deepen(
        &mut self,
        run: &'a Run,
        revisions: &RequestedRevisions,
        subject: DeepenSubject,
    ) -> Result<(), Failure> {
        if revisions.deepen {
            self.fetch_missing(run, revisions, subject)?;
        }
        let is_host_commit = context::reviews_host_commit(&self.repo, &self.ci, revisions)?;
        let is_tip_unknown = matches!(self.policy, PolicyTip::Unknown { .. })
            || matches!(self.target_tip, PolicyTip::Unknown { .. });
        if revisions.deepen || !is_host_commit || is_tip_unknown {
            let choice = settings::policy_source(&run.global, &run.env)?;
            let policy = policy::find_policy_tip(&self.repo, Some(&self.ci), choice, is_host_commit)?;
            let settled_policy = run.settle_policy(
                &self.repo,
                policy,
                Some(&self.ci),
                unusable_file_treatment(&self.ci),
            )?;
            self.named_config_dir = settled_policy.named_config_dir;
            self.sources = settled_policy.sources;
            self.target_tip =
                find_newest_target_tip(&self.repo, &self.ci, &settled_policy.policy, is_host_commit)?;
            self.policy = settled_policy.policy;
        }
        self.tip_age = context::describe_tip_age(&self.repo, &self.ci, is_host_commit, &self.target_tip)?;
        Ok(())
    }

    fn fetch_missing(
        &mut self,
        run: &Run,
        revisions: &RequestedRevisions,
        subject: DeepenSubject,
    ) -> Result<(), ContextError> {
        let (repo, ci) = (&mut self.repo, &mut self.ci);
        let report = |step: &str| run.ui.say(step);
        let is_host_commit = context::reviews_host_commit(repo, ci, revisions)?;
        context::fetch_run_branch(repo, ci, is_host_commit, &report)?;
        context::fetch_policy_branch(repo, ci, is_host_commit, true, &report)?;
        context::deepen(repo, ci, revisions, subject, &report)?;
        let is_host_commit = context::reviews_host_commit(repo, ci, revisions)?;
        context::fetch_policy_branch(repo, ci, is_host_commit, false, &report)
    }

    /// Returns what to do with a file of the gate configuration that cannot be used.
    pub(crate) fn on_unusable(&self) -> UnusableFile {
        unusable_file_treatment(&self.ci)
    }

    /// Returns whether the gate configuration in force may differ from that of the reviewed commit.
    pub(crate) const fn has_other_policy(&self) -> bool {
        !matches!(self.policy, PolicyTip::Head { .. })
    }

    /// Returns where the configuration file is read, for display.
    pub(crate) fn describe_policy(&self) -> String {
        match (&self.config_file, &self.policy) {
            (None, _) => "the file set by the job, outside the repository".to_owned(),
            (Some(path), PolicyTip::Head { reason }) => format!("{path} of the checkout: {reason}"),
            (
                Some(path),
                PolicyTip::Commit {
                    commit,
                    branch,
                    source,
                },
            ) => {
                format!("{path} of `{branch}` at {} ({source})", commit.short())
            }
            (Some(_), PolicyTip::Unknown { reason }) => format!("none: {reason}"),
        }
    }

    /// Returns an error if the CI host is unknown and the policy too: neither the host nor the clone shows which branch
    /// a change goes to.
    pub(crate) fn require_policy_of_unknown_host(&self) -> Result<(), ContextError> {
        match &self.policy {
            PolicyTip::Unknown { reason } if self.ci.host == Host::Unknown => {
                Err(ContextError::UnknownHost {
                    missing: "the policy",
                    reason: reason.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Returns the resolved commit, branch and base; prints the warnings.
    pub(crate) fn resolve_target(
        &self,
        run: &Run,
        revisions: &RequestedRevisions,
    ) -> Result<Target, Failure> {
        self.require_policy_of_unknown_host()?;
        let target = context::resolve_target(&self.repo, &self.ci, revisions)?;
        print_warnings(run, &target.warnings);
        Ok(target)
    }

    /// Returns the base of the working tree or the index; prints the warnings.
    pub(crate) fn compare_checkout(
        &self,
        run: &Run,
        revisions: &RequestedRevisions,
    ) -> Result<Comparison, Failure> {
        self.require_policy_of_unknown_host()?;
        let comparison = context::resolve_checkout(&self.repo, &self.ci, revisions)?;
        print_warnings(run, &comparison.warnings);
        Ok(comparison)
    }

    /// Returns the platform's hidden directory: as set, otherwise the one with the platform's files in the target
    /// branch, so that a change with another directory does not choose its own rules; otherwise the one in the
    /// snapshot.
    pub(crate) fn config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, Failure> {
        if let Some(name) = &self.named_config_dir {
            return Ok(Some(name.clone()));
        }
        if let PolicyTip::Commit { commit, .. } = &self.policy
            && let Ok(Some(config_dir)) = find_config_dir(&self.repo.snapshot(commit.clone()))?
        {
            return Ok(Some(config_dir));
        }
        let config_dir = find_config_dir(snapshot)?;
        if self.on_unusable() == UnusableFile::TreatAsMissing {
            return Ok(config_dir.ok().flatten());
        }
        config_dir.map_err(|error| {
            Failure::usage(error.to_string())
                .with_hint("set the directory with --config-dir or SLUICEGATE_CONFIG_DIR")
        })
    }

    /// Returns the rules file, or `None` if it is missing. A link counts as missing, as the platform reads commits and
    /// follows no links.
    pub(crate) fn rules_file(&self, snapshot: &Snapshot<'_>) -> Result<Option<SnapshotFile>, Failure> {
        let Some(config_dir) = self.config_dir(snapshot)? else {
            return Ok(None);
        };
        let file = snapshot.find_file(&format!("{config_dir}/{RULES_FILE}"))?;
        Ok(file.filter(|file| file.kind == FileKind::Regular))
    }

    /// Returns the rule set of a snapshot without a rules file, with the reason.
    pub(crate) fn missing_rules(&self, snapshot: &Snapshot<'_>) -> Result<RuleSet, Failure> {
        Ok(if self.linked_rules(snapshot)?.is_empty() {
            RuleSet::without_file()
        } else {
            RuleSet::behind_symbolic_link()
        })
    }

    /// Returns the rules, or `None` without a rules file.
    pub(crate) fn rules(&self, snapshot: &Snapshot<'_>) -> Result<Option<RuleSet>, Failure> {
        self.read_rules(self.rules_file(snapshot)?.as_ref())
    }

    /// Returns the rules of this rules file.
    pub(crate) fn read_rules(&self, file: Option<&SnapshotFile>) -> Result<Option<RuleSet>, Failure> {
        let document = file.map(|file| self.read_document(file)).transpose()?;
        Ok(document.map(|document| RuleSet::from_document(&document)))
    }

    /// Returns the file's content, or why it cannot be parsed as a document.
    pub(crate) fn read_document(
        &self,
        file: &SnapshotFile,
    ) -> Result<Result<Vec<u8>, DocumentError>, Failure> {
        let path = match &file.content {
            FileContent::Blob(blob) => return Ok(read_document_blob(&self.repo, blob)?),
            FileContent::Disk(full) => full,
        };
        if let Some(doubt) = file.doubt {
            let message = format!("could not evaluate {}: {}", path.display(), doubt.reason());
            return Err(Failure::new(ExitStatus::Undecided, anyhow::anyhow!(message)));
        }
        read_document_on_disk(path).map_err(|error| {
            let message = format!("could not read {}", path.display());
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(message))
        })
    }
}

/// Returns the only hidden directory of the snapshot with the platform's files.
pub(crate) fn find_config_dir(
    snapshot: &Snapshot<'_>,
) -> Result<Result<Option<String>, ConfigDirError>, GitError> {
    let root_dirs = snapshot.list_root_folders()?;
    Ok(pipelines::find_config_dir(&root_dirs, &|path| {
        matches!(snapshot.find_file(path), Ok(Some(_)))
    }))
}

fn print_warnings(run: &Run, warnings: &[String]) {
    for warning in warnings {
        run.ui.warn(warning);
        run.add_shown_text(warning);
    }
}
