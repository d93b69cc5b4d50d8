//! The state of a finding compared with the base.

use sluicegate_base::words::words;

/// The state of a finding compared with the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingState {
    New,
    Known,
    Waived,
}

words!(FindingState { New => "new", Known => "known", Waived => "waived" });
