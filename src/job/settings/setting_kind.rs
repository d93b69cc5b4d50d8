//! The kinds of settings, which decide who may set them.

/// The kind of a setting, which decides who may set it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// Values that are, or contain, a secret, and are never shown: only the job may set them.
    Secret,
    /// The destination of secrets, and programs to run: only the job may set them.
    Trust,
    /// The reviewed commit, and whether a review happens: only the job may set them.
    Subject,
    /// The rules of the verdict: set by the job, otherwise by the policy.
    Verdict,
    /// Facts, reports and requests: set by the job, otherwise by the policy or, if there is no policy, by the
    /// checkout's file.
    Operational,
}

impl SettingKind {
    /// Describes who may set a setting of this kind: only the job, or also the configuration file. The job comes first,
    /// because it takes precedence.
    pub const fn describe_allowed_sources(self) -> &'static str {
        match self {
            Self::Secret | Self::Trust | Self::Subject => "only the job",
            Self::Verdict => "job, then the target branch's file",
            Self::Operational => "job, then file",
        }
    }

    /// Returns whether the configuration file may set a setting of this kind.
    pub const fn is_in_file(self) -> bool {
        matches!(self, Self::Verdict | Self::Operational)
    }

    /// Returns whether a change that adds the configuration file may already set a setting of this kind, although the
    /// target branch has no configuration file yet.
    pub(super) const fn is_in_first_file(self) -> bool {
        matches!(self, Self::Operational)
    }
}
