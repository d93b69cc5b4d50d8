//! Checks that the shared pipelines declare the parameters that the shared-pipelines file offers.

use super::Problem;
use super::references::FileFacts;
use super::shared_file::SharedFile;
use sluicegate_pipelines::project;
use std::collections::BTreeMap;

/// Returns the parameters of enabled entries that are not variables of their pipelines. A pipeline that cannot be read
/// is reported elsewhere.
pub(super) fn undeclared(shared: &SharedFile, sent: &BTreeMap<String, FileFacts>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in shared.enabled().filter(|entry| !entry.parameters.is_empty()) {
        let Some(Ok(facts)) = sent.get(&entry.pipeline).map(|facts| &facts.facts) else {
            continue;
        };
        let unknown = entry.undeclared_parameters(facts);
        problems.extend(unknown.map(|parameter| {
            shared.problem(
                parameter.position,
                project::describe_undeclared_parameter(entry, parameter),
            )
        }));
    }
    problems
}
