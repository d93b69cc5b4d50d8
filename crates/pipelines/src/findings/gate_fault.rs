//! The faults of the gate configuration that fail a review.

use sluicegate_base::words::words;

/// A fault of the gate configuration in the change, which fails the run even if the job allows changes to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateFault {
    /// The change makes a file unusable.
    UnusableFile,
    /// An example in the team rules file has an unexpected outcome.
    FailedExample,
}

words!(GateFault {
    UnusableFile => "unusable-file",
    FailedExample => "failed-example",
});
