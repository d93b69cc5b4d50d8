//! Reads the rules of the team: the version that applies to this run, and that of the checkout.

use crate::error::Failure;
use crate::job::policy::{
    self, CheckoutFiles, FilePresence, GateFile, GateFileReader, GateFileVersion, NamedText, UnusableFile,
};
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

    /// Reads the rules of the team from the policy revision. If only the checkout has the file, the result has no
    /// rules, and a limit of the verdict reports that. Fails if the job names a file that neither of them has, nor the
    /// current commit (a bare repository has no files on disk), because the run would evaluate no team rule. If the
    /// configuration file names it, a limit of the verdict reports that. In CI, a file that cannot be used is treated as
    /// missing, because otherwise it would stop the change that repairs it.
    pub(crate) fn read_team_rules(&self) -> Result<TeamRulesInForce, Failure> {
        let Some(path) = &self.team_rules_path else {
            return Ok(TeamRulesInForce::default());
        };
        let file = self.read_team_rules_file(path)?;
        if let Some(reason) = &file.unusable_reason {
            return Ok(TeamRulesInForce::for_unusable_file(path, reason));
        }
        let Some(text) = &file.policy_text else {
            if self.has_team_rules_of_job && file.checkout_text.is_none() && !self.is_committed(path) {
                return Err(missing_file_failure(path, file.missing_reason.as_deref()));
            }
            let limit = match file.missing_reason {
                Some(reason) if file.checkout_text.is_some() => Some(describe_unused_rules(&reason)),
                missing_reason if self.sources.names_team_rules(path) => {
                    Some(describe_missing_rules(path, missing_reason.as_deref()))
                }
                _ => None,
            };
            return Ok(TeamRulesInForce {
                limit: limit.map(|text| build_verdict_limit(path, text)),
                ..TeamRulesInForce::default()
            });
        };
        match TeamRuleSet::parse(text.text.as_bytes()) {
            Ok(rules) => Ok(TeamRulesInForce { rules, limit: None }),
            Err(problems) if self.unusable_file_treatment() == UnusableFile::TreatAsMissing => {
                let reason = describe_first_problem(&text.name, &problems);
                Ok(TeamRulesInForce::for_unusable_file(path, &reason))
            }
            Err(problems) => Err(invalid_rules_failure(text, &problems)),
        }
    }

    /// Returns the rules of the team that a waiver may name: those that apply to this run, and those of the checkout,
    /// because the waivers file of the checkout may name them. An invalid file has no rules.
    pub(crate) fn list_known_team_rules(&self) -> Result<Vec<TeamRuleSet>, Failure> {
        let Some(path) = &self.team_rules_path else {
            return Ok(Vec::new());
        };
        let file = self.read_team_rules_file(path)?;
        let texts = [file.policy_text, file.checkout_text];
        Ok(texts
            .iter()
            .flatten()
            .filter_map(|text| TeamRuleSet::parse(text.text.as_bytes()).ok())
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

    /// Returns whether the current commit of the repository has a file at this path.
    fn is_committed(&self, path: &str) -> bool {
        let head = self.repo.head();
        head.is_ok_and(|head| matches!(self.repo.find_file(&head.commit, path), Ok(Some(_))))
    }

    /// Reads the team rules file that applies to this run. The file may be missing.
    fn read_team_rules_file(&self, path: &str) -> Result<GateFile, Failure> {
        let reader = GateFileReader {
            repo: &self.repo,
            policy_revision: &self.policy_revision,
            checkout: CheckoutFiles::for_run(&self.repo, Some(&self.ci), &self.local_files)?,
            on_unusable: self.unusable_file_treatment(),
        };
        Ok(reader.read_file(path, FilePresence::Optional, MAX_TEAM_RULES_BYTES)?)
    }
}

impl TeamRulesInForce {
    /// Creates an empty set of rules, because the file that applies to this run cannot be used. A limit of the verdict,
    /// a fact that reports show next to it, contains the `reason`.
    fn for_unusable_file(path: &str, reason: &str) -> Self {
        let text = format!(
            "the team rules file that applies to this run cannot be used, so it is treated as missing, and no team rule is evaluated: {reason}"
        );
        Self {
            rules: TeamRuleSet::default(),
            limit: Some(build_verdict_limit(path, text)),
        }
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
    problems.first().map_or_else(
        || name.to_owned(),
        |problem| {
            let position = problem.position;
            format!(
                "{name}:{}:{}: {}",
                position.line, position.column, problem.message
            )
        },
    )
}

/// Returns the failure that the file, which the job names, does not exist. `reason` says why the policy revision has no
/// file, if that is known.
fn missing_file_failure(path: &str, reason: Option<&str>) -> Failure {
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
