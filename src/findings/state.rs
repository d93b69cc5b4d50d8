//! How a finding stands against what was there before.

/// How a finding stands against what was there before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// The base has no such finding.
    New,
    /// The base has it too.
    Known,
    /// A waiver allows it.
    Waived,
}

impl State {
    const ALL: [Self; 3] = [Self::New, Self::Known, Self::Waived];

    /// The word for it in the JSON report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Known => "known",
            Self::Waived => "waived",
        }
    }

    /// The state with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}
