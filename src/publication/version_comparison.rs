//! Compares two versions or revisions: the changes for consumers.

use super::offered_side::{FETCH, OfferedAt, OfferedSide};
use crate::error::Failure;
use crate::interface_version::{self, LoadedInterface};
use crate::job::cli::{ComparedVersionsArgs, GlobArgs};
use crate::job::settings::{Selection, SelectionPurpose};
use crate::publish::{OldFiles, Select, Source, Wish, plan, since};
use crate::session::Run;
use crate::session::published::{latest_of, not_published, nothing_under, sought_prefix};
use crate::workspace::Workspace;
use serde_json::{Value, json as value};
use sluicegate_base::text;
use sluicegate_git::GitError;
use sluicegate_pipelines::interface::{self, ComparedVersion, Compatibility, Interface};
use sluicegate_platform::api::{ArtifactDetails, Platform};
use sluicegate_platform::http::ErrorKind;

pub(crate) struct VersionsCompared<'a> {
    pub(crate) prefix: String,
    pub(crate) compat: Compatibility,
    pub(crate) to: OfferedSide,
    pub(crate) workspace: Workspace<'a>,
}

impl VersionsCompared<'_> {
    /// Returns the reason why nothing is compared if consumers have no version yet.
    pub(crate) fn nothing(&self) -> String {
        let prefix = &self.prefix;
        text::line(&format!(
            "no version of {prefix} is enabled, so there is no version to compare with"
        ))
    }

    /// Prints that reason as a message, as standard output is reserved for the document.
    pub(crate) fn say_nothing(&self, run: &Run) {
        if self.compat.is_first() {
            run.ui.say(&self.nothing());
        }
    }

    pub(crate) fn json(&self) -> Value {
        let compat = &self.compat;
        let commit = self.to.at.as_ref().ok().map(|at| at.commit.to_string());
        value!({
            "schema": "sluicegate.interface/v1",
            "prefix": self.prefix,
            "from": { "version": compat.against, "commit": compat.against_commit },
            "to": { "version": self.to.version, "commit": commit.or_else(|| self.to.told.clone()) },
            "class": compat.class,
            "changes": compat.changes,
            "idsOnly": compat.ids_only,
        })
    }
}

/// Resolves both ends and compares them.
pub(crate) fn compared<'a>(
    run: &'a Run,
    args: &ComparedVersionsArgs,
) -> Result<VersionsCompared<'a>, Failure> {
    let workspace = run.workspace()?;
    let prefix = workspace.sources.prefix(args.prefix.clone())?;
    let connection = workspace.sources.connection(&run.global)?;
    // Two revisions can be compared without the platform.
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
    let to = finding.named(args.to.as_deref())?;
    let selection = workspace
        .sources
        .selection(&GlobArgs::default(), SelectionPurpose::Publish)?;
    let compat = match &from {
        Some(from) if has_no_file(from) && has_no_file(&to) => return Err(no_file(from, &to)),
        Some(from) => finding.compare(from, &to, &selection)?,
        None => Compatibility::new(ComparedVersion::default(), Vec::new()),
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
    /// Returns the old side: by its name, or the latest version; `None` if consumers have no version yet.
    fn old(&self, name: Option<&str>) -> Result<Option<OfferedSide>, Failure> {
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

    /// Returns a version if the platform has one of this name, otherwise a revision; without a name, the head. Includes
    /// the repository that has its commit, if it was reopened.
    fn named(&self, name: Option<&str>) -> Result<OfferedSide, Failure> {
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

    fn version(&self, details: &ArtifactDetails) -> Result<OfferedSide, Failure> {
        Ok(OfferedSide::of_version(
            self.run,
            self.workspace,
            details,
            self.deepen,
        )?)
    }

    fn revision(&self, name: &str) -> Result<OfferedSide, Failure> {
        let named = self.workspace.repo.named(name)?;
        if let Some(ambiguity) = &named.ambiguity {
            self.run.ui.warn(ambiguity);
        }
        let (repo, folder) = (&self.workspace.repo, self.workspace.named_folder.as_deref());
        let interface =
            match interface_version::read_interface(repo, &repo.snapshot(named.commit.clone()), folder)? {
                LoadedInterface::Read(interface, _) => *interface,
                LoadedInterface::Missing => Interface::empty(""),
                LoadedInterface::Unreadable(path, why) => {
                    let short = named.commit.short();
                    let message = format!("could not read {path} of the commit {short}: {why}");
                    return Err(Failure::usage(message)
                        .hint("run `sluicegate publish --dry-run` at that commit to see every problem"));
                }
            };
        Ok(OfferedSide {
            version: None,
            told: Some(named.commit.to_string()),
            ids: interface
                .offered_entries()
                .map(|entry| entry.id.clone())
                .collect(),
            at: Ok(OfferedAt {
                fetched: None,
                commit: named.commit,
                interface,
            }),
        })
    }

    fn compare(
        &self,
        from: &OfferedSide,
        to: &OfferedSide,
        selection: &Selection,
    ) -> Result<Compatibility, GitError> {
        let (old, new) = match (&from.at, &to.at) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(ids_only), _) | (_, Err(ids_only)) => {
                let hint = if ids_only.may_fetch {
                    format!("\nhint: {FETCH}")
                } else {
                    String::new()
                };
                self.run.ui.warn(&format!(
                    "comparing only the ids of shared pipelines: {}{hint}",
                    ids_only.why
                ));
                let offered = to.ids.iter().map(String::as_str);
                return Ok(Compatibility::from_ids(from.against(), &from.ids, &offered));
            }
        };
        let mut changes = interface_version::compare_interface_versions(
            &old.offer(self.workspace)?,
            &new.offer(self.workspace)?,
        )?;
        changes.extend(interface::find_unlisted_removals(
            &from.ids,
            &old.interface,
            &new.interface,
        ));
        let is_same = changes.is_empty();
        let content = self.content(old, new, selection);
        let is_shared = |it: &interface::InterfaceChange| {
            [&old.interface.file, &new.interface.file].contains(&&it.subject())
        };
        changes.extend(content.into_iter().filter(|it| is_same || !is_shared(it)));
        Ok(Compatibility::new(from.against(), changes))
    }

    /// Returns the files that a publish of the new commit would change; warns if it could not be published.
    fn content(
        &self,
        old: &OfferedAt,
        new: &OfferedAt,
        selection: &Selection,
    ) -> Vec<interface::InterfaceChange> {
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
        let repository = new.repository(self.workspace);
        let files = plan(repository, &new.commit, &wish).and_then(|plan| {
            since(
                &plan,
                &OldFiles {
                    repository: old.repository(self.workspace),
                    commit: &old.commit,
                    selects: &|path| selection.selects(path),
                },
            )
        });
        files.unwrap_or_else(|why| {
            self.run
                .ui
                .warn(&format!("could not list the changed files: {why}"));
            Vec::new()
        })
    }
}

/// Returns the error that neither side has a shared-pipelines file: probably a wrong directory or revision.
fn no_file(from: &OfferedSide, to: &OfferedSide) -> Failure {
    let message = format!(
        "neither {} nor {} has a shared-pipelines file",
        from.name(),
        to.name()
    );
    Failure::usage(message)
        .hint("pass two versions or revisions, or set the platform's hidden directory with --config-dir")
}

/// Returns whether this is a revision without a shared-pipelines file.
fn has_no_file(side: &OfferedSide) -> bool {
    side.at.as_ref().is_ok_and(|at| at.interface.file.is_empty())
}
