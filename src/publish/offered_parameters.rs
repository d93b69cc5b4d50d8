//! Checks that the shared pipelines declare the parameters that the shared-pipelines file offers.

use super::SharedPipelineProblem;
use super::pipeline_reader::PipelineFile;
use super::shared_pipelines_file::PlannedSharedFile;
use sluicegate_pipelines::project;
use std::collections::BTreeMap;

/// Returns a problem for each parameter of an enabled entry that its pipeline does not declare as a variable. A
/// pipeline that cannot be read is reported elsewhere.
pub(super) fn check_offered_parameters(
    shared_file: &PlannedSharedFile,
    sent_pipelines: &BTreeMap<String, PipelineFile>,
) -> Vec<SharedPipelineProblem> {
    let mut problems = Vec::new();
    for entry in shared_file
        .offered_entries()
        .filter(|entry| !entry.parameters.is_empty())
    {
        let Some(Ok(facts)) = sent_pipelines
            .get(&entry.pipeline)
            .map(|pipeline| &pipeline.facts)
        else {
            continue;
        };
        problems.extend(entry.undeclared_parameters(facts).map(|parameter| {
            shared_file.build_problem(
                parameter.position,
                project::describe_undeclared_parameter(entry, parameter),
            )
        }));
    }
    problems
}
