//! The settings of a review.

use super::platform::{number, within};
use super::{Destinations, Selection, SettingsError, Sources};
use crate::cli::{FailOn, OnUnavailable, ReviewArgs, SelectionArgs, parse_value};
use crate::env;

const DEFAULT_BATCH: usize = 100;
const LARGEST_BATCH: usize = 10_000;
const DEFAULT_CONCURRENCY: usize = 4;
const MOST_CONCURRENCY: usize = 64;
/// The number of a parallel job, from 1.
const NODE_INDEX: &str = "CI_NODE_INDEX";
/// How many parallel jobs there are.
const NODE_TOTAL: &str = "CI_NODE_TOTAL";

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
}

/// The settings of a review.
#[derive(Debug, Clone)]
pub struct Review {
    /// Which commit, against which base.
    pub revisions: Revisions,
    /// Which files.
    pub selection: Selection,
    /// What fails the gate.
    pub fail_on: FailOn,
    /// What no usable answer means.
    pub on_unavailable: OnUnavailable,
    /// Where the result goes.
    pub destinations: Destinations,
    /// The part to review, `I/N` as it was written; none for all.
    pub shard: Option<String>,
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
        let batch_size = layers.pick(args.batch_size, env::BATCH_SIZE, number, file.batch_size)?;
        let concurrency = layers.pick(args.concurrency, env::CONCURRENCY, number, file.concurrency)?;
        let on_unavailable = layers.pick(
            args.on_unavailable,
            env::ON_UNAVAILABLE,
            parse_value,
            file.on_unavailable,
        )?;
        Ok(Review {
            revisions: self.revisions(&args.selection, args.branch.clone())?,
            selection: self.selection(&args.selection.include, &args.selection.exclude)?,
            fail_on: layers
                .pick(args.fail_on, env::FAIL_ON, parse_value, file.fail_on)?
                .unwrap_or_default(),
            on_unavailable: on_unavailable.unwrap_or_default(),
            destinations: self.destinations(&args.destinations)?,
            shard: self.shard(args.shard.clone()),
            batch_size: within(batch_size, DEFAULT_BATCH, 1, LARGEST_BATCH, "batch size")?,
            concurrency: within(
                concurrency,
                DEFAULT_CONCURRENCY,
                1,
                MOST_CONCURRENCY,
                "concurrency",
            )?,
            dry_run: layers.switch(args.dry_run, env::DRY_RUN, file.dry_run)?,
        })
    }

    /// Which commit, against which base.
    pub fn revisions(
        &self,
        args: &SelectionArgs,
        branch: Option<String>,
    ) -> Result<Revisions, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        Ok(Revisions {
            all: layers.switch(args.all, env::ALL, file.all)?,
            base: layers.text(args.base.clone(), env::BASE, file.base.clone()),
            head: layers.text(args.head.clone(), env::HEAD, file.head.clone()),
            branch: layers.text(branch, env::BRANCH, file.branch.clone()),
        })
    }

    /// The part to review: as asked for, else as the host numbers parallel jobs. GitLab sets the total in every job and
    /// the index in parallel ones (<https://docs.gitlab.com/ci/variables/predefined_variables/>).
    fn shard(&self, flag: Option<String>) -> Option<String> {
        let asked = self.layers().text(flag, env::SHARD, None);
        asked.or_else(|| {
            let total = self.env.get(NODE_TOTAL).filter(|total| *total != "1")?;
            Some(format!("{}/{total}", self.env.get(NODE_INDEX)?))
        })
    }
}
