//! The version of a file of the gate configuration that decides about a run.

/// A file's text, and its name in errors.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedText {
    /// The path and the version of the file.
    pub name: String,
    pub text: String,
}

/// The version of a file that decides: that of the policy revision, or the job's own file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum DecidingVersion {
    /// There is no such file.
    #[default]
    Absent,
    Text(NamedText),
    /// The target branch has no such file, for this reason. From the checkout's version, only settings that cannot hide
    /// findings are then used.
    NotInTarget(String),
    /// The file cannot be read, for this reason, and is treated as missing.
    Unusable(String),
}

impl From<Option<NamedText>> for DecidingVersion {
    fn from(text: Option<NamedText>) -> Self {
        text.map_or(Self::Absent, Self::Text)
    }
}
