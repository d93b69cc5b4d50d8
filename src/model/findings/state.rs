//! How a finding stands against what was there before.

use crate::base::words::words;

/// How a finding stands against what was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The base has no such finding.
    New,
    Known,
    Waived,
}

words!(State { New => "new", Known => "known", Waived => "waived" });
