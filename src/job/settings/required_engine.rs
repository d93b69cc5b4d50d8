//! Resolves the engine of the review that a publish requires.

use super::needed_flags::DependentFlag;
use super::setting_table::variable;
use super::{SettingSources, SettingsError};
use crate::job::cli::{PublishArgs, RequiredEngine, parse_value};

impl SettingSources<'_> {
    /// Resolves the engine of the review that a publish requires. Fails if a flag names the engine, but no review is
    /// required.
    pub(super) fn resolve_required_engine(
        &self,
        args: &PublishArgs,
        has_required_review: bool,
    ) -> Result<RequiredEngine, SettingsError> {
        let flag = args.require_review_engine;
        DependentFlag::RequireReviewEngine.reject_without_need(flag.is_some(), has_required_review)?;
        let engine =
            self.layers()
                .resolve_setting(flag, variable::REQUIRE_REVIEW_ENGINE, parse_value, None)?;
        Ok(engine.unwrap_or_default())
    }
}
