//! Lists each setting with its effective value and the origin of the value.
//!
//! The values are those of the sources before they are checked. Secrets are never shown, and neither are values that
//! can contain one.

use super::setting::Setting;
use super::setting_kind::SettingKind;
use super::setting_sources::UsedText;
use super::setting_table::{self, variable};
use super::{SettingSources, SettingsError};
use crate::job::cli::{GlobalArgs, ReportFlag};
use crate::job::policy::Strictness;
use clap::ValueEnum;
use sluicegate_yaml::{NodeRef, Tree, is_blank};
use std::collections::BTreeMap;
use std::path::Path;

/// A setting with its value and origin.
#[derive(Debug)]
pub struct EffectiveSetting {
    pub setting: &'static Setting,
    /// The value as text; `None` if it is hidden, or if the setting has no value and no default.
    pub value: Option<String>,
    /// Set if the value exists and is not shown.
    pub is_hidden: bool,
    pub origin: SettingOrigin,
}

/// The origin of an effective value.
#[derive(Debug)]
pub enum SettingOrigin {
    Flag(&'static str),
    Variable(&'static str),
    /// A line of the configuration file, in the version that is used.
    File {
        name: String,
        line: u32,
    },
    Default,
    /// The strictest value, because the configuration file, which may set another one, cannot be used.
    Strictest,
}

impl EffectiveSetting {
    /// Returns the key of the setting or, if the configuration file cannot contain the setting, its variable.
    pub fn name(&self) -> &'static str {
        match self.setting.key {
            "" => self.setting.variable,
            key => key,
        }
    }

    /// Returns the value as the table shows it.
    pub fn describe_value(&self) -> String {
        match &self.value {
            _ if self.is_hidden => "(hidden)".to_owned(),
            Some(value) if value.is_empty() => "(empty)".to_owned(),
            Some(value) => value.clone(),
            None => "-".to_owned(),
        }
    }
}

impl SettingOrigin {
    /// Returns the word for the origin in JSON.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Flag(_) => "flag",
            Self::Variable(_) => "variable",
            Self::File { .. } => "file",
            Self::Default | Self::Strictest => "default",
        }
    }

    /// Describes the origin as the table shows it.
    pub fn describe(&self) -> String {
        match self {
            Self::Flag(name) | Self::Variable(name) => (*name).to_owned(),
            Self::File { name, line } => format!("{name}, line {line}"),
            Self::Default => "default".to_owned(),
            Self::Strictest => "strictest, because the file cannot be used".to_owned(),
        }
    }
}

impl SettingSources<'_> {
    /// Returns all settings with their values, in the order of the table of settings. Only the common flags are
    /// considered, because the other flags belong to single commands. Fails if the lines of the configuration file
    /// cannot be found: the reader that finds them rejects some files that the reader of the settings accepts.
    pub fn list_effective_settings(
        &self,
        flags: &GlobalArgs,
    ) -> Result<Vec<EffectiveSetting>, SettingsError> {
        let tree = match &self.file_text {
            // A file with comments alone sets nothing.
            Some(UsedText { text: file, .. }) if is_blank(file.text.as_bytes()) => None,
            Some(UsedText { text: file, .. }) => {
                Some(Tree::parse_untagged(file.text.as_bytes()).map_err(|error| {
                    SettingsError::new(format!("cannot show the settings of {}: {error}", file.name))
                })?)
            }
            None => None,
        };
        let flag_values = collect_flag_values(flags);
        Ok(setting_table::all_settings()
            .map(|setting| self.resolve_effective_setting(setting, &flag_values, tree.as_ref()))
            .collect())
    }

    /// Resolves a setting to its value and origin: the flag, otherwise the variable, the configuration file or the
    /// default.
    fn resolve_effective_setting(
        &self,
        setting: &'static Setting,
        flag_values: &BTreeMap<&'static str, String>,
        tree: Option<&Tree<'_>>,
    ) -> EffectiveSetting {
        if let Some(value) = flag_values.get(setting.variable) {
            return self.build_effective_setting(setting, value.clone(), SettingOrigin::Flag(setting.flag));
        }
        let value = match self.env.get(setting.variable) {
            Some(value) => Some(value.to_owned()),
            // The value of a secret variable is hidden, so an empty text is enough to show that the variable is set.
            None => self.env.secret(setting.variable).map(|_| String::new()),
        };
        if let Some(value) = value {
            let value = value.lines().collect::<Vec<_>>().join(", ");
            return self.build_effective_setting(setting, value, SettingOrigin::Variable(setting.variable));
        }
        if let Some((value, origin)) = tree.and_then(|tree| self.find_file_value(setting, tree)) {
            return self.build_effective_setting(setting, value, origin);
        }
        if let Some(level) = find_strictest_level(setting).filter(|_| self.has_lost_policy()) {
            return self.build_effective_setting(setting, level.to_owned(), SettingOrigin::Strictest);
        }
        EffectiveSetting {
            setting,
            value: setting.format.describe_default(),
            is_hidden: false,
            origin: SettingOrigin::Default,
        }
    }

    /// Creates a setting with a value. The value is hidden if it is or may contain a secret, also one that was pasted
    /// into the wrong setting.
    fn build_effective_setting(
        &self,
        setting: &'static Setting,
        value: String,
        origin: SettingOrigin,
    ) -> EffectiveSetting {
        let is_missing_token_file =
            setting.variable == variable::TOKEN_FILE && !self.env.current_dir().join(&value).exists();
        let is_hidden =
            setting.kind == SettingKind::Secret || is_missing_token_file || may_be_url_with_secret(&value);
        EffectiveSetting {
            setting,
            value: (!is_hidden).then_some(value),
            is_hidden,
            origin,
        }
    }

    /// Returns the value of the setting in the configuration file and its line, if the file may set it. A file that the
    /// target branch does not have yet may set fewer settings.
    fn find_file_value(&self, setting: &Setting, tree: &Tree<'_>) -> Option<(String, SettingOrigin)> {
        let file = self.file_text.as_ref()?;
        let is_allowed = if file.is_first_file {
            setting.kind.is_in_first_file()
        } else {
            setting.kind.is_in_file()
        };
        if !is_allowed || setting.key.is_empty() || self.removed_outputs.contains(&setting.key) {
            return None;
        }
        let mut node = tree.root();
        let mut line = 0;
        for name in setting.key.split('.') {
            let (_, position, value) = node.entries().find(|(key, _, _)| *key == name)?;
            (node, line) = (value, position.line);
        }
        if node.is_null() {
            return None;
        }
        let value = match setting.variable {
            variable::REPORT => self.format_used_reports(node),
            _ => format_node(node),
        };
        let name = file.text.name.clone();
        Some((value, SettingOrigin::File { name, line }))
    }

    /// Returns the reports of the configuration file in one line, without those whose paths must not be written.
    fn format_used_reports(&self, reports: NodeRef<'_, '_>) -> String {
        let used_reports = self.file.review.report.as_deref().unwrap_or_default();
        let texts = reports.items().into_iter().flatten().map(format_node);
        let used_texts = texts.filter(|text| {
            text.parse::<ReportFlag>()
                .is_ok_and(|report| used_reports.contains(&report))
        });
        used_texts.collect::<Vec<_>>().join(", ")
    }
}

/// Returns whether the value may be a URL with credentials, a query or a fragment. A mistyped URL such as
/// `https:/user:password@host` has credentials, too.
fn may_be_url_with_secret(value: &str) -> bool {
    let has_credentials = value
        .rsplit_once('@')
        .is_some_and(|(credentials, _)| credentials.contains(':'));
    has_credentials || (value.contains(":/") && value.contains(['?', '#']))
}

/// Returns the strictest value of a level that only the configuration file or the job sets; `None` for other settings.
fn find_strictest_level(setting: &Setting) -> Option<&'static str> {
    let is_level = matches!(setting.key, "review.fail-on" | "publish.compat")
        || setting.key.starts_with("project-checks.");
    match setting.strictness {
        Strictness::Scale(values) if is_level => values.first().copied(),
        _ => None,
    }
}

/// Returns a value of the configuration file in one line.
fn format_node(node: NodeRef<'_, '_>) -> String {
    if let Some(text) = node.text() {
        return text.to_owned();
    }
    if let Some(items) = node.items() {
        return items.map(format_node).collect::<Vec<_>>().join(", ");
    }
    let entries = node.entries();
    let entries: Vec<String> = entries
        .map(|(key, _, value)| format!("{key}: {}", format_node(value)))
        .collect();
    entries.join(", ")
}

/// Returns the values of the common flags that are given, by variable. Names every flag, so that a new flag that is
/// missing here does not compile.
fn collect_flag_values(flags: &GlobalArgs) -> BTreeMap<&'static str, String> {
    let GlobalArgs {
        config,
        base_url,
        project_id,
        agent_version,
        token_file,
        token_command,
        repo,
        config_dir,
        team_rules,
        ca_cert,
        client_cert,
        client_key,
        timeout,
        retries,
        ci,
        target_repository,
        policy,
        gate_changes,
        color,
        // These flags have no variable, so they are not settings.
        directory: _,
        out: _,
        quiet: _,
        verbose: _,
    } = flags;
    let repositories = (!target_repository.is_empty()).then(|| target_repository.join(", "));
    [
        (variable::CONFIG, config.as_deref().map(format_path_flag)),
        (variable::BASE_URL, base_url.clone()),
        (variable::PROJECT_ID, project_id.clone()),
        (variable::AGENT_VERSION, agent_version.clone()),
        (variable::TOKEN_FILE, token_file.as_deref().map(format_path_flag)),
        (variable::TOKEN_COMMAND, token_command.clone()),
        (variable::REPO, repo.as_deref().map(format_path_flag)),
        (variable::CONFIG_DIR, config_dir.clone()),
        (variable::TEAM_RULES, team_rules.clone()),
        (variable::CA_CERT, ca_cert.as_deref().map(format_path_flag)),
        (
            variable::CLIENT_CERT,
            client_cert.as_deref().map(format_path_flag),
        ),
        (variable::CLIENT_KEY, client_key.as_deref().map(format_path_flag)),
        (variable::TIMEOUT, timeout.map(|seconds| seconds.to_string())),
        (variable::RETRIES, retries.map(|count| count.to_string())),
        (variable::CI, ci.clone()),
        (variable::TARGET_REPOSITORY, repositories),
        (variable::POLICY, policy.as_ref().and_then(value_name)),
        (variable::GATE_CHANGES, gate_changes.as_ref().and_then(value_name)),
        (variable::COLOR, color.as_ref().and_then(value_name)),
    ]
    .into_iter()
    .filter_map(|(variable, value)| Some((variable, value?)))
    .collect()
}

fn format_path_flag(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the word for a value on the command line.
fn value_name<T: ValueEnum>(value: &T) -> Option<String> {
    Some(value.to_possible_value()?.get_name().to_owned())
}
