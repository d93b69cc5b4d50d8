//! Finds files of the gate configuration that cannot be used, in CI.
//!
//! A change that makes one unusable fails, because after its merge the file could not be used in any later run. A file
//! that was unusable before is treated as missing, so that a change that repairs it can pass. In a local run, such a
//! file is an error where it is read.

use crate::error::Failure;
use crate::interface_version::{self, LoadedInterface};
use crate::job::policy::{self, GateFileVersion, MAX_FILE_BYTES, NamedText};
use crate::job::settings::{self, Selection, SettingSources, SettingsError};
use crate::session::Run;
use crate::workspace::{Workspace, folder_in};
use sluicegate_base::input;
use sluicegate_git::{CommitId, FileKind, Snapshot};
use sluicegate_pipelines::pipelines::{ConfigDirError, RULES_FILE, SHARED_PIPELINES_FILE, is_pipeline};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_pipelines::waivers::{self, Waivers};
use sluicegate_pipelines::yaml::DocumentError;
use std::collections::BTreeMap;

/// Resolves the settings of a command that select files. An error shows that a file cannot be used.
pub(crate) type ResolveSelection<'f> = dyn Fn(&SettingSources<'_>) -> Result<Selection, SettingsError> + 'f;

/// The files of the gate configuration that cannot be used, each as a sentence.
#[derive(Debug, Default)]
pub(crate) struct UnusableGateFiles {
    /// Files that the change makes unusable.
    pub(crate) introduced: Vec<String>,
    /// Files that were unusable before the change, in the same way.
    pub(crate) inherited: Vec<String>,
}

/// The reason why a file of the gate configuration cannot be used.
struct GateFileProblem {
    /// Content on which the problem depends: with the same content at a base, the change did not introduce it.
    content: Vec<GateFileVersion>,
    message: String,
    /// The file sets a key that only the job may set.
    has_job_key: bool,
}

impl GateFileProblem {
    fn new(content: Vec<GateFileVersion>, message: String) -> Self {
        Self {
            content,
            message,
            has_job_key: false,
        }
    }
}

/// The problems of one commit or of the files on disk, by the kind of file.
type GateFileProblems = BTreeMap<&'static str, GateFileProblem>;

/// A version of the gate configuration.
struct GateVersion<'v> {
    run: &'v Run,
    workspace: &'v Workspace<'v>,
    snapshot: &'v Snapshot<'v>,
    resolve: &'v ResolveSelection<'v>,
    /// The platform's hidden directory in this version, or the names of several.
    folder: Result<Option<String>, ConfigDirError>,
    is_head: bool,
}

impl Workspace<'_> {
    /// Returns the files of the gate configuration that cannot be used in the snapshot. In a local run, there are none,
    /// because such a file is an error already.
    pub(crate) fn unusable_gate_files(
        &self,
        run: &Run,
        snapshot: &Snapshot<'_>,
        since: &[CommitId],
        resolve: &ResolveSelection<'_>,
    ) -> Result<UnusableGateFiles, Failure> {
        let mut unusable = UnusableGateFiles::default();
        if self.ci.host.is_local() {
            return Ok(unusable);
        }
        let head = self.gate_version(run, snapshot, resolve, true)?.problems()?;
        if head.is_empty() {
            return Ok(unusable);
        }
        let mut bases = Vec::new();
        for base in since {
            let base = self.repo.snapshot(base.clone());
            bases.push(self.gate_version(run, &base, resolve, false)?.problems()?);
        }
        for (kind, problem) in head {
            let is_same = |base: &GateFileProblems| {
                base.get(kind)
                    .is_some_and(|before| before.content == problem.content)
            };
            if !bases.is_empty() && bases.iter().all(is_same) {
                unusable.inherited.push(problem.message);
            } else if problem.has_job_key {
                return Err(Failure::usage(problem.message));
            } else {
                unusable.introduced.push(problem.message);
            }
        }
        Ok(unusable)
    }

    fn gate_version<'v>(
        &'v self,
        run: &'v Run,
        snapshot: &'v Snapshot<'v>,
        resolve: &'v ResolveSelection<'v>,
        is_head: bool,
    ) -> Result<GateVersion<'v>, Failure> {
        Ok(GateVersion {
            run,
            workspace: self,
            snapshot,
            resolve,
            folder: folder_in(snapshot)?,
            is_head,
        })
    }
}

impl GateVersion<'_> {
    fn problems(mut self) -> Result<GateFileProblems, Failure> {
        let mut problems = GateFileProblems::new();
        let job_folder = settings::requested_config_dir(&self.run.global, &self.run.env);
        let own_folder = self.settings(&mut problems)?;
        if let Some(named) = job_folder.or(own_folder) {
            self.folder = Ok(Some(named));
        }
        if let Err(error) = &self.folder {
            let ConfigDirError::Several(names) = error;
            let names = names.iter().map(|name| name.clone().into_bytes());
            let message = format!("{error}. Remove the files of all but the platform's own directory");
            let problem = GateFileProblem::new(names.map(GateFileVersion::Text).collect(), message);
            problems.insert("hidden directory", problem);
        }
        let (rules_side, rules) = self.rules(&mut problems);
        self.waivers(rules_side, rules.as_ref(), &mut problems)?;
        self.shared_pipelines(&mut problems)?;
        Ok(problems)
    }

    /// Checks the configuration file. Returns the hidden directory that it sets.
    fn settings(&self, problems: &mut GateFileProblems) -> Result<Option<String>, Failure> {
        let Some(path) = &self.workspace.config_file else {
            return Ok(None);
        };
        let (content, text) = self.text(path, MAX_FILE_BYTES)?;
        let mut add = |kind: &'static str, message: String, has_job_key: bool| {
            let problem = GateFileProblem {
                content: vec![content.clone()],
                message,
                has_job_key,
            };
            problems.insert(kind, problem);
        };
        let text = match text {
            Err(message) => {
                add("settings", message, false);
                return Ok(None);
            }
            Ok(None) => {
                if settings::requested_config_file(&self.run.global, &self.run.env).is_some() {
                    add(
                        "settings",
                        format!("{path} is missing, but the job sets it with --config"),
                        false,
                    );
                }
                return Ok(None);
            }
            Ok(Some(text)) => text,
        };
        let tracks = |path: &str| self.has_file(path);
        let sources = match self.workspace.sources.with_version(&text, &tracks) {
            Ok(sources) => sources,
            Err(error) => {
                add("settings", error.to_line(), error.is_job_key());
                return Ok(None);
            }
        };
        let outputs: Vec<String> = sources
            .unusable_outputs()
            .map(|error| error.to_string())
            .collect();
        if !outputs.is_empty() {
            add("output paths", outputs.join("; "), false);
        }
        let reason = self.unusable_value(&sources)?.filter(|_| outputs.is_empty());
        if let Some(reason) = reason {
            add("settings", format!("{path}: {reason}"), false);
        }
        let folder = sources.config_dir(&self.run.global);
        let named = folder.ok().flatten();
        Ok(named.filter(|named| sources.sets_config_dir(named)))
    }

    /// Returns whether git tracks a file at this path.
    fn has_file(&self, path: &str) -> bool {
        if self.is_head {
            let tracks = self.workspace.repo.tracks(path, self.run.index());
            tracks.unwrap_or(true)
        } else {
            self.snapshot.find(path).is_ok_and(|file| file.is_some())
        }
    }

    /// Returns the reason if a value of the file cannot be used.
    fn unusable_value(&self, sources: &SettingSources<'_>) -> Result<Option<String>, Failure> {
        let folder = match sources.config_dir(&self.run.global) {
            Ok(folder) => folder,
            Err(error) => return Ok(Some(error.to_line())),
        };
        let selection = match self.resolved(sources) {
            Ok(selection) => selection,
            Err(error) => {
                // An error that an empty file has too is one of the job.
                let is_of_file = self.resolved(&self.workspace.sources.without_file()).is_ok();
                return Ok(is_of_file.then(|| error.to_line()));
            }
        };
        let own = folder.filter(|folder| {
            settings::requested_config_dir(&self.run.global, &self.run.env).is_none()
                && sources.sets_config_dir(folder)
        });
        match unmatched_include(self.snapshot, &selection)? {
            Some(reason) => Ok(Some(reason)),
            None => empty_config_dir(self.snapshot, own.as_deref()),
        }
    }

    fn resolved(&self, sources: &SettingSources<'_>) -> Result<Selection, SettingsError> {
        sources.connection(&self.run.global)?;
        (self.resolve)(sources)
    }

    /// Checks the rules file. Single rules that cannot be evaluated are results of the review.
    fn rules(&self, problems: &mut GateFileProblems) -> (GateFileVersion, Option<RuleSet>) {
        let Ok(Some(folder)) = &self.folder else {
            return (GateFileVersion::Missing, None);
        };
        let path = format!("{folder}/{RULES_FILE}");
        let side = self.workspace.side(self.snapshot, &path);
        let (rules, message) = match &side {
            GateFileVersion::Missing => (None, None),
            GateFileVersion::Unreadable(reason) => (None, Some(format!("{path}: {reason}"))),
            GateFileVersion::Text(bytes) => {
                let error = rules::list_rules(bytes).err();
                (
                    Some(RuleSet::parse(bytes)),
                    error.map(|error| at_position(&path, &error)),
                )
            }
        };
        if let Some(message) = message {
            problems.insert("rules", GateFileProblem::new(vec![side.clone()], message));
        }
        (side, rules)
    }

    /// Checks the waivers file, with the rules of this version alone.
    fn waivers(
        &self,
        rules_side: GateFileVersion,
        rules: Option<&RuleSet>,
        problems: &mut GateFileProblems,
    ) -> Result<(), Failure> {
        let path = waivers::FILE_NAME;
        let (side, text) = self.text(path, crate::workspace::gate_files::WAIVERS_SIZE_LIMIT)?;
        let knows = |id: &str| {
            let has = |rules: &RuleSet| !matches!(rules.state(id), RuleState::Missing);
            rules::find_rule(id).is_some() || ProjectCheck::find(id).is_some() || rules.is_some_and(has)
        };
        let message = match text {
            Err(message) => Some(message),
            Ok(None) => None,
            Ok(Some(text)) => match waivers::read_waivers(text.text.as_bytes(), &knows) {
                Err(error) => Some(at_position(path, &error)),
                Ok(placed) => {
                    let entries = placed.into_iter().map(|placed| placed.entry).collect();
                    let error = Waivers::new(entries).err();
                    error.map(|error| format!("{path}: could not combine the globs: {error}"))
                }
            },
        };
        if let Some(message) = message {
            problems.insert("waivers", GateFileProblem::new(vec![side, rules_side], message));
        }
        Ok(())
    }

    fn shared_pipelines(&self, problems: &mut GateFileProblems) -> Result<(), Failure> {
        let Ok(Some(folder)) = &self.folder else {
            return Ok(());
        };
        let shared = interface_version::read_interface(&self.workspace.repo, self.snapshot, Some(folder))?;
        if let LoadedInterface::Unreadable(path, error) = shared {
            let content = vec![self.workspace.side(self.snapshot, &path)];
            let problem = GateFileProblem::new(content, at_position(&path, &error));
            problems.insert("shared pipelines", problem);
        }
        Ok(())
    }

    /// Returns the content of a file, and its text, or why it has none. Links are followed within the repository.
    fn text(
        &self,
        path: &str,
        limit: u64,
    ) -> Result<(GateFileVersion, Result<Option<NamedText>, String>), Failure> {
        let side = policy::read_gate_file_version(&self.workspace.repo, self.snapshot, path, limit)?;
        let text = match &side {
            GateFileVersion::Missing => Ok(None),
            GateFileVersion::Unreadable(reason) => Err(format!("{path}: {reason}")),
            GateFileVersion::Text(bytes) => match input::utf_8(bytes.clone()) {
                Ok(text) => Ok(Some(NamedText {
                    name: path.to_owned(),
                    text,
                })),
                Err(reason) => Err(format!("{path}: {reason}")),
            },
        };
        Ok((side, text))
    }
}

/// Returns the reason if the include globs of the configuration file match no pipeline of the snapshot, although it has
/// pipelines.
pub(crate) fn unmatched_include(
    snapshot: &Snapshot<'_>,
    selection: &Selection,
) -> Result<Option<String>, Failure> {
    let Some(key) = selection.include_key() else {
        return Ok(None);
    };
    let files = snapshot.files(&|path| is_pipeline(path) || selection.includes(path))?;
    let mut regular = files
        .iter()
        .filter(|file| file.kind == FileKind::Regular)
        .peekable();
    let is_unmatched = regular.peek().is_some() && !regular.any(|file| selection.includes(&file.path));
    Ok(is_unmatched.then(|| format!("no glob of `{key}` matches a file")))
}

/// Returns the reason if the hidden directory that the configuration file sets has none of the platform's files in the
/// snapshot, although another directory has them.
pub(crate) fn empty_config_dir(
    snapshot: &Snapshot<'_>,
    named: Option<&str>,
) -> Result<Option<String>, Failure> {
    let (Some(named), Ok(Some(other))) = (named, folder_in(snapshot)?) else {
        return Ok(None);
    };
    for file in [RULES_FILE, SHARED_PIPELINES_FILE] {
        if snapshot.find(&format!("{named}/{file}"))?.is_some() {
            return Ok(None);
        }
    }
    Ok(Some(format!(
        "`config-dir` is `{named}`, which contains neither `{RULES_FILE}` nor `{SHARED_PIPELINES_FILE}`; `{other}` does"
    )))
}

fn at_position(path: &str, error: &DocumentError) -> String {
    match error.position {
        Some(at) => format!("{path}:{}:{}: {}", at.line, at.column, error.message),
        None => format!("{path}: {}", error.message),
    }
}
