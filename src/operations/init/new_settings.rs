//! Finds the values of flags that an existing configuration file does not contain, so that none is lost silently.

use crate::error::Failure;
use crate::job::cli::{GlobalArgs, InitArgs};
use crate::session::Session;
use crate::workspace::Workspace;
use sluicegate_base::text;
use std::fmt::Write as _;

/// Returns the lines to add to `sluicegate.yaml` for values that only the flags contain. Each setting is resolved with
/// and without the flags; if the results differ, the flag is needed.
pub(crate) fn list_new_setting_lines(
    session: &Session,
    workspace: &Workspace<'_>,
    args: &InitArgs,
) -> Result<Vec<String>, Failure> {
    let sources = &workspace.sources;
    let without_flags = GlobalArgs {
        project_id: None,
        agent_version: None,
        config_dir: None,
        ..session.global.clone()
    };
    // Each array contains the value with the flags, then the value without them.
    let connections = [
        sources.resolve_connection(&session.global)?,
        sources.resolve_connection(&without_flags)?,
    ];
    let ids = connections
        .each_ref()
        .map(|connection| connection.require_project_id().ok().map(|id| id.to_string()));
    let versions = connections
        .each_ref()
        .map(|connection| connection.require_agent_version().ok().map(str::to_owned));
    let config_dirs = [
        sources.resolve_config_dir(&session.global)?,
        sources.resolve_config_dir(&without_flags)?,
    ];
    let no_flag = None;
    let prefixes = [
        sources.resolve_optional_prefix(args.prefix.clone())?,
        sources.resolve_optional_prefix(no_flag)?,
    ];
    let settings = [
        ("project-id", ids, ""),
        ("agent-version", versions, ""),
        ("config-dir", config_dirs, ""),
        ("prefix", prefixes, " (under `publish`)"),
    ];
    let mut lines = Vec::new();
    for (key, [requested_value, existing_value], note) in settings {
        if let Some(value) = requested_value.filter(|value| existing_value.as_ref() != Some(value)) {
            lines.push(format!("{key}: {}{note}", serde_json::Value::from(value)));
        }
    }
    Ok(lines)
}

/// Returns the `sluicegate init` command with the flags that the user typed, so that a hint can repeat the command. The
/// flags that select the repository or its files come first.
pub(crate) fn format_typed_command(global: &GlobalArgs, args: &InitArgs) -> String {
    let adopt = args.adopt.map(|adopt| adopt.to_string());
    let [directory, repo, config] = [&global.directory, &global.repo, &global.config]
        .map(|path| path.as_ref().map(|path| path.to_string_lossy().into_owned()));
    let flags = [
        ("--directory", directory.as_ref()),
        ("--repo", repo.as_ref()),
        ("--config", config.as_ref()),
        ("--team-rules", global.team_rules.as_ref()),
        ("--project-id", global.project_id.as_ref()),
        ("--agent-version", global.agent_version.as_ref()),
        ("--host", args.host.as_ref()),
        ("--prefix", args.prefix.as_ref()),
        ("--source", args.source.as_ref()),
        ("--adopt", adopt.as_ref()),
    ];
    let mut command = "sluicegate init".to_owned();
    for (flag, value) in flags {
        if let Some(value) = value {
            let _ = write!(command, " {flag} {}", text::quote_shell_word(value));
        }
    }
    if args.sign {
        command.push_str(" --sign");
    }
    command
}
