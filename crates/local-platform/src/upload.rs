//! Receives the upload of a publish: reads the parts of the form, selects those that belong in an artifact, and lists
//! the excluded ones (API document, "Publish rules").

use super::multipart::FormReader;
use super::problem::Problem;
use super::store::artifacts::{ArtifactContents, StoredFile, StoredSharedPipeline};
use serde::Serialize;
use sha2::{Digest, Sha256};
use sluicegate_pipelines::pipelines::{SHARED_PIPELINES_FILE, SharedPipelines};
use std::collections::{BTreeMap, HashSet};
use utoipa::ToSchema;

/// Maximum size of one part, in bytes.
const PART_LIMIT: u64 = 64 * 1024 * 1024;

/// Maximum number of parts in a form.
const PARTS_LIMIT: usize = 100_000;

/// Maximum length of a part name in bytes, the same as of a path.
const NAME_LIMIT: usize = 4096;

const PIPELINES: [&str; 2] = [".orch.yaml", ".tran.yaml"];
const SCRIPTS: [&str; 6] = ["sql", "py", "yaml", "yml", "json", "txt"];
const ARCHIVES: [&str; 12] = [
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

/// The received parts of a form, as far as they are needed.
#[derive(Debug, Default)]
pub(super) struct ReceivedUpload {
    files: BTreeMap<String, StoredFile>,
    configuration: Option<(String, Vec<u8>)>,
}

impl ReceivedUpload {
    /// Reads the complete form. Contents are hashed while they arrive; only the shared-pipelines file is kept in
    /// memory.
    pub(super) async fn receive(mut form: FormReader) -> Result<Self, Problem> {
        let mut upload = Self::default();
        while let Some(name) = form.next_part().await? {
            upload.check_part(&name)?;
            let is_configuration = is_configuration(&name);
            let (file, content) = read_part(&mut form, name, is_configuration).await?;
            if is_configuration {
                upload.configuration = Some((file.path.clone(), content));
            }
            upload.files.insert(file.path.clone(), file);
        }
        Ok(upload)
    }

    /// Checks the name of a part before its bytes are read.
    fn check_part(&self, name: &str) -> Result<(), Problem> {
        check_name(name).map_err(|message| Problem::invalid_field(name, message))?;
        if self.files.contains_key(name) {
            return Err(Problem::invalid_field(
                name,
                "a part of this name stands twice in the form",
            ));
        }
        if self.files.len() >= PARTS_LIMIT {
            return Err(Problem::invalid_field(
                "",
                format!("a form may have {PARTS_LIMIT} parts"),
            ));
        }
        match &self.configuration {
            Some((other, _)) if is_configuration(name) => Err(Problem::invalid_field(
                name,
                format!("a form has one shared-pipelines file, and {other} is already one"),
            )),
            _ => Ok(()),
        }
    }

    /// Determines the contents of the artifact and the excluded files.
    pub(super) fn settle(self) -> Result<(ArtifactContents, Vec<IgnoredResource>), Problem> {
        let (name, configuration) = self.configuration.ok_or_else(|| {
            Problem::invalid_field(
                SHARED_PIPELINES_FILE,
                format!("the form needs the shared-pipelines file, as a part named .<folder>/{SHARED_PIPELINES_FILE}"),
            )
        })?;
        let shared = SharedPipelines::parse(&configuration)
            .map_err(|error| Problem::invalid_field(name, error.to_string()))?;
        let mut ignored = Vec::new();
        let mut files = Vec::with_capacity(self.files.len());
        for file in self.files.into_values() {
            match reason_to_ignore(&file.path) {
                Some(reason) => ignored.push(IgnoredResource {
                    name: file.path,
                    reason: reason.to_owned(),
                }),
                None => files.push(file),
            }
        }
        let (pipelines, missing) = separate_shared_pipelines(&shared, &files);
        ignored.extend(missing);
        let contents = ArtifactContents {
            configuration,
            files,
            pipelines,
        };
        Ok((contents, ignored))
    }
}

/// Reads a part of the form to its end, and computes its size and hash. The content is returned only with
/// `keeps_content`.
async fn read_part(
    form: &mut FormReader,
    path: String,
    keeps_content: bool,
) -> Result<(StoredFile, Vec<u8>), Problem> {
    let mut digest = Sha256::new();
    let mut size = 0;
    let mut content = Vec::new();
    while let Some(piece) = form.next_piece().await? {
        size += piece.len() as u64;
        if size > PART_LIMIT {
            return Err(Problem::too_large(&format!("a part ({path})"), PART_LIMIT));
        }
        digest.update(&piece);
        if keeps_content {
            content.extend_from_slice(&piece);
        }
    }
    let sha256 = digest.finalize().into();
    Ok((StoredFile { path, size, sha256 }, content))
}

/// Checks that a part's name is a normalized relative path, also if backslashes are read as separators.
fn check_name(name: &str) -> Result<(), &'static str> {
    let segments = || name.split(['/', '\\']);
    if name.is_empty() {
        return Err("a part's name must not be empty");
    }
    if name.len() > NAME_LIMIT {
        return Err("a part's name is too long");
    }
    if name.contains('\0') {
        return Err("a part's name must not hold a NUL");
    }
    if name.starts_with(['/', '\\']) || has_drive(name) {
        return Err("a part's name must be a relative path");
    }
    if segments().any(|segment| segment == "..") {
        return Err("a part's name must not climb");
    }
    if segments().any(|segment| matches!(segment, "" | ".")) {
        return Err("a part's name must be a path in its plain form");
    }
    Ok(())
}

fn has_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Returns whether the name is that of a shared-pipelines file, which is in a hidden folder at the root.
fn is_configuration(name: &str) -> bool {
    name.split_once('/')
        .is_some_and(|(folder, file)| folder.starts_with('.') && file == SHARED_PIPELINES_FILE)
}

/// Returns why the platform ignores a file with this name, or `None` if it accepts the file.
fn reason_to_ignore(path: &str) -> Option<&'static str> {
    let extension = path
        .rsplit('/')
        .next()
        .and_then(|file| file.rsplit_once('.'))
        .map(|(_, extension)| extension);
    let is_one_of = |known: &[&str]| {
        extension.is_some_and(|extension| known.iter().any(|other| other.eq_ignore_ascii_case(extension)))
    };
    if is_one_of(&ARCHIVES) {
        return Some("archives are not supported");
    }
    let taken = is_one_of(&SCRIPTS);
    (!taken).then_some("neither a pipeline, nor the shared-pipelines file, nor a script")
}

fn without_extension(path: &str) -> Option<&str> {
    PIPELINES
        .iter()
        .find_map(|extension| path.strip_suffix(extension))
}

/// Returns the enabled shared pipelines that were uploaded, and those that were not.
fn separate_shared_pipelines(
    shared: &SharedPipelines,
    files: &[StoredFile],
) -> (Vec<StoredSharedPipeline>, Vec<IgnoredResource>) {
    let sent: HashSet<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let (mut pipelines, mut ignored) = (Vec::new(), Vec::new());
    for entry in shared.entries.iter().filter(|entry| entry.enabled) {
        let ignore = |reason: &str| IgnoredResource {
            name: entry.pipeline.clone(),
            reason: reason.to_owned(),
        };
        match without_extension(&entry.pipeline) {
            None => ignored.push(ignore("listed as a shared pipeline, but no pipeline by its name")),
            Some(_) if !sent.contains(entry.pipeline.as_str()) => {
                ignored.push(ignore(
                    "listed as a shared pipeline, but the form has no part of this name",
                ));
            }
            Some(source) => pipelines.push(StoredSharedPipeline {
                id: entry.id.clone(),
                source_pipeline: source.to_owned(),
                description: entry.description.clone(),
            }),
        }
    }
    (pipelines, ignored)
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
            assert_eq!(check_name(good), Ok(()), "{good:?}");
        }
        for bad in [
            "", "/a", "\\a", "C:\\a", "c:a", "../a", "a/../b", "a\\..\\b", "..", "a\0b", "./a", "a//b", "a/",
            "a/.",
        ] {
            assert!(check_name(bad).is_err(), "{bad:?}");
        }
        assert!(check_name(&"a".repeat(NAME_LIMIT + 1)).is_err());
    }

    #[test]
    fn only_a_hidden_folder_at_the_root_configures() {
        assert!(is_configuration(".any/shared-pipelines.yaml"));
        for other in [
            "any/shared-pipelines.yaml",
            "a/.b/shared-pipelines.yaml",
            "shared-pipelines.yaml",
            ".a/b.yaml",
        ] {
            assert!(!is_configuration(other), "{other}");
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
            assert_eq!(reason_to_ignore(taken), None, "{taken}");
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
            assert!(reason_to_ignore(left).is_some(), "{left}");
        }
    }
}
