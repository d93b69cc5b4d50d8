//! What fails the gate and where it is told, the same for every reviewer.

use super::layers::number;
use super::table::variable;
use super::{Breaks, Destinations, ProjectCheckSettings, SettingsError, Sources};
use crate::job::cli::{FailOn, GateArgs, parse_value};

/// The number of a parallel job, from 1.
const NODE_INDEX: &str = "CI_NODE_INDEX";
/// How many parallel jobs there are.
const NODE_TOTAL: &str = "CI_NODE_TOTAL";

/// What fails the gate, and where it is told.
#[derive(Debug, Clone)]
pub struct Judging {
    pub fail_on: FailOn,
    /// Only findings that the base does not have count.
    pub new_only: bool,
    /// The most findings that may be known; none for any number.
    pub max_known: Option<usize>,
    /// What the checks of the project mean.
    pub project: ProjectCheckSettings,
    /// What a break of consumers means.
    pub breaks: Breaks,
    pub destinations: Destinations,
    /// The part to judge, `I/N` as it was written; none for all.
    pub shard: Option<String>,
}

impl Sources<'_> {
    /// What fails the gate, and where it is told.
    pub fn judging(&self, args: &GateArgs) -> Result<Judging, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let fail_on = layers.pick(args.fail_on, variable::FAIL_ON, parse_value, file.fail_on)?;
        let new_only = self.new_only(args.new_only)?;
        let max_known = layers.pick(args.max_known, variable::MAX_KNOWN, number, None)?;
        if max_known.is_some() && !new_only {
            let message =
                "how many findings may be known (--max-known) means nothing where all of them count";
            return Err(SettingsError::new(message)
                .with_hint("give --new-only, or SLUICEGATE_NEW_ONLY=true, or `review: { new-only: true }`"));
        }
        Ok(Judging {
            fail_on: fail_on.unwrap_or_default(),
            new_only,
            max_known,
            project: self.project_checks(args.project_checks)?,
            breaks: self.breaks(&args.compat)?,
            destinations: self.destinations(&args.destinations)?,
            shard: self.shard(args.shard.clone()),
        })
    }

    /// Whether only findings count that the base does not have.
    pub fn new_only(&self, flag: bool) -> Result<bool, SettingsError> {
        let file = self.file.review.new_only;
        self.layers().switch(flag, variable::NEW_ONLY, file)
    }

    /// The part to judge: as asked for, else as the host numbers parallel jobs. GitLab sets the total in every job and
    /// the index in parallel ones (<https://docs.gitlab.com/ci/variables/predefined_variables/>).
    fn shard(&self, flag: Option<String>) -> Option<String> {
        let asked = self.layers().text(flag, variable::SHARD, None);
        asked.or_else(|| {
            let total = self.env.get(NODE_TOTAL).filter(|total| *total != "1")?;
            Some(format!("{}/{total}", self.env.get(NODE_INDEX)?))
        })
    }
}
