//! The checks and their levels.

use crate::model::findings::Enforcement;

/// A check of the whole project.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProjectCheck {
    /// A call leads to no pipeline.
    Call,
    /// A component names a script that is not there.
    Script,
    /// A link leads to no component.
    Link,
    /// A call sets a variable that the called pipeline does not have.
    Argument,
    /// An entry of the shared-pipelines file does not fit its pipeline.
    Shared,
    /// Pipelines call each other in a circle.
    Cycle,
}

impl ProjectCheck {
    /// All checks, in the order in which they are listed.
    pub const ALL: [Self; 6] = [
        Self::Call,
        Self::Script,
        Self::Link,
        Self::Argument,
        Self::Shared,
        Self::Cycle,
    ];

    /// As reports and waivers name it.
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

    /// As the settings name it.
    pub fn key(self) -> &'static str {
        self.id().trim_start_matches("project/")
    }

    /// The check with this id.
    pub fn find(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|check| check.id() == id)
    }
}

/// The level of each check; none for one that is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckLevels([Option<Enforcement>; ProjectCheck::ALL.len()]);

impl CheckLevels {
    /// Nothing is checked.
    pub const OFF: Self = Self([None; ProjectCheck::ALL.len()]);

    pub fn by(level: impl FnMut(ProjectCheck) -> Option<Enforcement>) -> Self {
        Self(ProjectCheck::ALL.map(level))
    }

    pub const fn of(self, check: ProjectCheck) -> Option<Enforcement> {
        self.0[check as usize]
    }

    /// Whether nothing is checked.
    pub fn is_off(self) -> bool {
        self == Self::OFF
    }
}

impl Default for CheckLevels {
    fn default() -> Self {
        Self([Some(Enforcement::Warn); ProjectCheck::ALL.len()])
    }
}
