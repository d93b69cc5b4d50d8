//! The rules of a local check: those of `--rules`, those of the checked files, or the default rules of the platform.

use crate::document_content::read_document_on_disk;
use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::policy;
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text::{format_and_more_of, quote_shell_word};
use sluicegate_git::{CommitId, Snapshot};
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::rules::{self, RuleSet};
use std::path::Path;

/// The rules of a local check.
pub(crate) enum CheckRules {
    /// The rules file of the checked files; `None` if it is missing.
    Project(Option<RuleSet>),
    /// The file of `--rules`, and its path as typed.
    Named(RuleSet, String),
    /// The rules that `rules init` writes, with a note about them.
    Default(RuleSet, String),
}

impl CheckRules {
    /// Returns the rules to evaluate; `None` if the project has no rules file.
    pub(crate) const fn rule_set(&self) -> Option<&RuleSet> {
        match self {
            Self::Project(rules) => rules.as_ref(),
            Self::Named(rules, _) | Self::Default(rules, _) => Some(rules),
        }
    }

    /// Converts to the rules to evaluate; `None` if the project has no rules file.
    pub(crate) fn into_rule_set(self) -> Option<RuleSet> {
        match self {
            Self::Project(rules) => rules,
            Self::Named(rules, _) | Self::Default(rules, _) => Some(rules),
        }
    }

    /// Returns the path of the rules file that the job named; `None` if the job did not name one.
    pub(crate) fn named_path(&self) -> Option<&str> {
        match self {
            Self::Named(_, path) => Some(path),
            Self::Project(_) | Self::Default(..) => None,
        }
    }

    /// Returns a note if the evaluated rules are not those of the project's rules file.
    pub(crate) fn describe_other_rules(&self) -> Option<String> {
        match self {
            Self::Project(_) => None,
            Self::Named(_, path) => Some(format!(
                "The rules in {path} were evaluated instead of the project's rules (--rules)."
            )),
            Self::Default(_, note) => Some(note.clone()),
        }
    }
}

impl Workspace<'_> {
    /// Returns the rules that a local check evaluates: those of `rules_file` if it is given, otherwise those of the
    /// project. The default rules are used only in a local run if neither the branch nor its target has a rules file.
    pub(crate) fn find_check_rules(
        &self,
        session: &Session,
        snapshot: &Snapshot<'_>,
        bases: &[CommitId],
        rules_file: Option<&Path>,
    ) -> Result<CheckRules, Failure> {
        if let Some(file) = rules_file {
            return self.read_named_rules(session, file);
        }
        let rules = self.read_rules_at(snapshot)?;
        if rules.is_some() || !self.needs_default_rules(snapshot, bases)? {
            return Ok(CheckRules::Project(rules));
        }
        let deleted_config_dir = None;
        let command = self.build_rules_init_command(snapshot, deleted_config_dir)?;
        let reason = if self.repo.is_plain_directory() {
            "the directory has no rules file"
        } else {
            "neither this branch nor its target has a rules file"
        };
        let note = format!(
            "The default rules were evaluated, because {reason}. A review by the platform needs a rules \
             file: `{command}` writes it."
        );
        let template = rules::render_rules_file_template(Enforcement::Warn);
        Ok(CheckRules::Default(RuleSet::parse(template.as_bytes()), note))
    }

    /// Returns whether the default rules are evaluated: in a local run, if the snapshot, the disk, the checked-out
    /// commit, the bases and the target branch have no rules file.
    fn needs_default_rules(&self, snapshot: &Snapshot<'_>, bases: &[CommitId]) -> Result<bool, Failure> {
        if !self.ci.host.is_local() || self.has_rules_file(snapshot)? || self.has_rules_file_on_disk() {
            return Ok(false);
        }
        let head = self.repo.head().ok().map(|head| head.commit);
        let target = self.find_target_branch()?.map(|(_, tip)| tip);
        for commit in bases.iter().cloned().chain(head).chain(target) {
            if self.has_rules_file(&self.repo.snapshot(commit))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads the rules file that the job passes with `--rules`. Fails if the file has errors. In CI, the file must be
    /// outside the checkout, because the change controls the files in the checkout.
    fn read_named_rules(&self, session: &Session, file: &Path) -> Result<CheckRules, Failure> {
        let absolute_path = session.env.current_dir().join(file);
        let typed_path = file.display().to_string();
        // A symbolic link is followed, as in every other path that the job passes.
        let real_path = absolute_path
            .canonicalize()
            .unwrap_or_else(|_| absolute_path.clone());
        let root = self.repo.root();
        // `LINK/..` is the parent of the link's target, which may be in the checkout.
        let is_inside = policy::find_path_in_repository(root, &absolute_path).is_some()
            || policy::find_path_in_repository(root, &real_path).is_some()
            || !policy::find_links_in_path(root, &absolute_path).is_empty();
        if is_inside && !self.ci.host.is_local() {
            let message =
                format!("cannot use the rules file {typed_path}: the change under review controls this file");
            return Err(Failure::usage(message).with_hint(
                "pass a file outside the checkout to --rules; without --rules, the project's rules file is evaluated",
            ));
        }
        // The outer error is that the file cannot be read, the inner one that its content is not a document.
        let document = read_document_on_disk(&real_path).map_err(|error| {
            let context = format!("could not read the rules file {typed_path}");
            Failure::new(ExitStatus::Usage, anyhow::Error::new(error).context(context)).with_hint(
                "correct --rules or SLUICEGATE_RULES; the path is relative to the current directory",
            )
        })?;
        let build_failure =
            |reason: String| Failure::usage(format!("the rules file {typed_path} is invalid: {reason}"));
        let bytes = document.map_err(|error| build_failure(error.to_string()))?;
        let problems = rules::lint_rules_file(&bytes);
        let mut errors = problems.iter().filter(|problem| problem.is_error);
        if let Some(first_error) = errors.next() {
            let other_errors = match errors.count() {
                0 => String::new(),
                error_count => format!(" ({})", format_and_more_of(error_count, "error")),
            };
            let reason = format!(
                "line {}: {}{other_errors}",
                first_error.position.line, first_error.message
            );
            let hint = format!(
                "run `sluicegate rules lint {}` to see each error with its location",
                quote_shell_word(&typed_path)
            );
            return Err(build_failure(reason).with_hint(hint));
        }
        Ok(CheckRules::Named(RuleSet::parse(&bytes), typed_path))
    }
}
