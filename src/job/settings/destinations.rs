//! Where a review's result goes.

use super::table::variable;
use super::{SettingsError, Sources};
use crate::job::cli::{Annotations, Changes, DestinationArgs, Format, ReportFlag, Show, parse_value};
use std::collections::HashSet;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Debug, Clone)]
pub struct Destinations {
    /// The reports to write; none: what the CI host looks for.
    pub reports: Vec<ReportFlag>,
    pub annotations: Annotations,
    /// Whether a comment is kept on the pull or merge request.
    pub comment: bool,
    pub changes: Changes,
    /// What tells this review from others of the same commit; empty for the usual one.
    pub category: String,
    /// The findings that are listed for people.
    pub show: Show,
    /// The platform's project, for its name in a report; it is not checked.
    pub project: Option<String>,
}

impl Destinations {
    /// Whether standard output carries a report, so that nothing else may be written there.
    pub fn take_output(&self) -> bool {
        self.reports.iter().any(|target| target.path.is_none())
    }

    /// Whether any report is of one of these formats.
    pub fn has_report(&self, formats: &[Format]) -> bool {
        self.reports.iter().any(|target| formats.contains(&target.format))
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

    /// Paths are relative to the current folder, those of the file included, as a CI job's are; those of the file stay in
    /// the checkout, beside what git tracks.
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

/// Reports are written side by side, so of two with the same place either might be the one that stays.
fn refuse_twins(flags: &[ReportFlag]) -> Result<(), SettingsError> {
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
