//! Settings that every command needs: the repository, the CI host, the color.

use super::attestation_files::requested_path;
use super::setting_table::variable;
use super::{Layers, SettingSources, SettingsError};
use crate::env::{self, Env};
use crate::job::ci::{Host, UnknownHost};
use crate::job::cli::{ColorChoice, GateChanges, GlobalArgs, parse_value};
use crate::job::policy::PolicySource;
use sluicegate_pipelines::team_rules::TEAM_RULES_FILE;
use std::path::PathBuf;

/// The value of the setting `team-rules` that turns the team rules off.
const TEAM_RULES_OFF: &str = "off";

/// Returns the directory that the job sets as the repository: `--repo`, otherwise the variable.
pub fn requested_repository(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let repository = args
        .repo
        .clone()
        .or_else(|| env.get(variable::REPO).map(PathBuf::from));
    repository.map(|path| env.current_dir().join(path))
}

/// Returns the configuration file that the job sets: `--config`, otherwise the variable.
pub fn requested_config_file(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let flag = args.config.clone();
    let config_file = flag.or_else(|| env.get(variable::CONFIG).map(PathBuf::from));
    config_file.map(|path| env.current_dir().join(path))
}

/// Returns the files with the token and the certificates that flags and the environment name.
pub fn requested_connection_files(args: &GlobalArgs, env: &Env) -> Vec<PathBuf> {
    [
        requested_path(args.token_file.as_ref(), variable::TOKEN_FILE, env),
        requested_path(args.ca_cert.as_ref(), variable::CA_CERT, env),
        requested_path(args.client_cert.as_ref(), variable::CLIENT_CERT, env),
        requested_path(args.client_key.as_ref(), variable::CLIENT_KEY, env),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Returns the hidden directory that the job sets: `--config-dir`, otherwise the variable.
pub fn requested_config_dir(args: &GlobalArgs, env: &Env) -> Option<String> {
    Layers::new(env).resolve_text(args.config_dir.clone(), variable::CONFIG_DIR, None)
}

/// Returns the team rules file that `--team-rules` or the variable names, or `off`; `None` if neither is set.
pub fn requested_team_rules(args: &GlobalArgs, env: &Env) -> Option<String> {
    Layers::new(env).resolve_text(args.team_rules.clone(), variable::TEAM_RULES, None)
}

/// Returns where to read the gate configuration from: `--policy`, otherwise the variable or the default. The
/// configuration file cannot set it, because the file itself is read from there.
pub fn resolve_policy_source(args: &GlobalArgs, env: &Env) -> Result<PolicySource, SettingsError> {
    let source = Layers::new(env).resolve_setting(args.policy, variable::POLICY, parse_value, None)?;
    Ok(source.unwrap_or_default())
}

/// Returns additional URLs of the repository that the change goes to, for example of a mirror that the job clones: the
/// values of `--target-repository`, otherwise the lines of the variable.
pub fn requested_target_urls(args: &GlobalArgs, env: &Env) -> Result<Vec<String>, SettingsError> {
    Layers::new(env).resolve_text_list(&args.target_repository, variable::TARGET_REPOSITORY, None)
}

/// Returns how to treat a change that edits the gate configuration together with other files: `--gate-changes`,
/// otherwise the variable or the default. Only the job may set it, not the configuration file.
pub fn resolve_gate_changes(args: &GlobalArgs, env: &Env) -> Result<GateChanges, SettingsError> {
    let gate_changes =
        Layers::new(env).resolve_setting(args.gate_changes, variable::GATE_CHANGES, parse_value, None)?;
    Ok(gate_changes.unwrap_or_default())
}

/// Returns the CI host that `--ci` or the variable names, or `None` to detect the host. The configuration file cannot
/// set it.
pub fn requested_host(args: &GlobalArgs, env: &Env) -> Result<Option<Host>, SettingsError> {
    match Layers::new(env)
        .resolve_text(args.ci.clone(), variable::CI, None)
        .as_deref()
    {
        None | Some("auto") => Ok(None),
        Some(name) => match name.parse() {
            Ok(host) => Ok(Some(host)),
            Err(error) => Err(SettingsError::new(UnknownHost::to_string(&error))),
        },
    }
}

/// Returns when to color the output. A flag or the program's own variable decides; otherwise the variables that other
/// programs follow, in this order: `NO_COLOR`, `FORCE_COLOR` or `CLICOLOR_FORCE`, `CLICOLOR=0` and `TERM=dumb`.
pub fn resolve_color_choice(args: &GlobalArgs, env: &Env) -> Result<ColorChoice, SettingsError> {
    let choice = Layers::new(env).resolve_setting(args.color, variable::COLOR, parse_value, None)?;
    Ok(choice.unwrap_or_else(|| find_common_color_choice(env)))
}

/// Returns the color choice from variables that many programs follow. `NO_COLOR` takes precedence over the others.
fn find_common_color_choice(env: &Env) -> ColorChoice {
    let is_forced = env::FORCE_COLOR.iter().any(|name| {
        env.get(name)
            .is_some_and(|value| value != "0" && value != "false")
    });
    if env.get(env::NO_COLOR).is_some() {
        ColorChoice::Never
    } else if is_forced {
        ColorChoice::Always
    } else if env.get(env::CLICOLOR) == Some("0") || env.get(env::TERM) == Some("dumb") {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    }
}

impl SettingSources<'_> {
    /// Returns the hidden directory that a flag, a variable or the configuration file sets, or `None` if the repository
    /// must be searched for it.
    pub fn resolve_config_dir(&self, args: &GlobalArgs) -> Result<Option<String>, SettingsError> {
        let file = self.file.config_dir.clone();
        let name =
            self.layers()
                .resolve_expanded_text(args.config_dir.clone(), variable::CONFIG_DIR, file)?;
        name.map(|name| parse_config_dir(&name)).transpose()
    }

    /// Returns the hidden directory that the configuration file sets, without the flag and the variable of the job.
    pub fn find_policy_config_dir(&self) -> Option<String> {
        let name = self.file.config_dir.as_deref()?;
        parse_config_dir(name).ok()
    }

    /// Returns whether the configuration file sets this as the hidden directory.
    pub fn sets_config_dir(&self, config_dir: &str) -> bool {
        match &self.file.config_dir {
            Some(text) => parse_config_dir(text).is_ok_and(|file_dir| file_dir == config_dir),
            None => false,
        }
    }
}

impl SettingSources<'_> {
    /// Returns whether the configuration file turns the team rules off.
    pub fn has_team_rules_off(&self) -> bool {
        self.file.review.team_rules.as_deref() == Some(TEAM_RULES_OFF)
    }

    /// Returns whether the configuration file itself names this file as that of the team rules.
    pub fn names_team_rules(&self, path: &str) -> bool {
        let name = self.file.review.team_rules.as_deref();
        name.is_some_and(|name| parse_team_rules_path(name).is_ok_and(|file_path| file_path == path))
    }

    /// Returns the path of the team's rules file relative to the repository root, or `None` if the rules are off. By
    /// default, the file is in the directory of the configuration file.
    pub fn resolve_team_rules_path(
        &self,
        args: &GlobalArgs,
        config_file: Option<&str>,
    ) -> Result<Option<String>, SettingsError> {
        let file = self.file.review.team_rules.clone();
        let path =
            self.layers()
                .resolve_expanded_text(args.team_rules.clone(), variable::TEAM_RULES, file)?;
        parse_team_rules_setting(path.as_deref(), config_file)
    }

    /// Returns the path of the team's rules file as [`Self::resolve_team_rules_path`] does, but without the flag and
    /// the variable of the job.
    pub fn find_policy_team_rules_path(
        &self,
        config_file: Option<&str>,
    ) -> Result<Option<String>, SettingsError> {
        parse_team_rules_setting(self.file.review.team_rules.as_deref(), config_file)
    }
}

/// Parses the value of the setting `team-rules` to the path of the file, or `None` if the rules are off. Without a
/// value, the file is in the directory of the configuration file.
fn parse_team_rules_setting(
    value: Option<&str>,
    config_file: Option<&str>,
) -> Result<Option<String>, SettingsError> {
    match value {
        Some(TEAM_RULES_OFF) => Ok(None),
        Some(path) => parse_team_rules_path(path).map(Some),
        None => Ok(Some(match config_file.and_then(|path| path.rsplit_once('/')) {
            Some((directory, _)) => format!("{directory}/{TEAM_RULES_FILE}"),
            None => TEAM_RULES_FILE.to_owned(),
        })),
    }
}

/// Parses the path of a file in the repository. The path must be relative and must not contain `..` or `.git`. A
/// leading `./` is removed.
fn parse_team_rules_path(text: &str) -> Result<String, SettingsError> {
    let path = text.trim_start_matches("./");
    let is_inside = !path.starts_with('/') && !path.contains(['\\', '\0', ':']);
    let has_names = path
        .split('/')
        .all(|name| !matches!(name, "" | "." | ".." | ".git"));
    if is_inside && has_names {
        return Ok(path.to_owned());
    }
    let message = format!("team rules file {text:?} is not the path of a file in the repository");
    Err(SettingsError::new(message).with_hint("write a path relative to the repository root, or `off`"))
}

/// Parses the name of a directory at the repository root. A leading `./` and a trailing slash are removed; other
/// slashes are errors.
fn parse_config_dir(text: &str) -> Result<String, SettingsError> {
    let name = text.trim_end_matches('/').trim_start_matches("./");
    let is_invalid = name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']);
    if is_invalid {
        let message =
            format!("hidden directory {text:?} is not the name of a directory at the repository root");
        return Err(SettingsError::new(message));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn team_rules_path_stays_in_repository() {
        assert_eq!(
            parse_team_rules_path("./gate/rules.yaml").unwrap(),
            "gate/rules.yaml"
        );
        for wrong in [
            "",
            "/etc/rules.yaml",
            "../rules.yaml",
            "a/../b",
            ".git/config",
            "a//b",
            "C:\\rules.yaml",
        ] {
            assert!(parse_team_rules_path(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn configuration_folder_is_one_name() {
        assert_eq!(parse_config_dir(".platform/").unwrap(), ".platform");
        for wrong in ["", "/", "..", "a/b", "../x"] {
            assert!(parse_config_dir(wrong).is_err(), "{wrong:?}");
        }
    }
}
