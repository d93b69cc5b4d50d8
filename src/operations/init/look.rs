//! Detects the setup of the repository.

use super::flags;
use super::hosts::{self, Recipe};
use super::today::Today;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::ci::Host;
use crate::job::cli::InitArgs;
use crate::session::Run;
use crate::workspace::Workspace;
use crate::workspace::platform_folder;
use sluicegate_git::{Repository, Snapshot};
use sluicegate_pipelines::pipelines::SHARED_PIPELINES_FILE;
use sluicegate_pipelines::pipelines::is_pipeline;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// Default branch if it cannot be detected.
const USUAL_BRANCH: &str = "main";

/// A value that could not be detected and needs a flag.
pub(crate) struct MissingFlag {
    pub(crate) what: String,
    pub(crate) hint: String,
}

impl From<Failure> for MissingFlag {
    fn from(failure: Failure) -> Self {
        Self {
            what: failure.chain(),
            hint: failure.own_hint().unwrap_or_default().to_owned(),
        }
    }
}

/// Returns one failure with all missing values.
fn refusal(missing: &[MissingFlag]) -> Option<Failure> {
    let what: Vec<&str> = missing.iter().map(|it| it.what.as_str()).collect();
    let hints: Vec<&str> = missing.iter().map(|it| it.hint.as_str()).collect();
    (!missing.is_empty()).then(|| Failure::usage(what.join("\n  ")).hint(hints.join("\n  ")))
}

/// The detected and the given values.
pub(crate) struct RepositoryFacts {
    pub(crate) root: PathBuf,
    /// The setup of the host; `None` if no job is wanted.
    pub(crate) recipe: Option<&'static Recipe>,
    /// The host and how it was detected, or why it is unknown.
    pub(crate) host: String,
    /// The values to set before any file is written; a run without `--dry-run` fails if there are any.
    pub(crate) missing: Vec<MissingFlag>,
    pub(crate) default_branch: String,
    pub(crate) pipelines: usize,
    /// The platform's hidden directory, if it exists.
    pub(crate) config_dir: Option<String>,
    /// True if the directory is known without being detected, so that the file must contain it too.
    pub(crate) config_dir_given: bool,
    /// The only candidate for the directory, if it is used without being set.
    pub(crate) sole_candidate: Option<String>,
    /// Candidates for the directory, if it is unknown.
    pub(crate) candidates: Vec<String>,
    pub(crate) rules_file: Option<String>,
    pub(crate) shared_file: Option<String>,
    pub(crate) project_id: Option<Uuid>,
    pub(crate) agent_version: Option<String>,
    pub(crate) prefix: String,
    /// True if the prefix was set, so that the file must contain it too.
    pub(crate) prefix_given: bool,
    /// The source of the program for the job, if given.
    pub(crate) source: Option<String>,
    /// The lines of sluicegate.yaml for given values that it does not contain yet.
    pub(crate) new_lines: Vec<String>,
    pub(crate) today: Today,
}

/// Detects the setup of the repository on disk.
pub(crate) fn look(
    run: &Run,
    workspace: &Workspace<'_>,
    args: &InitArgs,
) -> Result<RepositoryFacts, Failure> {
    let repo = &workspace.repo;
    let snapshot = repo.disk_snapshot(run.index())?;
    let found = workspace.config_dir(&snapshot)?;
    let remote = repo.remote_url()?;
    let mut missing = Vec::new();
    let (recipe, host) = choose_recipe(repo.root(), remote.as_deref(), args, &mut missing)?;
    let candidates = match found {
        Some(_) => Vec::new(),
        None => platform_folder::candidates(&snapshot)?,
    };
    let sole_candidate = match args.adopt {
        Some(_) => platform_folder::find_sole_candidate(&snapshot, &candidates)?,
        None => None,
    };
    let asked = match &sole_candidate {
        None if found.is_none() && !args.dry_run => platform_folder::ask(run, &candidates)?,
        sole => sole.clone(),
    };
    if args.adopt.is_some() && found.is_none() && asked.is_none() {
        missing.push(platform_folder::unknown(&candidates, &flags::typed_command(args)).into());
    }
    if let Some(refusal) = refusal(&missing).filter(|_| !args.dry_run) {
        return Err(refusal);
    }
    let config_dir_given = workspace.named_folder.is_some() || asked.is_some();
    let config_dir = found.or(asked);
    let connection = workspace.sources.connection(&run.global)?;
    let prefix = workspace.sources.optional_prefix(args.prefix.clone())?;
    let rules_file = workspace.rules_file(&snapshot)?;
    let folder = config_dir.as_deref();
    let today = Today::look(workspace, &snapshot, rules_file.as_ref(), folder, args.adopt)?;
    Ok(RepositoryFacts {
        root: repo.root().to_owned(),
        recipe,
        host,
        missing,
        default_branch: default_branch(repo)?,
        pipelines: snapshot.list_files(&is_pipeline)?.len(),
        rules_file: rules_file.map(|file| file.path),
        shared_file: find_shared_file(&snapshot, folder),
        config_dir_given,
        sole_candidate,
        candidates,
        config_dir,
        project_id: connection.project_id().ok(),
        agent_version: connection.agent_version().ok().map(str::to_owned),
        prefix_given: prefix.is_some(),
        prefix: prefix.unwrap_or_else(|| name(repo.root(), remote.as_deref())),
        source: args.source.as_deref().map(source).transpose()?,
        new_lines: flags::find_new_lines(run, workspace, args)?,
        today,
    })
}

/// Returns the setup of the host. If the host is unknown, adds its flag to the missing ones.
fn choose_recipe(
    root: &Path,
    remote: Option<&str>,
    args: &InitArgs,
    missing: &mut Vec<MissingFlag>,
) -> Result<HostTold, Failure> {
    let choice = choose(root, remote, args.host.as_deref())?;
    Ok(choice.unwrap_or_else(|reason| {
        missing.push(unknown_host(&reason));
        (None, format!("unknown: {reason}"))
    }))
}

/// Returns the platform's file with the pipelines that consumers use, if there is one.
fn find_shared_file(snapshot: &Snapshot<'_>, config_dir: Option<&str>) -> Option<String> {
    let path = format!("{}/{SHARED_PIPELINES_FILE}", config_dir?);
    matches!(snapshot.find_file(&path), Ok(Some(_))).then_some(path)
}

/// The setup of a host, and its name with how it was detected.
type HostTold = (Option<&'static Recipe>, String);

/// Returns the host: as requested, otherwise the only one with files in the repository, of several the only one that runs
/// this program, otherwise that of the remote's server; or why it is unknown.
fn choose(
    root: &Path,
    remote: Option<&str>,
    asked: Option<&str>,
) -> Result<Result<HostTold, String>, Failure> {
    if let Some(name) = asked {
        let host: Host = name
            .parse()
            .map_err(|why: crate::job::ci::UnknownHost| Failure::usage(why.to_string()))?;
        return Ok(Ok((hosts::recipe(host), format!("{host}: set by --host"))));
    }
    let there: Vec<&Recipe> = hosts::all()
        .iter()
        .filter(|it| root.join(it.sign).exists())
        .collect();
    if there.len() > 1 {
        let running = there.iter().filter(|it| it.find_program_file(root).is_some());
        if let [one] = running.collect::<Vec<_>>().as_slice() {
            let because = format!("{}: its CI files run sluicegate", one.host);
            return Ok(Ok((Some(one), because)));
        }
    }
    if let [one] = there.as_slice() {
        return Ok(Ok((Some(one), format!("{}: found {}", one.host, one.sign))));
    }
    let server = remote.and_then(hosts::server);
    let told = server.and_then(|server| Some((hosts::recipe(hosts::host_at(&server)?)?, server)));
    if let Some((recipe, server)) = told {
        let because = format!("{}: the remote is on {server}", recipe.host);
        return Ok(Ok((Some(recipe), because)));
    }
    Ok(Err(match there.as_slice() {
        [] => "no CI file was found, and the remote's address does not reveal it".to_owned(),
        several => {
            let signs: Vec<&str> = several.iter().map(|it| it.sign).collect();
            format!("found several CI files: {}", signs.join(", "))
        }
    }))
}

fn unknown_host(why: &str) -> MissingFlag {
    MissingFlag {
        what: format!("could not determine the CI host: {why}"),
        hint: "set the CI host with --host; use --host none to write only sluicegate.yaml".to_owned(),
    }
}

fn default_branch(repo: &Repository) -> Result<String, Failure> {
    if let Some(branch) = repo.likely_default_branch()? {
        return Ok(branch.branch);
    }
    let checked_out = repo.head().ok().and_then(|head| head.branch);
    Ok(checked_out.unwrap_or_else(|| USUAL_BRANCH.to_owned()))
}

/// Returns the repository's name: from the remote, otherwise from its directory.
fn name(root: &Path, remote: Option<&str>) -> String {
    let last = |path: &str| {
        let name = path.trim_end_matches('/').rsplit(['/', ':']).next()?;
        let name = name.strip_suffix(".git").unwrap_or(name);
        (!name.is_empty()).then(|| name.to_owned())
    };
    let folder = root.file_name().map(|name| name.to_string_lossy().into_owned());
    remote
        .and_then(last)
        .or(folder)
        .unwrap_or_else(|| "shared".to_owned())
}

/// Returns the source, or an error if it is not plain text, as the job contains it without quotes.
fn source(text: &str) -> Result<String, Failure> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._/:@-".contains(c);
    if text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    let message = format!(
        "the source {text:?} is not an action (owner/repository@version), an image or the URL of releases"
    );
    Err(Failure::new(ExitStatus::Usage, anyhow::Error::msg(message)))
}
