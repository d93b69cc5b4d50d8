//! Finds files of the gate configuration that cannot be used, in CI.
//!
//! A change that makes one unusable fails, because no later run could use the file. A file that was unusable before is
//! treated as missing, so that a change that repairs it can pass. In a local run, such a file is an error.

use crate::error::Failure;
use crate::interface_version::{self, LoadedInterface};
use crate::job::policy::{self, GateFileVersion, MAX_CONFIG_BYTES, NamedText};
use crate::job::settings::{self, Selection, SettingSources, SettingsError};
use crate::session::Session;
use crate::workspace::empty_settings::{explain_unmatched_include, explain_unsuitable_config_dir};
use crate::workspace::gate_file_problems::{
    GateFileProblem, GatePart, UnusableGateFiles, UnusablePart, describe_error,
};
use crate::workspace::unusable_settings::{explain_unusable_settings, list_path_targets};
use crate::workspace::{Workspace, find_config_dir_in, gate_files};
use sluicegate_base::input;
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::pipelines::{ConfigDirError, rules_path};
use sluicegate_pipelines::project::ProjectCheck;
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_pipelines::team_rules::{TeamRuleSet, is_team_rule_id};
use sluicegate_pipelines::waivers::{self, Waivers};
use std::collections::BTreeMap;

/// Resolves the settings that select files; an error shows that a file cannot be used.
pub(crate) type ResolveSelection<'f> = dyn Fn(&SettingSources<'_>) -> Result<Selection, SettingsError> + 'f;

/// The problems of one commit or of the files on disk, by the part of the gate configuration.
type GateFileProblems = BTreeMap<GatePart, GateFileProblem>;

/// A version of the gate configuration.
struct GateVersion<'v> {
    session: &'v Session,
    workspace: &'v Workspace<'v>,
    snapshot: &'v Snapshot<'v>,
    resolve: &'v ResolveSelection<'v>,
    /// The hidden directory in this version, or the names of several.
    config_dir: Result<Option<String>, ConfigDirError>,
    /// The path of the team's rules file by the settings of this version.
    team_rules_path: Option<String>,
    is_head: bool,
}

impl Workspace<'_> {
    /// Returns the unusable files of the gate configuration in the snapshot: those that the change made unusable, and
    /// those that already had the same defect. Returns none in a local run, which has already failed at such a file.
    /// Fails if the change adds a key that only the job may set.
    pub(crate) fn find_unusable_gate_files(
        &self,
        session: &Session,
        snapshot: &Snapshot<'_>,
        base_commits: &[CommitId],
        resolve: &ResolveSelection<'_>,
    ) -> Result<UnusableGateFiles, Failure> {
        let mut unusable = UnusableGateFiles::default();
        if self.ci.host.is_local() {
            return Ok(unusable);
        }
        let head_version = GateVersion::for_head(session, self, snapshot, resolve)?;
        let head_problems = head_version.find_problems()?;
        if head_problems.is_empty() {
            return Ok(unusable);
        }
        let mut base_problems = Vec::new();
        for base in base_commits {
            let base_snapshot = self.repo.snapshot(base.clone());
            let base_version = GateVersion::for_base(session, self, &base_snapshot, resolve)?;
            base_problems.push(base_version.find_problems()?);
        }
        for (part, problem) in head_problems {
            // Without a base, every problem is new.
            let is_old = !base_problems.is_empty()
                && base_problems.iter().all(|problems| {
                    matches!(problems.get(&part), Some(old_problem) if old_problem.content == problem.content)
                });
            if !is_old && problem.has_job_key {
                return Err(Failure::usage(problem.message));
            }
            unusable.parts.push(UnusablePart {
                part,
                problem,
                is_new: !is_old,
            });
        }
        Ok(unusable)
    }
}

impl<'v> GateVersion<'v> {
    /// Creates the version of a base.
    fn for_base(
        session: &'v Session,
        workspace: &'v Workspace<'v>,
        snapshot: &'v Snapshot<'v>,
        resolve: &'v ResolveSelection<'v>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            session,
            workspace,
            snapshot,
            resolve,
            config_dir: find_config_dir_in(snapshot)?,
            team_rules_path: workspace.team_rules_path.clone(),
            is_head: false,
        })
    }

    /// Creates the version of head, which may be on disk.
    fn for_head(
        session: &'v Session,
        workspace: &'v Workspace<'v>,
        snapshot: &'v Snapshot<'v>,
        resolve: &'v ResolveSelection<'v>,
    ) -> Result<Self, Failure> {
        Ok(Self {
            is_head: true,
            ..Self::for_base(session, workspace, snapshot, resolve)?
        })
    }

    /// Checks each file of the gate configuration in this version, and returns the problems by their part.
    fn find_problems(mut self) -> Result<GateFileProblems, Failure> {
        let mut problems = GateFileProblems::new();
        let job_config_dir = settings::requested_config_dir(&self.session.global, &self.session.env);
        let file_config_dir = self.check_config_file(&mut problems)?;
        if let Some(config_dir) = job_config_dir.or(file_config_dir) {
            self.config_dir = Ok(Some(config_dir));
        }
        if let Err(error) = &self.config_dir {
            let ConfigDirError::Several(names) = error;
            // The names are compared with the base like the content of a file: other directories are a new problem.
            let content = names
                .iter()
                .map(|name| GateFileVersion::Text(name.clone().into_bytes()))
                .collect();
            let message = format!("{error}. Keep these files only in the platform's own directory");
            problems.insert(GatePart::HiddenDirectory, GateFileProblem::new(content, message));
        }
        let (rules_version, rules) = self.check_rules_file(&mut problems);
        let (team_version, team_rules) = self.check_team_rules_file(&mut problems);
        // The rules of an unreadable file are unknown, so a waiver may name one of them.
        let has_unknown_rules =
            problems.contains_key(&GatePart::Rules) || problems.contains_key(&GatePart::TeamRules);
        let has_unread_team_rules = self
            .workspace
            .has_unread_team_rules(self.team_rules_path.as_deref());
        self.check_waivers_file(
            vec![rules_version, team_version],
            &|id| {
                has_unknown_rules
                    || (has_unread_team_rules && is_team_rule_id(id))
                    || is_known_rule(rules.as_ref(), team_rules.as_ref(), id)
            },
            &mut problems,
        )?;
        self.check_shared_pipelines_file(&mut problems)?;
        Ok(problems)
    }

    /// Checks the configuration file of this version, and adds its problems to `problems`. Stores the path of the team
    /// rules file that applies with it, and returns the hidden directory if the file sets the one that applies.
    fn check_config_file(&mut self, problems: &mut GateFileProblems) -> Result<Option<String>, Failure> {
        let Some(path) = &self.workspace.config_file else {
            return Ok(None);
        };
        let (version, read_result) = self.read_version_and_text(path, MAX_CONFIG_BYTES)?;
        let mut content = vec![version];
        let text = match read_result {
            Err(message) => {
                let problem = GateFileProblem::new(content, message).at_path(path);
                problems.insert(GatePart::Settings, problem);
                return Ok(None);
            }
            Ok(None) => {
                if settings::requested_config_file(&self.session.global, &self.session.env).is_some() {
                    let message = format!("{path} is missing, but the job sets this path with --config");
                    let problem = GateFileProblem::new(content, message).at_path(path);
                    problems.insert(GatePart::Settings, problem);
                }
                return Ok(None);
            }
            Ok(Some(text)) => text,
        };
        let sources = match self
            .workspace
            .sources
            .with_file_version(&text, &|path| self.is_tracked_file(path))
        {
            Ok(sources) => sources,
            Err(error) => {
                let problem = GateFileProblem {
                    has_job_key: error.is_job_key(),
                    ..GateFileProblem::new(content, error.to_note()).at_path(path)
                };
                problems.insert(GatePart::Settings, problem);
                return Ok(None);
            }
        };
        let repo = &self.workspace.repo;
        content.extend(list_path_targets(repo, self.snapshot, &sources)?);
        let errors: Vec<String> = sources
            .output_path_errors()
            .map(|error| error.to_string())
            .collect();
        if !errors.is_empty() {
            let problem = GateFileProblem::new(content.clone(), errors.join("; ")).at_path(path);
            problems.insert(GatePart::OutputPaths, problem);
        }
        // A wrong output path may also be the reason for a bad value, so it would be reported twice.
        let reason = self.explain_bad_value(&sources)?.filter(|_| errors.is_empty());
        if let Some(reason) = reason {
            let message = format!("{path}: {reason}");
            let problem = GateFileProblem::new(content, message).at_path(path);
            problems.insert(GatePart::Settings, problem);
        }
        self.team_rules_path = sources
            .resolve_team_rules_path(&self.session.global, Some(path.as_str()))
            .ok()
            .flatten();
        let config_dir = sources.resolve_config_dir(&self.session.global).ok().flatten();
        Ok(config_dir.filter(|dir| sources.sets_config_dir(dir)))
    }

    /// Returns whether git tracks a file at this path, which a report must not overwrite. At head, a file is treated as
    /// tracked if git cannot tell.
    fn is_tracked_file(&self, path: &str) -> bool {
        if self.is_head {
            let repo = &self.workspace.repo;
            let index = self.session.hook_index_path(repo);
            repo.is_tracked(path, index).unwrap_or(true)
        } else {
            self.snapshot.find_file(path).is_ok_and(|file| file.is_some())
        }
    }

    /// Returns the problem if a value of the configuration file is invalid, or if its globs, its hidden directory
    /// or its team rules file match nothing.
    fn explain_bad_value(&self, sources: &SettingSources<'_>) -> Result<Option<String>, Failure> {
        let config_dir = match sources.resolve_config_dir(&self.session.global) {
            Ok(dir) => dir,
            // The run has already failed if the job sets an invalid directory, so this one is the file's.
            Err(error) => return Ok(Some(error.to_note())),
        };
        if let Some(reason) = explain_unusable_settings(self.session, self.workspace, sources) {
            return Ok(Some(reason));
        }
        // If the selection fails also without the file, the run has failed with the job's error.
        let selection = match (self.resolve)(sources) {
            Ok(selection) => selection,
            Err(error) => {
                let is_caused_by_file = (self.resolve)(&self.workspace.sources.without_file()).is_ok();
                return Ok(is_caused_by_file.then(|| error.to_note()));
            }
        };
        let file_config_dir = config_dir.filter(|dir| {
            settings::requested_config_dir(&self.session.global, &self.session.env).is_none()
                && sources.sets_config_dir(dir)
        });
        if let Some(reason) = explain_unmatched_include(self.snapshot, &selection)? {
            return Ok(Some(reason));
        }
        let reason = explain_unsuitable_config_dir(self.snapshot, file_config_dir.as_deref())?;
        Ok(reason.or_else(|| self.workspace.explain_missing_team_rules(self.snapshot, sources)))
    }

    /// Checks that the rules file can be parsed; the review reports individual rules that cannot be evaluated. Returns
    /// the file and its rules, which the check of the waivers needs.
    fn check_rules_file(&self, problems: &mut GateFileProblems) -> (GateFileVersion, Option<RuleSet>) {
        let Ok(Some(config_dir)) = &self.config_dir else {
            return (GateFileVersion::Missing, None);
        };
        let path = rules_path(config_dir);
        let version = self.workspace.read_gate_file(self.snapshot, &path);
        let (rules, message) = match &version {
            GateFileVersion::Missing => (None, None),
            GateFileVersion::Unreadable(reason) => (None, Some(format!("{path}: {reason}"))),
            GateFileVersion::Text(bytes) => {
                let error = rules::list_rules(bytes).err();
                (
                    Some(RuleSet::parse(bytes)),
                    error.map(|error| describe_error(&path, &error)),
                )
            }
        };
        if let Some(message) = message {
            let problem = GateFileProblem::new(vec![version.clone()], message).at_path(&path);
            problems.insert(GatePart::Rules, problem);
        }
        (version, rules)
    }

    /// Checks the file of the team's rules: each rule must be usable. Returns the file and its rules, which the check
    /// of the waivers needs.
    fn check_team_rules_file(
        &self,
        problems: &mut GateFileProblems,
    ) -> (GateFileVersion, Option<TeamRuleSet>) {
        let Some(path) = &self.team_rules_path else {
            return (GateFileVersion::Missing, None);
        };
        let (version, rules) = self.workspace.read_team_rules_version(self.snapshot, path);
        if let Err(message) = &rules {
            let problem = GateFileProblem::new(vec![version.clone()], message.clone()).at_path(path);
            problems.insert(GatePart::TeamRules, problem);
        }
        (version, rules.ok().flatten())
    }

    /// Checks the waivers file. If the change edits a rules file (`rules_versions`), the problem is new, even if the
    /// waivers are the same, because a waiver becomes invalid if its rule is removed.
    fn check_waivers_file(
        &self,
        rules_versions: Vec<GateFileVersion>,
        is_known_rule: &dyn Fn(&str) -> bool,
        problems: &mut GateFileProblems,
    ) -> Result<(), Failure> {
        let path = waivers::FILE_NAME;
        let (version, text) = self.read_version_and_text(path, gate_files::MAX_WAIVERS_BYTES)?;
        let message = match text {
            Err(message) => Some(message),
            Ok(None) => None,
            Ok(Some(text)) => match waivers::parse_waivers_file(text.text.as_bytes(), is_known_rule) {
                Err(error) => Some(describe_error(path, &error)),
                Ok(located_entries) => {
                    let entries = located_entries.into_iter().map(|waiver| waiver.entry);
                    let error = Waivers::new(entries.collect()).err();
                    error.map(|error| format!("{path}: {error}"))
                }
            },
        };
        if let Some(message) = message {
            let content = std::iter::once(version).chain(rules_versions).collect();
            let problem = GateFileProblem::new(content, message).at_path(path);
            problems.insert(GatePart::Waivers, problem);
        }
        Ok(())
    }

    /// Checks that the shared-pipelines file, which offers pipelines to consumers, can be read.
    fn check_shared_pipelines_file(&self, problems: &mut GateFileProblems) -> Result<(), Failure> {
        let Ok(Some(config_dir)) = &self.config_dir else {
            return Ok(());
        };
        let interface =
            interface_version::read_interface(&self.workspace.repo, self.snapshot, Some(config_dir))?;
        if let LoadedInterface::Unreadable(file) = interface {
            let content = vec![self.workspace.read_gate_file(self.snapshot, &file.path)];
            let problem =
                GateFileProblem::new(content, describe_error(&file.path, &file.reason)).at_path(&file.path);
            problems.insert(GatePart::SharedPipelines, problem);
        }
        Ok(())
    }

    /// Reads a file, and returns its content as bytes and as text. The text is `None` if the file is missing, and an
    /// error if it is not readable UTF-8. Links are followed within the repository.
    fn read_version_and_text(
        &self,
        path: &str,
        limit: u64,
    ) -> Result<(GateFileVersion, Result<Option<NamedText>, String>), Failure> {
        let version = policy::read_gate_file_version(&self.workspace.repo, self.snapshot, path, limit)?;
        let text = match &version {
            GateFileVersion::Missing => Ok(None),
            GateFileVersion::Unreadable(reason) => Err(format!("{path}: {reason}")),
            GateFileVersion::Text(bytes) => match input::decode_utf_8(bytes.clone()) {
                Ok(text) => Ok(Some(NamedText {
                    name: path.to_owned(),
                    text,
                })),
                Err(reason) => Err(format!("{path}: {reason}")),
            },
        };
        Ok((version, text))
    }
}

/// Returns whether the id is that of a platform rule, a project check, a team rule or a rule in the rules file.
fn is_known_rule(rules: Option<&RuleSet>, team_rules: Option<&TeamRuleSet>, id: &str) -> bool {
    rules::find_rule(id).is_some()
        || ProjectCheck::find_by_id(id).is_some()
        || team_rules.is_some_and(|rules| rules.has_rule(id))
        || rules.is_some_and(|rules| !matches!(rules.state(id), RuleState::Missing))
}
