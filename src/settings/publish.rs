//! The settings of a publish.

use super::{Selection, SettingsError, Sources};
use crate::cli::{IfExists, OnIgnored, PublishArgs, PublishFrom, parse_value};
use crate::env;
use std::path::PathBuf;

/// The settings of a publish.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The artifact's shared pipeline prefix.
    pub prefix: String,
    /// The version's name, a template.
    pub version_name: String,
    /// The revision to publish.
    pub head: Option<String>,
    /// The branch recorded with the version.
    pub branch: Option<String>,
    /// Fetch the history that the clone lacks.
    pub deepen: bool,
    /// Which files.
    pub selection: Selection,
    /// Where the files come from.
    pub from: PublishFrom,
    /// What an existing version means.
    pub if_exists: IfExists,
    /// What ignored resources mean.
    pub on_ignored: OnIgnored,
    /// Check the published artifact.
    pub verify: bool,
    /// Send nothing.
    pub dry_run: bool,
    /// Where to write the receipt.
    pub receipt: Option<PathBuf>,
}

impl Sources<'_> {
    /// The settings of a publish.
    pub fn publish(&self, args: &PublishArgs) -> Result<Publish, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish);
        let version = layers.text(
            args.version_name.clone(),
            env::VERSION_NAME,
            file.version_name.clone(),
        );
        let path = |text: &str| Ok(PathBuf::from(text));
        let receipt = layers.pick(args.receipt.clone(), env::RECEIPT, path, file.receipt.clone())?;
        let if_exists = layers.pick(args.if_exists, env::IF_EXISTS, parse_value, file.if_exists)?;
        let on_ignored = layers.pick(args.on_ignored, env::ON_IGNORED, parse_value, file.on_ignored)?;
        Ok(Publish {
            prefix: self.prefix(args.prefix.clone())?,
            version_name: version
                .ok_or_else(|| needed("version name", "--version-name", env::VERSION_NAME))?,
            head: layers.text(args.head.clone(), env::HEAD, None),
            branch: layers.text(args.branch.clone(), env::BRANCH, None),
            deepen: layers.switch(args.deepen, env::DEEPEN, None)?,
            selection: self.selection(&args.include, &args.exclude)?,
            from: layers
                .pick(args.from, env::FROM, parse_value, file.from)?
                .unwrap_or_default(),
            if_exists: if_exists.unwrap_or_default(),
            on_ignored: on_ignored.unwrap_or_default(),
            verify: !layers.switch(args.no_verify, env::NO_VERIFY, file.no_verify)?,
            dry_run: layers.switch(args.dry_run, env::DRY_RUN, file.dry_run)?,
            receipt: receipt.map(|path| self.env.current_dir().join(path)),
        })
    }

    /// The artifact's prefix, which most artifact calls need.
    pub fn prefix(&self, flag: Option<String>) -> Result<String, SettingsError> {
        self.optional_prefix(flag)
            .ok_or_else(|| needed("prefix", "--prefix", env::PREFIX))
    }

    /// The artifact's prefix, if one is set.
    pub fn optional_prefix(&self, flag: Option<String>) -> Option<String> {
        self.layers()
            .text(flag, env::PREFIX, self.file.publish.prefix.clone())
    }
}

fn needed(what: &str, flag: &str, variable: &str) -> SettingsError {
    SettingsError::new(format!("the {what} is not set")).with_hint(format!("give {flag} or set {variable}"))
}
