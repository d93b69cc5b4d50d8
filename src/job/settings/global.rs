//! Settings that every command needs: the repository, the CI host, the color.

use super::table::variable;
use super::{Layers, SettingsError, Sources};
use crate::env::{self, Env};
use crate::job::ci::{Host, UnknownHost};
use crate::job::cli::{ColorChoice, GateChanges, GlobalArgs, parse_value};
use crate::job::policy::Choice;
use std::path::PathBuf;

/// Returns the directory given as the repository, if any.
pub fn named_repository(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let named = args
        .repo
        .clone()
        .or_else(|| env.get(variable::REPO).map(PathBuf::from));
    named.map(|path| env.current_dir().join(path))
}

/// Returns the configuration file given by the job: `--config`, otherwise the variable.
pub fn named_config(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let flag = args.config.clone();
    let named = flag.or_else(|| env.get(variable::CONFIG).map(PathBuf::from));
    named.map(|path| env.current_dir().join(path))
}

/// Returns the platform's hidden directory given by the job: `--config-dir`, otherwise the variable.
pub fn named_config_dir(args: &GlobalArgs, env: &Env) -> Option<String> {
    Layers::new(env).text(args.config_dir.clone(), variable::CONFIG_DIR, None)
}

/// Returns where to read the gate configuration from.
pub fn policy_choice(args: &GlobalArgs, env: &Env) -> Result<Choice, SettingsError> {
    let asked = Layers::new(env).pick(args.policy, variable::POLICY, parse_value, None)?;
    Ok(asked.unwrap_or_default())
}

/// Returns the URLs of the repositories that the job names as the change's target.
pub fn target_repositories(args: &GlobalArgs, env: &Env) -> Result<Vec<String>, SettingsError> {
    let parse = |url: &str| Ok(url.to_owned());
    Layers::new(env).list(
        args.target_repository.clone(),
        variable::TARGET_REPOSITORY,
        parse,
        None,
    )
}

/// Returns how to treat a change that edits the gate configuration together with other files.
pub fn gate_changes(args: &GlobalArgs, env: &Env) -> Result<GateChanges, SettingsError> {
    let asked = Layers::new(env).pick(args.gate_changes, variable::GATE_CHANGES, parse_value, None)?;
    Ok(asked.unwrap_or_default())
}

/// Returns the CI host, or `None` to detect it.
pub fn host(args: &GlobalArgs, env: &Env) -> Result<Option<Host>, SettingsError> {
    match Layers::new(env)
        .text(args.ci.clone(), variable::CI, None)
        .as_deref()
    {
        None | Some("auto") => Ok(None),
        Some(name) => match name.parse() {
            Ok(host) => Ok(Some(host)),
            Err(why) => Err(SettingsError::new(UnknownHost::to_string(&why))),
        },
    }
}

/// Returns when to color the output. `NO_COLOR` is honored unless a flag or variable sets the color.
pub fn color(args: &GlobalArgs, env: &Env) -> Result<ColorChoice, SettingsError> {
    let asked = Layers::new(env).pick(args.color, variable::COLOR, parse_value, None)?;
    Ok(asked.unwrap_or(if env.get(env::NO_COLOR).is_some() {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    }))
}

impl Sources<'_> {
    /// Returns the platform's hidden directory, or `None` to find it.
    pub fn config_dir(&self, args: &GlobalArgs) -> Result<Option<String>, SettingsError> {
        let file = self.file.config_dir.clone();
        let name = self
            .layers()
            .expanded_text(args.config_dir.clone(), variable::CONFIG_DIR, file)?;
        name.map(|name| folder_name(&name)).transpose()
    }

    /// Returns whether the configuration file sets this as the platform's hidden directory.
    pub fn file_names_folder(&self, folder: &str) -> bool {
        let named = self.file.config_dir.as_deref().map(folder_name);
        named.is_some_and(|named| named.is_ok_and(|named| named == folder))
    }
}

/// Checks the name of a directory at the root. A trailing slash is allowed.
fn folder_name(text: &str) -> Result<String, SettingsError> {
    let name = text.trim_end_matches('/').trim_start_matches("./");
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
        let message =
            format!("configuration directory {text:?} is not the name of a directory at the repository root");
        return Err(SettingsError::new(message));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_folder_is_one_name() {
        assert_eq!(folder_name(".platform/").unwrap(), ".platform");
        for wrong in ["", "/", "..", "a/b", "../x"] {
            assert!(folder_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
