//! What every command needs: the repository, the CI host, colour.

use super::{FILE_NAME, Layers, SettingsError, Sources};
use crate::ci::Host;
use crate::cli::{Color, GlobalArgs, parse_value};
use crate::env::{self, Env};
use std::path::{Path, PathBuf};

/// The folder to look for the repository from: `--repo`, the variable, else the current folder.
pub fn repository_folder(args: &GlobalArgs, env: &Env) -> PathBuf {
    let named = args
        .repo
        .clone()
        .or_else(|| env.get(env::REPO).map(PathBuf::from));
    named.map_or_else(
        || env.current_dir().to_path_buf(),
        |path| env.current_dir().join(path),
    )
}

/// The configuration file: `--config`, the variable, else the one at the repository root.
pub fn config_file(args: &GlobalArgs, env: &Env, root: &Path) -> PathBuf {
    let named = args
        .config
        .clone()
        .or_else(|| env.get(env::CONFIG).map(PathBuf::from));
    named.map_or_else(|| root.join(FILE_NAME), |path| env.current_dir().join(path))
}

/// When to use colour; `NO_COLOR` is honoured unless colour is asked for by flag or variable.
pub fn color(args: &GlobalArgs, env: &Env) -> Result<Color, SettingsError> {
    let asked = Layers::new(env).pick(args.color, env::COLOR, parse_value, None)?;
    Ok(asked.unwrap_or(if env.get(env::NO_COLOR).is_some() {
        Color::Never
    } else {
        Color::Auto
    }))
}

/// Settings that hold for a run in a repository.
#[derive(Debug, Clone)]
pub struct Global {
    /// The CI host, if it is not to be detected.
    pub ci: Option<Host>,
    /// The platform's hidden folder, if it is not to be found.
    pub config_dir: Option<String>,
}

impl Sources<'_> {
    /// The host and the hidden folder.
    pub fn global(&self, args: &GlobalArgs) -> Result<Global, SettingsError> {
        let layers = self.layers();
        let ci = layers.text(args.ci.clone(), env::CI, self.file.ci.clone());
        let ci = match ci.as_deref() {
            None | Some("auto") => None,
            Some(name) => Some(
                name.parse::<Host>()
                    .map_err(|why| SettingsError::new(why.to_string()))?,
            ),
        };
        let config_dir = layers.text(
            args.config_dir.clone(),
            env::CONFIG_DIR,
            self.file.config_dir.clone(),
        );
        Ok(Global {
            ci,
            config_dir: config_dir.map(|name| folder_name(&name)).transpose()?,
        })
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
