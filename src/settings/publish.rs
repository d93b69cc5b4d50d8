//! The settings of a publish.

use super::platform::{number, within};
use super::selection::globs;
use super::table::variable;
use super::{Revisions, Selection, SettingsError, Sources};
use crate::cli::{CiArgs, IfExists, OnIgnored, PublishArgs, RequiredEngine, Select, Source, parse_value};
use globset::GlobSet;
use std::path::PathBuf;
use std::time::Duration;

/// In seconds.
pub(super) const DEFAULT_LOOKUP: u64 = 10;
pub(super) const LONGEST_LOOKUP: u64 = 60 * 60;

/// The settings of a publish.
#[derive(Debug, Clone)]
pub struct Publish {
    /// The artifact's shared pipeline prefix.
    pub prefix: String,
    /// The version's name, a template.
    pub version_name: String,
    /// The commit to publish, and the branch recorded with the version; there is no base.
    pub revisions: Revisions,
    /// Which files.
    pub selection: Selection,
    /// Which of them.
    pub select: Select,
    /// Where the files come from.
    pub from: Source,
    /// What an existing version means.
    pub if_exists: IfExists,
    /// What ignored resources mean.
    pub on_ignored: OnIgnored,
    /// Check the published artifact.
    pub verify: bool,
    /// How long what may still appear is looked for.
    pub lookup_timeout: Duration,
    /// The report of a review that must have passed on the same commit.
    pub require_review: Option<PathBuf>,
    /// Whose review that may be.
    pub require_review_engine: RequiredEngine,
    /// Send nothing.
    pub dry_run: bool,
    /// Print the plan of a dry run as JSON.
    pub json: bool,
    /// Where to write the receipt.
    pub receipt: Option<PathBuf>,
}

impl Sources<'_> {
    /// The settings of a publish.
    pub fn publish(&self, args: &PublishArgs) -> Result<Publish, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish);
        let version = layers.text(
            args.what.version_name.clone(),
            variable::VERSION_NAME,
            file.version_name.clone(),
        );
        let path = |text: &str| Ok(PathBuf::from(text));
        let receipt = layers.pick(
            args.what.receipt.clone(),
            variable::RECEIPT,
            path,
            self.kept("publish.receipt", file.receipt.as_ref())?,
        )?;
        let if_exists = layers.pick(
            args.what.if_exists,
            variable::IF_EXISTS,
            parse_value,
            file.if_exists,
        )?;
        let on_ignored = layers.pick(
            args.what.on_ignored,
            variable::ON_IGNORED,
            parse_value,
            file.on_ignored,
        )?;
        let require_review = layers.pick(
            args.require_review.clone(),
            variable::REQUIRE_REVIEW,
            path,
            self.kept("publish.require-review", file.require_review.as_ref())?,
        )?;
        let engine = layers.pick(
            args.require_review_engine,
            variable::REQUIRE_REVIEW_ENGINE,
            parse_value,
            None,
        )?;
        let here = self.env.current_dir();
        Ok(Publish {
            prefix: self.prefix(args.what.prefix.clone())?,
            version_name: version
                .ok_or_else(|| needed("version name", "--version-name", variable::VERSION_NAME))?,
            revisions: self.published(args)?,
            selection: self.selection(&args.include, &args.exclude)?,
            select: layers
                .pick(args.what.select, variable::SELECT, parse_value, file.select)?
                .unwrap_or_default(),
            from: layers
                .pick(args.what.from, variable::FROM, parse_value, file.from)?
                .unwrap_or_default(),
            if_exists: if_exists.unwrap_or_default(),
            on_ignored: on_ignored.unwrap_or_default(),
            verify: !layers.switch(args.what.no_verify, variable::NO_VERIFY, file.no_verify)?,
            lookup_timeout: self.lookup_timeout(args)?,
            dry_run: layers.switch(args.dry_run, variable::DRY_RUN, None)?,
            json: args.json,
            require_review: require_review.map(|path| here.join(path)),
            require_review_engine: engine.unwrap_or_default(),
            receipt: receipt.map(|path| here.join(path)),
        })
    }

    fn lookup_timeout(&self, args: &PublishArgs) -> Result<Duration, SettingsError> {
        let lookup = self.layers().pick(
            args.what.lookup_timeout,
            variable::LOOKUP_TIMEOUT,
            number,
            self.file.publish.lookup_timeout,
        )?;
        let seconds = within(lookup, DEFAULT_LOOKUP, 0, LONGEST_LOOKUP, "lookup timeout")?;
        Ok(Duration::from_secs(seconds))
    }

    /// For the job alone to say, as for a review.
    pub fn published(&self, args: &PublishArgs) -> Result<Revisions, SettingsError> {
        let layers = self.layers();
        Ok(Revisions {
            all: true,
            base: None,
            head: layers.text(args.head.clone(), variable::HEAD, None),
            branch: layers.text(args.branch.clone(), variable::BRANCH, None),
            deepen: layers.switch(args.deepen, variable::DEEPEN, None)?,
        })
    }

    /// The artifact's prefix, which most artifact calls need.
    pub fn prefix(&self, flag: Option<String>) -> Result<String, SettingsError> {
        self.optional_prefix(flag)
            .ok_or_else(|| needed("prefix", "--prefix", variable::PREFIX))
    }

    /// The artifact's prefix, if one is set.
    pub fn optional_prefix(&self, flag: Option<String>) -> Option<String> {
        self.layers()
            .text(flag, variable::PREFIX, self.file.publish.prefix.clone())
    }
}

/// On which branches and tags `sluicegate ci` publishes.
#[derive(Debug, Clone)]
pub struct PublishOn {
    branches: GlobSet,
    tags: GlobSet,
}

impl PublishOn {
    /// Whether nothing is ever published.
    pub fn is_never(&self) -> bool {
        self.branches.is_empty() && self.tags.is_empty()
    }

    /// Whether the branch is one to publish on.
    pub fn has_branch(&self, branch: &str) -> bool {
        self.branches.is_match(branch)
    }

    /// Whether the tag is one to publish on.
    pub fn has_tag(&self, tag: &str) -> bool {
        self.tags.is_match(tag)
    }
}

impl Sources<'_> {
    /// On which branches and tags to publish.
    pub fn publish_on(&self, args: &CiArgs) -> Result<PublishOn, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.publish_on);
        let whole = |line: &str| Ok(line.to_owned());
        let (branches, tags) = (&args.publish_on_branch, &args.publish_on_tag);
        let branches = layers.list(
            branches.clone(),
            variable::PUBLISH_ON_BRANCHES,
            whole,
            file.branches.clone(),
        )?;
        let tags = layers.list(tags.clone(), variable::PUBLISH_ON_TAGS, whole, file.tags.clone())?;
        Ok(PublishOn {
            branches: globs(&branches, "release/*")?,
            tags: globs(&tags, "v*")?,
        })
    }
}

fn needed(what: &str, flag: &str, variable: &str) -> SettingsError {
    SettingsError::new(format!("the {what} is not set")).with_hint(format!("give {flag} or set {variable}"))
}
