//! Reads the rules of the team: the version that applies to this run, and that of the checkout.

use crate::error::Failure;
use crate::job::policy::{
    self, CheckoutFiles, FilePresence, GateFile, GateFileReader, GateFileVersion, NamedText,
    UNUSABLE_POLICY_FILE, UnusableFile,
};
use crate::job::settings::SettingSources;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::{LimitKind, VerdictLimit};
use sluicegate_pipelines::rules::LintProblem;
use sluicegate_pipelines::team_rules::{MAX_TEAM_RULES_BYTES, TeamRuleSet};

/// The rules of the team that a run evaluates: those of the policy revision.
#[derive(Default)]
pub(crate) struct TeamRulesInForce {
    pub(crate) rules: TeamRuleSet,
    /// The reason why the rules of the checkout, or those of the policy revision, are not evaluated.
    pub(crate) limit: Option<VerdictLimit>,
    /// The files that apply to this run, but cannot be used. Only valid rules are evaluated.
    pub(crate) unusable_files: Vec<UnusableTeamRules>,
}

/// A file of the gate configuration that cannot be used, so that not all team rules can be evaluated.
pub(crate) struct UnusableTeamRules {
    pub(crate) path: String,
    /// True for the configuration file, which may name the file of the team rules; false for the team rules.
    pub(crate) is_configuration: bool,
    /// The reason, with the file.
    pub(crate) reason: String,
}

impl Workspace<'_> {
    /// Returns whether a flag or a variable of the job turned the team rules off. The configuration file of the policy
    /// may turn them off, too.
    pub(crate) fn are_team_rules_turned_off_by_job(&self) -> bool {
        self.team_rules_path.is_none() && !self.sources.has_team_rules_off()
    }

    /// Returns the path of the team rules file that the job named in place of that of the policy; `None` if the job
    /// named no other file.
    pub(crate) fn find_team_rules_path_of_job(&self) -> Option<String> {
        let path = self.team_rules_path.as_ref()?;
        let policy_path = self
            .sources
            .find_policy_team_rules_path(self.config_file.as_deref())
            .ok()
            .flatten();
        (policy_path.as_ref() != Some(path)).then(|| path.clone())
    }

    /// Returns whether a run with this team rules file does not read the file of the team: its rules are turned off,
    /// or the job named another file. The waivers of the team's rules must stay valid then, because an invalid waiver
    /// makes all waivers of the file unusable.
    pub(crate) fn has_unread_team_rules(&self, path: Option<&str>) -> bool {
        path.is_none() || self.find_team_rules_path_of_job().is_some()
    }

    /// Reads the rules of the team that apply to this run. If the configuration file cannot be used and may name
    /// another file, the rules of the default file are evaluated, but they are not all rules.
    pub(crate) fn read_team_rules(&self) -> Result<TeamRulesInForce, Failure> {
        let mut team_rules = self.read_team_rules_of_path()?;
        if let Some(file) = self.find_lost_team_rules_setting()? {
            team_rules.add_lost_setting(file);
        }
        Ok(team_rules)
    }

    /// Reads the rules of the team from the policy revision. If only the checkout has the file, the result has no
    /// rules, and a limit of the verdict reports that. Fails if the job names a file that neither of them has, nor the
    /// current commit (a bare repository has no files on disk), because the run would evaluate no team rule. If the
    /// configuration file names it, a limit of the verdict reports that. In CI, the valid rules of a file that cannot
    /// be used are returned, because an error would stop the change that repairs it.
    fn read_team_rules_of_path(&self) -> Result<TeamRulesInForce, Failure> {
        let Some(path) = &self.team_rules_path else {
            return Ok(TeamRulesInForce::default());
        };
        let file = self.read_team_rules_file(path)?;
        if let Some(reason) = file.unusable_reason() {
            let unusable_file = UnusableTeamRules::new(path, reason);
            return Ok(TeamRulesInForce::for_unusable_file(
                unusable_file,
                TeamRuleSet::default(),
            ));
        }
        let Some(text) = file.policy_text() else {
            if self.has_team_rules_of_job && file.checkout_text.is_none() && !self.is_committed(path) {
                return Err(missing_file_failure(path, file.missing_reason()));
            }
            let limit = match file.missing_reason() {
                Some(reason) if file.checkout_text.is_some() => Some(describe_unused_rules(reason)),
                missing_reason if self.sources.names_team_rules(path) => {
                    Some(describe_missing_rules(path, missing_reason))
                }
                _ => None,
            };
            return Ok(TeamRulesInForce {
                limit: limit.map(|text| build_verdict_limit(path, text)),
                ..TeamRulesInForce::default()
            });
        };
        match TeamRuleSet::parse(text.text.as_bytes()) {
            Ok(rules) => Ok(TeamRulesInForce {
                rules,
                ..TeamRulesInForce::default()
            }),
            Err(problems) if self.unusable_file_treatment() == UnusableFile::TreatAsMissing => {
                let reason = describe_first_problem(&text.name, &problems);
                let valid_rules = TeamRuleSet::parse_valid_rules(text.text.as_bytes());
                let unusable_file = UnusableTeamRules::new(path, &reason);
                Ok(TeamRulesInForce::for_unusable_file(unusable_file, valid_rules))
            }
            Err(problems) => Err(invalid_rules_failure(text, &problems)),
        }
    }

    /// Returns the configuration file of the policy revision if it cannot be used and may name the file of the team
    /// rules: it contains the key, or its content is unknown. Returns `None` if the job names the file.
    fn find_lost_team_rules_setting(&self) -> Result<Option<UnusableTeamRules>, Failure> {
        let (Some(path), Some(reason)) = (&self.config_file, self.sources.unusable_reason()) else {
            return Ok(None);
        };
        if self.has_team_rules_of_job {
            return Ok(None);
        }
        let file =
            self.gate_file_reader()?
                .read_file(path, FilePresence::Optional, policy::MAX_CONFIG_BYTES)?;
        // The file may not be valid YAML, so only its text shows whether it contains the key.
        let has_key = file
            .policy_text()
            .is_none_or(|text| text.text.contains("team-rules"));
        Ok(has_key.then(|| UnusableTeamRules {
            path: path.clone(),
            is_configuration: true,
            reason: format!("the file that may set `review.team-rules` cannot be used: {reason}"),
        }))
    }

    /// Reads the rules that the repair of an unusable file adds to those that apply to the run. If `snapshot` repairs
    /// the configuration file, these are the valid rules of the file that its version names, in the policy revision.
    /// If it repairs the team rules, these are its own versions of the unusable rules.
    pub(crate) fn read_rules_of_repair(
        &self,
        session: &Session,
        snapshot: &Snapshot<'_>,
        file: &UnusableTeamRules,
    ) -> Result<TeamRuleSet, Failure> {
        let named_path = if file.is_configuration {
            self.find_team_rules_path_at(session, snapshot, &file.path)?
        } else {
            Some(file.path.clone())
        };
        let Some(path) = named_path else {
            return Ok(TeamRuleSet::default());
        };
        let policy_file = self.read_team_rules_file(&path)?;
        let policy_bytes = match policy_file.policy_text() {
            Some(text) => text.text.as_bytes(),
            None => &[],
        };
        let is_unusable =
            policy_file.unusable_reason().is_some() || TeamRuleSet::parse(policy_bytes).is_err();
        let mut rules = TeamRuleSet::parse_valid_rules(policy_bytes);
        let (version, _) = self.read_team_rules_version(snapshot, &path);
        if let (GateFileVersion::Text(bytes), true) = (&version, is_unusable) {
            rules.add_missing_rules(TeamRuleSet::parse_repaired_rules(policy_bytes, bytes));
        }
        Ok(rules)
    }

    /// Returns the path of the team rules file by the configuration file of the snapshot at `config_path`. Returns
    /// `None` if that file turns the rules off, or cannot be used.
    fn find_team_rules_path_at(
        &self,
        session: &Session,
        snapshot: &Snapshot<'_>,
        config_path: &str,
    ) -> Result<Option<String>, Failure> {
        let Some(sources) = self.read_sources_at(&self.repo, snapshot)? else {
            return Ok(None);
        };
        Ok(sources
            .resolve_team_rules_path(&session.global, Some(config_path))
            .ok()
            .flatten())
    }

    /// Returns the rules of the team that a waiver may name: those that apply to this run, and those of the checkout,
    /// because the waivers file of the checkout may name them. An invalid file has only its valid rules.
    pub(crate) fn list_known_team_rules(&self) -> Result<Vec<TeamRuleSet>, Failure> {
        let Some(path) = &self.team_rules_path else {
            return Ok(Vec::new());
        };
        let file = self.read_team_rules_file(path)?;
        let texts = [file.policy_text(), file.checkout_text.as_ref()];
        Ok(texts
            .into_iter()
            .flatten()
            .map(|text| TeamRuleSet::parse_valid_rules(text.text.as_bytes()))
            .collect())
    }

    /// Reads the team rules file of a snapshot and parses its rules, even if they do not apply to this run. The error
    /// is the first problem of the file.
    pub(super) fn read_team_rules_version(
        &self,
        snapshot: &Snapshot<'_>,
        path: &str,
    ) -> (GateFileVersion, Result<Option<TeamRuleSet>, String>) {
        let version = policy::read_gate_file_version(&self.repo, snapshot, path, MAX_TEAM_RULES_BYTES);
        let version = version.unwrap_or_else(|error| GateFileVersion::Unreadable(error.to_string()));
        let rules = match &version {
            GateFileVersion::Missing => Ok(None),
            GateFileVersion::Unreadable(reason) => Err(format!("{path}: {reason}")),
            GateFileVersion::Text(bytes) => TeamRuleSet::parse(bytes)
                .map(Some)
                .map_err(|problems| describe_first_problem(path, &problems)),
        };
        (version, rules)
    }

    /// Returns the problem that these settings of the snapshot name a team rules file that the snapshot lacks. Returns
    /// `None` if there is no such problem, or if the job names the file.
    pub(crate) fn explain_missing_team_rules(
        &self,
        snapshot: &Snapshot<'_>,
        sources: &SettingSources<'_>,
    ) -> Option<String> {
        let path = sources.find_policy_team_rules_path(self.config_file.as_deref());
        let path = path.ok().flatten()?;
        if self.has_team_rules_of_job || !sources.names_team_rules(&path) {
            return None;
        }
        let (version, _) = self.read_team_rules_version(snapshot, &path);
        (version == GateFileVersion::Missing)
            .then(|| format!("`review.team-rules` is `{path}`, but there is no such file"))
    }

    /// Returns whether the snapshot has a team rules file at this path that can be used.
    pub(crate) fn can_use_team_rules_at(&self, snapshot: &Snapshot<'_>, path: &str) -> bool {
        let (_, rules) = self.read_team_rules_version(snapshot, path);
        rules.is_ok_and(|rules| rules.is_some())
    }

    /// Returns whether the checked-out change repairs this team rules file: it edits the file, and its version can be
    /// used.
    pub(crate) fn is_repaired_in_checkout(&self, session: &Session, file: &UnusableTeamRules) -> bool {
        !file.is_configuration
            && self.is_edited_in_checkout(&file.path, MAX_TEAM_RULES_BYTES)
            && self
                .read_checkout_snapshot(session)
                .is_ok_and(|snapshot| self.can_use_team_rules_at(&snapshot, &file.path))
    }

    /// Returns whether the current commit of the repository has a file at this path.
    fn is_committed(&self, path: &str) -> bool {
        let head = self.repo.head();
        head.is_ok_and(|head| matches!(self.repo.find_file(&head.commit, path), Ok(Some(_))))
    }

    /// Reads the team rules file that applies to this run. The file may be missing.
    fn read_team_rules_file(&self, path: &str) -> Result<GateFile, Failure> {
        Ok(self
            .gate_file_reader()?
            .read_file(path, FilePresence::Optional, MAX_TEAM_RULES_BYTES)?)
    }

    /// Returns the reader of the gate configuration that applies to this run.
    fn gate_file_reader(&self) -> Result<GateFileReader<'_>, Failure> {
        Ok(GateFileReader {
            repo: &self.repo,
            policy_revision: &self.policy_revision,
            checkout: CheckoutFiles::for_run(&self.repo, Some(&self.ci), &self.local_files)?,
            on_unusable: self.unusable_file_treatment(),
        })
    }
}

impl UnusableTeamRules {
    /// Describes the team rules file at this path, which cannot be used for this reason.
    fn new(path: &str, reason: &str) -> Self {
        Self {
            path: path.to_owned(),
            is_configuration: false,
            reason: format!("the team rules file {UNUSABLE_POLICY_FILE}: {reason}"),
        }
    }
}

impl TeamRulesInForce {
    /// Creates the rules of a run whose file cannot be used: its valid rules. A limit of the verdict, a fact that
    /// reports show next to it, contains the reason.
    fn for_unusable_file(file: UnusableTeamRules, valid_rules: TeamRuleSet) -> Self {
        let effect = match valid_rules.rules().len() {
            0 => "no team rule is evaluated".to_owned(),
            1 => "only its valid rule is evaluated".to_owned(),
            count => format!("only its {count} valid rules are evaluated"),
        };
        Self {
            rules: valid_rules,
            limit: Some(build_verdict_limit(
                &file.path,
                format!("{effect}, because {}", file.reason),
            )),
            unusable_files: vec![file],
        }
    }

    /// Adds the configuration file, which cannot be used and may name another file of rules. The limit then states
    /// that.
    fn add_lost_setting(&mut self, file: UnusableTeamRules) {
        let effect = match self.rules.rules().len() {
            0 => "no team rule is evaluated",
            _ => "only the valid rules of the default file are evaluated",
        };
        self.limit = Some(build_verdict_limit(
            &file.path,
            format!("{effect}, because {}", file.reason),
        ));
        self.unusable_files.push(file);
    }
}

/// Returns a limit of the verdict, a fact that reports show next to it: the team rules of this file do not apply.
fn build_verdict_limit(path: &str, text: String) -> VerdictLimit {
    VerdictLimit {
        kind: LimitKind::NotInForce,
        path: Some(path.to_owned()),
        text,
    }
}

/// Describes that the team rules in the checkout do not apply. `reason` says why the policy revision has no file.
fn describe_unused_rules(reason: &str) -> String {
    format!(
        "{reason}, so the team rules in the checkout do not apply. For this one change, the job can set --policy head \
         (SLUICEGATE_POLICY)"
    )
}

/// Describes that the file, which the configuration file names, does not exist. `reason` says why the policy revision
/// has no file, if that is known.
fn describe_missing_rules(path: &str, reason: Option<&str>) -> String {
    let reason = reason.map_or_else(|| format!("{path} does not exist"), ToOwned::to_owned);
    format!("the setting `review.team-rules` names {path}, but {reason}, so no team rule is evaluated")
}

/// Returns the message of the first problem with its position in the file, or only the file's name without a problem.
pub(crate) fn describe_first_problem(name: &str, problems: &[LintProblem]) -> String {
    match problems.first() {
        Some(problem) => format!("{}: {}", problem.format_place(name), problem.message),
        None => name.to_owned(),
    }
}

/// Returns the failure that the file, which the job names, does not exist. `reason` says why the policy revision has no
/// file, if that is known.
pub(crate) fn missing_file_failure(path: &str, reason: Option<&str>) -> Failure {
    let message = match reason {
        Some(reason) => format!("cannot use the team rules file {path}: {reason}"),
        None => format!("the team rules file {path} does not exist"),
    };
    Failure::usage(message).with_hint(
        "name a file of the repository with --team-rules (SLUICEGATE_TEAM_RULES), or turn the team rules off with \
         `--team-rules off`",
    )
}

/// Returns the failure that the file contains an invalid rule, with its first problem.
fn invalid_rules_failure(text: &NamedText, problems: &[LintProblem]) -> Failure {
    let help = problems.first().and_then(|problem| problem.help.clone());
    let hint =
        help.unwrap_or_else(|| "run `sluicegate rules lint` to see each error with its location".to_owned());
    Failure::usage(describe_first_problem(&text.name, problems)).with_hint(hint)
}
