//! Shows the rules, creates or checks the rules file, and tests team rules.

pub(crate) mod explain;
pub(crate) mod lint;
pub(crate) mod team;

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputArgs, OutputFormat};
use crate::operations::init::new_files::create_file;
use crate::session::response_output::format_json;
use crate::session::{CommandResult, Session};
use crate::workspace::config_dir_prompt::require_config_dir;
use crate::workspace::omitted_file::reject_omitted_file;
use crate::workspace::team_rules::describe_first_problem;
use crate::workspace::{Workspace, find_config_dir_in};
use serde_json::{Value, json};
use sluicegate_base::text::{self, format_path, wrap};
use sluicegate_git::Snapshot;
use sluicegate_pipelines::findings::Enforcement;
use sluicegate_pipelines::pipelines::{RULES_FILE, rules_path};
use sluicegate_pipelines::project::{CheckLevels, ProjectCheck};
use sluicegate_pipelines::rules::{self, RuleSet, RuleState};
use sluicegate_pipelines::team_rules::TeamRuleSet;
use std::io;

/// Maximum width of a line of the list, in columns.
const LINE_WIDTH: usize = 80;

/// Prints all rules, team rules and project checks, each with its state in this repository. Outside a repository, there
/// are no states and no team rules.
pub(crate) fn print_rules(session: &Session, output: OutputArgs) -> CommandResult {
    let project = read_rules_and_levels(session)?;
    let rule_set = project.as_ref().and_then(|project| project.rules.as_ref());
    if let Some(reason) = rule_set.and_then(RuleSet::unusable_reason) {
        session.ui.warn_with_hint(
            &format!("the levels of the platform's rules are unknown: {reason}"),
            "run `sluicegate rules lint` to see each error with its location",
        );
    }
    let mut entries = list_platform_rules(rule_set);
    if let Some(project) = &project {
        entries.extend(list_team_rules(&project.team_rules));
    }
    let levels = project.as_ref().map(|project| project.levels);
    entries.extend(list_project_checks(levels));
    let text = match output.output {
        OutputFormat::Json => format_json(&entries.iter().map(ListedRule::to_json).collect::<Value>()),
        OutputFormat::Text => entries.iter().map(ListedRule::render_text).collect(),
    };
    session.ui.print_result(&text)?;
    Ok(ExitStatus::Success)
}

/// Returns an entry for each rule of the platform, with its state in the rules file.
fn list_platform_rules(rule_set: Option<&RuleSet>) -> Vec<ListedRule> {
    let mut entries = Vec::new();
    for rule in rules::registry() {
        let documentation = rule.documentation();
        entries.push(ListedRule {
            id: documentation.id.to_owned(),
            kinds: documentation.kinds.iter().map(|kind| kind.name()).collect(),
            summary: documentation.summary.to_owned(),
            state: rule_set.map(|rule_set| state_name(rule_set.state(documentation.id))),
        });
    }
    entries
}

/// Returns an entry for each team rule, with its level.
fn list_team_rules(team_rules: &TeamRuleSet) -> Vec<ListedRule> {
    let mut entries = Vec::new();
    for rule in team_rules.rules() {
        entries.push(ListedRule {
            id: rule.full_id(),
            kinds: Vec::new(),
            summary: rule.summary(),
            state: Some(rule.level_name()),
        });
    }
    entries
}

/// Returns an entry for each project check, with its level. Without `levels`, the entries have no state.
fn list_project_checks(levels: Option<CheckLevels>) -> Vec<ListedRule> {
    let mut entries = Vec::new();
    for check in ProjectCheck::ALL {
        entries.push(ListedRule {
            id: check.id().to_owned(),
            kinds: Vec::new(),
            summary: check.documentation().summary.to_owned(),
            state: levels.map(|levels| levels.enforcement_of(check).map_or("off", Enforcement::name)),
        });
    }
    entries
}

/// A rule, a team rule or a project check in the list.
struct ListedRule {
    id: String,
    kinds: Vec<&'static str>,
    summary: String,
    /// The state of the rule in this repository; `None` outside a repository or without a rules file.
    state: Option<&'static str>,
}

impl ListedRule {
    /// Returns the rule as JSON. The key `here` is the state in this repository.
    fn to_json(&self) -> Value {
        json!({ "id": self.id, "kinds": self.kinds, "summary": self.summary, "here": self.state })
    }

    /// Renders the id and the state of the rule, and below them what it requires. If the rule applies to only one kind
    /// of pipeline, this kind comes first.
    fn render_text(&self) -> String {
        let state = self.state.map(|state| format!(" ({state})")).unwrap_or_default();
        let kind = match self.kinds.as_slice() {
            [kind] => format!("{kind}: "),
            _ => String::new(),
        };
        let summary = wrap_safely(&format!("{kind}{}", self.summary), "    ", "    ", LINE_WIDTH);
        format!("{}{state}\n{}\n", self.id, summary.join("\n"))
    }
}

/// Returns the text in lines of at most `columns` that are safe to print: the text of a team rule comes from the
/// repository. Each line is escaped again, because only a broken text may begin a line with a command of the CI host.
fn wrap_safely(text: &str, first_indent: &str, next_indent: &str, columns: usize) -> Vec<String> {
    let lines = wrap::wrap_lines(&text::escape_line(text), first_indent, next_indent, columns);
    lines.iter().map(|line| text::escape_line(line)).collect()
}

/// Returns the name of the rule's state. A rule with an invalid configuration has the name of its error type.
const fn state_name(state: RuleState) -> &'static str {
    match state {
        RuleState::Enabled(Enforcement::Error) => "error",
        RuleState::Enabled(Enforcement::Warn) => "warn",
        RuleState::Disabled => "disabled",
        RuleState::Broken(error_type) => error_type,
        RuleState::Missing => "not in the rules file",
        RuleState::Unknown => "unknown",
    }
}

/// The rules of the checkout, and the levels of the project checks.
struct ProjectRules {
    rules: Option<RuleSet>,
    team_rules: TeamRuleSet,
    levels: CheckLevels,
}

/// Reads the rules, the team rules and the levels of the project checks. Returns `None` outside a repository, because
/// `rules list` also works there. A team rules file with errors only causes a warning.
fn read_rules_and_levels(session: &Session) -> Result<Option<ProjectRules>, Failure> {
    let Some(workspace) = open_existing_workspace(session)? else {
        return Ok(None);
    };
    let snapshot = workspace.read_checkout_snapshot(session)?;
    let no_flag = None;
    let checks = workspace.sources.resolve_project_checks(no_flag)?;
    Ok(Some(ProjectRules {
        rules: workspace.read_rules_at(&snapshot)?,
        team_rules: read_valid_team_rules(session, &workspace, &snapshot)?,
        levels: checks.levels,
    }))
}

/// Opens the repository and reads its settings. Returns `None` if the current directory is outside a repository or in a
/// bare one, which has no files on disk; any other problem, such as a repository that cannot be read, is an error.
pub(crate) fn open_existing_workspace(session: &Session) -> Result<Option<Workspace<'_>>, Failure> {
    match session.find_repository()? {
        Some(_) => session.open_workspace().map(Some),
        None => Ok(None),
    }
}

/// Reads the team rules of the snapshot. If their file has errors, or the configuration file names one that does not
/// exist, warns and returns no rules.
pub(crate) fn read_valid_team_rules(
    session: &Session,
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
) -> Result<TeamRuleSet, Failure> {
    let team_rules = match workspace.read_checkout_team_rules(snapshot)? {
        Some((path, bytes)) => {
            TeamRuleSet::parse(&bytes).map_err(|problems| Some(describe_first_problem(&path, &problems)))
        }
        None => Err(workspace.explain_missing_team_rules(snapshot, &workspace.sources)),
    };
    Ok(team_rules.unwrap_or_else(|reason| {
        if let Some(reason) = reason {
            session.ui.warn(&format!("skipping the team rules: {reason}"));
        }
        TeamRuleSet::default()
    }))
}

/// Fails if another hidden directory already has the platform's files, so that no second one is created by mistake.
/// Accepts a directory that `sluicegate.yaml` sets, and any directory if several already have the platform's files.
fn reject_second_config_dir(
    workspace: &Workspace<'_>,
    snapshot: &Snapshot<'_>,
    config_dir: &str,
) -> Result<(), Failure> {
    let Ok(Some(other_dir)) = find_config_dir_in(snapshot)? else {
        return Ok(());
    };
    if other_dir == config_dir || workspace.sources.sets_config_dir(config_dir) {
        return Ok(());
    }
    let message = format!(
        "`{other_dir}` already contains the platform's files, so `{config_dir}` would be a second hidden directory"
    );
    Err(Failure::usage(message).with_hint(format!(
        "use --config-dir {other_dir}; to use `{config_dir}` anyway, set `config-dir: {config_dir}` in sluicegate.yaml first"
    )))
}

/// Writes a rules file with all rules at level `warn`, into the platform's hidden directory. Fails if the file exists.
pub(crate) fn create_rules_file(session: &Session, output: OutputFormat) -> CommandResult {
    let workspace = session.open_workspace()?;
    let snapshot = workspace
        .repo
        .read_disk_snapshot(session.hook_index_path(&workspace.repo))?;
    let config_dir = match workspace.find_config_dir(&snapshot)? {
        Some(config_dir) => config_dir,
        None => require_config_dir(&snapshot, session, "sluicegate rules init")?,
    };
    reject_second_config_dir(&workspace, &snapshot, &config_dir)?;
    let file_path = rules_path(&config_dir);
    reject_omitted_file(&workspace.repo, &file_path)?;
    let root = workspace.repo.root();
    let path = root.join(&config_dir).join(RULES_FILE);
    let text = rules::render_rules_file_template(Enforcement::Warn);
    match create_file(root, &file_path, &text) {
        Ok(()) => {
            let path = format_path(&path);
            session.ui.print_result(&match output {
                OutputFormat::Json => {
                    format_json(&json!({ "schema": "sluicegate.rules-init/v1", "path": path }))
                }
                OutputFormat::Text => format!("wrote {}\n", text::escape_line(&path)),
            })?;
            Ok(ExitStatus::Success)
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let message = format!("{} already exists and was not changed", format_path(&path));
            Err(Failure::usage(message).with_hint("run `sluicegate rules lint` to check the rules file"))
        }
        Err(error) => {
            let context = format!("could not write {}", format_path(&path));
            Err(Failure::new(
                ExitStatus::Usage,
                anyhow::Error::new(error).context(context),
            ))
        }
    }
}
