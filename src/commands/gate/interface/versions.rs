//! `sluicegate artifacts diff`: what changed for consumers from one version, or revision, to another.

use crate::base::error::Failure;
use crate::base::exit::ExitStatus;
use crate::base::git::{CommitId, GitError, Repository, Wanted, is_full_id};
use crate::base::text;
use crate::commands::gate::workspace::Workspace;
use crate::commands::kit::output::json;
use crate::commands::kit::published::{latest_of, not_published, nothing_under, sought_prefix};
use crate::commands::{CommandResult, Run};
use crate::job::cli::{ArtifactsDiffArgs, DiffSidesArgs, GlobArgs, NoteFormat};
use crate::job::settings::{Of, Selection};
use crate::model::interface::{self, Against, Compat, Interface, Offer, Side, in_short, told};
use crate::platform::api::{ArtifactDetails, Platform};
use crate::platform::http::ErrorKind;
use crate::publish::{OldFiles, Select, Source, Wish, plan, since};
use crate::report::release_note;
use serde_json::{Value, json as value};

/// What is compared: a version, or a commit.
pub(super) struct DiffEnd {
    version: Option<String>,
    /// The commit, if the clone has it.
    commit: Option<CommitId>,
    /// The commit that the platform tells.
    told: Option<String>,
    /// Of a version, the ids that it offers.
    ids: Vec<String>,
    interface: Option<Interface>,
}

/// An end, and the repository that has its commit, where that was opened anew.
type EndInRepository = (DiffEnd, Option<Repository>);

pub(super) struct VersionsCompared<'a> {
    pub(super) prefix: String,
    pub(super) compat: Compat,
    to: DiffEnd,
    pub(super) workspace: Workspace<'a>,
}

pub(crate) fn run(run: &Run, args: &ArtifactsDiffArgs) -> CommandResult {
    let found = compared(run, &args.sides)?;
    let to = found.to.name();
    let shown = match args.output {
        NoteFormat::Json => json(&found.json()),
        NoteFormat::Markdown => release_note(&found.prefix, &to, &found.compat),
        NoteFormat::Text if found.compat.is_first() => found.nothing() + "\n",
        NoteFormat::Text => {
            let compat = &found.compat;
            let class = compat.class.map_or("not known", interface::Class::name);
            let heading = format!("{} to {to}: {class}, {}", compat.old_name(), in_short(compat));
            let mut lines = vec![text::line(&heading)];
            lines.extend(told(compat));
            lines.join("\n") + "\n"
        }
    };
    if args.output != NoteFormat::Text {
        found.say_nothing(run);
    }
    run.ui.out(&shown)?;
    Ok(ExitStatus::Success)
}

impl VersionsCompared<'_> {
    /// Why nothing is compared, where consumers have no version yet.
    pub(super) fn nothing(&self) -> String {
        let prefix = &self.prefix;
        text::line(&format!(
            "no version of {prefix} is enabled, so there is nothing to compare with"
        ))
    }

    /// Says so, if that is so, where standard output has no room for it.
    pub(super) fn say_nothing(&self, run: &Run) {
        if self.compat.is_first() {
            run.ui.say(&self.nothing());
        }
    }

    fn json(&self) -> Value {
        let compat = &self.compat;
        let commit = |commit: Option<&CommitId>| commit.map(CommitId::to_string);
        value!({
            "schema": "sluicegate.interface/v1",
            "prefix": self.prefix,
            "from": { "version": compat.against, "commit": compat.against_commit },
            "to": { "version": self.to.version, "commit": commit(self.to.commit.as_ref()).or_else(|| self.to.told.clone()) },
            "class": compat.class,
            "changes": compat.changes,
            "idsOnly": compat.ids_only,
        })
    }
}

/// Settles both ends and compares them.
pub(super) fn compared<'a>(run: &'a Run, args: &DiffSidesArgs) -> Result<VersionsCompared<'a>, Failure> {
    let workspace = run.workspace()?;
    let prefix = workspace.sources.prefix(args.prefix.clone())?;
    let connection = workspace.sources.connection(&run.global)?;
    // Two revisions need no platform.
    let is_missing = connection.base_url().is_err() || connection.token().is_err();
    let platform = if is_missing && args.from.is_some() {
        None
    } else {
        Some(run.platform(&connection)?)
    };
    let deepen = workspace.sources.deepen(args.deepen)?;
    let finding = EndFinder {
        run,
        workspace: &workspace,
        platform: platform.as_ref(),
        prefix: &prefix,
        deepen,
    };
    let from = finding.old(args.from.as_deref())?;
    let (to, to_repo) = finding.named(args.to.as_deref())?;
    let selection = workspace.sources.selection(&GlobArgs::default(), Of::Publish)?;
    let compat = match &from {
        Some((from, _)) if from.has_no_file() && to.has_no_file() => return Err(no_file(from, &to)),
        Some((from, from_repo)) => {
            let repositories = (from_repo.as_ref(), to_repo.as_ref());
            finding.compare(from, &to, repositories, &selection)?
        }
        None => Compat::new(Against::default(), Vec::new()),
    };
    Ok(VersionsCompared {
        prefix,
        compat,
        to,
        workspace,
    })
}

struct EndFinder<'a> {
    run: &'a Run,
    workspace: &'a Workspace<'a>,
    platform: Option<&'a Platform>,
    prefix: &'a str,
    deepen: bool,
}

impl EndFinder<'_> {
    /// What is compared with: by its name, or the latest version; none where consumers have none yet.
    fn old(&self, name: Option<&str>) -> Result<Option<EndInRepository>, Failure> {
        let (None, Some(platform)) = (name, self.platform) else {
            return self.named(name).map(Some);
        };
        let latest = self.run.requests(latest_of(platform, self.prefix))??;
        match latest {
            Ok(details) => self.version(&details).map(Some),
            Err(published) => {
                if sought_prefix(self.prefix).nearest(&published).is_some() {
                    self.run.ui.warn(&nothing_under(self.prefix, &published));
                }
                Ok(None)
            }
        }
    }

    /// A version if the platform has one of this name, else a revision; without a name the head. With the repository that
    /// has its commit, where that was opened anew.
    fn named(&self, name: Option<&str>) -> Result<EndInRepository, Failure> {
        let details = match (name, self.platform) {
            (Some(version), Some(platform)) => self.details(platform, version)?,
            _ => None,
        };
        match details {
            Some(details) => self.version(&details),
            None => self.revision(name.unwrap_or("HEAD")),
        }
    }

    fn details(&self, platform: &Platform, version: &str) -> Result<Option<ArtifactDetails>, Failure> {
        let details = platform.artifact_details(self.prefix, Some(version));
        match self.run.requests(details)? {
            Ok(details) => Ok(Some(details)),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if self.workspace.repo.resolve(version).is_ok() {
                    return Ok(None);
                }
                let missing = not_published(platform, self.prefix, Some(version), error);
                Err(self.run.requests(missing)?)
            }
            Err(error) => Err(error.into()),
        }
    }

    fn version(&self, details: &ArtifactDetails) -> Result<EndInRepository, Failure> {
        let artifact = &details.artifact;
        let told = artifact.commit_hash.clone();
        let (commit, repository) = self.fetched(told.as_deref().unwrap_or_default())?;
        let here = repository.as_ref().unwrap_or(&self.workspace.repo);
        let interface = match &commit {
            Some(commit) => self.interface(here, commit)?,
            None => None,
        };
        let ids = details.shared_pipelines.iter();
        let end = DiffEnd {
            version: artifact.version_name.clone(),
            commit,
            told,
            ids: ids.filter_map(|it| it.shared_pipeline_id.clone()).collect(),
            interface,
        };
        Ok((end, repository))
    }

    fn revision(&self, name: &str) -> Result<EndInRepository, Failure> {
        let named = self.workspace.repo.named(name)?;
        if let Some(ambiguity) = &named.ambiguity {
            self.run.ui.warn(ambiguity);
        }
        let interface = match self.side(&self.workspace.repo, &named.commit)? {
            Side::Read(interface, _) => *interface,
            Side::Missing => Interface::nothing(""),
            Side::Unreadable(path, why) => {
                let short = named.commit.short();
                let message = format!("{path} of the commit {short} cannot be read: {why}");
                return Err(Failure::usage(message)
                    .hint("`sluicegate publish --dry-run` at that commit shows every problem"));
            }
        };
        let end = DiffEnd {
            version: None,
            told: Some(named.commit.to_string()),
            commit: Some(named.commit),
            ids: interface.offered().map(|entry| entry.id.clone()).collect(),
            interface: Some(interface),
        };
        Ok((end, None))
    }

    fn interface(&self, repository: &Repository, commit: &CommitId) -> Result<Option<Interface>, Failure> {
        Ok(match self.side(repository, commit)? {
            Side::Read(interface, _) => Some(*interface),
            Side::Missing | Side::Unreadable(..) => None,
        })
    }

    fn side(&self, repository: &Repository, commit: &CommitId) -> Result<Side, GitError> {
        let folder = self.workspace.named_folder.as_deref();
        interface::read(repository, &repository.snapshot(commit.clone()), folder)
    }

    /// The commit, fetched if that was asked for.
    fn fetched(&self, id: &str) -> Result<(Option<CommitId>, Option<Repository>), GitError> {
        let repo = &self.workspace.repo;
        let known = repo.commit_with_id(id);
        if known.is_some() || !self.deepen || !is_full_id(id) {
            return Ok((known, None));
        }
        self.run.ui.say(&format!("fetching the commit {id} (--deepen)"));
        if let Err(error) = repo.fetch_history(&[Wanted::Commit(id)], 1) {
            self.run.ui.warn(&error.to_string());
            return Ok((None, None));
        }
        let again = repo.reopen()?;
        Ok((again.commit_with_id(id), Some(again)))
    }

    fn compare(
        &self,
        from: &DiffEnd,
        to: &DiffEnd,
        (from_repo, to_repo): (Option<&Repository>, Option<&Repository>),
        selection: &Selection,
    ) -> Result<Compat, GitError> {
        let against = Against {
            version: from.version.clone(),
            commit: from.told.clone(),
        };
        let commits = from.commit.as_ref().zip(to.commit.as_ref());
        let (Some(old), Some(new), Some((was, is))) = (&from.interface, &to.interface, commits) else {
            let unknown = if from.interface.is_none() { from } else { to };
            self.warn_of_ids_only(unknown);
            let offered = to.ids.iter().map(String::as_str);
            return Ok(Compat::of_ids(against, &from.ids, &offered));
        };
        let repositories = (
            from_repo.unwrap_or(&self.workspace.repo),
            to_repo.unwrap_or(&self.workspace.repo),
        );
        let mut changes = interface::between(
            &offer(repositories.0, was, old)?,
            &offer(repositories.1, is, new)?,
        )?;
        changes.extend(interface::beyond_the_commit(&from.ids, old, new));
        let is_same = changes.is_empty();
        let content = self.content((was, is), repositories, selection);
        let is_shared = |it: &interface::Change| [&old.file, &new.file].contains(&&it.subject());
        changes.extend(content.into_iter().filter(|it| is_same || !is_shared(it)));
        Ok(Compat::new(against, changes))
    }

    fn warn_of_ids_only(&self, unknown: &DiffEnd) {
        let name = unknown.name();
        let why = match &unknown.commit {
            None => format!("the clone does not have the commit of {name}"),
            Some(commit) => {
                let short = commit.short();
                format!("the commit {short} of {name} has no shared-pipelines file that can be read")
            }
        };
        let hint = match (&unknown.commit, self.deepen) {
            (None, false) => {
                "\nhint: --deepen fetches the commit; or clone the whole history (`fetch-depth: 0`)"
            }
            _ => "",
        };
        self.run.ui.warn(&format!(
            "only the ids of shared pipelines are compared: {why}{hint}"
        ));
    }

    /// The files that a publish of the new commit would change; where it could not be published, that is said.
    fn content(
        &self,
        (was, is): (&CommitId, &CommitId),
        (old, new): (&Repository, &Repository),
        selection: &Selection,
    ) -> Vec<interface::Change> {
        let wish = Wish {
            prefix: self.prefix.to_owned(),
            version_template: "compared".to_owned(),
            include: &|path| selection.includes(path),
            exclude: &|path| selection.excludes(path),
            select: Select::All,
            config_dir: self.workspace.named_folder.clone(),
            source: Source::Commit,
            branch: None,
            tag: None,
            run_number: None,
            next: None,
        };
        let files = plan(new, is, &wish).and_then(|plan| {
            since(
                &plan,
                &OldFiles {
                    repository: old,
                    commit: was,
                    selects: &|path| selection.wants(path),
                },
            )
        });
        files.unwrap_or_else(|why| {
            self.run
                .ui
                .warn(&format!("which files changed is not told: {why}"));
            Vec::new()
        })
    }
}

fn offer<'r>(
    repository: &'r Repository,
    commit: &CommitId,
    interface: &Interface,
) -> Result<Offer<'r>, GitError> {
    Offer::at(
        repository,
        &repository.snapshot(commit.clone()),
        interface.clone(),
    )
}

/// Neither side has a shared-pipelines file: probably a wrong folder or revision.
fn no_file(from: &DiffEnd, to: &DiffEnd) -> Failure {
    let message = format!(
        "neither {} nor {} has a shared-pipelines file",
        from.name(),
        to.name()
    );
    Failure::usage(message)
        .hint("name two versions or revisions; --config-dir names the platform's hidden folder")
}

impl DiffEnd {
    /// Whether this is a revision without a shared-pipelines file.
    fn has_no_file(&self) -> bool {
        self.interface.as_ref().is_some_and(|it| it.file.is_empty())
    }

    fn name(&self) -> String {
        text::line(&match (&self.version, &self.commit) {
            (Some(version), _) => version.clone(),
            (None, Some(commit)) => commit.short().to_owned(),
            (None, None) => "(no name)".to_owned(),
        })
    }
}
