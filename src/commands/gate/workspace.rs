//! The repository, its settings and the CI host's context: what a command in a repository begins with.

use crate::base::env;
use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{Content, FileKind, GitError, Repository, Snapshot, SnapshotFile};
use crate::commands::Run;
use crate::job::ci::{self, CiContext, Host, Trigger};
use crate::job::cli::GateChanges;
use crate::job::context::{self, Comparison, DeepenSubject, PolicyTip, RevisionWish, Target};
use crate::job::policy::{self, GateFile, plain};
use crate::job::settings::{self, Checkout, FILE_NAME, Revisions, Sources};
use crate::model::pipelines::{self, ConfigFolderError, RULES_FILE, document_in, document_on_disk};
use crate::model::rules::RuleSet;
use crate::model::yaml::DocumentError;
use std::path::Path;

/// A repository with its settings and the host's context.
pub(crate) struct Workspace<'a> {
    pub(crate) repo: Repository,
    pub(crate) sources: Sources<'a>,
    /// The platform's hidden folder, if it is not to be found.
    pub(crate) named_folder: Option<String>,
    pub(crate) ci: CiContext,
    /// Where the gate's own files are read.
    pub(crate) policy: PolicyTip,
    /// The tip of the branch that the change goes to, whatever `--policy` says.
    pub(crate) target_tip: PolicyTip,
    /// What a change of the gate's own files, together with others, means.
    pub(crate) gate_changes: GateChanges,
    /// The configuration file's path in the repository; none where the job names one outside.
    pub(crate) config_file: Option<String>,
}

impl Run {
    /// Opens the repository and reads what surrounds it.
    pub(crate) fn workspace(&self) -> Result<Workspace<'_>, Failure> {
        let repo = self.open_repository()?;
        let host = settings::host(&self.global, &self.env)?;
        let ci = ci::detect(&self.env, host).map_err(context::ContextError::from)?;
        let is_hosts = context::judges_hosts(&repo, &ci, &RevisionWish::default())?;
        let settled = self.settled(&repo, Some(&ci), is_hosts)?;
        Ok(Workspace {
            target_tip: target_tip(&repo, &ci, &settled.policy, is_hosts)?,
            named_folder: settled.sources.config_dir(&self.global)?,
            sources: settled.sources,
            policy: settled.policy,
            gate_changes: settings::gate_changes(&self.global, &self.env)?,
            config_file: settled.config_file,
            repo,
            ci,
        })
    }

    /// The settings, from the version of the configuration file that counts.
    fn settled(
        &self,
        repo: &Repository,
        ci: Option<&CiContext>,
        is_hosts: bool,
    ) -> Result<SettledPolicy<'_>, Failure> {
        let choice = settings::policy_choice(&self.global, &self.env)?;
        let policy = policy::tip(repo, ci, choice, is_hosts)?;
        let named = settings::named_config(&self.global, &self.env);
        let (is_named, file) = match named {
            Some(file) => (true, file),
            None => (false, repo.root().join(FILE_NAME)),
        };
        let config_file = policy::in_repository(repo.root(), &file);
        let read = match &config_file {
            Some(path) => policy::read(repo, &policy, path, is_named, policy::SIZE_LIMIT)?,
            None => policy::of_the_job(&plain(&file), is_named)?,
        };
        let checkout = Checkout {
            root: repo.root(),
            // Where git cannot tell, nothing is overwritten.
            tracks: &|path| repo.tracks(path, self.index()).unwrap_or(true),
        };
        Ok(SettledPolicy {
            sources: Sources::new(&self.env, &read, config_file.as_ref().map(|_| &checkout))?,
            policy,
            config_file,
        })
    }

    /// The index that git names to its hooks.
    pub(crate) fn index(&self) -> Option<&Path> {
        self.env.get(env::GIT_INDEX_FILE).map(Path::new)
    }

    /// A bare repository is opened only where it is named: one that lies in a checkout belongs to the change.
    pub(crate) fn open_repository(&self) -> Result<Repository, GitError> {
        match settings::named_repository(&self.global, &self.env) {
            Some(folder) => Repository::open(&folder),
            None => Repository::discover(self.env.current_dir()),
        }
    }

    /// The repository, if there is one.
    pub(crate) fn repository(&self) -> Option<Repository> {
        self.open_repository().ok()
    }

    /// The settings where no repository is needed; the file is read if there is a repository.
    pub(crate) fn sources(&self) -> Result<Sources<'_>, Failure> {
        let host = settings::host(&self.global, &self.env)?;
        if let Some(repo) = self.repository() {
            let ci = ci::detect(&self.env, host).ok();
            return Ok(self.settled(&repo, ci.as_ref(), true)?.sources);
        }
        let file = match settings::named_config(&self.global, &self.env) {
            Some(file) => policy::of_the_job(&file, true)?,
            None => GateFile::default(),
        };
        Ok(Sources::new(&self.env, &file, None)?)
    }
}

/// The tip of the branch that the change goes to. On somebody's own machine there is one if `--policy base` asks for it.
fn target_tip(
    repo: &Repository,
    ci: &CiContext,
    policy: &PolicyTip,
    is_hosts: bool,
) -> Result<PolicyTip, Failure> {
    Ok(match ci.host {
        Host::None => policy.clone(),
        _ => context::policy_tip(repo, ci, is_hosts)?,
    })
}

/// The settings, and where they were found.
struct SettledPolicy<'a> {
    sources: Sources<'a>,
    policy: PolicyTip,
    config_file: Option<String>,
}

impl<'a> Workspace<'a> {
    /// Fetches what the clone lacks for this, if that was requested; each step is reported. Then the settings are read
    /// again: the version in force may have come, or depend on the commit that the job names.
    pub(crate) fn deepen(
        &mut self,
        run: &'a Run,
        wish: &Revisions,
        subject: DeepenSubject,
    ) -> Result<(), Failure> {
        let wanted = as_wish(wish.clone());
        let is_hosts = context::judges_hosts(&self.repo, &self.ci, &wanted)?;
        if wish.deepen {
            let say = |step: &str| run.ui.say(step);
            context::deepen(&mut self.repo, &mut self.ci, &wanted, subject, &say)?;
            context::fetch_policy(&mut self.repo, &self.ci, is_hosts, &say)?;
        }
        if wish.deepen || !is_hosts {
            let settled = run.settled(&self.repo, Some(&self.ci), is_hosts)?;
            self.named_folder = settled.sources.config_dir(&run.global)?;
            self.sources = settled.sources;
            self.target_tip = target_tip(&self.repo, &self.ci, &settled.policy, is_hosts)?;
            self.policy = settled.policy;
        }
        Ok(())
    }

    /// Warns of what does not count yet in the configuration file; a run may end before there is a report to say it.
    pub(crate) fn warn_of_policy(&self, run: &Run) {
        if let Some(note) = self.sources.note() {
            run.ui.warn(note);
        }
        self.warn_of_misnamed(run);
    }

    /// Warns if a job of an event that is about no commit has checked out another one than is reviewed, and names none.
    pub(crate) fn warn_of_other_checkout(&self, run: &Run, wish: &Revisions) -> Result<(), Failure> {
        let is_hosts = context::judges_hosts(&self.repo, &self.ci, &RevisionWish::default())?;
        if let (false, None, Trigger::Any, Ok(head)) =
            (is_hosts, &wish.head, self.ci.trigger, self.repo.head())
        {
            let (own, short) = (self.ci.commit.as_deref().unwrap_or_default(), head.commit.short());
            run.ui.warn(&format!(
                "the checkout is at {short}, but this event is about {}, which is reviewed: `--head {}` reviews what is checked out",
                crate::base::git::short_id(own),
                head.commit
            ));
        }
        Ok(())
    }

    /// Whether the gate configuration in force may be another than that of the reviewed commit.
    pub(crate) const fn policy_is_elsewhere(&self) -> bool {
        !matches!(self.policy, PolicyTip::Head { .. })
    }

    /// Where the configuration file is read, for people.
    pub(crate) fn policy_in_words(&self) -> String {
        match (&self.config_file, &self.policy) {
            (None, _) => "the file that the job names, outside the repository".to_owned(),
            (Some(path), PolicyTip::Head { why }) => format!("{path} of the checkout: {why}"),
            (
                Some(path),
                PolicyTip::At {
                    commit,
                    branch,
                    source,
                },
            ) => {
                format!("{path} of `{branch}` at {} ({source})", commit.short())
            }
            (Some(_), PolicyTip::Unknown { why }) => format!("none: {why}"),
        }
    }

    /// The commit, branch and base that are meant; its warnings are shown.
    pub(crate) fn target(&self, run: &Run, wish: Revisions) -> Result<Target, Failure> {
        let target = context::settle(&self.repo, &self.ci, &as_wish(wish))?;
        show(run, &target.warnings);
        Ok(target)
    }

    /// What the working tree or the index is compared with; its warnings are shown.
    pub(crate) fn checkout(&self, run: &Run, wish: Revisions) -> Result<Comparison, Failure> {
        let comparison = context::settle_checkout(&self.repo, &self.ci, &as_wish(wish))?;
        show(run, &comparison.warnings);
        Ok(comparison)
    }

    /// The platform's hidden folder: as set, else the one that holds its files in the branch that the change goes to, so
    /// that a change with another folder does not choose the rules that it is judged by; else the one that holds them.
    pub(crate) fn config_dir(&self, snapshot: &Snapshot<'_>) -> Result<Option<String>, Failure> {
        if let Some(name) = &self.named_folder {
            return Ok(Some(name.clone()));
        }
        if let PolicyTip::At { commit, .. } = &self.policy
            && let Ok(Some(folder)) = folder_in(&self.repo.snapshot(commit.clone()))?
        {
            return Ok(Some(folder));
        }
        folder_in(snapshot)?.map_err(|error| {
            Failure::usage(error.to_string()).hint("name it by --config-dir or SLUICEGATE_CONFIG_DIR")
        })
    }

    /// The rules file; none where there is none. A link is none, as the platform reads commits and follows no links.
    pub(crate) fn rules_file(&self, snapshot: &Snapshot<'_>) -> Result<Option<SnapshotFile>, Failure> {
        let Some(folder) = self.config_dir(snapshot)? else {
            return Ok(None);
        };
        let found = snapshot.find(&format!("{folder}/{RULES_FILE}"))?;
        Ok(found.filter(|file| file.kind == FileKind::Regular))
    }

    /// The rule set of a snapshot without a rules file, which says why there is none.
    pub(crate) fn missing_rules(&self, snapshot: &Snapshot<'_>) -> Result<RuleSet, Failure> {
        Ok(if self.linked_rules(snapshot)?.is_empty() {
            RuleSet::missing()
        } else {
            RuleSet::linked()
        })
    }

    /// The rules; none where there is no rules file.
    pub(crate) fn rules(&self, snapshot: &Snapshot<'_>) -> Result<Option<RuleSet>, Failure> {
        self.rules_in(self.rules_file(snapshot)?.as_ref())
    }

    /// The rules of this rules file.
    pub(crate) fn rules_in(&self, file: Option<&SnapshotFile>) -> Result<Option<RuleSet>, Failure> {
        let document = file.map(|file| self.read(file)).transpose()?;
        Ok(document.map(|document| RuleSet::read(&document)))
    }

    /// The file's content, or why it is no document.
    pub(crate) fn read(&self, file: &SnapshotFile) -> Result<Result<Vec<u8>, DocumentError>, Failure> {
        let full = match &file.content {
            Content::Blob(blob) => return Ok(document_in(&self.repo, blob)?),
            Content::Disk(full) => full,
        };
        if let Some(doubt) = file.doubt {
            let what = format!("{} cannot be judged: {}", full.display(), doubt.reason());
            return Err(Failure::new(ExitStatus::Undecided, anyhow::anyhow!(what)));
        }
        document_on_disk(full).map_err(|error| {
            let what = format!("{} cannot be read", full.display());
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(what))
        })
    }
}

/// The one hidden folder of the snapshot with the platform's files.
pub(crate) fn folder_in(
    snapshot: &Snapshot<'_>,
) -> Result<Result<Option<String>, ConfigFolderError>, GitError> {
    let folders = snapshot.root_folders()?;
    let holds = |path: &str| matches!(snapshot.find(path), Ok(Some(_)));
    Ok(pipelines::config_folder(&folders, &holds))
}

pub(crate) fn as_wish(revisions: Revisions) -> RevisionWish {
    RevisionWish {
        base: revisions.base,
        head: revisions.head,
        branch: revisions.branch,
        all: revisions.all,
    }
}

fn show(run: &Run, warnings: &[String]) {
    for warning in warnings {
        run.ui.warn(warning);
    }
}
