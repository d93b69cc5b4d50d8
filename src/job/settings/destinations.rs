//! Settings for the reports of a review.

use super::table::variable;
use super::{Layers, SettingsError, Sources};
use crate::env::Env;
use crate::job::cli::{Annotations, Changes, DestinationArgs, Format, ReportFlag, Show, parse_value};
use std::collections::HashSet;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Clone)]
pub struct Destinations {
    /// The reports to write. If empty, the report that the CI host looks for.
    pub reports: Vec<ReportFlag>,
    pub annotations: Annotations,
    /// Whether to keep a comment on the pull or merge request.
    pub comment: bool,
    pub changes: Changes,
    /// The name that separates this review from others of the same commit; empty by default.
    pub category: String,
    /// The findings to list in human-readable output.
    pub show: Show,
    /// The unchecked project ID, for the project's name in a report.
    pub project: Option<String>,
}

impl Destinations {
    /// Returns whether a report is written to standard output, so that no other output may be.
    pub fn take_output(&self) -> bool {
        self.reports.iter().any(|target| target.path.is_none())
    }

    /// Returns whether the format of any report has this property.
    pub fn has_report(&self, has_property: fn(Format) -> bool) -> bool {
        self.reports.iter().any(|target| has_property(target.format))
    }
}

impl Sources<'_> {
    pub fn destinations(&self, args: &DestinationArgs) -> Result<Destinations, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let annotations = layers.pick(
            args.annotations,
            variable::ANNOTATIONS,
            parse_value,
            file.annotations,
        )?;
        let changes = layers.pick(args.changes, variable::CHANGES, parse_value, file.changes)?;
        let category = layers.text(args.category.clone(), variable::CATEGORY, file.category.clone());
        let show = layers.pick(args.show, variable::SHOW, Show::from_str, file.show)?;
        Ok(Destinations {
            show: show.unwrap_or_default(),
            reports: self.reports(&args.report)?,
            changes: changes.unwrap_or_default(),
            annotations: annotations.unwrap_or_default(),
            comment: layers.switch(args.comment, variable::COMMENT, file.comment)?,
            category: category.unwrap_or_default(),
            project: layers.text(None, variable::PROJECT_ID, self.file.project_id.clone()),
        })
    }

    /// Returns the reports to write. All paths are relative to the current directory, as in a CI job. Paths from the
    /// file must be inside the checkout and must not be tracked by git.
    fn reports(&self, flags: &[ReportFlag]) -> Result<Vec<ReportFlag>, SettingsError> {
        let kept = |path: &PathBuf| self.kept_to_write("review.report", path);
        let in_checkout = |flag: &ReportFlag| {
            Ok(ReportFlag {
                path: flag.path.as_ref().map(kept).transpose()?,
                ..flag.clone()
            })
        };
        let is_given = !flags.is_empty() || self.env.get(variable::REPORT).is_some();
        let file = self.file.review.report.as_ref().filter(|_| !is_given);
        let file = file.map(|file| {
            file.iter()
                .map(in_checkout)
                .collect::<Result<Vec<_>, SettingsError>>()
        });
        let file = file.transpose()?;
        let flags = self
            .layers()
            .list(flags.to_vec(), variable::REPORT, ReportFlag::from_str, file)?;
        let absolute = |flag: ReportFlag| ReportFlag {
            path: flag.path.map(|path| self.env.current_dir().join(path)),
            ..flag
        };
        let flags: Vec<ReportFlag> = flags.into_iter().map(absolute).collect();
        refuse_twins(&flags)?;
        Ok(flags)
    }
}

/// Returns the reports that flags or the environment request. Invalid ones are left out: their error is reported where
/// all settings are read.
pub fn job_reports(flags: &[ReportFlag], env: &Env) -> Vec<ReportFlag> {
    if !flags.is_empty() {
        return flags.to_vec();
    }
    let lines = env.get(variable::REPORT).unwrap_or_default().lines();
    lines
        .filter_map(|line| ReportFlag::from_str(line.trim()).ok())
        .collect()
}

/// Returns the style of annotations that the flag or the environment requests. An invalid value is reported where all
/// settings are read.
pub fn job_annotations(flag: Option<Annotations>, env: &Env) -> Option<Annotations> {
    let requested = Layers::new(env).pick(flag, variable::ANNOTATIONS, parse_value, None);
    requested.ok().flatten()
}

/// Refuses two reports with the same destination: reports are written concurrently, so either might remain.
pub(super) fn refuse_twins(flags: &[ReportFlag]) -> Result<(), SettingsError> {
    let mut places = HashSet::new();
    let Some(twin) = flags.iter().find(|flag| !places.insert(&flag.path)) else {
        return Ok(());
    };
    let place = twin.path.as_ref().map(|path| path.display().to_string());
    let place = place.unwrap_or_else(|| "standard output".to_owned());
    Err(SettingsError::new(format!(
        "two reports cannot both go to {place}"
    )))
}
