//! What every command needs: the repository, the CI host, colour.

use super::table::variable;
use super::{Layers, SettingsError, Sources};
use crate::base::env::{self, Env};
use crate::job::ci::{Host, UnknownHost};
use crate::job::cli::{ColorChoice, GateChanges, GlobalArgs, parse_value};
use crate::job::policy::Choice;
use std::path::PathBuf;

/// The folder that was named as the repository, if one was.
pub fn named_repository(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let named = args
        .repo
        .clone()
        .or_else(|| env.get(variable::REPO).map(PathBuf::from));
    named.map(|path| env.current_dir().join(path))
}

/// The configuration file that the job names: `--config`, else the variable.
pub fn named_config(args: &GlobalArgs, env: &Env) -> Option<PathBuf> {
    let flag = args.config.clone();
    let named = flag.or_else(|| env.get(variable::CONFIG).map(PathBuf::from));
    named.map(|path| env.current_dir().join(path))
}

/// The platform's hidden folder that the job names: `--config-dir`, else the variable.
pub fn named_config_dir(args: &GlobalArgs, env: &Env) -> Option<String> {
    Layers::new(env).text(args.config_dir.clone(), variable::CONFIG_DIR, None)
}

/// Which version of the configuration file counts.
pub fn policy_choice(args: &GlobalArgs, env: &Env) -> Result<Choice, SettingsError> {
    let asked = Layers::new(env).pick(args.policy, variable::POLICY, parse_value, None)?;
    Ok(asked.unwrap_or_default())
}

/// What a change of the gate's own files, together with others, means.
pub fn gate_changes(args: &GlobalArgs, env: &Env) -> Result<GateChanges, SettingsError> {
    let asked = Layers::new(env).pick(args.gate_changes, variable::GATE_CHANGES, parse_value, None)?;
    Ok(asked.unwrap_or_default())
}

/// The CI host, if it is not to be detected.
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

/// When to use colour; `NO_COLOR` is honoured unless colour is asked for by flag or variable.
pub fn color(args: &GlobalArgs, env: &Env) -> Result<ColorChoice, SettingsError> {
    let asked = Layers::new(env).pick(args.color, variable::COLOR, parse_value, None)?;
    Ok(asked.unwrap_or(if env.get(env::NO_COLOR).is_some() {
        ColorChoice::Never
    } else {
        ColorChoice::Auto
    }))
}

impl Sources<'_> {
    /// The platform's hidden folder, if it is not to be found.
    pub fn config_dir(&self, args: &GlobalArgs) -> Result<Option<String>, SettingsError> {
        let file = self.file.config_dir.clone();
        let name = self
            .layers()
            .text(args.config_dir.clone(), variable::CONFIG_DIR, file);
        name.map(|name| folder_name(&name)).transpose()
    }

    /// Whether the configuration file names this as the platform's hidden folder.
    pub fn file_names_folder(&self, folder: &str) -> bool {
        let named = self.file.config_dir.as_deref().map(folder_name);
        named.is_some_and(|named| named.is_ok_and(|named| named == folder))
    }
}

/// A folder at the root: one name, perhaps with a slash behind it.
fn folder_name(text: &str) -> Result<String, SettingsError> {
    let name = text.trim_end_matches('/').trim_start_matches("./");
    if name.is_empty() || name == "." || name == ".." || name.contains(['/', '\\', '\0']) {
        let message =
            format!("the configuration folder {text:?} is not the name of a folder at the repository root");
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
