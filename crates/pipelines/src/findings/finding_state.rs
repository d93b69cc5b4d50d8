//! The state of a finding compared with the base.

use sluicegate_base::words::words;

/// The state of a finding compared with the base.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FindingState {
    New,
    Known,
    Waived,
}

impl FindingState {
    /// Returns whether the gate ignores a finding with this state, because the base has it or a waiver allows it.
    pub const fn is_excused(self) -> bool {
        matches!(self, Self::Known | Self::Waived)
    }
}

words!(FindingState { New => "new", Known => "known", Waived => "waived" });
