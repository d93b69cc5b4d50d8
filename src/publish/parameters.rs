//! Whether the shared pipelines declare the parameters that the shared-pipelines file offers for them.

use super::Problem;
use super::references::PipelineFacts;
use super::shared_file::SharedFile;
use std::collections::{BTreeMap, HashSet};

/// The parameters of enabled entries that are no variables of their pipelines. A pipeline that cannot be read is told
/// elsewhere.
pub(super) fn undeclared(shared: &SharedFile, sent: &BTreeMap<String, PipelineFacts>) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in shared.enabled().filter(|entry| !entry.parameters.is_empty()) {
        let Some(facts) = sent.get(&entry.pipeline).filter(|facts| facts.references.is_ok()) else {
            continue;
        };
        let variables: HashSet<&String> = facts.variables.iter().collect();
        let unknown = entry
            .parameters
            .iter()
            .filter(|parameter| !variables.contains(&parameter.name));
        problems.extend(unknown.map(|parameter| {
            let what = format!(
                "the shared pipeline `{}` has the parameter `{}`, which is no variable of `{}`",
                entry.id, parameter.name, entry.pipeline
            );
            shared.problem(parameter.position, what)
        }));
    }
    problems
}
