//! Builds the edit of a file with broken references, and states why a reference keeps its text.

use super::file_edit::{FileEdit, ValueEdit, build_file_edit};
use super::kept_references::KeptReference;
use super::linked_files::reject_linked_path;
use super::reference_reader::ReferenceReader;
use crate::document_content::NOT_CHECKED_OUT;
use crate::error::Failure;
use sluicegate_base::text::List;
use sluicegate_pipelines::file_moves::RepairError;
use sluicegate_pipelines::pipelines::PipelineKind;
use std::path::Path;

/// Describes why a broken reference could not be repaired.
pub(super) fn describe_repair_error(error: &RepairError) -> String {
    match error {
        RepairError::NoFile => "no file has that name".to_owned(),
        RepairError::OtherKind(PipelineKind::Orchestration) => {
            "the file is an orchestration, but is called as a transformation".to_owned()
        }
        RepairError::OtherKind(PipelineKind::Transformation) => {
            "the file is a transformation, but is called as an orchestration".to_owned()
        }
        RepairError::SeveralFiles(paths) => format!("several files have that name: {}", List::new(paths)),
        RepairError::Expression(path) => {
            format!("`{path}` has that name, but a reference with `${{` is an expression")
        }
        RepairError::UncertainRename(path) => {
            format!("the change may have renamed the file to `{path}`, but another file is equally similar")
        }
        RepairError::Redirected(callee) => {
            let verb = if callee.is_certain { "meant" } else { "could mean" };
            format!(
                "before this change, the call {verb} `{}`: write the full path of the pipeline to call",
                callee.path
            )
        }
    }
}

/// Returns the file with these values replaced; `None` without values. Each value that cannot be rewritten is added to
/// `kept_references` with the reason, and the other values are still replaced.
pub(super) fn build_repair_edit(
    reader: &ReferenceReader<'_>,
    path: &str,
    bytes: Vec<u8>,
    values: Vec<ValueEdit>,
    kept_references: &mut Vec<KeptReference>,
) -> Result<Option<FileEdit>, Failure> {
    if find_obstacle(reader, path, &bytes, &values).is_none() {
        return build_file_edit(reader, path, bytes, values);
    }
    let mut replaceable_values = Vec::new();
    for value in values {
        match find_obstacle(reader, path, &bytes, std::slice::from_ref(&value)) {
            None => replaceable_values.push(value),
            Some(reason) => kept_references.push(KeptReference {
                path: path.to_owned(),
                line: value.position.line,
                target: value.old,
                reason,
            }),
        }
    }
    build_file_edit(reader, path, bytes, replaceable_values)
}

/// Returns the reason why these values of the file cannot be rewritten; `None` if they can.
fn find_obstacle(
    reader: &ReferenceReader<'_>,
    path: &str,
    bytes: &[u8],
    values: &[ValueEdit],
) -> Option<String> {
    if values.is_empty() {
        return None;
    }
    if let Err(failure) = reject_linked_path(reader.workspace.repo.root(), Path::new(path)) {
        return Some(failure.describe_on_one_line());
    }
    if !reader.is_on_disk(path) {
        return Some(NOT_CHECKED_OUT.to_owned());
    }
    let edit = FileEdit::new(path, bytes.to_vec(), values.to_vec());
    edit.err().map(|error| error.message)
}
