//! The settings of a review.

use super::connection::describe_length;
use super::selection::SelectionPurpose;
use super::setting_table::variable;
use super::{Selection, SettingSources, SettingsError, VerdictSettings};
use crate::job::cli::{Fork, OnUnavailable, ReviewArgs, ReviewRequestFields, SelectionArgs, parse_value};
use crate::job::context::RequestedRevisions;
use sluicegate_platform::api::ReviewFields;

/// The settings that a check and a review share.
#[derive(Debug, Clone)]
pub struct GateSettings {
    pub revisions: RequestedRevisions,
    pub selection: Selection,
    pub verdict: VerdictSettings,
}

#[derive(Debug, Clone)]
pub struct ReviewSettings {
    pub gate: GateSettings,
    pub on_unavailable: OnUnavailable,
    pub fork: Fork,
    pub request_fields: ReviewFields,
    /// Maximum number of files in one request, at least 1.
    pub batch_size: usize,
    /// Maximum number of concurrent requests, at least 1.
    pub concurrency: usize,
    pub dry_run: bool,
}

impl SettingSources<'_> {
    /// Resolves the settings of `sluicegate review`.
    pub fn resolve_review_settings(&self, args: &ReviewArgs) -> Result<ReviewSettings, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let on_unavailable = layers.resolve_setting(
            args.on_unavailable,
            variable::ON_UNAVAILABLE,
            parse_value,
            file.on_unavailable,
        )?;
        let fork = layers.resolve_setting(args.fork, variable::FORK, parse_value, file.fork)?;
        let mut verdict = self.resolve_verdict_settings(&args.gate)?;
        let attestation = self.resolve_review_attestation(&args.attestation)?;
        verdict.destinations = verdict.destinations.with_attestation(attestation)?;
        Ok(ReviewSettings {
            gate: GateSettings {
                revisions: self.resolve_revisions(&args.selection, args.branch.clone())?,
                selection: self.resolve_selection(&args.selection.globs, SelectionPurpose::Review)?,
                verdict,
            },
            on_unavailable: on_unavailable.unwrap_or_default(),
            fork: fork.unwrap_or_default(),
            request_fields: self.resolve_request_fields(args.review_request, args.data_warehouse.clone())?,
            batch_size: layers.resolve_size(
                args.batch_size,
                variable::BATCH_SIZE,
                file.batch_size,
                "batch size",
            )?,
            concurrency: layers.resolve_size(
                args.concurrency,
                variable::CONCURRENCY,
                file.concurrency,
                "concurrency",
            )?,
            // Only the job decides whether a request is sent.
            dry_run: layers.resolve_switch(args.dry_run, variable::DRY_RUN, None)?,
        })
    }

    /// Resolves which fields a review request has. A request with `filePaths` needs the data warehouse type; for a
    /// request with `pipelines`, that type is an error because it would not be sent. The type becomes upper case, as in
    /// the platform's own names.
    pub fn resolve_request_fields(
        &self,
        request: Option<ReviewRequestFields>,
        data_warehouse: Option<String>,
    ) -> Result<ReviewFields, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let request = layers.resolve_setting(request, variable::REVIEW_REQUEST, parse_value, file.request)?;
        let source = layers.find_source(data_warehouse.is_some(), variable::DATA_WAREHOUSE);
        let setting = source.name_setting(variable::DATA_WAREHOUSE);
        let warehouse = layers.resolve_expanded_text(
            data_warehouse,
            variable::DATA_WAREHOUSE,
            file.data_warehouse.clone(),
        )?;
        match (request.unwrap_or_default(), warehouse) {
            (ReviewRequestFields::Pipelines, None) => Ok(ReviewFields::Pipelines),
            (ReviewRequestFields::Pipelines, Some(_)) => Err(SettingsError::new(format!(
                "{setting} is set, but a review request with `pipelines` does not send it"
            ))
            .with_hint(format!(
                "add --review-request file-paths (SLUICEGATE_REVIEW_REQUEST), or remove {setting}"
            ))),
            (ReviewRequestFields::FilePaths, Some(warehouse)) if is_warehouse_type(warehouse.trim()) => {
                Ok(ReviewFields::FilePaths {
                    data_warehouse: warehouse.trim().to_uppercase(),
                })
            }
            (ReviewRequestFields::FilePaths, Some(warehouse)) => Err(SettingsError::new(format!(
                "the value of {setting} is not a name: {}",
                describe_length(&warehouse)
            ))
            .with_hint("use the platform's own name, for example SNOWFLAKE, DATABRICKS or REDSHIFT")),
            (ReviewRequestFields::FilePaths, None) => Err(SettingsError::new(
                "a review request with `filePaths` needs the data warehouse type, but it is not set",
            )
            .with_hint(
                "set --data-warehouse (SLUICEGATE_DATA_WAREHOUSE), for example to SNOWFLAKE, DATABRICKS or REDSHIFT",
            )),
        }
    }

    /// Returns whether to fetch missing commits and history. Only `--deepen` or its variable can request it.
    pub fn resolve_deepen(&self, is_flag_set: bool) -> Result<bool, SettingsError> {
        self.layers().resolve_switch(is_flag_set, variable::DEEPEN, None)
    }

    /// Resolves the commit to review and its base, which only flags and variables of the job may set.
    pub fn resolve_revisions(
        &self,
        args: &SelectionArgs,
        branch: Option<String>,
    ) -> Result<RequestedRevisions, SettingsError> {
        let (layers, range) = (self.layers(), &args.range);
        Ok(RequestedRevisions {
            all: layers.resolve_switch(args.all, variable::ALL, None)?,
            base: layers.resolve_filled_text(range.base.clone(), variable::BASE, None)?,
            head: layers.resolve_filled_text(range.head.clone(), variable::HEAD, None)?,
            branch: layers.resolve_filled_text(branch, variable::BRANCH, None)?,
            deepen: self.resolve_deepen(range.deepen)?,
        })
    }
}

/// Returns whether the text is not empty and has only the characters of a warehouse type: ASCII letters, digits, `_`
/// and `-`.
fn is_warehouse_type(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|character| character.is_ascii_alphanumeric() || matches!(character, '_' | '-'))
}
