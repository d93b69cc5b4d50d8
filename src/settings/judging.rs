//! What fails the gate and where it is told, the same for every reviewer.

use super::{SettingsError, Sources};
use crate::cli::{Annotations, FailOn, GateArgs, ReportFlag, ReportFormat, parse_value};
use crate::env;
use std::path::PathBuf;
use std::str::FromStr;

/// Where a report goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportTarget {
    /// The format.
    pub format: ReportFormat,
    /// The file; none for standard output.
    pub path: Option<PathBuf>,
}

/// What fails the gate, and where it is told.
#[derive(Debug, Clone)]
pub struct Judging {
    /// What fails the gate.
    pub fail_on: FailOn,
    /// The reports to write.
    pub reports: Vec<ReportTarget>,
    /// The annotations to write.
    pub annotations: Annotations,
}

impl Sources<'_> {
    /// What fails the gate, and where it is told.
    pub fn judging(&self, args: &GateArgs) -> Result<Judging, SettingsError> {
        let (layers, file) = (self.layers(), &self.file.review);
        let annotations = layers.pick(args.annotations, env::ANNOTATIONS, parse_value, file.annotations)?;
        let fail_on = layers.pick(args.fail_on, env::FAIL_ON, parse_value, file.fail_on)?;
        Ok(Judging {
            fail_on: fail_on.unwrap_or_default(),
            reports: self.reports(&args.report)?,
            annotations: annotations.unwrap_or_default(),
        })
    }

    /// Paths are relative to the current folder, those of the file included, as a CI job's are.
    fn reports(&self, flags: &[ReportFlag]) -> Result<Vec<ReportTarget>, SettingsError> {
        let file = self.file.review.report.clone();
        let flags = self
            .layers()
            .list(flags.to_vec(), env::REPORT, ReportFlag::from_str, file)?;
        if flags.iter().filter(|flag| flag.path.is_none()).count() > 1 {
            return Err(SettingsError::new(
                "two reports cannot both go to standard output",
            ));
        }
        let target = |flag: ReportFlag| ReportTarget {
            format: flag.format,
            path: flag.path.map(|path| self.env.current_dir().join(path)),
        };
        Ok(flags.into_iter().map(target).collect())
    }
}
