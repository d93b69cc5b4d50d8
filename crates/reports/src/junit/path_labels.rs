//! Defines the labels of pipelines in JUnit, because readers may show only the name of a case.

use sluicegate_pipelines::findings::Report;
use sluicegate_pipelines::pipelines::trim_pipeline_extension;
use std::collections::{HashMap, HashSet};

/// Knows which files of a report have a path that is still unique without its extension, and so a short label.
pub(super) struct PathLabels<'r> {
    /// The number of files for each path without extension.
    file_counts: HashMap<&'r str, usize>,
}

impl<'r> PathLabels<'r> {
    /// Counts the files of the report for each path without extension: a path with several files cannot be shortened.
    /// A file that was only checked locally is both in the results and among the unreviewed files, but is one file.
    pub(super) fn from_report(report: &'r Report) -> Self {
        let reviewed_paths = report.files.iter().map(|file| &file.path);
        let excluded_paths = report.excluded_files.iter().map(|file| &file.path);
        let unreviewed_paths = report.unreviewed_files.iter().map(|file| &file.path);
        let paths: HashSet<&String> = reviewed_paths
            .chain(excluded_paths)
            .chain(unreviewed_paths)
            .collect();
        let mut file_counts = HashMap::new();
        for path in paths {
            *file_counts.entry(trim_pipeline_extension(path)).or_insert(0) += 1;
        }
        Self { file_counts }
    }

    /// Returns the label of a file: `sales/load` for `sales/load.orch.yaml`, or the complete path if another file of
    /// the report differs only in its extension.
    pub(super) fn label<'p>(&self, path: &'p str) -> &'p str {
        let stem = trim_pipeline_extension(path);
        match self.file_counts.get(stem) {
            Some(1) => stem,
            _ => path,
        }
    }
}

/// Converts the label `sales/load` to the class name `sales.load`, which Jenkins splits at the last dot into the class
/// `load` of the package `sales` (`hudson.tasks.junit.CaseResult`). Dots in the label are replaced, because they would
/// split a file's name.
pub(super) fn class_name(label: &str) -> String {
    label.replace('.', "_").replace('/', ".")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use sluicegate_pipelines::findings::Verdict;

    #[test]
    fn label_has_no_suffix_unless_two_files_share_it() {
        let mut report = sample::empty(Verdict::Passed);
        report.files = ["a/load.orch.yaml", "b/x.orch.yaml", "b/x.tran.yaml"]
            .map(|path| sample::file(path, vec![]))
            .to_vec();
        let labels = PathLabels::from_report(&report);
        assert_eq!(labels.label("a/load.orch.yaml"), "a/load");
        assert_eq!(labels.label("b/x.tran.yaml"), "b/x.tran.yaml");
    }

    #[test]
    fn class_name_has_dot_for_each_folder_alone() {
        assert_eq!(class_name("sales/eu/v1.2 load"), "sales.eu.v1_2 load");
    }
}
