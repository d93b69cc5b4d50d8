//! The version name that is computed from the latest version (`{next}`).

use super::version_history::without_build_metadata;
use super::{Publication, build_publish_request};
use crate::error::Failure;
use crate::publish::version_name::{needs_next_version, reject_name_without_next};
use crate::publish::{self, Plan, PublishError, PublishRequest};
use sluicegate_base::text;
use sluicegate_pipelines::interface::{self, NextNameError};
use sluicegate_platform::api::Platform;

impl Publication<'_> {
    /// Returns whether the version name is computed from the latest version (`{next}`).
    pub(super) fn needs_next_version(&self) -> bool {
        needs_next_version(&self.settings.version_name)
    }

    /// Returns whether the version name is still unknown, because no comparison computed `{next}`. The plan then has a
    /// placeholder version.
    pub(super) fn lacks_version_name(&self) -> bool {
        self.needs_next_version() && self.comparison.is_none()
    }

    /// Derives the next version name if no version is enabled: the numbers continue from the newest version. `{next}`
    /// must announce a break to the consumers of that version, so it is compared with the plan.
    pub(super) fn name_version_after_newest(
        &self,
        platform: &Platform,
        plan: &Plan,
    ) -> Result<Result<String, NextNameError>, Failure> {
        let newest_name = self.history.newest_name();
        let mut class = interface::ChangeClass::Content;
        if let Some(name) = newest_name.filter(|_| self.needs_next_version()) {
            let details = self.request_named_version(platform, name)?;
            let comparison = self.compare_offers(plan, &details)?;
            if let Some(limit) = &comparison.limit {
                self.report_incomplete_comparison(limit, true)?;
            }
            class = comparison.compat.class.unwrap_or(class);
            self.session.ui.say(&format!(
                "no version of {} is enabled, so the version name follows from the changes since the newest disabled \
                 version, {}",
                text::escape_line(&self.settings.prefix),
                text::escape_line(name)
            ));
        }
        Ok(interface::next_version_name(newest_name, class))
    }

    /// Increases the patch number of `next_version` until no version, enabled or not, has the resulting name, and sets
    /// that name in the plan. Build metadata is not compared, because it does not make a number new. Returns the
    /// semantic version in the name.
    pub(super) fn set_unused_version_name(
        &self,
        plan: &mut Plan,
        mut next_version: String,
    ) -> Result<String, Failure> {
        let used_numbers = self.history.version_numbers();
        loop {
            self.set_version_name(plan, next_version.clone())?;
            if !used_numbers.contains(without_build_metadata(&plan.version_name)) {
                return Ok(next_version);
            }
            let higher_version =
                interface::next_version_name(Some(&next_version), interface::ChangeClass::Content);
            next_version = higher_version.map_err(|error| self.next_version_failure(&error))?;
        }
    }

    /// Returns `next_version` with the first patch number that no version, enabled or not, has. Returns `None` if there
    /// is no such name.
    pub(super) fn find_unused_version(&self, next_version: &str) -> Option<String> {
        let used_numbers = self.history.version_numbers();
        let mut next_version = next_version.to_owned();
        while used_numbers.contains(without_build_metadata(&next_version)) {
            let class = interface::ChangeClass::Content;
            next_version = interface::next_version_name(Some(&next_version), class).ok()?;
        }
        Some(next_version)
    }

    /// Sets the version name: its template with `next_version` for `{next}`. Fails if the name is not a semantic
    /// version, because the next publish could not increase it.
    fn set_version_name(&self, plan: &mut Plan, next_version: String) -> Result<(), Failure> {
        let request = PublishRequest {
            next_version: Some(next_version),
            ..build_publish_request(self.workspace, self.settings, self.target)
        };
        plan.version_name = publish::build_version_name(&self.workspace.repo, &self.target.head, &request)?;
        let check_result = reject_name_without_next(&plan.version_name);
        Ok(check_result.map_err(PublishError::from)?)
    }

    /// Returns the error that `{next}` has no value, because the name of the latest version has no number that can be
    /// increased. The hint suggests a semantic version that is free and higher than those of the prefix.
    pub(super) fn next_version_failure(&self, error: &NextNameError) -> Failure {
        let hint = match error {
            NextNameError::NotSemantic(_) => {
                let highest_name = self.history.highest_semantic_name();
                let next_name =
                    interface::next_version_name(highest_name, interface::ChangeClass::Content).ok();
                let suggestion = next_name
                    .and_then(|name| self.find_unused_version(&name))
                    .map_or_else(String::new, |name| format!(" such as {name}"));
                format!(
                    "set --version-name to a semantic version{suggestion}, which {{next}} can increase later"
                )
            }
            NextNameError::TooLarge(_) => "set --version-name to a name without {next}".to_owned(),
        };
        Failure::usage(error.to_string()).with_hint(hint)
    }
}
