//! Detects the setup of the repository.

use super::current_findings::CurrentFindings;
use super::host_recipes::{self, HostRecipe};
use super::new_settings;
use super::program_source;
use crate::error::Failure;
use crate::job::ci::Host;
use crate::job::cli::InitArgs;
use crate::session::Session;
use crate::workspace::Workspace;
use crate::workspace::config_dir_prompt;
use sluicegate_base::text;
use sluicegate_git::{RemoteBranch, RemoteUrl, Repository, Snapshot, USUAL_DEFAULT_BRANCHES};
use sluicegate_pipelines::pipelines::is_pipeline;
use sluicegate_pipelines::pipelines::shared_pipelines_path;
use std::path::{Path, PathBuf};
use uuid::Uuid;

/// The default branch that is assumed if none can be detected.
const FALLBACK_BRANCH: &str = "main";

/// A value that could not be detected and needs a flag.
pub(crate) struct MissingFlag {
    pub(crate) description: String,
    pub(crate) hint: String,
}

impl From<Failure> for MissingFlag {
    /// Turns the failure to detect a value into a missing flag. The run then fails once, with all missing flags.
    fn from(failure: Failure) -> Self {
        Self {
            description: failure.describe_on_one_line(),
            hint: failure.own_hint().unwrap_or_default().to_owned(),
        }
    }
}

/// Returns one failure that lists all missing flags; `None` if there are none.
fn missing_flags_failure(missing_flags: &[MissingFlag]) -> Option<Failure> {
    let (first_flag, further_flags) = missing_flags.split_first()?;
    let failure = Failure::usage(&first_flag.description)
        .with_entries(further_flags.iter().map(|flag| flag.description.clone()))
        .with_hints(missing_flags.iter().map(|flag| flag.hint.clone()));
    Some(failure)
}

/// The default branch of the remote.
pub(crate) struct DefaultBranch {
    pub(crate) name: String,
    /// How it was detected.
    pub(crate) source: String,
}

/// The detected values, and the values of flags.
pub(crate) struct RepositoryFacts {
    pub(crate) root: PathBuf,
    /// The setup of the host; `None` if no job is wanted.
    pub(crate) recipe: Option<&'static HostRecipe>,
    /// The host and how it was detected, or why it is unknown.
    pub(crate) host: String,
    /// The values to set before any file is written; a run without `--dry-run` fails if there are any.
    pub(crate) missing_flags: Vec<MissingFlag>,
    pub(crate) default_branch: DefaultBranch,
    pub(crate) pipeline_count: usize,
    /// The hidden directory, if it exists or was chosen.
    pub(crate) config_dir: Option<String>,
    /// True if the directory is known without being detected, so that the file must contain it too.
    pub(crate) is_config_dir_new: bool,
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
    pub(crate) is_prefix_set: bool,
    /// The source of the program for the job, if given.
    pub(crate) source: Option<String>,
    /// The job also signs statements about reviews and publications.
    pub(crate) is_signed: bool,
    /// The lines of sluicegate.yaml for given values that it does not contain yet.
    pub(crate) new_lines: Vec<String>,
    pub(crate) findings: CurrentFindings,
}

/// Detects the CI host, the platform's hidden directory, the settings and the current findings. If no hidden directory
/// is found, `--adopt` uses the only candidate; otherwise the user is asked. Fails if the user must set a flag. A dry
/// run does not ask, and only lists the flag in `missing_flags`.
pub(crate) fn detect_repository_facts(
    session: &Session,
    workspace: &Workspace<'_>,
    args: &InitArgs,
) -> Result<RepositoryFacts, Failure> {
    let repo = &workspace.repo;
    let snapshot = repo.read_disk_snapshot(session.hook_index_path(repo))?;
    let existing_config_dir = workspace.find_config_dir(&snapshot)?;
    let remote = repo.find_remote_url()?;
    let mut missing_flags = Vec::new();
    let (recipe, host) = choose_recipe(repo.root(), remote.as_deref(), args, &mut missing_flags)?;
    // A failure below repeats the command, so the source is checked first: it may contain a password.
    let source = program_source::parse_source_option(args.source.as_deref(), recipe)?;
    // An unknown host is a missing flag, which is reported below.
    if args.sign && missing_flags.is_empty() {
        require_signed_template(recipe)?;
    }
    let candidates = match existing_config_dir {
        Some(_) => Vec::new(),
        None => config_dir_prompt::find_config_dir_candidates(&snapshot)?,
    };
    // With `--adopt`, the only candidate is used without a question.
    let sole_candidate = match args.adopt {
        Some(_) => config_dir_prompt::find_sole_config_dir_candidate(&snapshot, &candidates)?,
        None => None,
    };
    let chosen_config_dir = match &sole_candidate {
        None if existing_config_dir.is_none() && !args.dry_run => {
            config_dir_prompt::ask_for_config_dir(session, &candidates)?
        }
        candidate => candidate.clone(),
    };
    // `--adopt` writes the rules file into the hidden directory, so it needs the name.
    if args.adopt.is_some() && existing_config_dir.is_none() && chosen_config_dir.is_none() {
        missing_flags.push(missing_config_dir_flag(&candidates, session, args));
    }
    if let Some(failure) = missing_flags_failure(&missing_flags).filter(|_| !args.dry_run) {
        return Err(failure);
    }
    let is_config_dir_new = workspace.named_config_dir.is_some() || chosen_config_dir.is_some();
    let config_dir = existing_config_dir.or(chosen_config_dir);
    let connection = workspace.sources.resolve_connection(&session.global)?;
    let prefix = workspace.sources.resolve_optional_prefix(args.prefix.clone())?;
    let rules_file = workspace.find_rules_file(&snapshot)?;
    let config_dir_name = config_dir.as_deref();
    let rules = rules_file.as_ref();
    let findings = CurrentFindings::evaluate(workspace, &snapshot, rules, config_dir_name, args.adopt)?;
    Ok(RepositoryFacts {
        root: repo.root().to_owned(),
        recipe,
        host,
        missing_flags,
        default_branch: detect_default_branch(session, repo)?,
        pipeline_count: snapshot.list_files(&is_pipeline)?.len(),
        rules_file: rules_file.map(|file| file.path),
        shared_file: find_shared_pipelines_file(&snapshot, config_dir_name),
        is_config_dir_new,
        sole_candidate,
        candidates,
        config_dir,
        project_id: connection.require_project_id().ok(),
        agent_version: connection.require_agent_version().ok().map(str::to_owned),
        is_prefix_set: prefix.is_some(),
        prefix: prefix.unwrap_or_else(|| choose_repository_name(repo.root(), remote.as_deref())),
        source,
        is_signed: args.sign,
        new_lines: new_settings::list_new_setting_lines(session, workspace, args)?,
        findings,
    })
}

/// Returns the missing flag for the platform's hidden directory, with the command to type.
fn missing_config_dir_flag(candidates: &[String], session: &Session, args: &InitArgs) -> MissingFlag {
    let command = new_settings::format_typed_command(&session.global, args);
    config_dir_prompt::unknown_config_dir_failure(candidates, &command).into()
}

/// Returns the recipe of the CI host, and how the host was detected. If it is unknown, adds the flag that sets it to
/// `missing_flags`, and returns no recipe.
fn choose_recipe(
    root: &Path,
    remote: Option<&str>,
    args: &InitArgs,
    missing_flags: &mut Vec<MissingFlag>,
) -> Result<DetectedHost, Failure> {
    let choice = detect_host(root, remote, args.host.as_deref())?;
    Ok(choice.unwrap_or_else(|reason| {
        missing_flags.push(missing_host_flag(&reason));
        (None, format!("unknown: {reason}"))
    }))
}

/// Returns the path of the shared-pipelines file; `None` if it does not exist or cannot be looked up, or if the hidden
/// directory is unknown.
fn find_shared_pipelines_file(snapshot: &Snapshot<'_>, config_dir: Option<&str>) -> Option<String> {
    let path = shared_pipelines_path(config_dir?);
    matches!(snapshot.find_file(&path), Ok(Some(_))).then_some(path)
}

/// The setup of a host, and the host's name with a description of how it was detected.
type DetectedHost = (Option<&'static HostRecipe>, String);

/// Detects the CI host: the requested host, otherwise the only one with CI files, otherwise the only one whose files
/// run this program, otherwise that of the remote's server. The inner error is the reason why the host is unknown.
fn detect_host(
    root: &Path,
    remote: Option<&str>,
    requested_host: Option<&str>,
) -> Result<Result<DetectedHost, String>, Failure> {
    if let Some(name) = requested_host {
        let host: Host = name
            .parse()
            .map_err(|error: crate::job::ci::UnknownHost| Failure::usage(error.to_string()))?;
        return Ok(Ok((
            host_recipes::find_recipe(host),
            format!("{host}: set by --host"),
        )));
    }
    let detected_recipes: Vec<&HostRecipe> = host_recipes::recipes()
        .iter()
        .filter(|recipe| root.join(recipe.marker).exists())
        .collect();
    if detected_recipes.len() > 1 {
        let running_recipes = detected_recipes
            .iter()
            .filter(|recipe| recipe.find_ci_file_of_program(root).is_some());
        if let [recipe] = running_recipes.collect::<Vec<_>>().as_slice() {
            let description = format!("{}: its CI files run sluicegate", recipe.host);
            return Ok(Ok((Some(recipe), description)));
        }
    }
    if let [recipe] = detected_recipes.as_slice() {
        return Ok(Ok((
            Some(recipe),
            format!("{}: found {}", recipe.host, recipe.marker),
        )));
    }
    if let Some(server) = remote.and_then(host_recipes::parse_remote_server)
        && let Some(host) = host_recipes::find_ci_host_of_server(&server)
        && let Some(recipe) = host_recipes::find_recipe(host)
    {
        let description = format!("{}: the remote is on {server}", recipe.host);
        return Ok(Ok((Some(recipe), description)));
    }
    Ok(Err(match detected_recipes.as_slice() {
        [] => "no CI file was found, and the remote's address does not reveal the CI host".to_owned(),
        recipes => {
            let markers: Vec<&str> = recipes.iter().map(|recipe| recipe.marker).collect();
            format!("found several CI files: {}", markers.join(", "))
        }
    }))
}

/// Returns the missing flag for the CI host, with the reason why the host was not detected.
fn missing_host_flag(reason: &str) -> MissingFlag {
    MissingFlag {
        description: format!("could not determine the CI host: {reason}"),
        hint: "set the CI host with --host; use --host none to write only sluicegate.yaml".to_owned(),
    }
}

/// Fails if `init` cannot write a job that signs statements for this host.
fn require_signed_template(recipe: Option<&HostRecipe>) -> Result<(), Failure> {
    if recipe.is_some_and(|recipe| recipe.signed_template.is_some()) {
        return Ok(());
    }
    let conflict = recipe.map_or_else(
        || "but this run does not write a job".to_owned(),
        |recipe| format!("not for {}", recipe.host),
    );
    Err(
        Failure::usage(format!("--sign writes a job for GitHub only, {conflict}")).with_hint(
            "write the job without --sign, and sign its statements with `cosign attest-blob --statement`",
        ),
    )
}

/// Returns the default branch, and how it was detected: the one that the clone records for a remote, otherwise `main`
/// or `master` of a remote, otherwise the checked-out branch, otherwise [`FALLBACK_BRANCH`]. Warns if it may be wrong.
fn detect_default_branch(session: &Session, repo: &Repository) -> Result<DefaultBranch, Failure> {
    if let Some(branch) = repo.find_recorded_default_branch()? {
        let source = format!("recorded in {}/HEAD", branch.remote);
        let name = branch.branch;
        return Ok(DefaultBranch { name, source });
    }
    if let Some(branch) = repo.find_likely_default_branch()? {
        let source = format!("found {}/{}", branch.remote, branch.branch);
        let name = branch.branch;
        return Ok(DefaultBranch { name, source });
    }
    let remote_branch = find_usual_remote_branch(repo)?;
    let checked_out_branch = repo.head().ok().and_then(|head| head.branch);
    let (name, source) = match (&remote_branch, checked_out_branch) {
        (Some(branch), _) => (
            branch.branch.clone(),
            format!("found {}/{}", branch.remote, branch.branch),
        ),
        (None, Some(name)) => (name, "the checked-out branch".to_owned()),
        (None, None) => (
            FALLBACK_BRANCH.to_owned(),
            "assumed, because no branch is checked out".to_owned(),
        ),
    };
    let remotes = repo.list_remote_repositories()?;
    let first_remote = remotes.into_iter().next().map(|(name, _)| name);
    let remote = remote_branch.map(|branch| branch.remote).or(first_remote);
    // A new repository without a remote.
    if remote.is_none() && USUAL_DEFAULT_BRANCHES.contains(&name.as_str()) {
        return Ok(DefaultBranch { name, source });
    }
    let record_step = remote.map_or_else(String::new, |remote| {
        format!(
            "run `git remote set-head {} --auto` to record the default branch of the remote, and ",
            text::quote_shell_word(&remote)
        )
    });
    session.ui.warn_with_hint(
        &format!(
            "the default branch may be a branch other than `{name}`, because this clone does not record it"
        ),
        &format!("{record_step}check the branch in the files that `init` writes"),
    );
    Ok(DefaultBranch { name, source })
}

/// Returns the first usual default branch that a remote has.
fn find_usual_remote_branch(repo: &Repository) -> Result<Option<RemoteBranch>, Failure> {
    for name in USUAL_DEFAULT_BRANCHES {
        if let Some(branch) = repo.find_remote_branch(name)? {
            return Ok(Some(branch));
        }
    }
    Ok(None)
}

/// Returns the prefix of published versions for a repository without a set prefix: the repository's name on the remote,
/// otherwise the name of its directory, otherwise `shared`.
fn choose_repository_name(root: &Path, remote: Option<&str>) -> String {
    let dir_name = root.file_name().map(|name| name.to_string_lossy().into_owned());
    remote
        .and_then(parse_repository_name)
        .or(dir_name)
        .unwrap_or_else(|| "shared".to_owned())
}

/// Returns the last part of the path in the remote's address, without `.git`; `None` if the address has no path, or if
/// its path may contain a password, because the name is written to a file that is committed.
fn parse_repository_name(remote: &str) -> Option<String> {
    let address = RemoteUrl::parse(remote).filter(|address| !address.may_contain_password())?;
    let name = address.path().rsplit('/').next()?;
    (!name.is_empty()).then(|| name.to_owned())
}
