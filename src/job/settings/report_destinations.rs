//! Settings for the reports of a review.

use super::attestation_files::AttestationFiles;
use super::setting_table::variable;
use super::shared_destinations::{reject_duplicate_destinations, reject_shared_paths};
use super::{Layers, PublishFiles, SettingSources, SettingsError};
use crate::env::Env;
use crate::job::cli::{
    Annotations, Changes, DestinationArgs, Format, OutputFormat, ReportFlag, ShowMode, parse_value,
};
use std::str::FromStr;

#[derive(Debug, Clone)]
pub struct ReportDestinations {
    /// The reports to write. If empty, the report that the CI host reads is written.
    pub reports: Vec<ReportFlag>,
    pub annotations: Annotations,
    /// Whether to keep a comment on the pull or merge request.
    pub comment: bool,
    pub changes: Changes,
    /// The name that separates this review from others of the same commit; empty by default.
    pub category: String,
    /// The findings to list in human-readable output; `None` for the default of each output.
    pub show: Option<ShowMode>,
    /// The unchecked project ID, for the project's name in a report.
    pub project_id: Option<String>,
    /// The files for the statement about the review.
    pub attestation: AttestationFiles,
}

impl ReportDestinations {
    /// Returns whether a report is written to standard output, which must then contain nothing else.
    pub fn has_stdout_report(&self) -> bool {
        self.reports.iter().any(|report| report.path.is_none())
    }

    /// Returns whether standard output must contain nothing but a report or, in a dry run (`is_dry`), the plan as JSON.
    pub fn is_stdout_reserved(&self, is_dry: bool) -> bool {
        if is_dry {
            self.prints_json()
        } else {
            self.has_stdout_report()
        }
    }

    /// Returns whether the JSON report is written to standard output.
    pub fn prints_json(&self) -> bool {
        self.reports
            .iter()
            .any(|report| report.path.is_none() && report.format == Format::Json)
    }

    /// Sets the files for the statement about the review. Fails if one of them has the same path as another output.
    pub fn with_attestation(mut self, attestation: AttestationFiles) -> Result<Self, SettingsError> {
        let report_paths = self.reports.iter().filter_map(|report| report.path.as_deref());
        reject_shared_paths(report_paths.chain(attestation.list_paths()))?;
        self.attestation = attestation;
        Ok(self)
    }

    /// Fails if a file of the publish has the same path as a report or as the statement about the review.
    pub fn reject_paths_of_publish(&self, files: &PublishFiles) -> Result<(), SettingsError> {
        let report_paths = self.reports.iter().filter_map(|report| report.path.as_deref());
        reject_shared_paths(
            report_paths
                .chain(self.attestation.list_paths())
                .chain(files.list_paths()),
        )
    }

    /// Returns whether the format of any report has the property that `has_property` tests.
    pub fn has_report(&self, has_property: fn(Format) -> bool) -> bool {
        self.reports.iter().any(|report| has_property(report.format))
    }
}

impl SettingSources<'_> {
    /// Resolves where reports are written and what they show. A command that can write a statement about the review
    /// adds the files for it with [`ReportDestinations::with_attestation`].
    pub fn resolve_report_destinations(
        &self,
        args: &DestinationArgs,
    ) -> Result<ReportDestinations, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let changes = layers.resolve_setting(args.changes, variable::CHANGES, parse_value, file.changes)?;
        let show = layers.resolve_setting(args.show, variable::SHOW, ShowMode::from_str, file.show)?;
        Ok(ReportDestinations {
            show,
            reports: self.resolve_reports(args)?,
            changes: changes.unwrap_or_default(),
            annotations: self.resolve_annotations(args.annotations)?,
            comment: layers.resolve_switch(args.comment, variable::COMMENT, file.comment)?,
            category: self.resolve_category(args)?,
            project_id: layers.resolve_text(None, variable::PROJECT_ID, self.file.project_id.clone()),
            attestation: AttestationFiles::default(),
        })
    }

    /// Resolves the style of annotations, which a publish, too, uses for its failures.
    pub fn resolve_annotations(&self, flag: Option<Annotations>) -> Result<Annotations, SettingsError> {
        let file = self.file.review.annotations;
        let annotations = self
            .layers()
            .resolve_setting(flag, variable::ANNOTATIONS, parse_value, file)?;
        Ok(annotations.unwrap_or_default())
    }

    /// Resolves the category of the reports; empty by default.
    pub fn resolve_category(&self, args: &DestinationArgs) -> Result<String, SettingsError> {
        let file = self.file.review.category.clone();
        let layers = self.layers();
        let category = layers.resolve_expanded_text(args.category.clone(), variable::CATEGORY, file)?;
        Ok(category.unwrap_or_default())
    }

    /// Resolves the reports to write, with paths relative to the current directory. A path from the configuration file
    /// must be inside the checkout and must not be a file that git tracks. `-o json` adds the JSON report on standard
    /// output. Two reports with the same destination are an error.
    fn resolve_reports(&self, args: &DestinationArgs) -> Result<Vec<ReportFlag>, SettingsError> {
        let flags = &args.report;
        let is_set_by_job = !flags.is_empty() || self.env.get(variable::REPORT).is_some();
        let file_reports = match &self.file.review.report {
            Some(reports) if !is_set_by_job => Some(self.resolve_file_reports(reports)?),
            _ => None,
        };
        let mut reports = self.layers().resolve_list(
            flags.clone(),
            variable::REPORT,
            ReportFlag::from_str,
            file_reports,
        )?;
        for report in &mut reports {
            report.path = report.path.take().map(|path| self.env.current_dir().join(path));
        }
        let json_output = ReportFlag {
            format: Format::Json,
            path: None,
        };
        if args.output == Some(OutputFormat::Json) && !reports.contains(&json_output) {
            reports.push(json_output);
        }
        reject_duplicate_destinations(&reports)?;
        Ok(reports)
    }

    /// Returns the reports of the configuration file with their full paths, after checking that each path may be
    /// written.
    fn resolve_file_reports(&self, reports: &[ReportFlag]) -> Result<Vec<ReportFlag>, SettingsError> {
        let mut resolved_reports = Vec::new();
        for report in reports {
            let path = match &report.path {
                Some(path) => Some(self.resolve_output_path("review.report", path)?),
                None => None,
            };
            resolved_reports.push(ReportFlag {
                path,
                ..report.clone()
            });
        }
        Ok(resolved_reports)
    }
}

/// Returns the reports that flags or the variable request, before the configuration file is read. An invalid entry is
/// skipped, because its error is reported when all settings are resolved.
pub fn requested_reports(flags: &[ReportFlag], env: &Env) -> Vec<ReportFlag> {
    if !flags.is_empty() {
        return flags.to_vec();
    }
    env.get(variable::REPORT)
        .unwrap_or_default()
        .lines()
        .filter_map(|line| ReportFlag::from_str(line.trim()).ok())
        .collect()
}

/// Returns the style of annotations that the flag or the variable requests, before the configuration file is read. An
/// invalid value is skipped, because its error is reported when all settings are resolved.
pub fn requested_annotation_style(flag: Option<Annotations>, env: &Env) -> Option<Annotations> {
    let annotations = Layers::new(env).resolve_setting(flag, variable::ANNOTATIONS, parse_value, None);
    annotations.ok().flatten()
}

/// Returns whether the flag or the variable requests a comment, before the configuration file is read. An invalid value
/// is treated as false, because its error is reported when all settings are resolved.
pub fn is_comment_requested(is_flag_set: bool, env: &Env) -> bool {
    Layers::new(env)
        .resolve_switch(is_flag_set, variable::COMMENT, None)
        .unwrap_or(false)
}

/// Returns the category that the flag or the variable sets, before the configuration file is read; empty by default.
pub fn requested_category(flag: Option<String>, env: &Env) -> String {
    let category = Layers::new(env).resolve_text(flag, variable::CATEGORY, None);
    category.unwrap_or_default()
}
