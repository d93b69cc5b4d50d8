//! The settings of a review.

use super::platform::{number, within};
use super::selection::Of;
use super::table::variable;
use super::{Judging, Selection, SettingsError, Sources};
use crate::cli::{Fork, OnUnavailable, ReviewArgs, SelectionArgs, parse_value};

pub(super) const DEFAULT_BATCH: usize = 100;
pub(super) const LARGEST_BATCH: usize = 10_000;
pub(super) const DEFAULT_CONCURRENCY: usize = 4;
pub(super) const MOST_CONCURRENCY: usize = 64;

/// Which commit, against which base.
#[derive(Debug, Clone, Default)]
pub struct Revisions {
    /// All pipelines of the head commit.
    pub all: bool,
    /// Compare with the merge-base of this and head.
    pub base: Option<String>,
    /// The revision to review.
    pub head: Option<String>,
    /// The branch name sent to the platform.
    pub branch: Option<String>,
    /// Fetch the history that the clone lacks.
    pub deepen: bool,
}

/// The settings of a review.
#[derive(Debug, Clone)]
pub struct Review {
    /// Which commit, against which base.
    pub revisions: Revisions,
    /// Which files.
    pub selection: Selection,
    /// What fails the gate, and where it is told.
    pub judging: Judging,
    /// What no usable answer means.
    pub on_unavailable: OnUnavailable,
    /// What a change from a fork means.
    pub fork: Fork,
    /// Files in one request, at least 1.
    pub batch_size: usize,
    /// Requests at the same time, at least 1.
    pub concurrency: usize,
    /// Send nothing.
    pub dry_run: bool,
}

impl Sources<'_> {
    /// The settings of a review.
    pub fn review(&self, args: &ReviewArgs) -> Result<Review, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let batch_size = layers.pick(args.batch_size, variable::BATCH_SIZE, number, file.batch_size)?;
        let concurrency = layers.pick(args.concurrency, variable::CONCURRENCY, number, file.concurrency)?;
        let on_unavailable = layers.pick(
            args.on_unavailable,
            variable::ON_UNAVAILABLE,
            parse_value,
            file.on_unavailable,
        )?;
        let fork = layers.pick(args.fork, variable::FORK, parse_value, file.fork)?;
        Ok(Review {
            revisions: self.revisions(&args.selection, args.branch.clone())?,
            selection: self.selection(&args.selection.globs, Of::Review)?,
            judging: self.judging(&args.gate)?,
            on_unavailable: on_unavailable.unwrap_or_default(),
            fork: fork.unwrap_or_default(),
            batch_size: within(batch_size, DEFAULT_BATCH, 1, LARGEST_BATCH, "batch size")?,
            concurrency: within(
                concurrency,
                DEFAULT_CONCURRENCY,
                1,
                MOST_CONCURRENCY,
                "concurrency",
            )?,
            dry_run: layers.switch(args.dry_run, variable::DRY_RUN, None)?,
        })
    }

    /// Whether what the clone lacks is fetched: for the job alone to say.
    pub fn deepen(&self, flag: bool) -> Result<bool, SettingsError> {
        self.layers().switch(flag, variable::DEEPEN, None)
    }

    /// Which commit, against which base: for the job alone to say.
    pub fn revisions(
        &self,
        args: &SelectionArgs,
        branch: Option<String>,
    ) -> Result<Revisions, SettingsError> {
        let (layers, range) = (self.layers(), &args.range);
        Ok(Revisions {
            all: layers.switch(args.all, variable::ALL, None)?,
            base: layers.text(range.base.clone(), variable::BASE, None),
            head: layers.text(range.head.clone(), variable::HEAD, None),
            branch: layers.text(branch, variable::BRANCH, None),
            deepen: self.deepen(range.deepen)?,
        })
    }
}
