//! Runs `sluicegate settings`: shows each effective setting with its value and its origin.

use crate::error::Failure;
use crate::exit::ExitStatus;
use crate::job::cli::{OutputFormat, SettingsArgs};
use crate::job::policy::CheckoutFiles;
use crate::job::settings::EffectiveSetting;
use crate::operations::doctor::doctor_settings::resolve_all_settings;
use crate::session::response_output::{format_json, format_table_within};
use crate::session::{CommandResult, Session};
use serde_json::{Value, json};
use sluicegate_base::text;

/// Text in place of the configuration file if the command runs outside a repository.
const NO_REPOSITORY: &str = "no repository";

/// Runs `sluicegate settings`: lists the settings whose name contains an argument, or all settings, with their values
/// and origins. An argument that no name contains is an error, and so is an invalid setting of the connection. For any
/// other setting that a run would refuse, prints a warning, because its origin shows where to correct it.
pub(crate) fn run(session: &Session, args: &SettingsArgs) -> CommandResult {
    let (mut settings, config_file_source) = if let Some(repo) = session.find_repository()? {
        // The warning below also reports files that git's index hides.
        let workspace = session.open_workspace_in(repo, CheckoutFiles::OnDisk)?;
        // Only the errors of this call matter: it fails if a setting of the connection is invalid.
        workspace.sources.resolve_connection(&session.global)?;
        session.warn_of_unread_config_file(&workspace.repo);
        let config_file_source = workspace.describe_config_file_source();
        let settings = workspace.sources.list_effective_settings(&session.global)?;
        (settings, config_file_source)
    } else {
        let sources = session.read_setting_sources()?;
        sources.resolve_connection(&session.global)?;
        (
            sources.list_effective_settings(&session.global)?,
            NO_REPOSITORY.to_owned(),
        )
    };
    for name in &args.names {
        reject_unknown_name(name, &settings)?;
    }
    settings.retain(|setting| {
        args.names.is_empty()
            || args
                .names
                .iter()
                .any(|name| setting.name().contains(name.as_str()))
    });
    let result = match args.output.output {
        OutputFormat::Json => {
            let settings: Vec<Value> = settings.iter().map(setting_json).collect();
            format_json(
                &json!({ "schema": "sluicegate.settings/v1", "policy": config_file_source, "settings": settings }),
            )
        }
        OutputFormat::Text => {
            let rows: Vec<Vec<String>> = settings.iter().map(setting_row).collect();
            let table = format_table_within(&["setting", "value", "origin"], &rows, session.ui.width());
            let policy = text::escape_line(&config_file_source);
            format!("{table}\nConfiguration file: {policy}\n")
        }
    };
    session.ui.print_result(&result)?;
    if let Err(failure) = resolve_all_settings(session) {
        session
            .ui
            .warn(&format!("runs refuse these settings: {}", failure.to_note()));
    }
    Ok(ExitStatus::Success)
}

/// Fails if no setting has a name that contains this text. The hint names the setting that is probably meant.
fn reject_unknown_name(name: &str, settings: &[EffectiveSetting]) -> Result<(), Failure> {
    if settings.iter().any(|setting| setting.name().contains(name)) {
        return Ok(());
    }
    let job_name = settings
        .iter()
        .find(|setting| name == setting.setting.variable || name == setting.setting.flag);
    let known_names: Vec<&str> = settings
        .iter()
        .flat_map(|setting| {
            [
                setting.name(),
                setting.name().rsplit('.').next().unwrap_or_default(),
            ]
        })
        .collect();
    let hint = match job_name {
        Some(setting) => text::did_you_mean(setting.name()),
        None => text::suggest(name, &known_names)
            .unwrap_or_else(|| "run `sluicegate settings` to list all settings".to_owned()),
    };
    let message = format!(
        "no setting has a name that contains `{}`",
        text::escape_line(name)
    );
    Err(Failure::usage(message).with_hint(hint))
}

fn setting_row(setting: &EffectiveSetting) -> Vec<String> {
    vec![
        setting.name().to_owned(),
        setting.describe_value(),
        setting.origin.describe(),
    ]
}

fn setting_json(setting: &EffectiveSetting) -> Value {
    json!({
        "name": setting.name(),
        "variable": setting.setting.variable,
        "flag": setting.setting.flag,
        "value": setting.value,
        "hidden": setting.is_hidden,
        "origin": setting.origin.name(),
        "source": setting.origin.describe(),
    })
}
