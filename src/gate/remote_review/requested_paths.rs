//! Recognizes another spelling of a requested path in a response. Such a result does not prove that the requested
//! pipeline was reviewed.

use sluicegate_pipelines::pipelines::PipelineKind;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization as _;

/// The requested paths by their normal form, with and without the extension of a pipeline.
pub(crate) struct RequestedPaths<'f>(HashMap<String, &'f str>);

impl<'f> RequestedPaths<'f> {
    /// Indexes the requested files, so that they are found by another spelling of their path, even without its
    /// extension.
    pub(crate) fn new(files: &'f [String]) -> Self {
        let mut paths = HashMap::new();
        for file in files {
            let folded_path = fold_spelling(file);
            if let Some(stem) = PipelineKind::from_path(&folded_path)
                .and_then(|kind| folded_path.strip_suffix(kind.extension()))
            {
                paths.insert(stem.to_owned(), file.as_str());
            }
            paths.insert(folded_path, file.as_str());
        }
        Self(paths)
    }

    /// Returns the requested file whose path is another spelling of `path`.
    pub(crate) fn find(&self, path: &str) -> Option<&'f str> {
        self.0.get(&fold_spelling(path)).copied()
    }
}

/// Normalizes a path, so that all spellings of the same file are equal. Removes surrounding blanks and a leading `./`
/// or `/`, and unifies slashes, case and the Unicode normal form.
fn fold_spelling(path: &str) -> String {
    let path = path.trim().replace('\\', "/");
    let path = path.trim_start_matches("./").trim_start_matches('/');
    path.to_lowercase().nfc().collect()
}

#[cfg(test)]
mod tests {
    use super::RequestedPaths;

    #[test]
    fn other_spellings_of_a_requested_path_are_recognized() {
        let files = ["sales/Größe.orch.yaml".to_owned(), "a.tran.yaml".to_owned()];
        let paths = RequestedPaths::new(&files);
        for spelling in [
            "./sales/Größe.orch.yaml",
            "/sales/Größe.orch.yaml",
            "sales\\Größe.orch.yaml",
            "sales/Gro\u{308}ße.orch.yaml",
            "SALES/GRÖßE.ORCH.YAML",
            "sales/Größe",
        ] {
            assert_eq!(paths.find(spelling), Some(files[0].as_str()), "{spelling}");
        }
        for other in ["sales/Groesse.orch.yaml", "b.tran.yaml", "", "sales"] {
            assert_eq!(paths.find(other), None, "{other}");
        }
    }
}
