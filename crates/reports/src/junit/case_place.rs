//! Places the cases of a JUnit report: hosts link the file and the line of a case, and group cases by their class.

use super::RUN_SUITE;
use super::path_labels::class_name;
use junit_report::{TestCase, TestCaseBuilder};

/// A case with its line, which `junit-report` does not support.
pub(super) struct CaseWithLine {
    pub case: TestCase,
    /// The line in the case's file; `None` for a case without a file.
    pub line: Option<u32>,
}

/// The place of a case: a file, which GitLab links, and a class, by which hosts group cases.
#[derive(Clone, Copy)]
pub(super) struct CasePlace<'p> {
    path: Option<&'p str>,
    label: &'p str,
    /// The line; without it, some readers guess one from the text.
    line: u32,
}

impl<'p> CasePlace<'p> {
    /// The place of cases about the entire run.
    pub(super) const FOR_RUN: CasePlace<'static> = CasePlace {
        path: None,
        label: RUN_SUITE,
        line: 1,
    };

    /// Creates the place of a case in a file, at the first line if the line is unknown. `label` is the short name of
    /// the file.
    pub(super) fn new(path: &'p str, label: &'p str, line: Option<u32>) -> Self {
        Self {
            path: Some(path),
            label,
            line: line.unwrap_or(1),
        }
    }

    /// Creates the place of a case that is about the run and has a file, such as a change to the gate configuration.
    /// The label is the complete path.
    pub(super) fn for_run(path: &'p str, line: Option<u32>) -> Self {
        Self::new(path, path, line)
    }

    /// Returns the name of a case, which begins with the label of the file, because readers may not show the class.
    pub(super) fn name_case(self, case_name: &str) -> String {
        format!("{}: {case_name}", self.label)
    }

    /// Builds the case at this place: sets its class and, if the place is in a file, its file and its line.
    pub(super) fn build_case(self, mut case: TestCaseBuilder) -> CaseWithLine {
        case.set_classname(&class_name(self.label));
        if let Some(path) = self.path {
            case.set_filepath(path);
        }
        CaseWithLine {
            case: case.build(),
            line: self.path.map(|_| self.line),
        }
    }
}
