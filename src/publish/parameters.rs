//! Whether the shared pipelines declare the parameters that the shared-pipelines file offers for them.

use super::contents::Contents;
use super::listing::Listing;
use super::references::{self, PipelineFacts};
use super::shared_file::SharedFile;
use super::{Problem, PublishError};
use std::collections::{BTreeMap, HashSet};

/// The parameters of enabled entries that are no variables of their pipelines. A pipeline that cannot be read is told
/// elsewhere.
pub(super) fn undeclared(
    listing: &Listing<'_>,
    contents: &Contents,
    shared: &SharedFile,
    sent: &BTreeMap<String, PipelineFacts>,
) -> Result<Vec<Problem>, PublishError> {
    let mut problems = Vec::new();
    for entry in shared.enabled().filter(|entry| !entry.parameters.is_empty()) {
        let found = listing.known().get(&entry.pipeline);
        let Some(found) = found.filter(|_| sent.contains_key(&entry.pipeline)) else {
            continue;
        };
        let Some(variables) = references::variables(contents, &found.content)? else {
            continue;
        };
        let variables: HashSet<String> = variables.into_iter().collect();
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
    Ok(problems)
}
