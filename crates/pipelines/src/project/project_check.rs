//! The checks and their levels.

use crate::findings::Enforcement;

/// A check of the entire project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProjectCheck {
    /// A call to a missing pipeline.
    Call,
    /// A component with a missing script.
    Script,
    /// A link to a missing component.
    Link,
    /// A call that sets a variable that the called pipeline does not have.
    Argument,
    /// An entry of the shared-pipelines file that does not match its pipeline.
    Shared,
    /// Pipelines that call each other in a cycle.
    Cycle,
}

impl ProjectCheck {
    /// All checks, in listing order.
    pub const ALL: [Self; 6] = [
        Self::Call,
        Self::Script,
        Self::Link,
        Self::Argument,
        Self::Shared,
        Self::Cycle,
    ];

    /// Returns the id that reports and waivers use.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Call => "project/call",
            Self::Script => "project/script",
            Self::Link => "project/link",
            Self::Argument => "project/argument",
            Self::Shared => "project/shared",
            Self::Cycle => "project/cycle",
        }
    }

    /// Returns the key of the check in the settings, which is its id without `project/`.
    pub fn key(self) -> &'static str {
        self.id().trim_start_matches("project/")
    }

    /// Returns the check with this id, such as `project/call`.
    pub fn find_by_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.id() == id)
    }
}

/// The level of each check; `None` if the check is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLevels([Option<Enforcement>; ProjectCheck::ALL.len()]);

impl CheckLevels {
    /// All checks are off.
    pub const ALL_OFF: Self = Self([None; ProjectCheck::ALL.len()]);

    /// Creates the levels from a function that returns the level of each check.
    pub fn from_fn(level: impl FnMut(ProjectCheck) -> Option<Enforcement>) -> Self {
        Self(ProjectCheck::ALL.map(level))
    }

    /// Returns how the check is enforced; `None` if it is off.
    pub const fn enforcement_of(self, check: ProjectCheck) -> Option<Enforcement> {
        self.0[check as usize]
    }

    /// Returns whether all checks are off.
    pub fn is_off(self) -> bool {
        self == Self::ALL_OFF
    }
}

impl Default for CheckLevels {
    /// Returns the levels without any settings: all checks are on and report warnings.
    fn default() -> Self {
        Self([Some(Enforcement::Warn); ProjectCheck::ALL.len()])
    }
}
