//! The state of a finding compared with the base.

use sluicegate_base::words::words;

/// The state of a finding compared with the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    New,
    Known,
    Waived,
}

words!(State { New => "new", Known => "known", Waived => "waived" });
