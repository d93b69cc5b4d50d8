//! Flags that have no effect without another setting. As a flag, each of them is refused without that setting. As a
//! variable or in the configuration file it is ignored, because there it may apply to several commands.

use super::SettingsError;
use crate::job::cli::CompatMode;

/// A flag, and the setting without which it has no effect.
#[derive(Clone, Copy)]
pub(super) enum DependentFlag {
    SmokeTimeout,
    OnSmokeFailure,
    RequireReviewEngine,
}

impl DependentFlag {
    /// Returns the names of the flag, of the flag that it needs, and of that flag's variable.
    fn names(self) -> [&'static str; 3] {
        let smoke = |flag| [flag, "--smoke", "SLUICEGATE_SMOKE"];
        match self {
            Self::SmokeTimeout => smoke("--smoke-timeout"),
            Self::OnSmokeFailure => smoke("--on-smoke-failure"),
            Self::RequireReviewEngine => [
                "--require-review-engine",
                "--require-review",
                "SLUICEGATE_REQUIRE_REVIEW",
            ],
        }
    }

    /// Fails if the flag is given, but not the setting that it needs.
    pub(super) fn reject_without_need(self, is_given: bool, has_need: bool) -> Result<(), SettingsError> {
        if !is_given || has_need {
            return Ok(());
        }
        let [flag, needed_flag, variable] = self.names();
        let error = SettingsError::new(format!("{flag} has no effect without {needed_flag}"));
        Err(error.with_hint(format!("pass {needed_flag} or set {variable}, or remove {flag}")))
    }
}

/// Fails if the flag is given, but the interface comparison that it is for is turned off.
pub(super) fn reject_without_comparison(
    flag: &str,
    is_given: bool,
    mode: CompatMode,
) -> Result<(), SettingsError> {
    if !is_given || mode != CompatMode::Off {
        return Ok(());
    }
    let error = SettingsError::new(format!("{flag} has no effect with --compat off"));
    Err(error.with_hint(format!("pass --compat warn or --compat fail, or remove {flag}")))
}
