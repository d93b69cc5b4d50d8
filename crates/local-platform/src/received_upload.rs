//! Receives the upload of a publish: reads the parts of the form, selects those that belong in an artifact, and lists
//! the excluded ones (API document, "Publish rules").

use super::form_reader::FormReader;
use super::problem::Problem;
use super::store::artifacts::{ArtifactContents, StoredFile, StoredSharedPipeline};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sluicegate_pipelines::pipelines::{PipelineKind, SHARED_PIPELINES_FILE, SharedPipelines};
use std::collections::{BTreeMap, HashSet};
use utoipa::ToSchema;

/// Maximum size of one part, in bytes.
const MAX_PART_BYTES: u64 = 64 * 1024 * 1024;

/// Maximum number of parts in a form.
const MAX_PARTS: usize = 100_000;

/// Maximum length of a part name in bytes, which is that of a path.
const MAX_NAME_BYTES: usize = 4096;

const SCRIPT_EXTENSIONS: [&str; 6] = ["sql", "py", "yaml", "yml", "json", "txt"];
const ARCHIVE_EXTENSIONS: [&str; 12] = [
    "zip", "tar", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "7z", "rar", "jar",
];

/// A file that was excluded from an artifact.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct IgnoredResource {
    /// The part's name, or the path of a pipeline that was not uploaded.
    pub name: String,
    /// The reason for the exclusion.
    pub reason: String,
}

/// The parts of a form that the platform needs.
#[derive(Debug, Default)]
pub(super) struct ReceivedUpload {
    files: BTreeMap<String, StoredFile>,
    /// The name and the content of the shared-pipelines file.
    configuration: Option<(String, Vec<u8>)>,
}

impl ReceivedUpload {
    /// Reads the complete form. Contents are hashed while they arrive; only the shared-pipelines file is kept in
    /// memory.
    pub(super) async fn receive(mut form: FormReader) -> Result<Self, Problem> {
        let mut upload = Self::default();
        while let Some(name) = form.next_part().await? {
            upload.check_part_name(&name)?;
            let keeps_content = is_shared_pipelines_file(&name);
            let (file, content) = read_part(&mut form, name, keeps_content).await?;
            if keeps_content {
                upload.configuration = Some((file.path.clone(), content));
            }
            upload.files.insert(file.path.clone(), file);
        }
        Ok(upload)
    }

    /// Checks the name of a part before its bytes are read: it must be a normalized relative path that no earlier part
    /// has, and only one part may be the shared-pipelines file. Also rejects more than [`MAX_PARTS`] parts.
    fn check_part_name(&self, name: &str) -> Result<(), Problem> {
        check_relative_path(name).map_err(|message| Problem::invalid_field(name, message))?;
        if self.files.contains_key(name) {
            return Err(Problem::invalid_field(
                name,
                format!("the uploaded form has two parts named `{name}`"),
            ));
        }
        if self.files.len() >= MAX_PARTS {
            return Err(Problem::invalid_field(
                "",
                format!("the uploaded form may have at most {MAX_PARTS} parts"),
            ));
        }
        match &self.configuration {
            Some((existing_name, _)) if is_shared_pipelines_file(name) => Err(Problem::invalid_field(
                name,
                format!(
                    "the uploaded form may contain only one shared-pipelines file, but it already contains \
                     {existing_name}"
                ),
            )),
            _ => Ok(()),
        }
    }

    /// Divides the upload into the contents of the artifact and the ignored resources. Returns a 400 if the upload has
    /// no shared-pipelines file, or the file is invalid.
    pub(super) fn into_artifact(self) -> Result<(ArtifactContents, Vec<IgnoredResource>), Problem> {
        let (name, configuration) = self.configuration.ok_or_else(|| {
            Problem::invalid_field(
                SHARED_PIPELINES_FILE,
                format!("the uploaded form has no part named `.<directory>/{SHARED_PIPELINES_FILE}`"),
            )
        })?;
        let shared_pipelines = SharedPipelines::parse(&configuration)
            .map_err(|error| Problem::invalid_field(name, error.to_string()))?;
        let mut ignored_resources = Vec::new();
        let mut files = Vec::with_capacity(self.files.len());
        for file in self.files.into_values() {
            match find_exclusion_reason(&file.path) {
                Some(reason) => ignored_resources.push(IgnoredResource {
                    name: file.path,
                    reason: reason.to_owned(),
                }),
                None => files.push(file),
            }
        }
        let (pipelines, missing_pipelines) = select_shared_pipelines(&shared_pipelines, &files);
        ignored_resources.extend(missing_pipelines);
        let contents = ArtifactContents {
            configuration,
            files,
            pipelines,
        };
        Ok((contents, ignored_resources))
    }
}

/// Reads a part of the form to its end, and computes its size and hash. The returned content is empty without
/// `needs_content`, so that large files do not fill the memory.
async fn read_part(
    form: &mut FormReader,
    path: String,
    needs_content: bool,
) -> Result<(StoredFile, Vec<u8>), Problem> {
    let mut digest = Sha256::new();
    let mut size = 0;
    let mut content = Vec::new();
    while let Some(piece) = form.next_piece().await? {
        size += piece.len() as u64;
        if size > MAX_PART_BYTES {
            return Err(Problem::too_large(
                &format!("the form part `{path}`"),
                MAX_PART_BYTES,
            ));
        }
        digest.update(&piece);
        if needs_content {
            content.extend_from_slice(&piece);
        }
    }
    let sha256 = digest.finalize().into();
    Ok((StoredFile { path, size, sha256 }, content))
}

/// Checks that a part's name is a normalized relative path, even if backslashes are read as separators.
fn check_relative_path(name: &str) -> Result<(), &'static str> {
    let path_segments = || name.split(['/', '\\']);
    if name.is_empty() {
        return Err("the name of a form part must not be empty");
    }
    if name.len() > MAX_NAME_BYTES {
        return Err("the name of a form part is too long");
    }
    if name.contains('\0') {
        return Err("the name of a form part must not contain a NUL byte");
    }
    if name.starts_with(['/', '\\']) || has_drive(name) {
        return Err("the name of a form part must be a relative path");
    }
    if path_segments().any(|segment| segment == "..") {
        return Err("the name of a form part must not contain `..`");
    }
    if path_segments().any(|segment| matches!(segment, "" | ".")) {
        return Err("the name of a form part must be a path without empty segments or `.`");
    }
    Ok(())
}

/// Returns whether the name begins with a Windows drive, such as `C:`.
fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether the part with this name is a shared-pipelines file, which is in a hidden directory at the root.
fn is_shared_pipelines_file(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(directory, file)| directory.starts_with('.') && file == SHARED_PIPELINES_FILE)
}

/// Returns why the platform ignores the file; `None` if it accepts the file.
fn find_exclusion_reason(path: &str) -> Option<&'static str> {
    if has_extension(path, &ARCHIVE_EXTENSIONS) {
        return Some("archives are not supported");
    }
    // `yaml` also accepts pipelines and the shared-pipelines file.
    if has_extension(path, &SCRIPT_EXTENSIONS) {
        return None;
    }
    Some("the file is neither a pipeline, nor the shared-pipelines file, nor a script")
}

/// Returns whether the file has one of these extensions, in any letter case.
fn has_extension(path: &str, extensions: &[&str]) -> bool {
    let name = path.rsplit_once('/').map_or(path, |(_, name)| name);
    let Some((_, extension)) = name.rsplit_once('.') else {
        return false;
    };
    extensions
        .iter()
        .any(|candidate| candidate.eq_ignore_ascii_case(extension))
}

/// Returns the path of a pipeline without its extension; `None` if the file is not a pipeline.
fn strip_pipeline_extension(path: &str) -> Option<&str> {
    path.strip_suffix(PipelineKind::from_path(path)?.extension())
}

/// Divides the enabled entries of the configuration into uploaded shared pipelines, and ignored resources that are not
/// pipelines or not among the uploaded files. Disabled entries are skipped.
fn select_shared_pipelines(
    configuration: &SharedPipelines,
    files: &[StoredFile],
) -> (Vec<StoredSharedPipeline>, Vec<IgnoredResource>) {
    let uploaded_paths: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let (mut pipelines, mut ignored_resources) = (Vec::new(), Vec::new());
    for entry in configuration.entries.iter().filter(|entry| entry.enabled) {
        let is_uploaded = uploaded_paths.contains(entry.pipeline.as_str());
        let ignore_reason = match strip_pipeline_extension(&entry.pipeline) {
            Some(path_without_extension) if is_uploaded => {
                pipelines.push(StoredSharedPipeline {
                    id: entry.id.clone(),
                    source_pipeline: path_without_extension.to_owned(),
                    description: entry.description.clone(),
                });
                continue;
            }
            Some(_) => "the shared-pipelines file lists this pipeline, but the upload does not contain it",
            None => "the shared-pipelines file lists this file, but its extension is not that of a pipeline",
        };
        ignored_resources.push(IgnoredResource {
            name: entry.pipeline.clone(),
            reason: ignore_reason.to_owned(),
        });
    }
    (pipelines, ignored_resources)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_relative_paths() {
        for good in [
            "a.orch.yaml",
            "folder/a b.sql",
            ".hidden/x",
            "a..b/c",
            "Größe \"x\"\n.txt",
            "a\\b",
        ] {
            assert_eq!(check_relative_path(good), Ok(()), "{good:?}");
        }
        for bad in [
            "", "/a", "\\a", "C:\\a", "c:a", "../a", "a/../b", "a\\..\\b", "..", "a\0b", "./a", "a//b", "a/",
            "a/.",
        ] {
            assert!(check_relative_path(bad).is_err(), "{bad:?}");
        }
        assert!(check_relative_path(&"a".repeat(MAX_NAME_BYTES + 1)).is_err());
    }

    #[test]
    fn only_a_hidden_folder_at_the_root_configures() {
        assert!(is_shared_pipelines_file(".any/shared-pipelines.yaml"));
        for other in [
            "any/shared-pipelines.yaml",
            "a/.b/shared-pipelines.yaml",
            "shared-pipelines.yaml",
            ".a/b.yaml",
        ] {
            assert!(!is_shared_pipelines_file(other), "{other}");
        }
    }

    #[test]
    fn upload_leaves_out_files_that_are_no_pipeline_and_no_script() {
        for taken in [
            "a.orch.yaml",
            "b/c.tran.yaml",
            "q.sql",
            "Q.SQL",
            "x.py",
            "x.yml",
            "x.json",
            "x.txt",
        ] {
            assert_eq!(find_exclusion_reason(taken), None, "{taken}");
        }
        for left in [
            "a.zip",
            "a.yaml.tar",
            "a.GZ",
            "README.md",
            "Makefile",
            ".sql.d/x",
            "image.png",
        ] {
            assert!(find_exclusion_reason(left).is_some(), "{left}");
        }
    }
}
